import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { parseAst } from 'vitest/node'
import manifest from '../package.json' with { type: 'json' }
import { operationName } from '../src/api/operation.ts'
import { serviceOperations } from '../src/api/operations/index.ts'

/** One file of the source: its path below src/, and its text. */
interface File {
  readonly path: string
  readonly text: string
}

/** One import, export-from, dynamic import or `import('...')` type of a file. */
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

const root = join(dirname(fileURLToPath(import.meta.url)), '..')

const files: readonly File[] = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
  .map(path => path.replaceAll('\\', '/'))
  .filter(path => path.endsWith('.ts'))
  .sort()
  .map(path => ({ path, text: readFileSync(join(root, 'src', path), 'utf8') }))

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string'

const trees = new WeakMap<File, Node>()

function treeOf(file: File): Node {
  const standing = trees.get(file)
  if (standing !== undefined) return standing
  const tree: unknown = parseAst(file.text, { lang: 'ts' })
  if (!isNode(tree)) throw new Error(`${file.path} cannot be parsed`)
  trees.set(file, tree)
  return tree
}

/** Every node below one, with the node and the key it hangs on. */
function* nodesIn(node: Node, parent?: Node, key = ''): Generator<readonly [Node, Node | undefined, string]> {
  yield [node, parent, key]
  for (const [name, value] of Object.entries(node))
    for (const below of Array.isArray(value) ? value : [value])
      if (isNode(below)) yield* nodesIn(below, node, name)
}

const nodesOf = (file: File) => [...nodesIn(treeOf(file))]

const wordAt = (node: unknown): string | undefined =>
  isNode(node) && typeof node.value === 'string' ? node.value : undefined

function importsOf(file: File): readonly Import[] {
  return nodesOf(file).flatMap(([node]) => {
    const source = wordAt(node.source) ?? (isNode(node.source) ? wordAt(node.source.literal) : undefined)
    if (source === undefined || !/^(Import|Export|TSImport)/.test(node.type)) return []
    const specifiers = Array.isArray(node.specifiers) ? node.specifiers.filter(isNode) : []
    const typed =
      node.type === 'TSImportType' ||
      node.importKind === 'type' ||
      node.exportKind === 'type' ||
      (specifiers.length > 0 &&
        specifiers.every(one => one.importKind === 'type' || one.exportKind === 'type'))
    const ours = /^\.{1,2}\//.test(source)
    return [
      {
        from: file.path,
        to: ours ? posix.join(posix.dirname(file.path), source) : source,
        ours,
        how: typed ? 'type' : node.type === 'ImportExpression' ? 'lazy' : 'value',
      } as const,
    ]
  })
}

/** The commander tree stands beside program.ts as run/ stands beside run.ts. */
const layout = new Map([
  ['tree', 'program'],
  ['world', 'real'],
])

/** The room that a file belongs to; `world` is the type alone, `real` what makes the real one. */
function roomOf(path: string): string {
  if (path === 'world/world.ts') return 'world'
  const [first = ''] = path.split('/')
  const room = first.replace(/\.ts$/, '')
  return layout.get(room) ?? room
}

/** What a room may import: another room, `room/file` of it, or an outside name; with ` types` or ` lazily` only so. */
type Permit = string

/** The import table of DESIGN.md section 2. A room always imports itself. */
const table: Readonly<Record<string, readonly Permit[]>> = {
  failure: [],
  host: [],
  real: ['world', 'failure', 'node:*'],
  contract: ['failure', 'view/shapes'],
  settings: ['contract/field', 'contract/words', 'contract/json', 'view/json', 'failure', 'world types'],
  request: ['contract', 'settings types', 'failure'],
  transport: [
    'request types',
    'world types',
    'failure',
    'node:crypto',
    'node:net',
    'node:tls',
    'node:zlib',
    'node:v8',
  ],
  view: ['failure'],
  run: ['contract', 'settings', 'request', 'transport lazily', 'view', 'failure', 'world types'],
  commands: ['run', 'contract', 'settings', 'view', 'failure', 'world types', 'sandbox lazily'],
  sandbox: ['contract', 'failure', 'node:http', 'node:crypto'],
  reference: ['contract', 'commands/command types', 'failure'],
  program: ['contract', 'commands', 'run', 'settings', 'reference', 'view', 'failure', 'world types'],
  client: ['run', 'contract', 'settings', 'view', 'failure', 'world types'],
  main: ['program', 'world', 'real', 'failure'],
  library: ['client', 'real'],
}

