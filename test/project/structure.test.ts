import { readdirSync, readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { expect, test } from 'vitest'
import { parseAst } from 'vitest/node'
import { clientOperations } from '../../src/api/operations/index.ts'

const base = ['errors', 'json', 'url', 'host/host types']

/**
 * What a directory may import besides itself: a directory, a file or folder of a directory (without `.ts`), or a
 * built-in module; followed by ` types` where only types may be imported, by ` lazily` where a value may only be
 * imported dynamically.
 */
const importTable: Readonly<Record<string, readonly string[]>> = {
  errors: [],
  json: [],
  url: [],
  host: ['errors', 'node:*'],
  domain: ['errors', 'json'],
  http: ['errors', 'url', 'host/host types', 'node:crypto', 'node:dns', 'node:net', 'node:tls', 'node:zlib'],
  // What settings, messages and redaction can do, which the caller of the service gives.
  api: ['domain', 'http', 'config types', 'output/logger types', 'output/redactor types', ...base],
  wait: ['api', 'domain', ...base],
  output: ['domain', 'errors', 'json'],
  config: ['domain', 'output/logger types', ...base],
  // What a command uses: it knows nothing of how a command line is read.
  run: ['config', 'output', 'api', 'http types', 'domain', ...base],
  // What only the program uses: parsing, help, completion, corrections.
  cli: ['run', 'config', 'output', 'api', 'domain', ...base],
  // `doctor` reads the proxy as the HTTP client does.
  commands: [
    'run',
    // `mergeq help` is a command.
    'cli/help',
    'cli/help-layout',
    'cli/topics',
    'cli/parse',
    'cli/correct lazily',
    'wait',
    'api',
    'domain',
    'config',
    'output',
    'http/http-client lazily',
    'sandbox lazily',
    '../completions',
    ...base,
  ],
  // The library logs and redacts its notices as the command line does, and reads a proxy as the HTTP client does.
  library: [
    'wait',
    'api',
    'config',
    'domain',
    'host',
    'http types',
    'http/proxy',
    'http/traffic',
    'output/logger',
    'output/redactor',
    // `mergeq/testing`.
    'sandbox/sandbox',
    ...base,
  ],
  sandbox: ['domain', 'api/operation', 'api/operations', 'errors', 'json', 'node:http', 'node:crypto'],
  main: ['host', 'cli', 'commands/index', 'errors'],
}

/** The one directory that may import each third-party package. */
const packages: Readonly<Record<string, string>> = {
  commander: 'cli',
  undici: 'http',
  chalk: 'output',
  'cli-table3': 'output',
  ora: 'output',
  papaparse: 'output',
  'string-width': 'output',
  'supports-hyperlinks': 'host',
  execa: 'host',
  open: 'host',
  conf: 'config',
  'proper-lockfile': 'host',
  'git-url-parse': 'config',
  yaml: 'commands',
  sax: 'commands',
  leven: 'domain',
}

interface Node {
  readonly type: string
  readonly [key: string]: unknown
}

/** An import, an export-from, a dynamic import or an `import('...')` type. */
interface Import {
  readonly from: string
  /** A path below src/ for a file of ours, otherwise the name of a package or `node:...`. */
  readonly to: string
  readonly how: 'value' | 'type' | 'lazy'
}

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string'

/** The nodes of a value in a syntax tree, appended to those that were found before. */
function nodesOf(value: unknown, found: Node[] = []): readonly Node[] {
  if (Array.isArray(value)) for (const each of value) nodesOf(each, found)
  else if (isNode(value)) {
    found.push(value)
    for (const child of Object.values(value)) nodesOf(child, found)
  }
  return found
}

function parse(text: string): readonly Node[] {
  const tree: unknown = parseAst(text, { lang: 'ts' })
  if (!isNode(tree)) throw new Error('no syntax tree')
  return nodesOf(tree)
}

function importsOf(from: string, nodes: readonly Node[]): readonly Import[] {
  const imports: Import[] = []
  for (const node of nodes) {
    if (!isNode(node.source) || !/^(Import|Export|TSImport)/.test(node.type)) continue
    const name = String(node.source.value)
    const specifiers = Array.isArray(node.specifiers) ? node.specifiers.filter(isNode) : []
    const isType = ({ type, importKind, exportKind }: Node) =>
      type === 'TSImportType' || importKind === 'type' || exportKind === 'type'
    const onlyTypes = isType(node) || (specifiers.length > 0 && specifiers.every(isType))
    imports.push({
      from,
      to: name.startsWith('.') ? posix.join(posix.dirname(from), name) : name,
      how: onlyTypes ? 'type' : node.type === 'ImportExpression' ? 'lazy' : 'value',
    })
  }
  return imports
}

const isOurs = ({ to }: Import): boolean => to.endsWith('.ts')

/** The directory of src/ that a file belongs to; a file directly in src/ goes by its own name. */
const directoryOf = (path: string): string => (path.split('/')[0] ?? '').replace(/\.ts$/, '')

function isPermitted(permit: string, { to, how }: Import): boolean {
  const [name = '', only] = permit.split(' ')
  if (only === 'types' && how !== 'type') return false
  if (only === 'lazily' && how === 'value') return false
  return to === name || to === `${name}.ts` || to.startsWith(name.endsWith('*') ? 'node:' : `${name}/`)
}

function isForbidden(imported: Import): boolean {
  const directory = directoryOf(imported.from)
  if (isOurs(imported) && directoryOf(imported.to) === directory) return false
  const packageName = imported.to.split('/', imported.to.startsWith('@') ? 2 : 1).join('/')
  if (packages[packageName] === directory) return false
  return importTable[directory]?.some(permit => isPermitted(permit, imported)) !== true
}

const files = readdirSync('src', { recursive: true, encoding: 'utf8' })
  .map(path => path.replaceAll('\\', '/'))
  .filter(path => path.endsWith('.ts'))
  .map(path => ({ path, text: readFileSync(`src/${path}`, 'utf8') }))

// Biome finds cycles of imports, and uses of `process` in other places than host/.
test('the source imports only what the table permits', () => {
  const imports = files.flatMap(({ path, text }) => importsOf(path, parse(text)))
  expect(imports.length).toBeGreaterThan(1_000)
  expect(imports.filter(isForbidden)).toEqual([])
})

test('no operation has the name of something else that is exported', () => {
  const exported = files.flatMap(({ path, text }) =>
    [...text.matchAll(/^export (?:const|(?:async )?function\*?) (\w+)/gm)].map(([, name]) => ({
      path,
      name,
    })),
  )
  const isOperation = (name = '') => Object.hasOwn(clientOperations, name)
  const inOperations = ({ path }: { path: string }) => path.startsWith('api/operations/')
  expect(exported.filter(each => inOperations(each) && isOperation(each.name)).length).toBeGreaterThan(15)
  const others = exported.filter(each => isOperation(each.name) && !inOperations(each))
  expect(others).toEqual([])
})

/** What the library has in its own form: its options and errors are others. */
const ownForms = ['parsePullRequest', 'startSandbox']

test('no two files export a function of the same name', () => {
  const functions = files.flatMap(({ text }) => {
    const names = text.matchAll(/^export (?:(?:async )?function\*? (\w+)|const (\w+) =\s+(?:async )?[(<])/gm)
    return [...new Set([...names].map(([, name, constant]) => name ?? constant ?? ''))]
  })
  expect(functions.length).toBeGreaterThan(500)
  const alike = functions.filter((name, index) => functions.indexOf(name) < index)
  expect(alike.sort()).toEqual(ownForms)
})

test('what lies below the command line holds none of its words, only options of Node and curl', () => {
  const words =
    /(?<![\w-])--[a-z][\w-]*|\bmergeq (?:api|auth|completion|config|doctor|flaky|guard|help|metrics|pr|queue|sandbox|\$|['"`])/g
  const found = files
    .filter(({ path }) => /^(?:api|wait|http|domain)\//.test(path))
    .flatMap(({ text }) => text.replaceAll(/\/\*\*[\s\S]*?\*\/|^ *\/\/.*/gm, '').match(words) ?? [])
  expect(found.sort()).toEqual(['--data-binary', '--jitless', '--use-system-ca'])
})

test.each([
  ['domain/x.ts', "import type { Cli } from '../run/cli.ts'", true],
  ['errors.ts', "export * from './output/json.ts'", true],
  ['commands/x.ts', "import { startSandbox } from '../sandbox/sandbox.ts'", true],
  ['commands/x.ts', "await import('../sandbox/sandbox.ts')", false],
  ['config/x.ts', "import request from 'undici/lib/api/api-request.js'", true],
  ['http/x.ts', "import { createHost } from '../host/host.ts'", true],
  ['http/x.ts', "import { type Host } from '../host/host.ts'", false],
])('in %s, whether %s is forbidden', (path, text, forbidden) => {
  expect(importsOf(path, parse(text)).map(isForbidden)).toEqual([forbidden])
})
