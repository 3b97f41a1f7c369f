// What the packages bring and this program never uses, and what stands in its place in the bundle: each entry costs
// milliseconds at every start or kilobytes in every install.
import { createRequire } from 'node:module'

const require = createRequire(import.meta.url)

/** The two tables of the parser that the client reads, as data: making them takes as long as parsing an answer. */
const parserTables = () => {
  const { ERROR, TYPE } = require('undici/lib/llhttp/constants.js')
  return `module.exports = ${JSON.stringify({ ERROR, TYPE })}`
}

const never = what => `module.exports = () => { throw new Error(${JSON.stringify(`no ${what}`)}) }`

/** `what` is imported `by` a file, and found to be `instead` (CommonJS) or the file that `is` instead. */
const standIns = [
  { what: /^node:child_process$/, by: /commander/, instead: 'module.exports = {}' },
  { what: /client-h2\.js$/, by: /undici/, instead: never('HTTP/2') },
  { what: /^node:http$/, by: /undici/, instead: 'module.exports = { maxHeaderSize: 16384 }' },
  {
    what: /^node:assert$/,
    by: /undici/,
    instead: `module.exports = (isSo, message = 'an assertion of undici failed') => {
      if (!isSo) throw message instanceof Error ? message : Object.assign(new Error(message), { code: 'ERR_ASSERTION' })
    }`,
  },
  // The bodies that fetch knows, and SOCKS: what is handed over is bytes, and a proxy is an http or https address.
  { what: /web\/fetch\/body\.js$/, by: /undici/, instead: never('bodies of fetch') },
  {
    what: /socks5-proxy-agent$/,
    by: /undici/,
    instead: 'module.exports = { Socks5ProxyAgent: class {} }',
  },
  { what: /llhttp\/constants\.js$/, by: /undici/, instead: parserTables() },
  // A tree of well-known header names, made at every start to save a call of toLowerCase for each header.
  { what: /^\.\/tree$/, by: /undici/, instead: 'module.exports = { tree: { lookup: () => null } }' },
  // One parser of the two: the one that runs on every processor.
  { what: /llhttp_simd-wasm\.js$/, by: /undici/, is: require.resolve('undici/lib/llhttp/llhttp-wasm.js') },
  // Nothing that is stored has a schema or is migrated by conf.
  { what: /^ajv\/dist\/2020\.js$/, by: /conf/, instead: 'exports.Ajv2020 = class {}' },
  { what: /^(?:ajv-formats|semver)$/, by: /conf/, instead: 'module.exports = {}' },
  // The same as modules, of which the bundle takes what is used.
  {
    what: /^yaml$/,
    by: /src.commands/,
    is: require.resolve('../../node_modules/yaml/browser/dist/index.js'),
  },
  {
    what: /^execa$/,
    by: /env-ci/,
    instead: `exports.execaSync = (file, words, options) => {
      const { execFileSync } = require('node:child_process')
      const stdout = execFileSync(file, words, { ...options, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
      return { stdout: stdout.replace(/\\r?\\n$/, '') }
    }`,
  },
  // Of a hundred spinners one is turned, or a line where there is no Unicode.
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

/** Puts the stand-ins in their places. */
export const lean = {
  name: 'lean',
  setup({ onLoad, onResolve }) {
    for (const [index, { what, by, is }] of standIns.entries())
      onResolve({ filter: what }, ({ importer }) => {
        if (!by.test(importer)) return undefined
        return is === undefined ? { path: String(index), namespace: 'lean' } : { path: is }
      })
    onLoad({ filter: /.*/, namespace: 'lean' }, ({ path }) => ({
      contents: standIns[Number(path)].instead,
      resolveDir: import.meta.dirname,
    }))
  },
}