/** The room of each outside package. */
const packages: Readonly<Record<string, string>> = {
  commander: 'program',
  undici: 'transport',
  chalk: 'view',
  'cli-table3': 'view',
  ora: 'view',
  papaparse: 'view',
  'string-width': 'view',
  'lossless-json': 'view',
  conf: 'settings',
  'proper-lockfile': 'settings',
  'env-ci': 'settings',
  'git-url-parse': 'settings',
  'hosted-git-info': 'settings',
  yaml: 'commands',
  sax: 'commands',
  leven: 'commands',
}

/** Rooms in which each package stands in one file only. */
const oneFileEach = ['settings', 'commands']

/** What developers run; none of it is in the bundle. */
const tools = [
  '@arethetypeswrong/cli',
  '@biomejs/biome',
  'esbuild',
  'execa',
  'fast-check',
  'postject',
  'publint',
  'typescript',
  'vitest',
]

const packageOf = (name: string): string => name.split('/', name.startsWith('@') ? 2 : 1).join('/')

const allows = (permit: Permit, { to, ours, how }: Import): boolean => {
  const [name = '', only] = permit.split(' ')
  if (only === 'types' && how !== 'type') return false
  if (only === 'lazily' && how === 'value') return false
  if (!ours) return name === 'node:*' ? to.startsWith('node:') : name === to
  return name === roomOf(to) || `${name}.ts` === to
}

/** What a file imports against the table. */
function strayImports(file: File): readonly string[] {
  const room = roomOf(file.path)
  const permits = table[room]
  if (permits === undefined) return [`${file.path} is in no room`]
  return importsOf(file)
    .filter(one => {
      if (one.ours && roomOf(one.to) === room) return false
      if (!one.ours && packages[packageOf(one.to)] === room) return false
      return !permits.some(permit => allows(permit, one))
    })
    .map(({ from, to, how }) => `${from} imports ${to} (${how})`)
}

/** Circles of imports between files, type-only and dynamic ones included; each with its members. */
function circles(all: readonly File[]): readonly string[] {
  const edges = new Map(all.map(file => [file.path, importsOf(file).filter(({ ours }) => ours)]))
  const reaches = (path: string): ReadonlySet<string> => {
    const seen = new Set<string>()
    const open = [path]
    for (let one = open.pop(); one !== undefined; one = open.pop())
      for (const { to } of edges.get(one) ?? [])
        if (!seen.has(to)) {
          seen.add(to)
          open.push(to)
        }
    return seen
  }
  const reach = new Map(all.map(({ path }) => [path, reaches(path)]))
  const found = [...reach]
    .filter(([path, below]) => below.has(path))
    .map(([path, below]) =>
      [...below]
        .filter(other => reach.get(other)?.has(path))
        .sort()
        .join(', '),
    )
  return [...new Set(found)]
}

/** Outside packages that stand in more than one room, in more than one file of a room that keeps each in one, or nowhere. */
function strayPackages(all: readonly File[]): readonly string[] {
  const outside = all.flatMap(importsOf).filter(({ ours, to }) => !ours && !to.startsWith('node:'))
  return [...new Set(outside.map(({ to }) => packageOf(to)))].flatMap(name => {
    const users = [...new Set(outside.filter(({ to }) => packageOf(to) === name).map(({ from }) => from))]
    const rooms = [...new Set(users.map(roomOf))]
    const home = packages[name]
    if (home === undefined) return [`${name} has no room`]
    if (rooms.length > 1 || rooms[0] !== home) return [`${name} is imported in ${rooms.join(', ')}`]
    const crowded = oneFileEach.includes(home) && users.length > 1
    return crowded ? [`${name} is imported in ${users.join(', ')}`] : []
  })
}

const unknownDependencies = (names: readonly string[]): readonly string[] =>
  names.filter(name => !tools.includes(name) && !name.startsWith('@types/') && !(name in packages))

/** Outside packages that are imported and not declared: they would come from somebody else's install. */
const undeclared = (all: readonly File[], names: readonly string[]): readonly string[] => [
  ...new Set(
    all
      .flatMap(importsOf)
      .filter(({ ours, to }) => !ours && !to.startsWith('node:'))
      .map(({ to }) => packageOf(to))
      .filter(name => !names.includes(name)),
  ),
]

