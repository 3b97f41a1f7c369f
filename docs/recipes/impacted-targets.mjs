// The impacted targets of the commit that is checked out, for a queue in the mode "parallel". Copy this file into your
// repository, for example to .github/impacted-targets.mjs.
//
//   node .github/impacted-targets.mjs <tool> <base> > targets.json    prints the targets as JSON; needs no token
//   node .github/impacted-targets.mjs send targets.json               sends them with `mergeq pr targets`
//
// The tool is folders (no tool), npm, pnpm, yarn (2 or newer), turbo, nx, go, bazel (with bazel-diff) or pants. The base
// is the branch that the pull request merges into, such as origin/main, with its history.
//
// A file that cannot be placed may affect everything: then it prints "ALL", and standard error says why. [] means that
// every changed file is harmless. If a program fails, nothing is printed, and the exit code is 1.

import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, posix, relative, sep } from 'node:path'

/** Files that no build and no test reads. Extend this list only with what you know. */
const harmless = [
  /^(?:CHANGELOG|CODE_OF_CONDUCT|CONTRIBUTING|LICEN[CS]E|NOTICE|README|SECURITY)(?:\.md|\.txt)?$/,
  /^(?:\.github\/|docs\/)?CODEOWNERS$/,
  /^\.github\/(?:dependabot\.yml|FUNDING\.yml|ISSUE_TEMPLATE\/.*|PULL_REQUEST_TEMPLATE(?:\.md|\/.*))$/,
  /^\.(?:git-blame-ignore-revs|mailmap)$/,
]

/** Names of files that can affect more than their folder: locks, and the configuration of builds and tools. */
const everything = [
  /(?:^|[-._])lock(?:file)?s?(?:[-._]|$)|\.lockb?$|\.(?:freeze|resolved|sum)$|shrinkwrap|^maven_install\.json$/i,
  /^(?:BUCK|BUILD|MODULE|REPO|WORKSPACE)(?:\.\w+)?$|\.(?:bzl|bazel|bzlmod|cmake|gradle|kts|mk|nix|toml)$/,
  /^(?:composer|deno|lerna|nx|package|project|rush|turbo|vcpkg|workspace|[jt]sconfig.*)\.jsonc?$/,
  /\.(?:config|preset|setup|workspace)\.\w+$|rc(?:\.\w+)?$|^(?:pnpm-workspace|lerna|codegen|buf.*)\.ya?ml$/,
  /^go\.(?:mod|work)$|^(?:constraints|requirements).*\.(?:in|txt)$|^setup\.(?:cfg|py)$|^(?:conanfile|tox)\.\w+$/,
  /^(?:.*[._-])?(?:Brew|Container|Docker|Earth|Gem|Jenkins|Just|just|Make|make|GNUmake|Pip|Pod|Proc|Rake|Task|Tilt)file(?:\..*)?$/,
  /^(?:docker-)?compose.*\.ya?ml$|^Taskfile\.ya?ml$|^(?:pom|build)\.xml$|^meson\.build$|^build\.sbt$|^CMakeLists\.txt$/,
  /\.(?:cabal|csproj|fsproj|gemspec|podspec|props|sln|slnx|targets|vbproj)$|^Package\.swift$|^(?:mix\.exs|pubspec\.yaml)$/,
]

/** Programs print a name on a line. */
const lineBreaks = /[\n\r]/g

/** Bazel and Pants know what their own files affect. */
const placedBuildFile = /(?:^|\/)BUILD(?:\.\w+)?$/

const onWindows = process.platform === 'win32'
const { MERGEQ_TOKEN, MERGEQ_TOKEN_FILE, MERGEQ_TOKEN_COMMAND, TRUNK_API_TOKEN, ...environment } = process.env

/** Runs a program without the token, and returns what it prints. Throws if it fails. */
const run = (program, words, more = {}) =>
  execFileSync(program, words, {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
    maxBuffer: 1024 ** 3,
    env: { ...environment, ...more },
    // npm and its kin are scripts on Windows.
    shell: onWindows && !['git', 'go'].includes(program),
  })

const linesOf = text => text.split('\n').filter(line => line !== '')
const named = text => text.split('\0').filter(name => name !== '')

/** The folder in a list that a path is in, the deepest one; undefined in none. */
const placeIn = (path, folders) =>
  folders
    .filter(folder => path.startsWith(`${folder}/`))
    .sort((one, other) => other.length - one.length)
    .at(0)

/** The names of packages and of all that depend on them, by `dependencies`: each package with those that it needs. */
function withDependents(packages, names) {
  const found = new Set(names)
  for (let size = -1; size !== found.size; ) {
    size = found.size
    for (const { name, dependencies } of packages)
      if (dependencies.some(one => found.has(one))) found.add(name)
  }
  return [...found]
}

