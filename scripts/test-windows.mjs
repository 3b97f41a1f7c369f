// Runs the tests on Windows without a Windows machine: with Node for Windows in Wine.
//
//     npm run test:windows -- [--nodes 20,22,24,26] [--suites in-process,windows,terminal] [-t <part of a title>] [<test file>...]
//
// The suites `windows` and `terminal` run on every version of Node, the others on the first. What this needs is kept in
// one folder, which later runs reuse. Where Wine cannot be set up, this says so and ends with exit code 0.
import { mkdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { prepareNode, prepareProject } from './windows/prepare.mjs'
import { runTerminalCases } from './windows/terminal-cases.mjs'
import { openWine } from './windows/wine.mjs'

const { values, positionals } = parseArgs({
  options: {
    nodes: { type: 'string', default: '20,22,24,26' },
    suites: { type: 'string', default: 'in-process,windows,terminal' },
    title: { type: 'string', short: 't' },
  },
  allowPositionals: true,
})
const folder = process.env.MERGEQ_WINE_FOLDER || join(tmpdir(), 'mergeq-windows')
const suites = values.suites.split(',')
const title = values.title === undefined ? [] : ['-t', values.title]
const files = positionals

const { wine, nodes } = prepare()
const logs = join(folder, 'logs')
mkdirSync(logs, { recursive: true })
let isGood = true
for (const [index, node] of nodes.entries()) {
  const wanted = suites.filter(suite => index === 0 || suite === 'windows' || suite === 'terminal')
  if (wanted.length > 0) isGood = (await test(node, wanted)) && isGood
}
process.exitCode = isGood ? 0 : 1

/** Sets up Wine, the project, and the versions of Node, or ends this process. */
function prepare() {
  try {
    const wine = openWine(folder)
    const nodes = values.nodes
      .split(',')
      .map(version => ({ version, place: prepareNode(wine.disk, version) }))
    prepareProject(wine.disk)
    return { wine, nodes }
  } catch (error) {
    console.log(`skipped: no Wine (${error.message})`)
    process.exit(process.env.MERGEQ_TEST_NO_SKIP === '1' ? 1 : 0)
  }
}

/** Runs suites on a version of Node. Resolves to whether everything succeeded. */
async function test({ version, place }, wanted) {
  const start = Date.now()
  for (const name of ['Local/Temp', 'Roaming/mergeq'])
    rmSync(join(wine.disk, 'users/root/AppData', name), { recursive: true, force: true })
  mkdirSync(join(wine.disk, 'users/root/AppData/Local/Temp'))
  const windowsFolder = `C:\\${place.replaceAll('/', '\\')}`
  const program = `${windowsFolder}\\node.exe`
  const options = { cwd: 'project', variables: { WINEPATH: windowsFolder, NO_COLOR: '1' } }
  const run = async (name, words) => {
    const log = join(logs, `${version}-${name}.txt`)
    return (await wine.run([program, ...words], { ...options, log })) === 0
  }
  await run('version', ['-p', '["Node", process.version, "for", process.platform].join(" ")'])
  const projects = wanted.filter(name => name !== 'terminal').flatMap(name => ['--project', name])
  // Wine starts programs slowly.
  const vitest = ['node_modules/vitest/vitest.mjs', 'run', '--testTimeout=90000', '--retry=1']
  let isGood = await run('build', ['scripts/build.mjs', '--quiet'])
  if (projects.length > 0)
    isGood = (await run('tests', [...vitest, ...title, ...(files.length > 0 ? files : projects)])) && isGood
  if (wanted.includes('terminal') && title.length + files.length === 0)
    isGood = (await runTerminalCases(wine, program, options)) && isGood
  console.log(`${wine.version}, Node ${version}: ${Math.round((Date.now() - start) / 1_000)} seconds\n`)
  return isGood
}
