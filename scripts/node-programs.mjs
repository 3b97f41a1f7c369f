// Node programs of other versions, installed by npm.
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

/** The versions of Node that are tested in addition to the installed one. */
export const otherVersions = ['22', '24', '26']

/**
 * Returns the directory of the `node` program of a version; `current` is the running program. npm installs the
 * version if it is missing.
 */
export function directoryOfNode(version) {
  if (version === 'current') return dirname(process.execPath)
  const directory = join(tmpdir(), 'mergeq-nodes', version)
  const bin = join(directory, 'node_modules/node/bin')
  if (!existsSync(bin)) {
    mkdirSync(directory, { recursive: true })
    writeFileSync(join(directory, 'package.json'), '{"private":true}')
    execFileSync('npm', ['install', '--no-audit', '--no-fund', '--loglevel=error', `node@${version}`], {
      cwd: directory,
      stdio: 'inherit',
    })
  }
  return bin
}
