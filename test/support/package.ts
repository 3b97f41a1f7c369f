import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { execa } from 'execa'
import { bareEnvironment } from './programs.ts'

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

let packed: Promise<Package> | undefined

/** The package of what was built before the tests. The test files of a worker share it. */
export function packPackage(): Promise<Package> {
  packed ??= pack()
  return packed
}

async function pack(): Promise<Package> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'mergeq-packed-')))
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
  // The scripts would build once more, while other tests use what stands there.
  const words = ['pack', '--ignore-scripts', '--json', '--loglevel=error', '--pack-destination', folder]
  const { stdout } = await execa('npm', words, { env: npmEnvironment(folder), extendEnv: false })
  const [{ filename, size }] = JSON.parse(stdout)
  return { tarball: join(folder, filename), size }
}
