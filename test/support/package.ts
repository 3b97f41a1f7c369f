import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { execa } from 'execa'
import { bareEnvironment, runFolder } from './programs.ts'

/** npm without a registry, and with nothing of this user. */
export const npmEnvironment = (home: string): Readonly<Record<string, string>> => ({
  ...bareEnvironment(home),
  npm_config_cache: join(home, 'npm cache'),
  npm_config_offline: 'true',
  npm_config_audit: 'false',
  npm_config_fund: 'false',
  npm_config_update_notifier: 'false',
})

interface Package {
  readonly tarball: string
  /** In bytes. */
  readonly size: number
}

/** The package of what was built before the tests, packed once in a run. */
export async function packPackage(): Promise<Package> {
  const folder = join(runFolder, 'package')
  const result = join(folder, 'package.json')
  if (isFirst(folder)) {
    // The scripts would build once more, while other tests use what stands there.
    const words = ['pack', '--ignore-scripts', '--json', '--loglevel=error', '--pack-destination', folder]
    const { stdout } = await execa('npm', words, { env: npmEnvironment(folder), extendEnv: false })
    const [{ filename, size }] = JSON.parse(stdout)
    writeFileSync(`${result}.new`, JSON.stringify({ tarball: join(folder, filename), size }))
    renameSync(`${result}.new`, result)
  }
  while (!existsSync(result)) await pause(50)
  return JSON.parse(readFileSync(result, 'utf8'))
}

/** Whether this process is the first of the run that creates a folder. */
function isFirst(folder: string): boolean {
  try {
    mkdirSync(folder)
    return true
  } catch (error) {
    if (existsSync(folder)) return false
    throw error
  }
}

/** Puts the package into a project, without npm, which package.test.ts and github-action.test.ts run. */
export async function unpackPackage(project: string): Promise<void> {
  const folder = join(project, 'node_modules/mergeq')
  mkdirSync(folder, { recursive: true })
  const { tarball } = await packPackage()
  await execa('tar', ['-xzf', tarball, '-C', folder, '--strip-components=1'])
}
