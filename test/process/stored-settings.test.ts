import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Service, serveScript } from '../support/harness.ts'
import { bareEnvironment, runProgram, testWith } from '../support/programs.ts'
import { done, openHome, runningQueue } from '../support/settings-sources.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { encodingsFound, token } from '../support/tokens.ts'

const root = temporaryFolder('mergeq-store-')
// Other users read in it, and run a copy of the program, because they may not be able to enter this folder.
chmodSync(root, 0o755)
const copy = join(root, 'program')
for (const name of ['bin', 'dist', 'package.json'])
  cpSync(name, join(copy, name), { recursive: true, preserveTimestamps: true })
execFileSync('chmod', ['-R', 'a+rX', copy])
const launcher = join(copy, 'bin/mergeq.js')
const isRoot = process.getuid?.() === 0
const nobody = 65_534
let service: Service
beforeAll(async () => {
  service = await serveScript(runningQueue)
})
afterAll(() => service.close())

interface Surroundings {
  readonly env?: Readonly<Record<string, string>>
  /** What runs the program: `sh -c 'umask 077; exec "$@"' -`, `setpriv ...`. */
  readonly by?: readonly string[]
}

/** A home of its own, and the built program in it. */
function open() {
  const place = openHome(root)
  chmodSync(place.home, 0o755)
  return {
    ...place,
    /** Runs a command line; a token in a stream fails the test. */
    async run(line: string, { env = {}, by = [] }: Surroundings = {}) {
      const result = await runProgram([...by, launcher, ...line.split(' ')], {
        cwd: '/',
        env: { ...bareEnvironment(place.home), MERGEQ_BASE_URL: service.baseUrl, ...env },
        timeout: 15_000,
      })
      expect(encodingsFound(result.out + result.err, token)).toEqual([])
      return result
    },
  }
}

const modeOf = (path: string): string => (statSync(path).mode & 0o777).toString(8)
const shell = (command: string) => ['sh', '-c', `${command}; exec "$@"`, '-']
const queueGet = 'queue get -R acme/web -b main'
const works = { code: 0, out: `${runningQueue().body}\n`, err: '' }

test('12 processes that store settings at the same time lose none, and create the folder once', async () => {
  const { folder, read, run } = open()
  const names = Array.from({ length: 12 }, (_, index) => `p${index}`)
  const ran = await Promise.all(names.map(name => run(`config set repo acme/${name} --profile ${name}`)))
  expect(ran).toEqual(names.map(() => done))
  expect(read()).toEqual({
    profiles: Object.fromEntries(names.map(name => [name, { repo: `acme/${name}` }])),
  })
  expect(readdirSync(folder)).toEqual(['config.json'])
})

const snaps = [
  ['', {}],
  [' with SNAP set, where the library does not write atomically', { SNAP: '/snap/x/1' }],
] as const

