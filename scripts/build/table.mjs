// The command table as data. Which commands there are, and with which words, is known when the bundle is made: the file
// that is read at every start holds that alone, and what the commands do is a part of its own, loaded when one is run.
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { build } from 'esbuild'

/** What a module of the sources exports, as they are now. */
export async function evaluate(source) {
  const { outputFiles } = await build({
    entryPoints: [source],
    bundle: true,
    write: false,
    platform: 'node',
    format: 'cjs',
    logLevel: 'warning',
  })
  const module = { exports: {} }
  new Function('module', 'exports', 'require', outputFiles[0].text)(
    module,
    module.exports,
    createRequire(import.meta.url),
  )
  return module.exports
}

const told = ['command', 'alias', 'summary', 'route']
/** What only the command that is typed, or its help, needs is made when it is asked for. */
const toldLate = [
  'words',
  'examples',
  'operations',
  'exitKinds',
  'output',
  'toleratesErrors',
  'propagatesExitCode',
]

/** Of an operation, what its help says. */
const askedOf = ({ route, effect, pagination, decoder: { expects } }) => ({
  route,
  effect: effect !== false,
  ...(pagination === undefined ? {} : { pagination: true }),
  decoder: { expects },
})

const leafOf = leaf => {
  const now = told.filter(key => leaf[key] !== undefined).map(key => `${key}: ${JSON.stringify(leaf[key])}`)
  const asks = Array.isArray(leaf.operations) ? leaf.operations.map(askedOf) : leaf.operations
  const late = toldLate
    .filter(key => leaf[key] !== undefined)
    .map(key => `get ${key}() { return ${JSON.stringify(key === 'operations' ? asks : leaf[key])} }`)
  return `{ ${[...now, ...late].join(', ')}, run: run(${JSON.stringify(leaf.command)}) }`
}

/** Gives the tree the table in place of the commands themselves. */
export const tableOf = src => ({
  name: 'table',
  setup({ onLoad, onResolve }) {
    const leaves = join(src, 'commands/index.ts')
    const front = ['cli/command-parser.ts', 'cli/program.ts'].map(name => join(src, name))
    onResolve({ filter: /\/commands\/index\.ts$/ }, ({ importer, kind }) =>
      front.includes(importer) && kind === 'import-statement'
        ? { path: 'table', namespace: 'table' }
        : undefined,
    )
    onLoad({ filter: /.*/, namespace: 'table' }, async () => ({
      contents: `
        const run = command => async (...words) => {
          const { allCommands } = await import('./commands/index.ts')
          return allCommands.find(one => one.command === command).run(...words)
        }
        export const allCommands = [${(await evaluate(leaves)).allCommands.map(leafOf).join(',\n')}]`,
      resolveDir: src,
    }))
  },
})
