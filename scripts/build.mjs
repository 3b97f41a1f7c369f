// Bundles src/ into CommonJS files in dist/. Each module that the source imports dynamically
// (`await import('./http/http-client.ts')`) becomes a separate file, so that a command loads only what it uses.
//
//     node scripts/build.mjs [--quiet]
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, join, relative, sep } from 'node:path'
import { deflateRawSync } from 'node:zlib'

import { build } from 'rolldown'
import { inputOptions, outputOptions, root, src, version } from './bundle.mjs'
import { findPackages, packageFolderOf, renderBom, renderLicenses } from './bundled-packages.mjs'
import { importTypeScript } from './import-typescript.mjs'

const dist = join(root, 'dist')
const main = join(src, 'main.ts')
const isSource = id => id.startsWith(src + sep)

/** Returns the name of a chunk: `http-undici` for `src/http/undici.ts`, `ora` for a file of the package. */
const chunkName = id =>
  isSource(id)
    ? relative(src, id).replace(/\.ts$/, '').split(sep).join('-')
    : basename(packageFolderOf(id) ?? id)

/** Modules that few commands load, although several files import them: they must not be in what all load. */
const rarelyLoaded = [
  'api/operations/queue-settings.ts',
  'command/wait-inputs.ts',
  'commands/pr/shared/wait/',
  'domain/metrics/',
  'domain/reasons/',
  'domain/test-run.ts',
  'domain/timeline.ts',
  'explain/',
  'wait/',
].map(path => join(src, path))
const isShared = id => isSource(id) && !rarelyLoaded.some(path => id.startsWith(path))

/**
 * Returns the modules that a module imports statically (or `lazily`, too), itself or through other modules, with the
 * module.
 */
function findLoaded(id, context, { lazily = false, loaded = new Set() } = {}) {
  if (loaded.has(id)) return loaded
  loaded.add(id)
  const { importedIds = [], dynamicallyImportedIds = [] } = context.getModuleInfo(id) ?? {}
  const imported = lazily ? [...importedIds, ...dynamicallyImportedIds] : importedIds
  for (const one of imported) findLoaded(one, context, { lazily, loaded })
  return loaded
}

/** Returns the modules of the files that many command lines load, by the name of the file. */
function findFiles(context) {
  const load = path => findLoaded(join(src, path), context)
  const [start, messages, rootHelp] = ['main.ts', 'output/logger.ts', 'cli/help.ts'].map(load)
  const help = load('commands/pr/get.ts')
  // What every command loads when it runs.
  const run = load('cli/run.ts')
  return {
    // What every start loads, and what commands load, too, of what errors and help without a command load.
    start: new Set([...start, ...[...messages, ...rootHelp].filter(id => help.has(id))]),
    // What every error loads.
    messages,
    // What help for a command loads; most of it is for the other commands, too.
    definitions: new Set([...help, ...run].filter(id => groupOf(id) === undefined)),
  }
}

let files
const hasModule = (file, id, context) => {
  files ??= findFiles(context)
  return files[file].has(id)
}

/** The names of the groups; the other names are those of modules. */
const isFileName = /^(start|messages|definitions|shared|habits|commands-[a-z]+|rolldown-runtime)$/

/** Returns the groups of rolldown for `findFiles`; a module belongs to the first that has it. */
const createGroups = () =>
  ['start', 'messages', 'definitions'].map((file, index) => ({
    debugName: file,
    name: (id, context) => (hasModule(file, id, context) ? file : null),
    priority: 9 - index,
  }))

/** What only a wrong command line loads, of all commands at once. */
const habitsGroup = {
  debugName: 'habits',
  name: id => (isSource(id) && basename(id) === 'habits.ts' ? 'habits' : null),
  priority: 10,
}

/** Returns the groups of what at least three files import: one for each group of commands, and one for the rest. */
function createSharedGroups() {
  const shared = { test: isShared, minShareCount: 3 }
  const isLoadedByAll = (id, context) => hasModule('definitions', id, context)
  return [
    {
      ...shared,
      debugName: 'shared',
      name: (id, context) => (isLoadedByAll(id, context) || groupOf(id) !== undefined ? null : 'shared'),
      priority: 2,
    },
    {
      ...shared,
      debugName: 'groups',
      name: id => (groupOf(id) === undefined ? null : `commands-${groupOf(id)}`),
      priority: 1,
    },
  ]
}

/** Returns the group of commands to which a module belongs: `pr`. */
function groupOf(id) {
  const [directory, group, name] = relative(src, id).split(sep)
  return directory === 'commands' && name !== undefined ? group : undefined
}

