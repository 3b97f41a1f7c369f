// Runs the tests on other versions of Node. npm installs each version into a folder of its own, which later runs reuse.
//
//     npm run test:nodes -- [--nodes 22,24,26] [<test file>...]
import { execFileSync, spawnSync } from 'node:child_process'
import { delimiter, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { directoryOfNode, otherVersions } from './node-programs.mjs'

const root = resolve(fileURLToPath(import.meta.url), '../..')
const { values, positionals } = parseArgs({
  options: { nodes: { type: 'string', default: otherVersions.join(',') } },
  allowPositionals: true,
})

for (const version of values.nodes.split(',')) {
  const env = { ...process.env, PATH: `${directoryOfNode(version)}${delimiter}${process.env.PATH}` }
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