/** The packages of a workspace, each with those of the workspace that its package.json names. */
function readManifests(folders) {
  const manifests = folders.map(folder => {
    const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
    return { folder, name: manifest.name ?? folder, manifest }
  })
  const names = new Map(manifests.map(({ name, folder }) => [folder, name]))
  return manifests.map(({ folder, name, manifest }) => {
    const kinds = ['dependencies', 'devDependencies', 'optionalDependencies', 'peerDependencies']
    const dependencies = kinds.flatMap(kind =>
      Object.entries(manifest[kind] ?? {}).map(([key, version]) => {
        const [, alias] = /^(?:npm|workspace):(@?[^@]+)@/.exec(version) ?? []
        const [, path] = /^(?:file|link|portal|workspace):(\.{1,2}\/.*)$/.exec(version) ?? []
        return alias ?? (path === undefined ? key : (names.get(posix.join(folder, path)) ?? key))
      }),
    )
    return { folder, name, dependencies }
  })
}

/**
 * Each tool gets the changed paths and the commit from which the branch started. It returns the targets, or undefined if
 * it cannot place a path, which it reports.
 */
const tools = {
  folders: paths => [...new Set(paths.map(path => path.split('/')[0]))],

  npm: paths =>
    // Without --package-lock-only, npm lists no workspace if nothing is installed.
    ofWorkspace(paths, JSON.parse(run('npm', ['query', '.workspace', '--package-lock-only'])), 'location'),

  pnpm(paths) {
    const listed = JSON.parse(run('pnpm', ['ls', '-r', '--depth', '-1', '--json']))
    const located = listed.map(({ path }) => ({ path: relative(process.cwd(), path).split(sep).join('/') }))
    return ofWorkspace(paths, located, 'path')
  },

  yarn(paths) {
    const listed = linesOf(run('yarn', ['workspaces', 'list', '--json'])).map(line => JSON.parse(line))
    return ofWorkspace(paths, listed, 'location')
  },

  turbo(paths, start) {
    const list = (words, more) =>
      JSON.parse(run('npx', ['--no', '--', 'turbo', 'ls', ...words, '--output=json'], more)).packages.items
    const packages = list([])
    const placed = placeAll(paths, packages, 'path')
    const affected = list(['--affected'], { TURBO_SCM_BASE: start, TURBO_SCM_HEAD: 'HEAD' })
    return placed && [...placed, ...affected.map(({ name }) => name)]
  },

  nx(paths, start) {
    const folder = mkdtempSync(join(tmpdir(), 'nx-'))
    const file = join(folder, 'graph.json')
    run('npx', ['--no', '--', 'nx', 'graph', `--file=${file}`])
    const { nodes } = JSON.parse(readFileSync(file, 'utf8')).graph
    rmSync(folder, { recursive: true })
    const projects = Object.values(nodes).map(({ name, data }) => ({ name, root: data.root }))
    const placed = placeAll(paths, projects, 'root')
    const range = [`--base=${start}`, '--head=HEAD']
    const affected = run('npx', ['--no', '--', 'nx', 'show', 'projects', '--affected', ...range, '--json'])
    return placed && [...placed, ...JSON.parse(affected)]
  },

  go(paths) {
    const fields = '-json=ImportPath,ForTest,Dir,Deps'
    const listed = run('go', ['list', '-test', fields, './...'])
    // The objects stand one after the other. Those of tests have names such as "a/b [a/b.test]" and "a/b.test".
    const plain = name => name.replace(/ \[.*\]$/, '').replace(/\.test$/, '')
    const packages = JSON.parse(`[${listed.replace(/^\}\n\{/gm, '},{')}]`).map(one => ({
      name: plain(one.ForTest ?? one.ImportPath),
      folder: relative(process.cwd(), one.Dir).split(sep).join('/'),
      dependencies: (one.Deps ?? []).map(plain),
    }))
    const placed = placeAll(paths, packages, 'folder')
    return placed && withDependents(packages, placed)
  },

  bazel(paths, start) {
    const folder = mkdtempSync(join(tmpdir(), 'bazel-'))
    const base = join(folder, 'base')
    const file = name => join(folder, name)
    run('git', ['worktree', 'add', '--quiet', '--detach', base, start])
    try {
      run('bazel-diff', ['generate-hashes', '-w', base, '-b', 'bazel', file('start.json')])
      run('bazel-diff', ['generate-hashes', '-w', process.cwd(), '-b', 'bazel', file('head.json')])
      const hashes = ['-sh', file('start.json'), '-fh', file('head.json')]
      const out = ['-w', process.cwd(), '-b', 'bazel', '-o', file('targets.txt')]
      run('bazel-diff', ['get-impacted-targets', ...hashes, ...out])
      const targets = linesOf(readFileSync(file('targets.txt'), 'utf8'))
      // A changed file is a target itself, in the package of one of the folders above it.
      const labelsOf = path => {
        const parts = path.split('/')
        return parts.map((_, at) => `//${parts.slice(0, at).join('/')}:${parts.slice(at).join('/')}`)
      }
      const known = new Set(targets)
      const isPlaced = path => placedBuildFile.test(path) || labelsOf(path).some(label => known.has(label))
      return allPlaced(paths, isPlaced) ? targets : undefined
    } finally {
      run('git', ['worktree', 'remove', '--force', base])
      rmSync(folder, { recursive: true, force: true })
    }
  },

  pants(paths, start) {
    const owned = new Set(linesOf(run('pants', ['filedeps', '::'])))
    const isPlaced = path => owned.has(path)
    const changed = [`--changed-since=${start}`, '--changed-dependents=transitive']
    return allPlaced(paths, isPlaced) ? linesOf(run('pants', [...changed, 'list'])) : undefined
  },
}

