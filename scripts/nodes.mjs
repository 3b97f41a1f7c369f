// Runs the tests on other versions of Node. npm installs each version into a folder of its own, which later runs reuse.
//
//     npm run test:nodes -- [--nodes 22,24,26] [<test file>...]
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

const root = resolve(fileURLToPath(import.meta.url), '../..')
const { values, positionals } = parseArgs({
  options: { nodes: { type: 'string', default: '22,24,26' } },
  allowPositionals: true,
})

/** Returns the folder of the `node` program of a version, installed if it is missing. */
function folderOf(version) {
  const folder = join(tmpdir(), 'mergeq-nodes', version)
  const bin = join(folder, 'node_modules/node/bin')
  if (!existsSync(bin)) {
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'package.json'), '{"private":true}')
    execFileSync('npm', ['install', '--no-audit', '--no-fund', '--loglevel=error', `node@${version}`], {
      cwd: folder,
      stdio: 'inherit',
    })
  }
  return bin
}

for (const version of values.nodes.split(',')) {
  const env = { ...process.env, PATH: `${folderOf(version)}${delimiter}${process.env.PATH}` }
  console.log(`Node ${execFileSync('node', ['--version'], { env, encoding: 'utf8' }).trim()}`)
  const { status } = spawnSync(
    'node',
    [join(root, 'node_modules/vitest/vitest.mjs'), 'run', ...positionals],
    {
      cwd: root,
      env,
      stdio: 'inherit',
    },
  )
  if (status !== 0) process.exit(status ?? 1)
}
