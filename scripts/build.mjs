// Bundles src/ into a few CommonJS files in dist/. Each module that the source imports dynamically
// (`await import('./http/http-client.ts')`) becomes a separate file, so that a command loads only what it uses.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { lean } from './build/lean.mjs'
import { bundleOptions } from './build/settings.mjs'
import { createProviderEntry, importFromProviders, listSourceModules } from './build/shared.mjs'
import { tableOf } from './build/table.mjs'

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..')
const dist = join(root, 'dist')
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))

/** The output file of a dynamically imported module: its directory and name, such as `http-client.cjs`. */
const outputName = path =>
  `${relative(join(root, 'src'), path).replace(/\.ts$/, '').replaceAll('/', '-')}.cjs`

const src = join(root, 'src')
const [mainEntry, commands] = ['main.ts', 'commands/index.ts'].map(path => join(src, path))
/** The output file of each entry module, and the entry whose chunk imports it first. */
const chunks = new Map([
  [mainEntry, { file: 'mergeq.cjs' }],
  [join(src, 'library/index.ts'), { file: 'library.cjs', importedBy: commands }],
])
const outputOf = source => chunks.get(source).file

/** Build plugin: registers every dynamic import of a module of src/ as a chunk. */
const splitDynamicImports = importedBy => ({
  name: 'split-dynamic-imports',
  setup({ onResolve }) {
    onResolve({ filter: /^\.{1,2}\// }, ({ kind, path, resolveDir }) => {
      if (kind !== 'dynamic-import') return undefined
      const source = resolve(resolveDir, path)
      if (!chunks.has(source)) chunks.set(source, { file: outputName(source), importedBy })
      return { path: `./${outputOf(source)}`, external: true }
    })
  },
})

const table = tableOf(src)
const bundle = (source, options) =>
  build({
    outfile: join(dist, outputOf(source)),
    ...bundleOptions(version),
    metafile: true,
    ...options,
  })

// A first build without output shows which modules each chunk needs, and so which modules several chunks
// share.
const modulesOf = new Map()
for (const source of chunks.keys()) {
  const plugins = [table, splitDynamicImports(source), lean]
  const { metafile } = await bundle(source, { entryPoints: [source], plugins, write: false })
  modulesOf.set(source, listSourceModules({ metafile, root }))
}
const usedOutside = (...excluded) =>
  new Set([...modulesOf].flatMap(([source, modules]) => (excluded.includes(source) ? [] : modules)))
const sharedModules = (source, others) =>
  modulesOf.get(source).filter(path => path !== source && others.has(path))
const providedByMain = sharedModules(mainEntry, usedOutside(mainEntry))
const providedByCommands = sharedModules(commands, usedOutside(mainEntry, commands)).filter(
  path => !providedByMain.includes(path),
)

const mainProviders = providedByMain.map(path => [path, outputOf(mainEntry)])
const commandProviders = providedByCommands.map(path => [path, outputOf(commands)])
/**
 * The modules that a chunk imports from others. A chunk that the main entry loads must not load the commands.
 */
const providersOf = source =>
  new Map(
    source === mainEntry
      ? []
      : source === commands || chunks.get(source).importedBy === mainEntry
        ? mainProviders
        : [...mainProviders, ...commandProviders],
  )
const providedModules = new Map([
  [mainEntry, providedByMain],
  [commands, providedByCommands],
])

rmSync(dist, { recursive: true, force: true })
mkdirSync(dist)
const bundledPackages = new Set()
for (const source of chunks.keys()) {
  const plugins = [table, splitDynamicImports(source), importFromProviders(providersOf(source), src), lean]
  const modules = providedModules.get(source)
  const entry =
    modules === undefined
      ? { entryPoints: [source] }
      : { stdin: { contents: createProviderEntry(source, modules, src), resolveDir: src, loader: 'ts' } }
  const { metafile } = await bundle(source, { ...entry, plugins })
  for (const input of Object.keys(metafile.inputs)) {
    const [, name] = /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(input) ?? []
    if (name !== undefined) bundledPackages.add(name)
  }
}

// The library as a module, and its types, which are the same for both ways to load it.
const types = readFileSync(join(src, 'library/types.ts'), 'utf8')
const declaration = `
/**
 * Returns a client of the service. Settings that are left out are found where the command line finds them.
 * Throws a {@link MergeqError} for a wrong option.
 */
export declare function createClient(options?: ClientOptions): Client
`
writeFileSync(
  join(dist, 'library.mjs'),
  "import library from './library.cjs'\n\nexport const { createClient } = library\n",
)
for (const ending of ['d.mts', 'd.cts']) writeFileSync(join(dist, `library.${ending}`), types + declaration)

/** The licence texts of the packages in the bundle. */
const licences = [...bundledPackages].sort().map(name => {
  const folder = join(root, 'node_modules', name)
  const { version: packageVersion, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const texts = ['LICENSE', 'LICENSE.md', 'license', 'LICENCE', 'LICENSE.txt', 'LICENSE-MIT.txt'].map(
    file => {
      try {
        return readFileSync(join(folder, file), 'utf8').trim()
      } catch {
        return ''
      }
    },
  )
  return `${name} ${packageVersion} (${license})\n\n${texts.find(text => text !== '') ?? ''}\n`
})
writeFileSync(join(dist, 'LICENSES.txt'), licences.join('\n----\n\n'))
if (!process.argv.includes('--quiet'))
  console.log(`built ${[...chunks.values()].map(({ file }) => file).join(', ')}`)
