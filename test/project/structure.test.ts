import { readdirSync, readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { expect, test } from 'vitest'
import { parseAst } from 'vitest/node'
import { clientOperations } from '../../src/api/operations/index.ts'

const base = ['base', 'host/host types']

/**
 * What a directory may import besides itself: a directory, a file or folder of a directory (without `.ts`), or a
 * built-in module; followed by ` types` where only types may be imported, by ` lazily` where a value may only be
 * imported dynamically.
 */
const importTable: Readonly<Record<string, readonly string[]>> = {
  base: [],
  host: ['base', 'node:*'],
  values: ['base'],
  // What the records of the service say: pure functions, as in `values`.
  domain: ['values', 'base'],
  http: [
    'host/host types',
    'base',
    'values/suggested-command',
    'node:crypto',
    'node:dns',
    'node:net',
    'node:tls',
    'node:zlib',
  ],
  // What settings, messages and redaction can do, which the caller of the service gives.
  api: ['domain', 'values', 'http', 'config types', 'output/logger types', 'output/redactor types', ...base],
  // What needs several requests; a single one knows nothing of it.
  'api/reads': ['api', 'config types', 'domain', 'values', ...base],
  // Topics: rules and reads, for commands and library. They print nothing.
  wait: ['api', 'domain', 'values', ...base],
  explain: ['api', 'config types', 'domain', 'values', 'output/styled-text', ...base],
  output: ['domain/states', 'values', 'base'],
  config: ['values', 'output/logger types', 'output/output-formats', ...base],
  // What a command uses: it knows nothing of how a command line is read.
  command: ['wait/options', 'config', 'output', 'api', 'http types', 'domain', 'values', ...base],
  // What only the program uses: parsing, help, completion, corrections.
  cli: ['command', 'config', 'output', 'api', 'domain', 'values', ...base],
  // `doctor` reads the proxy as the HTTP client does.
  commands: [
    'command',
    // `mergeq help` is a command.
    'cli/help',
    'cli/help-layout',
    'cli/topics',
    'cli/parse',
    'cli/find-help lazily',
    'explain',
    'wait',
    'api',
    'domain',
    'values',
    'config',
    'output',
    'http/http-client lazily',
    'sandbox lazily',
    '../completions',
    ...base,
  ],
  // The library logs and redacts its notices as the command line does, and reads a proxy as the HTTP client does.
  library: [
    'explain',
    'wait',
    'api',
    'config',
    'values',
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
  sandbox: [
    'api/limits',
    'api/operation',
    'api/params',
    'api/operations',
    'domain',
    'values',
    'base',
    'node:http',
    'node:crypto',
  ],
  main: ['host', 'cli', 'commands/index', 'base'],
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
  conf: 'host',
  'proper-lockfile': 'host',
  yaml: 'commands',
  sax: 'commands',
  leven: 'values',
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
const directoryOf = (path: string): string =>
  path.startsWith('api/reads/') ? 'api/reads' : (path.split('/')[0] ?? '').replace(/\.ts$/, '')

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

test('the table has no circles', () => {
  const roomsOf = (directory: string) => [
    ...new Set(
      (importTable[directory] ?? [])
        .map(permit => directoryOf(permit.split(' ')[0] ?? ''))
        .filter(name => name !== directory && Object.hasOwn(importTable, name)),
    ),
  ]
  const circles = (path: readonly string[]): readonly string[] =>
    roomsOf(path.at(-1) ?? '').flatMap(room =>
      path.includes(room) ? [[...path, room].join(' -> ')] : circles([...path, room]),
    )
  expect(Object.keys(importTable).flatMap(directory => circles([directory]))).toEqual([])
})

/** Where a file of commands/ belongs: to a group, and there to a command or to `shared`; files of the folder itself to none. */
function placeOf(path: string) {
  const [group = '', name = '', ...rest] = path
    .replace(/^commands\//, '')
    .replace(/\.ts$/, '')
    .split('/')
  // A group of one command: `doctor.ts`, `doctor/checks.ts`.
  const isGroupOfOne = files.some(file => file.path === `commands/${group}.ts`)
  if (isGroupOfOne) return { group, owner: group, isCommand: name === '' }
  return { group, owner: name, isCommand: rest.length === 0 }
}

/** The imports from a file of commands/ to another one, but those of the index. */
const importsOfCommands = () =>
  files
    .filter(({ path }) => path.startsWith('commands/') && path !== 'commands/index.ts')
    .flatMap(({ path, text }) => importsOf(path, parse(text)))
    .filter(({ to }) => to.startsWith('commands/') && to.endsWith('.ts'))

test('no command imports another one, nor what belongs to it; no group imports another one', () => {
  const imports = importsOfCommands()
  expect(imports.length).toBeGreaterThan(50)
  const wrong = imports.filter(({ from, to }) => {
    const [one, other] = [placeOf(from), placeOf(to)]
    return (
      other.isCommand || one.group !== other.group || (other.owner !== one.owner && other.owner !== 'shared')
    )
  })
  expect(wrong).toEqual([])
})

test('a folder of a group belongs to a command or is shared, and what is shared has two users', () => {
  const paths = files
    .map(({ path }) => path)
    .filter(path => path.startsWith('commands/') && !path.endsWith('.d.ts'))
  const owners = paths.filter(path => !placeOf(path).isCommand).map(path => ({ path, ...placeOf(path) }))
  const isOwned = ({ group, owner }: { group: string; owner: string }) =>
    owner === 'shared' ||
    paths.includes(`commands/${group}/${owner}.ts`) ||
    paths.includes(`commands/${owner}.ts`)
  expect(owners.filter(each => !isOwned(each))).toEqual([])
  const imports = importsOfCommands()
  const usersOf = (path: string): readonly string[] =>
    imports
      .filter(({ to }) => to === path)
      .flatMap(({ from }) => (placeOf(from).owner === 'shared' ? usersOf(from) : [placeOf(from).owner]))
  const shared = paths.filter(path => placeOf(path).owner === 'shared')
  expect(shared.length).toBeGreaterThan(10)
  expect(shared.filter(path => new Set(usersOf(path)).size < 2)).toEqual([])
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
    .filter(({ path }) => /^(?:api|wait|http|domain|values)\/|^explain\/(?!lines|next-)/.test(path))
    .flatMap(({ text }) => text.replaceAll(/\/\*\*[\s\S]*?\*\/|^ *\/\/.*/gm, '').match(words) ?? [])
  expect(found.sort()).toEqual(['--data-binary', '--jitless', '--use-system-ca'])
})

test.each([
  ['values/x.ts', "import type { Cli } from '../command/command.ts'", true],
  ['base/errors.ts', "export * from '../output/json.ts'", true],
  ['commands/x.ts', "import { startSandbox } from '../sandbox/sandbox.ts'", true],
  ['commands/x.ts', "await import('../sandbox/sandbox.ts')", false],
  ['config/x.ts', "import request from 'undici/lib/api/api-request.js'", true],
  ['http/x.ts', "import { createHost } from '../host/host.ts'", true],
  ['http/x.ts', "import { type Host } from '../host/host.ts'", false],
])('in %s, whether %s is forbidden', (path, text, forbidden) => {
  expect(importsOf(path, parse(text)).map(isForbidden)).toEqual([forbidden])
})