/** Uses of a global: as a name of its own, or as a member of globalThis. */
function usesOf(global: string, file: File): readonly string[] {
  const used = nodesOf(file).some(([node, parent, key]) => {
    if (node.type === 'Literal' && (node.value === `node:${global}` || node.value === global))
      return key === 'source'
    if (node.type !== 'Identifier' || node.name !== global) return false
    const member = parent?.type === 'MemberExpression' && key === 'property' && parent.computed !== true
    if (member) return isNode(parent.object) && parent.object.name === 'globalThis'
    return !(key === 'key' && parent?.computed !== true && parent?.shorthand !== true) && key !== 'right'
  })
  return used ? [`${file.path} uses ${global}`] : []
}

const anywhere = /^(main|real|world|library)$/
const processUses = (file: File) => (anywhere.test(roomOf(file.path)) ? [] : usesOf('process', file))
const consoleUses = (file: File) => usesOf('console', file)

const genericRooms = ['program', 'run', 'request', 'transport', 'view', 'settings']
const operations = serviceOperations.map(({ route }) => operationName(route))

const namedEndpoints = ({ path, text }: File): readonly string[] =>
  genericRooms.includes(roomOf(path))
    ? operations.filter(name => text.includes(name)).map(name => `${path} names ${name}`)
    : []

const anys = (file: File) =>
  nodesOf(file).some(([{ type }]) => type === 'TSAnyKeyword') ? [`${file.path} says any`] : []

const isConst = (node: unknown): boolean =>
  isNode(node) && node.type === 'TSTypeReference' && isNode(node.typeName) && node.typeName.name === 'const'

const casts = (file: File) =>
  ['contract', 'request', 'view'].includes(roomOf(file.path)) &&
  nodesOf(file).some(([node]) => /^TS(As|TypeAssertion)/.test(node.type) && !isConst(node.typeAnnotation))
    ? [`${file.path} casts`]
    : []

const classes = (file: File) =>
  roomOf(file.path) !== 'failure' && nodesOf(file).some(([{ type }]) => /^Class(Decl|Expr)/.test(type))
    ? [`${file.path} has a class`]
    : []

const unwanted = new Map([
  ['ExportDefaultDeclaration', 'exports by default'],
  ['TSEnumDeclaration', 'has an enum'],
])
/** Declarations of other packages (`.d.ts`) must follow those packages. */
const defaultsAndEnums = (file: File) =>
  file.path.endsWith('.d.ts')
    ? []
    : nodesOf(file).flatMap(([{ type }]) =>
        unwanted.has(type) ? [`${file.path} ${unwanted.get(type)}`] : [],
      )

const longest = 250
const tooLong = ({ path, text }: File) => {
  const lines = text.trimEnd().split('\n').length
  return lines > longest ? [`${path} has ${lines} lines`] : []
}

const homeless = ({ path }: File) =>
  path
    .split('/')
    .slice(0, -1)
    .filter(folder => /^(lib|libs|util|utils|helper|helpers)$/i.test(folder))
    .map(folder => `${path} lies in ${folder}`)

const ruleSet: readonly (readonly [rule: string, check: (file: File) => readonly string[]])[] = [
  ['imports only what its room may', strayImports],
  ['leaves `process` to main.ts, library.ts and world/', processUses],
  ['never uses `console`', consoleUses],
  ['names no endpoint if its room is generic', namedEndpoints],
  ['holds no `any`', anys],
  ['casts nothing in contract/, request/ and view/', casts],
  ['has no class but the failure', classes],
  ['has no default export and no enum', defaultsAndEnums],
  ['is at most 250 lines long', tooLong],
  ['lies in no lib, utils or helpers', homeless],
]

/** Files that are at fault, rule by rule: each has a test of its own that is marked to fail, so that its mend is noticed. */
const faults: ReadonlyMap<string, readonly string[]> = new Map([])

describe.each(ruleSet)('every file of src/ %s', (rule, check) => {
  const guilty = faults.get(rule) ?? []

  test('all files but those marked here', () => {
    expect(files.filter(({ path }) => !guilty.includes(path)).flatMap(check)).toEqual([])
  })
  test.fails.each(guilty)('%s', path => {
    expect(files.filter(file => file.path === path).flatMap(check)).toEqual([])
  })
})

