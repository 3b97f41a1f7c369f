// Replacements for modules of packages that mergeq never uses. Each replacement saves milliseconds at every
// start or kilobytes in every install.
import { createRequire } from 'node:module'

const require = createRequire(import.meta.url)

/**
 * The two tables of llhttp that undici's client reads, as data: computing them takes as long as parsing a
 * response.
 */
const parserConstants = () => {
  const { ERROR, TYPE } = require('undici/lib/llhttp/constants.js')
  return `module.exports = ${JSON.stringify({ ERROR, TYPE })}`
}

/** A module that exports a function that throws, for a feature that mergeq does not use. */
const unsupported = feature =>
  `module.exports = () => { throw new Error(${JSON.stringify(`no ${feature}`)}) }`

/**
 * The replacements: the import `what`, in a file whose path matches `by`, resolves to the CommonJS source
 * `instead` or to the file `is`.
 */
const replacements = [
  { what: /^node:child_process$/, by: /commander/, instead: 'module.exports = {}' },
  { what: /client-h2\.js$/, by: /undici/, instead: unsupported('HTTP/2') },
  { what: /^node:http$/, by: /undici/, instead: 'module.exports = { maxHeaderSize: 16384 }' },
  {
    what: /^node:assert$/,
    by: /undici/,
    instead: `module.exports = (isSo, message = 'an assertion of undici failed') => {
      if (!isSo) throw message instanceof Error ? message : Object.assign(new Error(message), { code: 'ERR_ASSERTION' })
    }`,
  },
  // Body types of fetch, and SOCKS: request bodies are bytes, and a proxy has an http or https URL.
  { what: /web\/fetch\/body\.js$/, by: /undici/, instead: unsupported('bodies of fetch') },
  {
    what: /socks5-proxy-agent$/,
    by: /undici/,
    instead: 'module.exports = { Socks5ProxyAgent: class {} }',
  },
  { what: /llhttp\/constants\.js$/, by: /undici/, instead: parserConstants() },
  // A search tree of well-known header names, built at every start to save a call of toLowerCase for each
  // header.
  { what: /^\.\/tree$/, by: /undici/, instead: 'module.exports = { tree: { lookup: () => null } }' },
  // One of the two parsers: the one that runs on every processor.
  { what: /llhttp_simd-wasm\.js$/, by: /undici/, is: require.resolve('undici/lib/llhttp/llhttp-wasm.js') },
  // mergeq uses neither the schemas nor the migrations of conf.
  { what: /^ajv\/dist\/2020\.js$/, by: /conf/, instead: 'exports.Ajv2020 = class {}' },
  { what: /^(?:ajv-formats|semver)$/, by: /conf/, instead: 'module.exports = {}' },
  // The ES module version, from which the bundler takes only the used parts.
  {
    what: /^yaml$/,
    by: /src.commands/,
    is: require.resolve('../../node_modules/yaml/browser/dist/index.js'),
  },
  {
    what: /^execa$/,
    by: /env-ci/,
    instead: `exports.execaSync = (file, args, options) => {
      const { execFileSync } = require('node:child_process')
      const stdout = execFileSync(file, args, { ...options, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
      return { stdout: stdout.replace(/\\r?\\n$/, '') }
    }`,
  },
  // mergeq shows one of the hundred spinners, and a simple one on terminals without Unicode.
  {
    what: /^\.\/spinners\.json$/,
    by: /cli-spinners/,
    instead: (({ dots, line }) => `module.exports = ${JSON.stringify({ dots, line })}`)(
      require('../../node_modules/cli-spinners/spinners.json'),
    ),
  },
  {
    what: /^\.\.?\/(?:custom|maps)\//,
    by: /@colors/,
    instead: 'module.exports = () => text => text',
  },
]

/** Build plugin: applies the replacements. */
export const lean = {
  name: 'lean',
  setup({ onLoad, onResolve }) {
    for (const [index, { what, by, is }] of replacements.entries())
      onResolve({ filter: what }, ({ importer }) => {
        if (!by.test(importer)) return undefined
        return is === undefined ? { path: String(index), namespace: 'lean' } : { path: is }
      })
    onLoad({ filter: /.*/, namespace: 'lean' }, ({ path }) => ({
      contents: replacements[Number(path)].instead,
      resolveDir: import.meta.dirname,
    }))
  },
}
