// Checks of a release that pack the package, install it, and run what it contains.
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { directoryOfNode, otherVersions } from '../node-programs.mjs'
import { readManifest, withoutCommit } from './manifest-checks.mjs'

const required = [
  ...['package.json', 'README.md', 'LICENSE', 'bin/mergeq.js', 'bin/package.json'],
  ...['dist/start.cjs', 'dist/library.cjs', 'dist/library.mjs', 'dist/library.d.cts', 'dist/library.d.mts'],
  ...['dist/library-loader.cjs', 'dist/library-core.cjs', 'dist/library-waits.cjs'],
  'dist/library-explanations.cjs',
  ...['dist/testing.cjs', 'dist/testing.mjs', 'dist/testing.d.cts', 'dist/testing.d.mts'],
  ...[
    'dist/help.txt',
    'dist/version.txt',
    'dist/LICENSES.txt',
    'dist/mergeq.cdx.json',
    'man/mergeq.1',
    'skills/mergeq/SKILL.md',
    'CHANGELOG.md',
  ],
  ...['completions/mergeq.bash', 'completions/_mergeq', 'completions/mergeq.fish', 'completions/mergeq.ps1'],
]
const permitted =
  /^(?:bin\/|dist\/[\w-]+\.(?:cjs|mjs|d\.[cm]ts|txt|cdx\.json)$|completions\/|man\/|skills\/|(?:package\.json|README\.md|LICENSE|CHANGELOG\.md)$)/
const maxPackedBytes = 750_000

/** Packs the package once. Returns the path of the tarball and the paths in it. */
export function packOnce(context) {
  context.packed ??= (() => {
    const destination = join(context.place, 'pack')
    mkdirSync(destination, { recursive: true })
    const words = [
      'pack',
      '--ignore-scripts',
      '--json',
      '--loglevel=error',
      '--pack-destination',
      destination,
    ]
    const [{ filename, files, size }] = JSON.parse(context.run('npm', words, { cwd: context.root }).stdout)
    return { tarball: join(destination, filename), paths: files.map(({ path }) => path), size }
  })()
  return context.packed
}

/** The tarball has every file that is needed, no other file, no dependency and no install script. */
export function checkContents(context) {
  const manifest = readManifest(context.root)
  const { paths, size } = packOnce(context)
  const named = [
    ...Object.values(manifest.bin ?? {}),
    ...[manifest.main, manifest.types, ...(manifest.man ?? [])].filter(path => path !== undefined),
  ].map(path => path.replace(/^\.\//, ''))
  const onInstall = ['preinstall', 'install', 'postinstall', 'prepare']
  return [
    ...[...new Set([...required, ...named])]
      .filter(path => !paths.includes(path))
      .map(path => `the tarball lacks ${path}`),
    ...paths.filter(path => !permitted.test(path)).map(path => `the tarball has ${path}`),
    ...['dependencies', 'optionalDependencies', 'peerDependencies']
      .filter(key => Object.keys(manifest[key] ?? {}).length > 0)
      .map(key => `package.json has ${key}`),
    ...onInstall
      .filter(name => manifest.scripts?.[name] !== undefined)
      .map(name => `the script ${name} runs on install`),
    ...(size > maxPackedBytes ? [`the tarball has ${size} bytes, the limit is ${maxPackedBytes}`] : []),
  ]
}

/** Returns the lines of an error that name it: a message, and the error below a place in the source. */
const firstLines = text =>
  text
    .split('\n')
    .filter(line => /error/i.test(line))
    .slice(0, 2)
    .join(' ') || text.trim().slice(0, 200)

const library = `
import { createClient } from 'mergeq'
import { createRequire } from 'node:module'
const required = createRequire(import.meta.url)('mergeq').createClient
const { state } = await createClient({ repo: 'acme/web', targetBranch: 'main' }).getQueue()
console.log(typeof required, state)
`

/** The tarball is installed in an empty prefix, and its program and library run with each version of Node. */
export function checkInstall(context) {
  const { tarball } = packOnce(context)
  const { version, engines } = readManifest(context.root)
  const prefix = join(context.place, 'prefix')
  const project = join(context.place, 'project')
  mkdirSync(project, { recursive: true })
  writeFileSync(join(project, 'package.json'), '{"name":"x","private":true,"type":"module"}')
  writeFileSync(join(project, 'library.js'), library)
  const offline = ['--offline', '--no-audit', '--no-fund', '--loglevel=error']
  context.run('npm', ['install', '--global', '--prefix', prefix, ...offline, tarball])
  context.run('npm', ['install', ...offline, tarball], { cwd: project })
  const modules = join(prefix, 'lib/node_modules')
  const installed = existsSync(modules) ? readdirSync(modules) : []
  const problems =
    installed.join() === 'mergeq' ? [] : [`the prefix has the packages ${installed.join(', ')}`]
  const minimum = /\d+\.\d+\.\d+/.exec(engines.node)?.[0]
  const versions = context.nodes ?? [...(minimum === undefined ? [] : [minimum]), ...otherVersions]
  for (const node of versions) {
    const env = {
      ...context.env,
      PATH: [directoryOfNode(node), join(prefix, 'bin'), context.env.PATH].join(delimiter),
    }
    const expectOutput = (name, words, cwd, expected) => {
      const { status, stdout, stderr } = context.run(words[0], words.slice(1), {
        env,
        cwd,
        allowFailure: true,
      })
      if (status !== 0 || !expected.test(stdout))
        problems.push(`Node ${node}: ${name} ended with ${status}: ${firstLines(stderr || stdout)}`)
    }
    const inSandbox = ['mergeq', 'sandbox', 'exec', '--']
    const exactly = new RegExp(`^${version.replaceAll('.', '\\.')}(?:\\+[0-9a-f]{8}(?:\\.changed)?)?\n$`)
    expectOutput('mergeq --version', ['mergeq', '--version'], project, exactly)
    expectOutput('mergeq queue get', [...inSandbox, 'mergeq', 'queue', 'get', '--json'], project, /"RUNNING"/)
    expectOutput('the library', [...inSandbox, 'node', 'library.js'], project, /^function RUNNING\n$/m)
  }
  return problems
}

/** The standalone program of this machine can be built, and runs without Node on the path. */
export function checkStandalone(context) {
  const out = join(context.place, process.platform === 'win32' ? 'mergeq.exe' : 'mergeq')
  const { version } = readManifest(context.root)
  context.run(process.execPath, [join(context.root, 'scripts/standalone.mjs'), '--out', out])
  const env = { ...context.env, PATH: context.place }
  const { stdout } = context.run(out, ['--version'], { env, allowFailure: true })
  const tour = context.run(out, ['sandbox', 'tour', '--speed', '8'], { env, allowFailure: true })
  return [
    ...(withoutCommit(stdout.trim()) === version
      ? []
      : [`its version is '${stdout.trim()}', not ${version}`]),
    ...(tour.status === 0 ? [] : [`its tour ended with ${tour.status}: ${tour.stderr.trim()}`]),
  ]
}