describe('a process that is killed while it stores a setting', () => {
  const before = { future: 'kept', tokens: { 'https://api.trunk.io': token }, profiles: {} }
  const after = { ...before, profiles: { default: { repo: 'acme/web' } } }

  /**
   * Kills the process before its change number KILL_AT of the folder with the settings; where it writes, a part
   * is written first.
   */
  const killer = `
const fs = require('node:fs')
const { writeSync } = fs
const open = new Set()
let changes = 0
const isOurs = path => open.has(path) || String(path).startsWith(process.env.KILL_IN)
const plain = ['mkdir', 'open', 'write', 'writeFile', 'fsync', 'chmod', 'rename', 'rm', 'unlink', 'rmdir']
for (const name of plain.flatMap(name => [name, name + 'Sync'])) {
  const real = fs[name]
  fs[name] = (path, ...rest) => {
    if (isOurs(path) && ++changes === Number(process.env.KILL_AT)) {
      if (open.has(path) && name.startsWith('write')) writeSync(path, '{"profi')
      process.kill(process.pid, 'SIGKILL')
    }
    const result = real(path, ...rest)
    if (name === 'openSync' && isOurs(path)) open.add(result)
    return result
  }
}
require('node:module').syncBuiltinESMExports()
`

  test.each(snaps)('leaves the old or the new file, and nothing that others can read%s', async (_, snap) => {
    const hook = join(root, 'killer.cjs')
    writeFileSync(hook, killer)
    const outcomes: unknown[] = []
    const names = new Set<string>()
    for (let at = 1; at === outcomes.length + 1; at++) {
      const { folder, read, run, write } = open()
      write(before)
      const env = { ...snap, NODE_OPTIONS: `--require ${hook}`, KILL_IN: folder, KILL_AT: String(at) }
      const { code } = await run('config set repo acme/web', { env, by: shell('umask 000') })
      expect([before, after]).toContainEqual(read())
      for (const name of readdirSync(folder).filter(one => !/^config\.json(?:\.lock)?$/.test(one))) {
        expect(name).toMatch(/^config\.json\.[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\.new/)
        expect({ at, name, mode: modeOf(join(folder, name)) }).toEqual({ at, name, mode: '600' })
        names.add(name)
      }
      if (code === 0) break
      expect({ at, code }).toEqual({ at, code: 'SIGKILL' })
      outcomes.push(read())
    }
    expect(outcomes.length).toBeGreaterThan(5)
    expect(outcomes[0]).toEqual(before)
    expect(outcomes.at(-1)).toEqual(after)
    expect(names.size).toBeGreaterThan(0)
  })
})

describe('a full disk', () => {
  const old = `${JSON.stringify({ filler: 'x'.repeat(9_000), profiles: { default: { repo: 'acme/old' } } })}\n`
  const failure =
    /^mergeq: The settings file .*config\.json could not be written: .*\n {2}Nothing was changed/
  test.each(snaps)(
    'a file that may not grow any further%s: the old one stays byte for byte',
    async (_, env) => {
      const { file, folder, run, write } = open()
      write(old)
      for (const limit of [0, 8]) {
        const { code, out, err } = await run('config set repo acme/web', {
          env,
          by: shell(`ulimit -f ${limit}`),
        })
        expect({ code, out }).toEqual({ code: 16, out: '' })
        expect(err).toMatch(failure)
        expect(readdirSync(folder)).toEqual(['config.json'])
        expect(readFileSync(file, 'utf8')).toBe(old)
      }
    },
  )
})

test('a cache of what V8 compiled that another user could have written is never run', async () => {
  const { home, run } = open()
  const env = { MERGEQ_TOKEN: token, XDG_CACHE_HOME: '' }
  const folder = join(home, '.cache/mergeq')
  const elsewhere = join(home, 'elsewhere')
  mkdirSync(elsewhere)
  await run(queueGet, { env })
  const changes: readonly (() => void)[] = [
    () => chmodSync(folder, 0o777),
    () => {
      rmSync(folder, { recursive: true })
      symlinkSync(elsewhere, folder)
    },
  ]
  for (const change of changes) {
    change()
    expect(await run(`${queueGet} --json`, { env })).toEqual(works)
  }
  expect(readdirSync(elsewhere)).toEqual([])
})

const testAsUser = isRoot ? testWith('setpriv') : test
testAsUser('in a folder that cannot be written settings are read, and not changed', async () => {
  const { file, folder, run, write } = open()
  write({ profiles: { default: { repo: 'acme/web' } } }, 0o644)
  chmodSync(dirname(folder), 0o755)
  chmodSync(folder, 0o555)
  const by = isRoot ? ['setpriv', `--reuid=${nobody}`, `--regid=${nobody}`, '--clear-groups'] : []
  expect(await run('config get repo', { by })).toEqual({ ...done, out: 'acme/web\n' })
  const before = readFileSync(file, 'utf8')
  const { code, err } = await run('config set org acme', { by })
  expect(code).toBe(16)
  expect(err).toContain(file)
  expect(readFileSync(file, 'utf8')).toBe(before)
  chmodSync(folder, 0o755)
})

// docs/container.md, "Another user, a read-only root, no home directory".
testAsUser(
  'a user without a name, a home and a place to write sends requests, and stores nothing',
  async () => {
    const { home, run } = open()
    const user = isRoot ? ['setpriv', '--reuid=1000680000', '--regid=0', '--clear-groups'] : []
    const by = [...user, 'env', '-u', 'HOME']
    const env = { MERGEQ_TOKEN: token, TMPDIR: '/' }
    expect(await run(`${queueGet} --json`, { env, by })).toEqual(works)
    for (const line of ['config set org acme', 'config path']) {
      const { code, err } = await run(line, { env, by })
      expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining('no configuration directory') })
    }
    for (const line of ['sandbox exec -- true', 'queue export -R acme/web -b main -f queue.yaml'])
      expect((await run(line, { env, by })).code, line).toBe(16)
    if (!isRoot) return
    // The home directory of somebody else.
    chmodSync(home, 0o700)
    const { code, err } = await run(`${queueGet} --json`, { env: { ...env, MERGEQ_BASE_URL: '' }, by: user })
    expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining('MERGEQ_CONFIG_DIR') })
    expect(
      await run(`${queueGet} --json`, { env: { ...env, MERGEQ_CONFIG_DIR: '/none' }, by: user }),
    ).toEqual(works)
  },
)
