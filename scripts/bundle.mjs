// The rolldown options for src/: the package is built in several files, the standalone program in one.
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { buildVersion } from './build-version.mjs'
import { textModules } from './text-modules.mjs'

export const root = resolve(import.meta.dirname, '..')
export const src = join(root, 'src')
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
export const version = buildVersion(manifest.version, root)

const spinners = JSON.parse(readFileSync(join(root, 'node_modules', 'cli-spinners', 'spinners.json'), 'utf8'))

/**
 * Modules that packages load at start and mergeq never uses: what replaces them (nothing, without `code`), and
 * what that saves of the CPU time of a command. An import that a package no longer has makes the build fail.
 */
const replacements = [
  // mergeq starts no subcommands as programs of their own: 2 of 35 ms for `--help`.
  { of: 'commander', module: 'node:child_process' },
  // mergeq corrects command lines itself.
  { of: 'commander', module: './suggestSimilar' },
  // mergeq decides itself about colors: 3 of 35 ms for `--help`, with node:os and node:tty.
  { of: 'chalk', module: '#supports-color' },
  // Node knows the emoji of a newer Unicode, and finds them without 10 KB of patterns.
  {
    of: 'string-width',
    module: 'emoji-regex',
    code: 'module.exports = () => /\\p{RGI_Emoji}|\\p{Emoji_Presentation}/gv',
  },
  // ora draws one of these two; the other 80 are 30 KB.
  {
    of: 'ora',
    module: 'cli-spinners',
    code: `export default ${JSON.stringify({ dots: spinners.dots, line: spinners.line })}`,
  },
  // No settings file has a schema: 15 of 112 ms for `config set`.
  { of: 'conf', module: 'ajv/dist/2020.js' },
  { of: 'conf', module: 'ajv-formats' },
  // Nor migrations, changes that are watched, or encryption.
  { of: 'conf', module: 'semver' },
  { of: 'conf', module: 'debounce-fn' },
  { of: 'conf', module: 'uint8array-extras' },
  // It listens to signals and sends the first one again, before mergeq has said what is in progress. Nothing is left to
  // remove at the end: settings are written to a file of their own.
  { of: 'atomically', module: 'when-exit', code: 'module.exports = () => () => undefined' },
  // 6 of 65 ms for a request, with node:http2.
  { of: 'undici', module: './client-h2.js' },
  { of: 'undici', module: 'node:http', code: 'module.exports = { maxHeaderSize: 16384 }' },
  {
    of: 'undici',
    module: 'node:assert',
    code: "module.exports = (value, message) => { if (!value) throw new Error(message ?? 'assertion failed') }",
  },
  // Bodies of `fetch`; mergeq sends bytes.
  { of: 'undici', module: '../web/fetch/body.js' },
  { of: 'undici', module: './socks5-proxy-agent' },
  // The parser for CPUs with SIMD; the other one works on each.
  { of: 'undici', module: '../llhttp/llhttp_simd-wasm.js' },
]

const prefix = '\0replacement:'
const bundled = new Set()
const used = new Set()

const replaceModules = {
  name: 'replace-modules',
  resolveId(id, importer = '') {
    const importing = importer.replaceAll('\\', '/')
    const ofPackage = replacements.filter(({ of }) => importing.includes(`/node_modules/${of}/`))
    for (const { of } of ofPackage) bundled.add(of)
    const found = ofPackage.find(({ module }) => module === id)
    used.add(found)
    return found && `${prefix}${replacements.indexOf(found)}`
  },
  load: id =>
    id.startsWith(prefix) ? (replacements[id.slice(prefix.length)].code ?? 'module.exports = {}') : null,
  buildEnd() {
    for (const replacement of replacements.filter(({ of }) => bundled.has(of)))
      if (!used.has(replacement)) throw new Error(`${replacement.of} no longer imports ${replacement.module}`)
  },
}

/** How source files become modules. */
export const inputOptions = {
  platform: 'node',
  transform: { target: 'node20.18', define: { MERGEQ_VERSION: JSON.stringify(version) } },
  plugins: [replaceModules, textModules],
  // A lazy import of a module that is loaded anyway costs nothing.
  checks: { ineffectiveDynamicImport: false },
}

/** How modules become files. `import()` would start the loader of ES modules; `require` takes less time. */
export const outputOptions = {
  format: 'cjs',
  dynamicImportInCjs: false,
  minify: true,
  minifyInternalExports: false,
  comments: false,
}