/** Rules that must not be written twice: a text that gives one away, and the only files that may hold it. */
const rulesKeptOnce: readonly (readonly [rule: string, mark: RegExp, holders: readonly string[]])[] = [
  ['which hosts are this machine', /\^127\b/, ['settings/address.ts']],
  ['what a CI job is', /\benv\.CI\b|'TF_BUILD'/, ['settings/ci-job.ts']],
  ['how a POSIX shell quotes a word', /'\\\\''/, ['contract/shell.ts']],
  ['how long an attempt may take', /\b(?:attempt|change)Limit = |default 30s/, ['settings/table.ts']],
  ['which scenarios there are', /'batch-failure'/, ['contract/scenarios.ts', 'sandbox/scenarios.ts']],
]

test.each(rulesKeptOnce)('%s is written in one place', (_, mark, holders) => {
  expect(files.filter(({ text }) => mark.test(text)).map(({ path }) => path)).toEqual(holders)
})

test('no files import each other in a circle', () => {
  expect(circles(files)).toEqual([])
})

test('each outside package lives in one room', () => {
  expect(strayPackages(files)).toEqual([])
})

test('every package of package.json is a tool or has a room', () => {
  const names = Object.entries(manifest).flatMap(([key, value]) =>
    /ependencies$/.test(key) && typeof value === 'object' ? Object.keys(value) : [],
  )
  expect(names).toContain('commander')
  expect(unknownDependencies(names)).toEqual([])
})

test('what the source imports stands in package.json', () => {
  expect(undeclared(files, Object.keys(manifest.devDependencies))).toEqual([])
})

test('every import of ours names a file that is there', () => {
  const imported = files.flatMap(importsOf).filter(({ ours }) => ours)
  expect(imported.length).toBeGreaterThan(100)
  expect(imported.filter(({ to }) => !existsSync(join(root, 'src', to)))).toEqual([])
})

test('every room of the table is there', () => {
  expect(Object.keys(table).sort()).toEqual([...new Set(files.map(({ path }) => roomOf(path)))].sort())
})

describe('each rule can fail', () => {
  const cases: readonly (readonly [
    what: string,
    check: (file: File) => readonly string[],
    File,
    readonly string[],
  ])[] = [
    [
      'a room that is not permitted',
      strayImports,
      { path: 'view/x.ts', text: "import { repository } from '../contract/words.ts'" },
      ['view/x.ts imports contract/words.ts (value)'],
    ],
    [
      'a type-only import counts',
      strayImports,
      { path: 'contract/x.ts', text: "import type { Desk } from '../run/desk.ts'" },
      ['contract/x.ts imports run/desk.ts (type)'],
    ],
    [
      'an inline type, a re-export and an import type count',
      strayImports,
      {
        path: 'failure.ts',
        text: "import { type A } from './run.ts'\nexport * from './view/json.ts'\nexport { B } from './program.ts'\ntype C = import('./main.ts').C",
      },
      [
        'failure.ts imports run.ts (type)',
        'failure.ts imports view/json.ts (value)',
        'failure.ts imports program.ts (value)',
        'failure.ts imports main.ts (type)',
      ],
    ],
    [
      'a dynamic import counts',
      strayImports,
      { path: 'commands/x.ts', text: "await import('../transport/transport.ts')" },
      ['commands/x.ts imports transport/transport.ts (lazy)'],
    ],
    [
      'a value where only the type may come',
      strayImports,
      { path: 'transport/x.ts', text: "import { makeRequest } from '../request/request.ts'" },
      ['transport/x.ts imports request/request.ts (value)'],
    ],
    [
      'at once what may come lazily',
      strayImports,
      {
        path: 'run/x.ts',
        text: "import { openLine } from '../transport/transport.ts'\nimport type { Line } from '../transport/transport.ts'\nawait import('../transport/transport.ts')",
      },
      ['run/x.ts imports transport/transport.ts (value)'],
    ],
    [
      'one file of a room where another is meant',
      strayImports,
      {
        path: 'contract/x.ts',
        text: "import { at } from '../view/shapes.ts'\nimport { cell } from '../view/delimited.ts'",
      },
      ['contract/x.ts imports view/delimited.ts (value)'],
    ],
    [
      'a package of another room',
      strayImports,
      { path: 'settings/x.ts', text: "import requestBy from 'undici/lib/api/api-request.js'" },
      ['settings/x.ts imports undici/lib/api/api-request.js (value)'],
    ],
    [
      'a built-in where none may come',
      strayImports,
      { path: 'request/x.ts', text: "import { Buffer } from 'node:buffer'" },
      ['request/x.ts imports node:buffer (value)'],
    ],
    ['a file in no room', strayImports, { path: 'shed/x.ts', text: '' }, ['shed/x.ts is in no room']],
    ['process', processUses, { path: 'run.ts', text: 'const a = process.env' }, ['run.ts uses process']],
    [
      'process by the back door',
      processUses,
      { path: 'view/x.ts', text: 'export const a = globalThis.process' },
      ['view/x.ts uses process'],
    ],
    [
      'process as a module',
      processUses,
      { path: 'view/x.ts', text: "import { env } from 'node:process'" },
      ['view/x.ts uses process'],
    ],
    ['process in main.ts', processUses, { path: 'main.ts', text: 'process.exitCode = 1' }, []],
    [
      'process as a key or a member',
      processUses,
      { path: 'run.ts', text: 'const a = { process: 1 }\na.process' },
      [],
    ],
    ['console', consoleUses, { path: 'main.ts', text: 'console.log(1)' }, ['main.ts uses console']],
    [
      'an endpoint in a generic room',
      namedEndpoints,
      { path: 'transport/x.ts', text: "const slow = 'submitPullRequest'" },
      ['transport/x.ts names submitPullRequest'],
    ],
    ['an endpoint where it belongs', namedEndpoints, { path: 'contract/x.ts', text: "'getQueue'" }, []],
    ['any', anys, { path: 'main.ts', text: 'const a: readonly any[] = []' }, ['main.ts says any']],
    ['any as a word', anys, { path: 'main.ts', text: "const any = 'any' // any" }, []],
    ['a cast', casts, { path: 'view/x.ts', text: 'const a = 1 as unknown' }, ['view/x.ts casts']],
    ['an old cast', casts, { path: 'view/x.ts', text: 'const a = <number>b' }, ['view/x.ts casts']],
    [
      'as const',
      casts,
      { path: 'view/x.ts', text: "import { a as b } from './y.ts'\nconst c = [b] as const" },
      [],
    ],
    ['a cast elsewhere', casts, { path: 'run.ts', text: 'const a = 1 as unknown' }, []],
    ['a class', classes, { path: 'run.ts', text: 'const a = class {}' }, ['run.ts has a class']],
    ['the failure', classes, { path: 'failure.ts', text: 'export class Failure extends Error {}' }, []],
    [
      'a default export and an enum',
      defaultsAndEnums,
      { path: 'run.ts', text: 'export default 1\nenum A { B }' },
      ['run.ts exports by default', 'run.ts has an enum'],
    ],
    ['251 lines', tooLong, { path: 'run.ts', text: `${'\n'.repeat(250)}a\n` }, ['run.ts has 251 lines']],
    ['250 lines', tooLong, { path: 'run.ts', text: `${'\n'.repeat(249)}a\n` }, []],
    ['a utils folder', homeless, { path: 'view/utils/x.ts', text: '' }, ['view/utils/x.ts lies in utils']],
  ]

  test.each(cases)('%s', (_, check, file, found) => {
    expect(check(file)).toEqual(found)
  })

  test('a circle of type-only and dynamic imports', () => {
    const round = [
      { path: 'view/a.ts', text: "import type { B } from './b.ts'" },
      { path: 'view/b.ts', text: "await import('./c.ts')" },
      { path: 'view/c.ts', text: "export * from './a.ts'\nimport './d.ts'" },
      { path: 'view/d.ts', text: '' },
    ]
    expect(circles(round)).toEqual(['view/a.ts, view/b.ts, view/c.ts'])
    expect(circles(round.slice(1))).toEqual([])
  })

  test('a package in two rooms, in two files, or in none', () => {
    const two = [
      { path: 'view/a.ts', text: "import chalk from 'chalk'" },
      { path: 'commands/b.ts', text: "import chalk from 'chalk'" },
    ]
    expect(strayPackages(two)).toEqual(['chalk is imported in view, commands'])
    expect(strayPackages(two.slice(1))).toEqual(['chalk is imported in commands'])
    expect(strayPackages(two.slice(0, 1))).toEqual([])
    expect(
      strayPackages([
        { path: 'settings/a.ts', text: "import Conf from 'conf'" },
        { path: 'settings/b.ts', text: "import Conf from 'conf'" },
      ]),
    ).toEqual(['conf is imported in settings/a.ts, settings/b.ts'])
    expect(strayPackages([{ path: 'run.ts', text: "import _ from 'lodash/fp'" }])).toEqual([
      'lodash has no room',
    ])
    expect(unknownDependencies(['commander', '@types/node', 'left-pad'])).toEqual(['left-pad'])
    expect(undeclared(two, ['commander'])).toEqual(['chalk'])
    expect(undeclared(two, ['chalk'])).toEqual([])
  })
})
