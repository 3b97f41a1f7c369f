// Bundles src/ into a few CommonJS files in dist/. What the source imports lazily (`await import('./room.ts')`) becomes
// a file of its own, so that a command loads only what it uses.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { lean } from './build/lean.mjs'
import { bundling } from './build/settings.mjs'
import { modulesIn, providing, takenFrom } from './build/shared.mjs'
import { evaluate, tableOf } from './build/table.mjs'

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..')
const dist = join(root, 'dist')
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))

/** The file that a lazily imported module becomes: its directory and name, `http-client.cjs`. */
const partOf = path => `${relative(join(root, 'src'), path).replace(/\.ts$/, '').replaceAll('/', '-')}.cjs`

const src = join(root, 'src')
const [front, commands] = ['main.ts', 'commands/index.ts'].map(path => join(src, path))
/** The part of each entry, and the entry in whose part it was first met. */
const parts = new Map([
  [front, { file: 'mergeq.cjs' }],
  [join(src, 'library/index.ts'), { file: 'library.cjs', by: commands }],
])
const fileOf = source => parts.get(source).file

const lazily = by => ({
  name: 'lazily',
  setup({ onResolve }) {
    onResolve({ filter: /^\.{1,2}\// }, ({ kind, path, resolveDir }) => {
      if (kind !== 'dynamic-import') return undefined
      const source = resolve(resolveDir, path)
      if (!parts.has(source)) parts.set(source, { file: partOf(source), by })
      return { path: `./${fileOf(source)}`, external: true }
    })
  },
})

const table = tableOf(src)
const bundle = (source, options) =>
  build({
    outfile: join(dist, fileOf(source)),
    ...bundling(version),
    metafile: true,
    ...options,
  })

// What each part would hold by itself tells what they have in common.
const held = new Map()
for (const source of parts.keys()) {
  const plugins = [table, lazily(source), lean]
  const { metafile } = await bundle(source, { entryPoints: [source], plugins, write: false })
  held.set(source, modulesIn({ metafile, root }))
}
const usedBeside = (...those) =>
  new Set([...held].flatMap(([source, modules]) => (those.includes(source) ? [] : modules)))
const commonWith = (source, others) => held.get(source).filter(path => path !== source && others.has(path))
const byFront = commonWith(front, usedBeside(front))
const byCommands = commonWith(commands, usedBeside(front, commands)).filter(path => !byFront.includes(path))

const ofFront = byFront.map(path => [path, fileOf(front)])
const ofCommands = byCommands.map(path => [path, fileOf(commands)])
/** What a part may take from elsewhere: what the front loads by itself must not wake the commands. */
const providersOf = source =>
  new Map(
    source === front
      ? []
      : source === commands || parts.get(source).by === front
        ? ofFront
        : [...ofFront, ...ofCommands],
  )
const provided = new Map([
  [front, byFront],
  [commands, byCommands],
])

rmSync(dist, { recursive: true, force: true })
mkdirSync(dist)
const licensed = new Set()
for (const source of parts.keys()) {
  const plugins = [table, lazily(source), takenFrom(providersOf(source), src), lean]
  const modules = provided.get(source)
  const entry =
    modules === undefined
      ? { entryPoints: [source] }
      : { stdin: { contents: providing(source, modules, src), resolveDir: src, loader: 'ts' } }
  const { metafile } = await bundle(source, { ...entry, plugins })
  for (const input of Object.keys(metafile.inputs)) {
    const [, name] = /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(input) ?? []
    if (name !== undefined) licensed.add(name)
  }
}

// The library as a module, and its types, which are the same for both ways to load it.
const { renderTypeDeclarations } = await evaluate(join(src, 'library/declarations.ts'))
writeFileSync(
  join(dist, 'library.mjs'),
  "import library from './library.cjs'\n\nexport const { createClient } = library\n",
)
for (const ending of ['d.mts', 'd.cts'])
  writeFileSync(join(dist, `library.${ending}`), renderTypeDeclarations())

/** The licences of what is inside the bundle. */
const licences = [...licensed].sort().map(name => {
  const folder = join(root, 'node_modules', name)
  const { version: of, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const text = ['LICENSE', 'LICENSE.md', 'license', 'LICENCE', 'LICENSE.txt', 'LICENSE-MIT.txt'].map(file => {
    try {
      return readFileSync(join(folder, file), 'utf8').trim()
    } catch {
      return ''
    }
  })
  return `${name} ${of} (${license})\n\n${text.find(one => one !== '') ?? ''}\n`
})
writeFileSync(join(dist, 'LICENSES.txt'), licences.join('\n----\n\n'))
if (!process.argv.includes('--quiet'))
  console.log(`built ${[...parts.values()].map(({ file }) => file).join(', ')}`)