/** Returns minified code in ASCII: only its strings, templates and patterns have other characters. */
const toAscii = code =>
  code.replace(
    /(\\[\0-\x7F])|\\?([^\0-\x7F])/g,
    (_, escaped, unit) => escaped ?? `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )

/** Returns minified code that exports values, of which none changes, instead of 300 getters: 2 of 65 ms of a request. */
const exportValues = code =>
  code.replace(
    /Object\.defineProperty\(exports,"(\w+)",{enumerable:!0,get:function\(\){return ([\w$]+)}}\)/g,
    'exports.$1=$2',
  )

/** Returns minified code whose functions that only load a file are short: 4 KB of each start. */
const shortenLoading = code =>
  code
    .replace(
      /async\(\)=>\(await Promise\.resolve\(\)\.then\(\(\)=>(require\("[^"]+"\))\)\)(\.[\w$]+)/g,
      'async()=>$1$2',
    )
    .replace(
      /\(\)=>Promise\.resolve\(\)\.then\(\(\)=>(require\("[^"]+"\))\)\.then\((\w)=>\2(\.[\w$]+)\)/g,
      'async()=>$1$3',
    )

/** Returns code that gets the modules of Node without `require`: esbuild has none in a bundle of ES modules. */
const withoutRequire = code => code.replace(/\brequire\("(node:[\w/]+)"\)/g, 'process.getBuiltinModule("$1")')

/**
 * Bundles the program into a folder. Each file ends with a hash of its code, by which the
 * launcher finds compiled code. Returns the paths of all bundled modules.
 */
async function bundleInto(dir) {
  const { output } = await build({
    ...inputOptions,
    write: false,
    input: { mergeq: main },
    output: {
      ...outputOptions,
      entryFileNames: '[name].cjs',
      chunkFileNames: ({ name, facadeModuleId, moduleIds }) =>
        `${facadeModuleId === null && isFileName.test(name) ? name : chunkName(facadeModuleId ?? moduleIds.at(-1))}.cjs`,
      codeSplitting: {
        groups: [
          habitsGroup,
          ...createGroups(),
          // What at least three files import: a request loads 11 files instead of 25.
          ...createSharedGroups(),
        ],
      },
    },
  })
  for (const { fileName, code } of output) {
    // Only exports `main` of start.cjs.
    if (fileName === 'mergeq.cjs') continue
    const ascii = toAscii(shortenLoading(exportValues(code)))
    const hash = createHash('sha256').update(ascii).digest('hex').slice(0, 16)
    writeFileSync(join(dir, fileName), `${ascii.trimEnd()}\n//${hash}\n`)
  }
  return output.flatMap(({ moduleIds }) => moduleIds)
}

/** What only some methods of the library need: `waits` is src/library/waits.ts. */
const libraryParts = ['waits', 'explanations']

/** Returns a file that makes `createClient` of the core, with a way to load each of the parts. */
const renderEntry = (begin, load, declare) =>
  [
    begin,
    '',
    'const parts = {',
    ...libraryParts.map(part => `  ${part}: ${load(`./library-${part}.cjs`)},`),
    '}',
    declare('createClient', 'core.createClientWith(parts)'),
    ...['MergeqError', 'isMergeqError', 'parsePullRequest', 'version'].map(name =>
      declare(name, `core.${name}`),
    ),
    '',
  ].join('\n')

/**
 * Compresses the HTTP parser of undici: 55 of 475 KB of a bundle with the library. The program has it as it is, because
 * inflating it takes time at each start.
 */
const compressParser = {
  name: 'compress-parser',
  load(id) {
    if (!id.replaceAll('\\', '/').endsWith('/undici/lib/llhttp/llhttp-wasm.js')) return null
    const parser = createRequire(id)(id)
    const text = deflateRawSync(parser, { level: 9 }).toString('base64')
    return `module.exports = require('node:zlib').inflateRawSync(Buffer.from('${text}', 'base64'))`
  },
}

/**
 * Bundles the library without what only the program uses. What all of its methods need is in one file, because the
 * bundlers of other programs take it along; its parts are files of their own. library.cjs loads them with `require`, which
 * also works where there are no ES modules, and library.mjs with `import()`: what it loads is split off by bundlers.
 * `mergeq/testing` shares these files. Writes the types of both, too. Returns the paths of all bundled modules.
 */
