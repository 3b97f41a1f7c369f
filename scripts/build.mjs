// Bundles src/ into a few CommonJS files in dist/. What the source imports lazily (`await import('./room.ts')`) becomes
// a file of its own, so that a command loads only what it uses. The files share no modules.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { lean } from './build/lean.mjs'
import { tableOf } from './build/table.mjs'

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..')
const dist = join(root, 'dist')
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))

/** The file that a lazily imported module becomes: its room and name, `transport-transport.cjs`. */
const partOf = path => `${relative(join(root, 'src'), path).replace(/\.ts$/, '').replaceAll('/', '-')}.cjs`

const parts = new Map([[join(root, 'src/main.ts'), 'mergeq.cjs']])

const lazily = {
  name: 'lazily',
  setup({ onResolve }) {
    onResolve({ filter: /^\.{1,2}\// }, ({ kind, path, resolveDir }) => {
      if (kind !== 'dynamic-import') return undefined
      const source = resolve(resolveDir, path)
      if (!parts.has(source)) parts.set(source, partOf(source))
      return { path: `./${parts.get(source)}`, external: true }
    })
  },
}

const table = tableOf(join(root, 'src'))

rmSync(dist, { recursive: true, force: true })
mkdirSync(dist)
const licensed = new Set()
for (const [source, part] of parts) {
  const { metafile } = await build({
    entryPoints: [source],
    outfile: join(dist, part),
    bundle: true,
    minify: true,
    platform: 'node',
    format: 'cjs',
    target: 'node20.18',
    supported: { 'dynamic-import': false },
    legalComments: 'none',
    define: { MERGEQ_VERSION: JSON.stringify(version) },
    plugins: [table, lazily, lean],
    metafile: true,
    logLevel: 'warning',
  })
  for (const input of Object.keys(metafile.inputs)) {
    const [, name] = /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(input) ?? []
    if (name !== undefined) licensed.add(name)
  }
}

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
  console.log(`built ${[...parts.values()].map(part => basename(part)).join(', ')}`)
