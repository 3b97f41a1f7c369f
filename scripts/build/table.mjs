// Replaces the commands that main.ts imports by a table of data. The file that is loaded at every start then
// holds only the definitions of the commands; the code of the commands is a separate file that is loaded when
// a command runs.
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

/** The properties of a command that every start needs. */
const eagerProperties = ['command', 'alias', 'summary', 'route', 'documentation']
/** The properties that only a command that was typed, or its help, needs; created when they are read. */
const lazyProperties = [
  'definitions',
  'examples',
  'operations',
  'exitKinds',
  'output',
  'toleratesErrors',
  'propagatesExitCode',
]

/** Returns the properties of an operation that the help of a command needs. */
const describeOperation = ({ route, effect, pagination, decoder: { expects } }) => ({
  route,
  effect: effect !== false,
  ...(pagination === undefined ? {} : { pagination: true }),
  decoder: { expects },
})

/** Returns the source text of a command in the table. */
const renderCommand = command => {
  const operations = Array.isArray(command.operations)
    ? command.operations.map(describeOperation)
    : command.operations
  const eager = eagerProperties
    .filter(key => command[key] !== undefined)
    .map(key => `${key}: ${JSON.stringify(command[key])}`)
  const lazy = lazyProperties
    .filter(key => command[key] !== undefined)
    .map(key => `get ${key}() { return ${JSON.stringify(key === 'operations' ? operations : command[key])} }`)
  const run = command.run === undefined ? [] : [`run: run(${JSON.stringify(command.command)})`]
  return `{ ${[...eager, ...lazy, ...run].join(', ')} }`
}

/** Gives main.ts the table in place of the commands. */
export const tableOf = src => ({
  name: 'table',
  setup({ onLoad, onResolve }) {
    const commands = join(src, 'commands/index.ts')
    const main = join(src, 'main.ts')
    onResolve({ filter: /\/commands\/index\.ts$/ }, ({ importer, kind }) =>
      importer === main && kind === 'import-statement' ? { path: 'table', namespace: 'table' } : undefined,
    )
    onLoad({ filter: /.*/, namespace: 'table' }, async () => ({
      contents: `
        const run = name => async (...args) => {
          const { allCommands } = await import('./commands/index.ts')
          return allCommands.find(({ command }) => command === name).run(...args)
        }
        export const allCommands = [${(await evaluate(commands)).allCommands.map(renderCommand).join(',\n')}]`,
      resolveDir: src,
    }))
  },
})