/** What says why everything is affected: one line for each path, ten at most. */
let reported = 0
function report(path, reason) {
  if (++reported <= 10) process.stderr.write(`ALL: ${path.replace(lineBreaks, ' ')} ${reason}\n`)
}

/** Whether all paths are placed; reports the others. */
function allPlaced(paths, isPlaced) {
  const lost = paths.filter(path => !isPlaced(path))
  for (const path of lost) report(path, 'is in no package')
  return lost.length === 0
}

/** The names of the packages that the paths are in, undefined if one is in none. */
function placeAll(paths, packages, key) {
  const folders = packages.map(one => one[key]).filter(folder => folder !== '' && folder !== '.')
  if (!allPlaced(paths, path => placeIn(path, folders) !== undefined)) return undefined
  const changed = new Set(paths.map(path => placeIn(path, folders)))
  return packages.filter(one => changed.has(one[key])).map(({ name, folder }) => name ?? folder)
}

/** The packages of a workspace that the paths are in, and all that depend on them. */
function ofWorkspace(paths, listed, key) {
  const packages = readManifests(
    listed.map(one => one[key]).filter(folder => folder !== '' && folder !== '.'),
  )
  const placed = placeAll(paths, packages, 'folder')
  return placed && withDependents(packages, placed)
}

/** Why a path may affect everything, whatever the tool says; undefined if it does not. */
function reasonFor(path, { status, folders, placesBuildFiles }) {
  const name = posix.basename(path)
  if (path.search(lineBreaks) >= 0) return 'has a line break in its name'
  if (!path.includes('/')) return 'is in the root'
  if (path.split('/').some(part => part.startsWith('.'))) return 'is hidden or in a hidden folder'
  if (status === 'D' && !folders.has(posix.dirname(path))) return 'was in a folder that is gone'
  if (placesBuildFiles && status === 'D') return 'is gone'
  if (placesBuildFiles && placedBuildFile.test(path)) return undefined
  return everything.some(one => one.test(name)) ? 'can affect more than its folder' : undefined
}

/** The targets of HEAD, or 'ALL'. */
function impactedTargets(name, base) {
  process.chdir(run('git', ['rev-parse', '--show-toplevel']).trim())
  const start = run('git', ['merge-base', base, 'HEAD']).trim()
  const options = ['--name-status', '--no-renames', '--no-relative', '--ignore-submodules=none', '-z']
  const changed = named(run('git', ['diff', ...options, start, 'HEAD', '--']))
  const folders = new Set(named(run('git', ['ls-tree', '-r', '-d', '-z', '--name-only', 'HEAD'])))
  const placesBuildFiles = name === 'bazel' || name === 'pants'
  const paths = []
  for (let index = 0; index < changed.length; index += 2) {
    const [status, path] = changed.slice(index, index + 2)
    if (harmless.some(one => one.test(path))) continue
    paths.push(path)
    const reason = reasonFor(path, { status, folders, placesBuildFiles })
    if (reason !== undefined) report(path, reason)
  }
  if (reported > 0) return 'ALL'
  if (paths.length === 0) return []
  const targets = tools[name](paths, start)
  if (targets?.length === 0) report(paths[0], 'impacts no target')
  for (const target of targets ?? [])
    if (target.search(lineBreaks) >= 0) report(target, 'is a target with a line break in its name')
  return reported > 0 ? 'ALL' : [...new Set(targets)].sort()
}

/** Sends what was printed; the exit code of mergeq. A file that is empty or cut is an error. */
function send(file) {
  const targets = JSON.parse(readFileSync(file, 'utf8'))
  const words = targets === 'ALL' ? ['--all'] : targets.length === 0 ? ['--none'] : ['--from-json', file]
  const { status } = spawnSync('mergeq', ['pr', 'targets', ...words], { stdio: 'inherit', shell: onWindows })
  return status ?? 1
}

const [word, argument] = process.argv.slice(2)
if (argument === undefined || (word !== 'send' && !Object.hasOwn(tools, word))) {
  process.stderr.write(
    `Usage: impacted-targets.mjs <${Object.keys(tools).join('|')}> <base>, or send <file>\n`,
  )
  process.exitCode = 2
} else {
  try {
    if (word === 'send') process.exitCode = send(argument)
    else process.stdout.write(`${JSON.stringify(impactedTargets(word, argument))}\n`)
  } catch (error) {
    process.stderr.write(`impacted-targets.mjs: ${error.message}\n`)
    process.exitCode = 1
  }
}