async function writeLibrary(folder, types, testingTypes) {
  const input = name => join(src, 'library', `${name}.ts`)
  let core
  const isOfCore = (id, context) => {
    core ??= findLoaded(input('index'), context, { lazily: true })
    return core.has(id)
  }
  const { output } = await build({
    ...inputOptions,
    plugins: [...inputOptions.plugins, compressParser],
    write: false,
    input: {
      library: input('index'),
      ...Object.fromEntries(libraryParts.map(part => [`library-${part}`, input(part)])),
      testing: input('testing'),
    },
    output: {
      ...outputOptions,
      entryFileNames: '[name].cjs',
      chunkFileNames: '[name].cjs',
      codeSplitting: {
        groups: [
          {
            debugName: 'core',
            name: (id, context) => (isOfCore(id, context) ? 'library-core' : null),
            priority: 1,
          },
          { name: 'library-shared', minShareCount: 2 },
        ],
      },
    },
  })
  // It only exports values of the core.
  for (const { fileName, code } of output)
    if (fileName !== 'library.cjs') writeFileSync(join(folder, fileName), withoutRequire(exportValues(code)))
  writeFileSync(
    join(folder, 'library.cjs'),
    renderEntry(
      "'use strict'\nconst core = require('./library-core.cjs')",
      path => `async () => require('${path}')`,
      (name, value) => `exports.${name} = ${value}`,
    ),
  )
  // Node looks through a file that an ES module imports for the names of its exports: through this one, not the core.
  writeFileSync(join(folder, 'library-loader.cjs'), "exports.core = require('./library-core.cjs')\n")
  writeFileSync(
    join(folder, 'library.mjs'),
    renderEntry(
      "import { core } from './library-loader.cjs'",
      path => `async () => (await import('${path}')).default`,
      (name, value) => `export const ${name} = ${value}`,
    ),
  )
  writeTypes(folder, 'library', types)
  const { exports } = output.find(({ fileName }) => fileName === 'testing.cjs')
  writeFileSync(
    join(folder, 'testing.mjs'),
    `import testing from './testing.cjs'\n\nexport const { ${exports.join(', ')} } = testing\n`,
  )
  writeTypes(folder, 'testing', testingTypes)
  return output.flatMap(({ moduleIds }) => moduleIds)
}

function writeTypes(folder, name, types) {
  writeFileSync(join(folder, `${name}.d.cts`), types)
  writeFileSync(join(folder, `${name}.d.mts`), `export * from './${name}.cjs'\n`)
}

/** Returns the help of the whole program, as the bundled program in a folder prints it on a pipe. */
const renderHelp = folder => {
  const code = `require(${JSON.stringify(join(folder, 'start.cjs'))}).main()`
  return execFileSync(process.execPath, ['-e', code, '--', 'mergeq', '--help', '--color', 'never'])
}

/** Returns the files of a folder with their contents. */
const contentsOf = folder =>
  readdirSync(folder)
    .sort()
    .map(name => [name, readFileSync(join(folder, name), 'utf8')])

const hasSameContents = (folder, other) =>
  existsSync(folder) && JSON.stringify(contentsOf(folder)) === JSON.stringify(contentsOf(other))

/**
 * Makes a folder the new dist/. A dist/ with the same contents stays, so that a build does not disturb the
 * processes that run from it. Another build that does the same at this moment makes a step fail; the steps
 * are then repeated.
 */
function replaceDist(folder) {
  const old = `${folder}.old`
  for (let attemptsLeft = 5; ; attemptsLeft--)
    try {
      if (hasSameContents(dist, folder)) return
      rmSync(old, { recursive: true, force: true })
      if (existsSync(dist)) renameSync(dist, old)
      renameSync(folder, dist)
      return
    } catch (error) {
      if (attemptsLeft === 0) throw error
    }
}

const folder = `${dist}.${process.pid}`
mkdirSync(folder)
try {
  const { renderLibraryTypes, renderTestingTypes } = await importTypeScript(
    'scripts/generate/library-types.ts',
  )
  const types = renderLibraryTypes(readFileSync(join(src, 'library', 'types.ts'), 'utf8'))
  const packages = findPackages([
    ...(await bundleInto(folder)),
    ...(await writeLibrary(folder, types, renderTestingTypes())),
  ])
  writeFileSync(join(folder, 'LICENSES.txt'), renderLicenses(packages))
  // The launcher prints these without loading the program.
  writeFileSync(join(folder, 'version.txt'), `${version}\n`)
  writeFileSync(join(folder, 'help.txt'), renderHelp(folder))
  writeFileSync(join(folder, 'mergeq.cdx.json'), renderBom(packages))
  if (!process.argv.includes('--quiet')) console.log(`built ${readdirSync(folder).join(', ')}`)
  replaceDist(folder)
} finally {
  for (const path of [folder, `${folder}.old`]) rmSync(path, { recursive: true, force: true })
}
