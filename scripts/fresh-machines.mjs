// Runs `npm ci` and `npm test` in fresh clones of the last commit, on machines of many kinds that it imitates on this
// one, and prints a table of the results. Most machines need root, on Debian or Ubuntu.
//
//     node scripts/fresh-machines.mjs [--all] [<part of the name of a machine>...]     # --all: npm run test:all, too
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import {
  appendFileSync,
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { basename, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { directoryOfNode, otherVersions } from './node-programs.mjs'

const root = resolve(fileURLToPath(import.meta.url), '../..')
const isRoot = process.getuid() === 0
const minute = 60_000

const githubJob = {
  CI: 'true',
  GITHUB_ACTIONS: 'true',
  GITHUB_BASE_REF: 'main',
  GITHUB_EVENT_NAME: 'pull_request',
  GITHUB_REF: 'refs/pull/7/merge',
  GITHUB_REPOSITORY: 'acme/web',
  GITHUB_SERVER_URL: 'https://github.com',
}
const settings = {
  HTTPS_PROXY: 'http://127.0.0.1:9',
  MERGEQ_BASE_URL: 'http://127.0.0.1:9/v1',
  MERGEQ_OUTPUT: 'csv',
  MERGEQ_PROFILE: 'other',
  MERGEQ_REPO: 'acme/other',
  MERGEQ_TOKEN: 'tok_of_the_machine',
  TRUNK_API_TOKEN: 'tok_of_the_machine',
}
const withoutIPv6 = 'ip link set lo up && echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6 && exec "$@"'

/**
 * Each machine has a new folder with a clone, and the programs and variables of this machine, and root is the user,
 * unless it says otherwise:
 *
 * - folder, mode: the path of the clone below the new folder, and the mode of the new folder
 * - isLinked: the path leads through a link
 * - installer, user: `ordinary` runs `npm ci`, or the tests
 * - programs: besides Node and git only those of Debian packages: `coreutils`, or `essential` for what every image has
 * - env: variables for the tests; `isBare`: only PATH and HOME besides
 * - version: the version of Node
 * - wrap: the words before the command line of the tests
 * - loops: the number of endless loops beside the tests
 */
const machines = {
  'root in a folder of mode 0700': { mode: 0o700 },
  'an ordinary user': { installer: 'ordinary', user: 'ordinary' },
  'a path with spaces and umlauts': { folder: 'Ein Örtchen für mergeq' },
  'a slim image': { programs: 'essential' },
  'Node, git and coreutils only': {
    folder: 'a clone',
    installer: 'ordinary',
    user: 'ordinary',
    programs: 'coreutils',
    isBare: true,
  },
  'FORCE_COLOR=1': { env: { FORCE_COLOR: '1' } },
  ...Object.fromEntries(otherVersions.map(version => [`Node ${version}`, { version }])),
  'another time zone, no language, a dumb terminal': {
    env: { TZ: 'Pacific/Auckland', LANG: '', TERM: 'dumb' },
  },
  'the variables of a GitHub job': { env: githubJob },
  'the variables of mergeq and of a proxy': { env: settings },
  'six endless loops': { loops: 6 },
  'no HOME': { env: { HOME: undefined } },
  'IPv6 switched off': { wrap: ['unshare', '--net', 'sh', '-c', withoutIPv6, 'sh'] },
  'npm ci as root, the tests as a user': { user: 'ordinary' },
  'below a folder that is a link': { isLinked: true },
}

const { values, positionals } = parseArgs({
  options: { all: { type: 'boolean', default: false } },
  allowPositionals: true,
})
const selected = Object.entries(machines).filter(
  ([name]) => positionals.length === 0 || positionals.some(part => name.includes(part)),
)

const place = realpathSync(mkdtempSync(join(tmpdir(), 'mergeq-fresh-')))
chmodSync(place, 0o755)
// Root may clone the folder of another user.
const gitConfig = join(place, 'gitconfig')
writeFileSync(gitConfig, '[safe]\n  directory = *\n')
const userName = `mergeq-${process.pid}`
const output = (...words) => execFileSync(words[0], words.slice(1), { encoding: 'utf8' }).trim()

/** Returns the ids of the ordinary user, who is created first; without root, of nobody else than this user. */
function ordinaryUser() {
  if (!isRoot) return {}
  if (spawnSync('id', [userName]).status !== 0) output('useradd', '--shell', '/bin/bash', userName)
  return { uid: Number(output('id', '-u', userName)), gid: Number(output('id', '-g', userName)) }
}

/** Makes a folder with Node, npm, git, sh, and the programs of Debian packages. */
function linkPrograms(folder, packages) {
  mkdirSync(folder)
  const names =
    packages === 'coreutils'
      ? ['coreutils']
      : output('dpkg-query', '-W', `-f=\${Essential} \${Package}\n`).match(/(?<=^yes ).*/gm)
  const paths = output('dpkg', '-L', ...names).match(/^(?:\/usr)?\/s?bin\/.*/gm)
  for (const name of ['node', 'npm', 'npx', 'git', 'sh']) paths.push(output('which', name))
  for (const path of paths) {
    const link = join(folder, basename(path))
    if (existsSync(path) && !existsSync(link)) symlinkSync(path, link)
  }
  return folder
}

/** Variables that npm may need to reach its registry, besides its files. */
const isForNpm = name =>
  /^(?:npm_config_(?:registry|ca|cafile|strict_ssl|https?_proxy|noproxy)|https?_proxy|no_proxy|NODE_EXTRA_CA_CERTS)$/i.test(
    name,
  )

/** Installs a machine. Returns a function that runs a script of the package there. */
function install(machine, name) {
  const { folder = 'clone', mode = 0o755, isLinked = false, installer, user, programs, version } = machine
  const outer = join(place, name.replace(/\W+/g, '-'))
  mkdirSync(join(outer, 'home'), { recursive: true })
  mkdirSync(join(outer, 'real'))
  if (isLinked) symlinkSync('real', join(outer, 'link'))
  const clone = join(outer, isLinked ? 'link' : 'real', folder)
  execFileSync('git', ['clone', '--quiet', '--no-hardlinks', root, clone], {
    env: { ...process.env, GIT_CONFIG_GLOBAL: gitConfig },
  })
  chmodSync(outer, mode)
  const npmrc = join(homedir(), '.npmrc')
  if (existsSync(npmrc)) cpSync(npmrc, join(outer, 'home/.npmrc'))
  const ids = { root: {}, ordinary: ordinaryUser() }
  if (isRoot && user === 'ordinary') output('chown', '-R', `${userName}:`, outer)

  let path = process.env.PATH
  if (programs !== undefined) path = linkPrograms(join(outer, 'programs'), programs)
  if (version !== undefined) path = `${directoryOfNode(version)}:${path}`
  const { MERGEQ_TEST_NO_SKIP: _, NODE_EXTRA_CA_CERTS: __, ...inherited } = process.env
  const own = Object.fromEntries(
    Object.entries(inherited).filter(([variable]) => !/^npm_|^INIT_CWD$/.test(variable)),
  )
  const bare = { PATH: path, HOME: join(outer, 'home') }
  const log = join(place, `${basename(outer)}.log`)
  const start = (words, env, who) => {
    const options = { cwd: clone, env, encoding: 'utf8', maxBuffer: Infinity, timeout: 20 * minute, ...who }
    const { status, signal, stdout, stderr, error } = spawnSync(words[0], words.slice(1), options)
    appendFileSync(log, `$ ${words.join(' ')}\n${stdout}${stderr}${error ?? ''}`)
    return { status: status ?? signal, lines: `${stdout}`.trim().split('\n') }
  }

  const forNpm = Object.fromEntries(Object.entries(process.env).filter(([variable]) => isForNpm(variable)))
  // Later machines of the same user read the packages from it.
  const cache = join(place, `cache-of-${installer ?? 'root'}`)
  mkdirSync(cache, { recursive: true })
  chmodSync(cache, 0o777)
  const installed = start(
    ['npm', 'ci', '--prefer-offline', '--no-audit', '--no-fund'],
    { ...bare, ...forNpm, npm_config_cache: cache },
    ids[installer ?? 'root'],
  )
  if (installed.status !== 0) throw new Error(`npm ci ended with ${installed.status}, see ${log}`)
  const env = { ...(machine.isBare ? {} : own), ...bare, PWD: clone, ...machine.env }
  return script => {
    const began = Date.now()
    const loops = Array.from({ length: machine.loops ?? 0 }, () => spawn('sh', ['-c', 'while :; do :; done']))
    const { status, lines } = start([...(machine.wrap ?? []), 'npm', 'run', script], env, ids[user ?? 'root'])
    for (const loop of loops) loop.kill()
    const seconds = Math.round((Date.now() - began) / 1_000)
    const skipped = lines.at(-2)?.startsWith('skipped because') ? ` (${lines.at(-2)})` : ''
    const result = `${lines.at(-1)}${skipped}, ${seconds} s`
    if (status === 0) return result
    failures++
    console.log(lines.slice(-40).join('\n'))
    return `FAILED: ${result}, see ${log}`
  }
}

const scripts = values.all ? ['test', 'test:all'] : ['test']
const rows = []
let failures = 0
try {
  for (const [name, machine] of selected) {
    const needsRoot =
      machine.wrap !== undefined || (machine.user !== undefined && machine.installer === undefined)
    const row = [name]
    try {
      const run = needsRoot && !isRoot ? () => 'not tried: it needs root' : install(machine, name)
      for (const script of scripts) row.push(run(script))
    } catch (error) {
      failures++
      row.push(error.message.trim())
    }
    console.log(row.join(' | '))
    rows.push(row)
  }
} finally {
  // What a test started may still end: a user with a process is removed by force only.
  if (spawnSync('id', [userName]).status === 0) output('userdel', '--force', userName)
}
console.log(`\n| machine | ${scripts.map(script => `npm run ${script}`).join(' | ')} |`)
for (const row of rows) console.log(`| ${row.join(' | ')} |`)
if (failures > 0) process.exitCode = 1
else rmSync(place, { recursive: true, force: true })
