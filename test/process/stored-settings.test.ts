import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  watch,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { execa, type Options } from 'execa'
import { afterAll, afterEach, describe, expect, test } from 'vitest'
import { updateStore } from '../../src/config/store.ts'
import { toMergeqError } from '../../src/errors.ts'
import type { Host } from '../../src/host/host.ts'
import { createNodeHost } from '../../src/host/node-host.ts'
import { mergeq, type Service, serveScript } from '../support/harness.ts'
import { bareEnvironment, launcher, testWith } from '../support/programs.ts'

const token = 'tok_4f2a9c1e77d0b6aa'
const base64 = Buffer.from(token).toString('base64').replace(/=+$/, '').slice(0, -1)
const isRoot = process.getuid?.() === 0
const nobody = 65_534
const mustRun = process.env.MERGEQ_TEST_NO_SKIP === '1'

const places: string[] = []
const services: Service[] = []
afterEach(() => Promise.all(services.splice(0).map(service => service.close())))
afterAll(() => {
  for (const place of places) {
    // Some were closed against writing.
    execFileSync('chmod', ['-R', 'u+rwx', place])
    rmSync(place, { recursive: true, force: true })
  }
})

/** A service on loopback that takes every token. */
async function serve(): Promise<Service> {
  const service = await serveScript(({ path }) =>
    path.startsWith('/v1/getMergeQueueMetrics')
      ? {}
      : { body: '{"state":"RUNNING","enqueuedPullRequests":[]}' },
  )
  services.push(service)
  return service
}

/** What one spawned command left. */
interface Ran {
  readonly code: number | undefined
  readonly out: string
  readonly err: string
}

interface Surroundings {
  readonly env?: Readonly<Record<string, string | undefined>>
  readonly input?: string
  /** What runs the launcher: `sh -c 'umask 077; exec "$@"' -`, `setpriv ...`. */
  readonly by?: readonly string[]
  /** Milliseconds after which it is killed; its code is then undefined. */
  readonly limit?: number
  /** Others write at the same time: the files are not looked at. */
  readonly crowded?: boolean
}

/** What stands in a home; the cache of what V8 compiled may be there. */
const madeIn = (home: string): readonly string[] => readdirSync(home).filter(name => name !== '.cache')

/** A home of its own beside a working folder, and the built binary in it. */
function openPlace() {
  const place = realpathSync(mkdtempSync(join(tmpdir(), 'mergeq-store-')))
  places.push(place)
  const [home, work] = [join(place, 'home'), join(place, 'work')]
  for (const folder of [home, work]) mkdirSync(folder)
  const folder = join(home, '.config/mergeq')
  const file = join(folder, 'config.json')

  /** Runs a command line; a token in a stream, or in a file that is not the settings, fails the test. */
  const run = async (
    line: string | readonly string[],
    { env = {}, input, by = [], limit = 15_000, crowded = false }: Surroundings = {},
  ): Promise<Ran> => {
    const [command = launcher, ...words] = [
      ...by,
      launcher,
      ...(typeof line === 'string' ? line.split(' ') : line),
    ]
    const options: Options = {
      cwd: work,
      env: { ...bareEnvironment(home), ...env },
      extendEnv: false,
      reject: false,
      timeout: limit,
      killSignal: 'SIGKILL',
      stripFinalNewline: false,
      ...(input === undefined ? { stdin: 'ignore' } : { input }),
    }
    const { exitCode, stdout, stderr } = await execa(command, words, options)
    for (const text of [stdout, stderr]) expect(shows(String(text))).toBe(false)
    if (!crowded)
      expect(
        filesBelow(place).filter(path => path !== realpath(file) && shows(readFileSync(path, 'utf8'))),
      ).toEqual([])
    return { code: exitCode, out: String(stdout), err: String(stderr) }
  }
  return {
    place,
    home,
    work,
    folder,
    file,
    run,
    read: (): unknown => JSON.parse(readFileSync(file, 'utf8')),
    /** Lays the settings file down; a document becomes JSON. */
    lay(content: unknown, mode = 0o600) {
      mkdirSync(folder, { recursive: true, mode: 0o700 })
      writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content), { mode })
    },
  }
}

const shows = (text: string): boolean =>
  text.includes(token) || text.includes(encodeURIComponent(token)) || text.includes(base64)

const realpath = (path: string): string => (existsSync(path) ? realpathSync(path) : path)

/** Every regular file below a folder that is small enough to be one of ours. */
const filesBelow = (folder: string): readonly string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => join(entry.parentPath, entry.name))
    .filter(path => statSync(path).size < 1_000_000)

const modeOf = (path: string): string => (statSync(path).mode & 0o777).toString(8)
const now = (): number => Date.now() / 1_000

const queueGet = 'queue get -R acme/web -b main'

describe('many at once', () => {
  test('50 processes that each set a value in a profile of their own lose none', {
    timeout: 30_000,
  }, async () => {
    const { folder, lay, read, run } = openPlace()
    const before = { future: { kept: true }, tokens: { 'https://api.trunk.io': token } }
    lay(before)
    const names = Array.from({ length: 50 }, (_, index) => `p${index + 1}`)
    const ran = await Promise.all(
      names.map(name => run(`config set repo acme/${name} --profile ${name}`, { crowded: true })),
    )
    expect(ran).toEqual(names.map(() => ({ code: 0, out: '', err: '' })))
    expect(read()).toEqual({
      ...before,
      profiles: Object.fromEntries(names.map(name => [name, { repo: `acme/${name}` }])),
    })
    expect(readdirSync(folder)).toEqual(['config.json'])
    expect(modeOf(folder)).toBe('700')
  })

  test('the first write creates the directory once', async () => {
    const { folder, read, run } = openPlace()
    const keys = ['repo acme/web', 'target-branch main', 'org acme', 'retries 1', 'timeout 5s', 'color never']
    const ran = await Promise.all(keys.map(key => run(`config set ${key}`, { crowded: true })))
    expect(ran.map(({ code }) => code)).toEqual(keys.map(() => 0))
    expect(read()).toEqual({
      profiles: { default: Object.fromEntries(keys.map(key => key.split(' '))) },
    })
    expect(readdirSync(folder)).toEqual(['config.json'])
  })
})

describe.concurrent('killed at any moment', () => {
  const filler = 'x'.repeat(20_000)
  const documentWith = (branch: string) => ({
    future: { filler },
    tokens: { 'https://api.trunk.io': token },
    profiles: { default: { repo: 'acme/web', 'target-branch': branch } },
  })

  /** Starts writes one after the other, kills each, and looks at the file after each. */
  async function writeAndKill(count: number) {
    const { file, folder, home, lay } = openPlace()
    const lock = `${file}.lock`
    let [standing, inTheLock] = ['b0', 0]
    lay(documentWith(standing))
    for (let index = 1; index <= count; index++) {
      const branch = `b${index}`
      const child = execa(launcher, ['config', 'set', 'target-branch', branch], {
        env: bareEnvironment(home),
        extendEnv: false,
        reject: false,
        stdin: 'ignore',
      })
      const kill = () => child.kill('SIGKILL')
      // One third at any moment of its life, the others while the file is being written.
      const any = index % 3 === 0
      const last = setTimeout(kill, any ? Math.random() * 150 : 5_000)
      const watcher = watch(folder, () => {
        watcher.close()
        if (!any) setTimeout(kill, Math.random() * 12)
      })
      await child
      clearTimeout(last)
      watcher.close()
      const { profiles, ...rest } = JSON.parse(readFileSync(file, 'utf8'))
      const { profiles: _, ...expected } = documentWith('')
      expect(rest).toEqual(expected)
      expect([standing, branch]).toContain(profiles.default['target-branch'])
      expect(modeOf(file)).toBe('600')
      standing = profiles.default['target-branch']
      if (!existsSync(lock)) continue
      inTheLock++
      // As if the time had passed after which a lock counts as left behind.
      utimesSync(lock, now() - 60, now() - 60)
    }
    return { folder, home, inTheLock }
  }

  const kills = Array.from({ length: 2 }, () => 100)
  test('200 writes: the file is always the old one or the new one', { timeout: 60_000 }, async () => {
    const ends = await Promise.all(kills.map(writeAndKill))
    expect(ends.reduce((sum, { inTheLock }) => sum + inTheLock, 0)).toBeGreaterThan(10)
  })

  test('a lock that was left behind is broken within 10 s', async () => {
    const { file, folder, lay, read, run } = openPlace()
    lay({})
    mkdirSync(`${file}.lock`)
    const started = performance.now()
    expect(await run('config set repo acme/web')).toEqual({ code: 0, out: '', err: '' })
    expect(performance.now() - started).toBeLessThan(10_000)
    expect(read()).toEqual({ profiles: { default: { repo: 'acme/web' } } })
    expect(readdirSync(folder)).toEqual(['config.json'])
  })

  test('a lock that is never given back: the message says so, and the hint names it', async () => {
    const { file, home, lay } = openPlace()
    lay({})
    mkdirSync(`${file}.lock`)
    const { clock, files } = createNodeHost(process, '0.0.0-test', new AbortController().signal)
    let time = clock.now()
    const quick = {
      now: () => time,
      sleep: async () => {
        time += 1_000
        utimesSync(`${file}.lock`, now(), now())
      },
    }
    const runtime = { version: '0', node: '20', platform: 'linux' }
    const host = { env: { HOME: home }, runtime, clock: quick, files, random: () => 0.5 } as unknown as Host
    const failure = await updateStore(host, document => document).catch(toMergeqError)
    expect(failure).toMatchObject({
      kind: 'output',
      message: `The settings file ${file} is locked by another mergeq process.`,
      details: { hint: expect.stringContaining(`remove the lock ${file}.lock`) },
    })
  })

  test('waits for a lock that is kept fresh', async () => {
    const { file, lay, run } = openPlace()
    lay({})
    mkdirSync(`${file}.lock`)
    const fresh = setInterval(() => utimesSync(`${file}.lock`, now(), now()), 200)
    let released = 0
    setTimeout(() => {
      clearInterval(fresh)
      rmSync(`${file}.lock`, { recursive: true })
      released = performance.now()
    }, 1_500)
    expect((await run('config set repo acme/web')).code).toBe(0)
    expect(released).toBeGreaterThan(0)
  })

  const uuid = '11111111-2222-4333-8444-555555555555'
  const cleans = async (name: string) => {
    const { folder, lay, run } = openPlace()
    lay({})
    writeFileSync(join(folder, name), '{"tok', { mode: 0o600 })
    writeFileSync(join(folder, 'config.json.mine'), 'kept')
    expect((await run('config set repo acme/web')).code).toBe(0)
    expect(readdirSync(folder).sort()).toEqual(['config.json', 'config.json.mine'])
  }
  test('a new file that was left behind is cleaned up by the next write', () =>
    cleans(`config.json.${uuid}.new`))
  test('so is the one that the library was writing when it was killed', () =>
    cleans(`config.json.${uuid}.new.tmp-1767614400abcdef`))
})

describe('a full disk', () => {
  const old = `${JSON.stringify({ filler: 'x'.repeat(9_000), profiles: { default: { repo: 'acme/old' } } })}\n`

  /** Runs a script in a mount namespace of its own: what it mounts goes with it. */
  const unshared = (script: string) => [
    ...(isRoot ? ['unshare', '-m'] : ['unshare', '-rm']),
    'sh',
    '-c',
    script,
  ]
  const canMount = (() => {
    try {
      const [command = '', ...words] = unshared('mount -t tmpfs -o size=16k tmpfs /mnt')
      execFileSync(command, words, { stdio: 'ignore' })
      return true
    } catch {
      return false
    }
  })()
  const onTmpfs = (folder: string) =>
    unshared(
      `cp -p '${folder}/config.json' '${folder}/../old' && mount -t tmpfs -o size=16k,mode=700 tmpfs '${folder}' &&
       cp -p '${folder}/../old' '${folder}/config.json' && { "$@"; code=$?; cmp '${folder}/../old' '${folder}/config.json' &&
       test "$(ls -A '${folder}')" = config.json && exit $code; exit 99; }`,
    )
  const snaps = [
    ['', {}],
    [' with SNAP set, where the library does not write atomically', { SNAP: '/snap/x/1' }],
  ] as const

  test.each(snaps)(
    'a file that may not grow any further%s: the old one stays byte for byte',
    async (_, env) => {
      const { file, folder, lay, read, run } = openPlace()
      lay(old)
      for (const limit of [0, 8]) {
        const by = ['sh', '-c', `ulimit -f ${limit}; exec "$@"`, '-']
        const { code, out, err } = await run('config set repo acme/web', { env, by })
        expect({ code, out }).toEqual({ code: 16, out: '' })
        expect(err).toMatch(
          /^mergeq: The settings file .*config\.json could not be written: .*\n {2}Nothing was changed/,
        )
        expect(readdirSync(folder)).toEqual(['config.json'])
        expect(readFileSync(file, 'utf8')).toBe(old)
      }
      expect((await run('config set repo acme/web')).code).toBe(0)
      expect(read()).toMatchObject({ profiles: { default: { repo: 'acme/web' } } })
      expect(readdirSync(folder)).toEqual(['config.json'])
    },
  )

  test('Node takes a listener for a signal that the system does not have, as SIGXFSZ on Windows', () => {
    const listener = () => undefined
    expect(() => process.on('SIGNOTHERE', listener)).not.toThrow()
    process.off('SIGNOTHERE', listener)
  })

  const testMounting = canMount || mustRun ? test : test.skip
  testMounting.each(snaps)(
    'a tmpfs of 16 KiB%s: exit 16, the old file stays byte for byte',
    async (_, env) => {
      const { file, folder, lay, run } = openPlace()
      lay(old)
      const { code, out, err } = await run('config set repo acme/web', { env, by: [...onTmpfs(folder), '-'] })
      expect({ code, out }).toEqual({ code: 16, out: '' })
      expect(err).toMatch(
        /^mergeq: The settings file .*config\.json could not be written: .*\n {2}Nothing was changed/,
      )
      expect(err).toContain(file)
    },
  )
})

describe('whatever the umask, the file is 0600 and its folder 0700', () => {
  const under = (mask: string) => ['sh', '-c', `umask ${mask}; exec "$@"`, '-']
  test.each(['000', '022', '077'])('umask %s, the first write', async mask => {
    const { file, folder, home, run } = openPlace()
    expect(await run('config set repo acme/web', { by: under(mask) })).toEqual({ code: 0, out: '', err: '' })
    expect({ file: modeOf(file), folder: modeOf(folder) }).toEqual({ file: '600', folder: '700' })
    expect(modeOf(join(home, '.config'))).toBe('700')
  })

  test('a login into a file that others could read closes it', async () => {
    const service = await serve()
    const { file, lay, run } = openPlace()
    lay({}, 0o644)
    const env = { MERGEQ_BASE_URL: service.baseUrl }
    expect((await run('auth login --with-token', { env, input: token, by: under('000') })).code).toBe(0)
    expect(modeOf(file)).toBe('600')
  })

  test('MERGEQ_CONFIG_DIR names the folder, and is made the same way', async () => {
    const { home, place, run } = openPlace()
    const folder = join(place, 'a b', 'ü')
    const env = { MERGEQ_CONFIG_DIR: folder, XDG_CONFIG_HOME: join(place, 'other') }
    expect((await run('config set repo acme/web', { env, by: under('000') })).code).toBe(0)
    expect((await run('config path', { env })).out).toBe(`${join(folder, 'config.json')}\n`)
    expect({ file: modeOf(join(folder, 'config.json')), folder: modeOf(folder) }).toEqual({
      file: '600',
      folder: '700',
    })
    expect(madeIn(home)).toEqual([])
    expect(readdirSync(place).sort()).toEqual(['a b', 'home', 'work'])
  })

  test('XDG_CONFIG_HOME is respected', async () => {
    const { home, place, run } = openPlace()
    const env = { XDG_CONFIG_HOME: join(place, 'xdg') }
    expect((await run('config set repo acme/web', { env })).code).toBe(0)
    expect(existsSync(join(place, 'xdg/mergeq/config.json'))).toBe(true)
    expect(madeIn(home)).toEqual([])
  })
})

describe('a settings file that is a link stays one', () => {
  const before = { future: 1, profiles: { default: { repo: 'acme/web' } } }
  const after = { future: 1, profiles: { default: { repo: 'acme/web', org: 'acme' } } }

  test.each([
    ['absolute', (target: string) => target],
    ['relative', (target: string, from: string) => relative(from, target)],
  ])('an %s link into another folder: its target is updated', async (_, spell) => {
    const { file, folder, place, run } = openPlace()
    const dotfiles = join(place, 'dotfiles')
    for (const made of [dotfiles, folder]) mkdirSync(made, { recursive: true, mode: 0o700 })
    const target = join(dotfiles, 'mergeq.json')
    writeFileSync(target, JSON.stringify(before))
    const link = spell(target, folder)
    symlinkSync(link, file)
    expect((await run('config get repo')).out).toBe('acme/web\n')
    expect(await run('config set org acme')).toEqual({ code: 0, out: '', err: '' })
    expect(lstatSync(file).isSymbolicLink()).toBe(true)
    expect(readlinkSync(file)).toBe(link)
    expect(JSON.parse(readFileSync(target, 'utf8'))).toEqual(after)
    expect(modeOf(target)).toBe('600')
    expect([readdirSync(dotfiles), readdirSync(folder)]).toEqual([['mergeq.json'], ['config.json']])
  })

  test('a link to a link, and one to a file that is not there yet', async () => {
    const { file, folder, place, run } = openPlace()
    mkdirSync(folder, { recursive: true })
    const target = join(place, 'real.json')
    symlinkSync(join(place, 'between'), file)
    symlinkSync('real.json', join(place, 'between'))
    expect((await run('config set org acme')).code).toBe(0)
    expect(lstatSync(join(place, 'between')).isSymbolicLink()).toBe(true)
    expect(JSON.parse(readFileSync(target, 'utf8'))).toEqual({ profiles: { default: { org: 'acme' } } })
  })

  test('links in a circle are reported, without a hang', async () => {
    const { file, folder, run } = openPlace()
    mkdirSync(folder, { recursive: true })
    symlinkSync('config.json', file)
    const { code, err } = await run('config set org acme')
    expect([2, 16]).toContain(code)
    expect(err).toContain(file)
    expect(readdirSync(folder)).toEqual(['config.json'])
  })
})

/** Files that are no settings: how each is made. */
const broken: readonly (readonly [string, (file: string) => void])[] = [
  ['not JSON', file => writeFileSync(file, '{"profiles": {')],
  ['no JSON object', file => writeFileSync(file, '[1]')],
  ['a number that is too large for a double', file => writeFileSync(file, '1e999')],
  ['a number of many digits', file => writeFileSync(file, '12345678901234567890')],
  ['empty', file => writeFileSync(file, '')],
  ['only blank', file => writeFileSync(file, ' \n')],
  ['UTF-16', file => writeFileSync(file, '\uFEFF{}', 'utf16le')],
  ['NULs', file => writeFileSync(file, '\0'.repeat(4_096))],
  ['a folder', file => mkdirSync(file)],
  [
    '1 GB large',
    file => {
      writeFileSync(file, '{}')
      truncateSync(file, 1_000_000_000)
    },
  ],
  ['a FIFO', file => execFileSync('mkfifo', [file])],
  ['a link to a device that never ends', file => symlinkSync('/dev/zero', file)],
]

describe('a settings file that cannot be read', () => {
  const breakIt = (make: (file: string) => void) => {
    const place = openPlace()
    mkdirSync(place.folder, { recursive: true, mode: 0o700 })
    make(place.file)
    const { ino, mode, size, mtimeMs } = lstatSync(place.file)
    return {
      ...place,
      isUntouched() {
        const { ino: inode, ...stat } = lstatSync(place.file)
        expect({ ino: inode, mode: stat.mode, size: stat.size, mtimeMs: stat.mtimeMs }).toEqual({
          ino,
          mode,
          size,
          mtimeMs,
        })
        expect(readdirSync(place.folder)).toEqual(['config.json'])
      },
    }
  }
  const named = (file: string) =>
    new RegExp(`mergeq: The settings file ${file.replaceAll('.', '\\.')} cannot be read: [^\\n]+\\.`)

  test.each(broken)('%s: with MERGEQ_TOKEN a read works, with a warning', async (_, make) => {
    const service = await serve()
    const { file, isUntouched, run } = breakIt(make)
    const { code, out, err } = await run(`${queueGet} --json`, {
      env: { MERGEQ_TOKEN: token, MERGEQ_BASE_URL: service.baseUrl },
    })
    expect({ code, out }).toEqual({ code: 0, out: '{"state":"RUNNING","enqueuedPullRequests":[]}\n' })
    expect(err).toMatch(named(file))
    expect(err.match(/^mergeq: /gm)).toHaveLength(1)
    isUntouched()
  })

  test.each(broken)(
    '%s: without a token a read names the file and the fix, and sends nothing',
    async (_, make) => {
      const service = await serve()
      const { file, isUntouched, run } = breakIt(make)
      const { code, out, err } = await run(queueGet, { env: { MERGEQ_BASE_URL: service.baseUrl } })
      expect({ code, out, requests: service.requests }).toEqual({ code: 2, out: '', requests: [] })
      expect(err).toMatch(named(file))
      expect(err).toMatch(/^ {2}Fix the file/m)
      isUntouched()
    },
  )

  const isRefused = async (make: (file: string) => void, lines = ['config set repo acme/web']) => {
    const service = await serve()
    const { file, isUntouched, run } = breakIt(make)
    const env = { MERGEQ_BASE_URL: service.baseUrl }
    for (const line of lines) {
      const { code, out, err } = await run(line, { env, input: token })
      expect({ line, code, out }).toEqual({ line, code: 2, out: '' })
      expect(err).toMatch(named(file))
      expect(err).toMatch(/^ {2}Fix the file/m)
      isUntouched()
    }
  }
  const isText = (what: string) => !/folder|GB|FIFO|device/.test(what)
  const what = '%s: `config set` refuses, and overwrites nothing'
  test.each(broken.filter(([name]) => isText(name)))(what, (_, make) => isRefused(make))
  test.each(broken.filter(([name]) => !isText(name)))(what, (_, make) => isRefused(make))

  test('so do `config unset`, `auth login` and `auth logout`', () =>
    isRefused(
      file => writeFileSync(file, '{'),
      ['config unset repo', 'auth login --with-token', 'auth logout'],
    ))

  test('as JSON the failure is one object, the last line', async () => {
    const { file, run } = breakIt(path => writeFileSync(path, 'no'))
    const { code, err } = await run(`${queueGet} --json`)
    expect(code).toBe(2)
    expect(JSON.parse(err.trim().split('\n').at(-1) ?? '')).toMatchObject({
      error: {
        kind: 'usage',
        exit: 2,
        message: expect.stringContaining(file),
        hint: expect.stringContaining('Fix the file'),
      },
    })
  })

  test('the file is named even when every other setting was given: the one that is missing may be in it', async () => {
    const { file, run } = breakIt(path =>
      writeFileSync(path, '{"profiles":{"default":{"target-branch":"main"'),
    )
    const line = 'queue get -R acme/web --json --color never --retries 0 --timeout 5s'
    const { code, err } = await run(line, { env: { MERGEQ_TOKEN: token } })
    expect(code).toBe(2)
    expect(err).toContain(file)
  })

  test('a value that is neither text nor a number, or a missing profile, has no effect', async () => {
    for (const document of [
      { profiles: { default: { repo: {}, org: null } } },
      { profiles: 'x', tokens: [] },
      { profiles: [] },
    ]) {
      const { file, lay, run } = openPlace()
      lay(document)
      const before = readFileSync(file, 'utf8')
      const { code, err } = await run('config get repo')
      expect({ code, internal: err.includes('something went wrong') }).toEqual({ code: 5, internal: false })
      expect(readFileSync(file, 'utf8')).toBe(before)
    }
  })
})

describe('without a settings folder', () => {
  const environments: readonly (readonly [string, Readonly<Record<string, string | undefined>>])[] = [
    ['no HOME and nothing else', { HOME: undefined }],
    ['an empty HOME', { HOME: '' }],
    ['a relative HOME', { HOME: 'here' }],
    ['relative XDG and no HOME', { HOME: undefined, XDG_CONFIG_HOME: './xdg' }],
    ['a relative MERGEQ_CONFIG_DIR', { MERGEQ_CONFIG_DIR: 'settings' }],
  ]
  test.each(environments)('%s: a read works, storing is refused, nothing is written', async (_, env) => {
    const service = await serve()
    const { home, run, work } = openPlace()
    const all = { ...env, MERGEQ_BASE_URL: service.baseUrl }
    expect(await run(`${queueGet} --json`, { env: { ...all, MERGEQ_TOKEN: token } })).toEqual({
      code: 0,
      out: '{"state":"RUNNING","enqueuedPullRequests":[]}\n',
      err: '',
    })
    for (const line of ['config set repo acme/web', 'config path', 'auth login --with-token']) {
      expect(await run(line, { env: all, input: token })).toEqual({
        code: 2,
        out: '',
        err: 'mergeq: There is no configuration directory.\n  Set HOME, or set MERGEQ_CONFIG_DIR to an absolute path.\n',
      })
    }
    expect([madeIn(home), readdirSync(work)]).toEqual([[], []])
  })

  const odd: readonly (readonly [string, string])[] = [
    ['/dev/null', 'HOME'],
    ['/dev/null/x', 'MERGEQ_CONFIG_DIR'],
    ['/proc', 'MERGEQ_CONFIG_DIR'],
    ['/proc', 'HOME'],
    ['/proc', 'XDG_CACHE_HOME'],
  ]
  const isProc = ([path]: readonly [string, string]) => path === '/proc'
  const readWorks = async (path: string, name: string) => {
    const service = await serve()
    const { run, work } = openPlace()
    const env = { [name]: path, MERGEQ_BASE_URL: service.baseUrl, MERGEQ_TOKEN: token }
    expect((await run(queueGet, { env, limit: 3_000 })).code).toBe(0)
    expect(readdirSync(work)).toEqual([])
  }
  const isHung = ([path, name]: readonly [string, string]) => path === '/proc' && name !== 'MERGEQ_CONFIG_DIR'
  test.each(odd.filter(one => !isHung(one)))('%s as %s: a read works', readWorks)
  test.each(odd.filter(isHung))('%s as %s: a read works', readWorks)

  const failsSoon = async (path: string, name: string) => {
    const { run, work } = openPlace()
    const { code, err } = await run('config set repo acme/web', { env: { [name]: path }, limit: 3_000 })
    expect(code).toBe(16)
    expect(err).toContain(path)
    expect(readdirSync(work)).toEqual([])
  }
  const storing = odd.filter(([, name]) => name !== 'XDG_CACHE_HOME')
  test.each(storing.filter(one => !isProc(one)))('%s as %s: `config set` fails and returns', failsSoon)
  test.each(storing.filter(isProc))('%s as %s: `config set` fails and returns', failsSoon)
})

describe('the cache of what V8 compiled', () => {
  test('with any umask its files are 0600 and its directory 0700, and no other file is created', async () => {
    const service = await serve()
    const { home, run, work } = openPlace()
    const env = { MERGEQ_BASE_URL: service.baseUrl, MERGEQ_TOKEN: token }
    const by = ['sh', '-c', 'umask 000; exec "$@"', '-']
    for (let times = 0; times < 2; times++) expect((await run(queueGet, { env, by })).code).toBe(0)
    const folder = join(home, '.cache/mergeq')
    expect([madeIn(home), readdirSync(work)]).toEqual([[], []])
    if (!existsSync(folder)) return
    expect(modeOf(folder)).toBe('700')
    expect(readdirSync(folder).map(name => modeOf(join(folder, name)))).toEqual(
      readdirSync(folder).map(() => '600'),
    )
  })

  test('no cache is created on a runner', async () => {
    const service = await serve()
    const { home, run } = openPlace()
    const env = { MERGEQ_BASE_URL: service.baseUrl, MERGEQ_TOKEN: token, CI: 'true' }
    expect((await run(queueGet, { env })).code).toBe(0)
    expect(readdirSync(home)).toEqual([])
  })

  test('a file that another user could have written is never run', async () => {
    const service = await serve()
    const { home, place, run } = openPlace()
    const env = { MERGEQ_BASE_URL: service.baseUrl, MERGEQ_TOKEN: token }
    const folder = join(home, '.cache/mergeq')
    await run(queueGet, { env })
    if (!existsSync(folder)) return
    const kept = readdirSync(folder)
    const spoil: readonly (() => void)[] = [
      () =>
        kept.forEach(name => {
          writeFileSync(join(folder, name), 'not what V8 made')
        }),
      () =>
        kept.forEach(name => {
          writeFileSync(join(folder, name), '')
        }),
      () => chmodSync(folder, 0o777),
      () => {
        rmSync(folder, { recursive: true })
        symlinkSync(place, folder)
      },
      () => {
        rmSync(folder)
        writeFileSync(folder, '')
      },
    ]
    for (const make of spoil) {
      make()
      expect(await run(`${queueGet} --json`, { env })).toEqual({
        code: 0,
        out: '{"state":"RUNNING","enqueuedPullRequests":[]}\n',
        err: '',
      })
    }
    expect(readdirSync(place).sort()).toEqual(['home', 'work'])
  })
})

describe('a read creates no file', () => {
  const lines = [
    'config list',
    'config list --show-origin --json',
    'config get output',
    'config path',
    'auth status',
    'auth logout',
    'metrics --dry-run',
    queueGet,
    '--help',
    'help environment',
  ]
  test.each(lines)('`%s` makes no folder', async line => {
    const { home, run, work } = openPlace()
    await run(line)
    expect([madeIn(home), readdirSync(work)]).toEqual([[], []])
  })
})

describe('a home that cannot be written', () => {
  const asNobody = ['setpriv', '--reuid', String(nobody), '--regid', String(nobody), '--clear-groups']
  const testAsUser = isRoot ? testWith('setpriv') : test
  /** A place whose home belongs to somebody else. */
  const openClosed = (make: (place: ReturnType<typeof openPlace>) => void = () => undefined) => {
    const place = openPlace()
    make(place)
    chmodSync(place.place, 0o755)
    chmodSync(place.home, 0o555)
    return { ...place, by: isRoot ? asNobody : [] }
  }

  testAsUser(
    'a read works without delay and makes no folder; `config set` fails with 16, naming the path',
    async () => {
      const service = await serve()
      const { by, file, home, run } = openClosed()
      const env = { MERGEQ_TOKEN: token, MERGEQ_BASE_URL: service.baseUrl }
      const started = performance.now()
      expect(await run(`${queueGet} --json`, { env, by })).toEqual({
        code: 0,
        out: '{"state":"RUNNING","enqueuedPullRequests":[]}\n',
        err: '',
      })
      expect(performance.now() - started).toBeLessThan(3_000)
      const { code, err } = await run('config set repo acme/web', { env, by })
      expect(code).toBe(16)
      expect(err).toContain(file)
      expect(performance.now() - started).toBeLessThan(6_000)
      expect(madeIn(home)).toEqual([])
    },
  )

  const closedFolder = ({ folder, lay }: ReturnType<typeof openPlace>) => {
    lay({ profiles: { default: { repo: 'acme/web' } } }, 0o644)
    chmodSync(folder, 0o555)
    chmodSync(dirname(folder), 0o755)
  }
  testAsUser('settings in a folder that cannot be written are read', async () => {
    const { by, run } = openClosed(closedFolder)
    expect(await run('config get repo', { by })).toEqual({ code: 0, out: 'acme/web\n', err: '' })
  })
  test('a change to them fails without delay', async () => {
    const { by, file, run } = openClosed(closedFolder)
    const before = readFileSync(file, 'utf8')
    const { code, err } = await run('config set org acme', { by, limit: 4_000 })
    expect(code).toBe(16)
    expect(err).toContain(file)
    expect(readFileSync(file, 'utf8')).toBe(before)
  })

  testAsUser('settings that may not be read are named, and stop only what needs them', async () => {
    if (!isRoot) return
    const { by, file, run } = openClosed(({ folder, lay }) => {
      lay({ profiles: {} })
      chmodSync(folder, 0o755)
      chmodSync(dirname(folder), 0o755)
    })
    const works = await run('config get retries', { by })
    expect({ code: works.code, out: works.out }).toEqual({ code: 0, out: '3\n' })
    expect(works.err).toContain(file)
    const { code, err } = await run(queueGet, { by })
    expect(code).toBe(2)
    expect(err).toMatch(/EACCES|permission/i)
  })
})

describe('an invalid setting is rejected, and the file stays unchanged', () => {
  const wrong: readonly (readonly string[])[] = [
    ['repos', 'acme/web'],
    ['target_branch', 'main'],
    ['targetBranch', 'main'],
    ['Repo', 'acme/web'],
    ['--repo', 'acme/web'],
    ['profile', 'work'],
    ['ca-file', '/etc/ca.pem'],
    ['sha', '4f2a9c1'],
    ['pr', '7'],
    ['', 'x'],
    ['repo', 'web'],
    ['repo', '/web'],
    ['repo', 'acme/../web'],
    ['repo', ''],
    ['target-branch', ''],
    ['org', ''],
    ['base-url', 'http://example.com/v1'],
    ['base-url', 'example.com'],
    ['base-url', 'https://example.com/v1?x=1'],
    ['base-url', 'https://example.com/v1#x'],
    ['base-url', 'ftp://example.com/v1'],
    ['output', 'xml'],
    ['output', ''],
    ['color', 'sometimes'],
    ['timeout', '30'],
    ['timeout', 'soon'],
    ['timeout', '-5s'],
    ['retries', '-1'],
    ['retries', '1.5'],
    ['retries', '101'],
    ['retries', 'x'],
  ]
  test.each(wrong)('config set %j %j', async (key = '', value = '') => {
    const { code, out, err } = await mergeq(['config', 'set', key, value])
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(err).toMatch(/^mergeq: [^\n]+\n/)
    // Refused for what it is, and not because there is nowhere to store it here.
    expect(err).not.toContain('There is no configuration directory')
  })

  test.each(wrong.filter((_, index) => index % 10 === 0))(
    'config set %j %j changes nothing',
    async (key = '', value = '') => {
      const { file, lay, run } = openPlace()
      lay({ profiles: { default: { repo: 'acme/web' } } })
      const before = [readFileSync(file, 'utf8'), statSync(file).ino, statSync(file).mtimeMs]
      expect((await run(['config', 'set', key, value])).code).toBe(2)
      expect([readFileSync(file, 'utf8'), statSync(file).ino, statSync(file).mtimeMs]).toEqual(before)
    },
  )

  test('a base address with a password is refused, and the password not repeated', async () => {
    const { home, run } = openPlace()
    const { code, err } = await run(['config', 'set', 'base-url', `https://me:${token}@example.com/v1`])
    expect(code).toBe(2)
    expect(err).toContain('user name or password')
    expect(madeIn(home)).toEqual([])
  })

  test('`config unset` of an unknown key is refused too', async () => {
    const { home, run } = openPlace()
    expect((await run('config unset repos')).code).toBe(2)
    expect(madeIn(home)).toEqual([])
  })
})

describe('names are taken as they are', () => {
  test('dots in the names of profiles and in origins are literal', async () => {
    const service = await serve()
    const { read, run } = openPlace()
    for (const profile of ['a.b', 'a', '..', 'ü ö/1'])
      expect((await run(['config', 'set', 'repo', 'acme/web', '--profile', profile])).code).toBe(0)
    expect((await run('config set org acme --profile a.b')).code).toBe(0)
    const env = { MERGEQ_BASE_URL: service.baseUrl }
    expect((await run('auth login --with-token', { env, input: token })).code).toBe(0)
    const one = { repo: 'acme/web' }
    expect(read()).toEqual({
      profiles: { 'a.b': { ...one, org: 'acme' }, a: one, '..': one, 'ü ö/1': one },
      tokens: { [new URL(service.baseUrl).origin]: token },
    })
    expect((await run('config get org --profile a.b')).out).toBe('acme\n')
    expect((await run('config get org --profile a')).code).toBe(5)
    expect((await run('config unset repo --profile a.b')).code).toBe(0)
    expect(read()).toMatchObject({ profiles: { 'a.b': { org: 'acme' }, a: one } })
  })

  test.each([
    '__proto__.x',
    'constructor.prototype.x',
    '__proto__',
    'constructor',
    'toString',
    'profiles.default.repo',
    'hasOwnProperty',
  ])('`%s` is not a key: set, get and unset reject it', async key => {
    for (const line of [`config set ${key} 1`, `config get ${key}`, `config unset ${key}`]) {
      const { code, out, err } = await mergeq(line)
      expect({ line, code, out }).toEqual({ line, code: 2, out: '' })
      expect(err).toContain(`'${key}' is not a setting that can be stored`)
    }
  })

  test.each(['__proto__', 'constructor'])(
    'a profile called %s is one like any other, and changes no other',
    async name => {
      const { file, run } = openPlace()
      expect((await run(`config get repo --profile ${name}`)).code).toBe(2)
      expect((await run(`config set repo acme/odd --profile ${name}`)).code).toBe(0)
      expect((await run(`config get repo --profile ${name}`)).out).toBe('acme/odd\n')
      expect((await run('config get repo')).code).toBe(5)
      expect((await run('config set org acme')).code).toBe(0)
      expect(readFileSync(file, 'utf8')).toContain(`"${name}": {\n      "repo": "acme/odd"\n    }`)
      expect((await run(`config unset repo --profile ${name}`)).code).toBe(0)
      expect((await run(`config get repo --profile ${name}`)).code).toBe(5)
    },
  )

  test('keys that are not known survive, such names among them', async () => {
    const { file, lay, run } = openPlace()
    lay(
      '{"__proto__":{"x":1},"constructor":{"prototype":{"y":2}},"profiles":{"default":{"new-key":[1]},"__proto__":{"repo":"a/b"}}}',
    )
    expect((await run('config set org acme')).code).toBe(0)
    expect(JSON.stringify(JSON.parse(readFileSync(file, 'utf8')))).toBe(
      '{"__proto__":{"x":1},"constructor":{"prototype":{"y":2}},"profiles":{"default":{"new-key":[1],"org":"acme"},"__proto__":{"repo":"a/b"}}}',
    )
  })
})

describe('a value is read back unchanged, or rejected', () => {
  const values: readonly (readonly [string, string])[] = [
    ['-1', '-1'],
    ['an empty one', ''],
    ['emoji', '🚀 feat/👩‍👩‍👧'],
    ['combining characters', 'cafe\u0301'],
    ['right-to-left text', 'שלום'],
    ['quotes and backslashes', `"'\\\\"`],
    ['JSON', '{"a":1}'],
    ['a word of JSON', 'null'],
    ['one of 4,096 characters', 'x'.repeat(4_096)],
    ['one of 4,097 characters', 'x'.repeat(4_097)],
    ['one of 100 KB', 'x'.repeat(100_000)],
  ]
  const hidden: readonly (readonly [string, string])[] = [
    ['a newline', 'a\nb'],
    ['a tab', 'a\tb'],
    ['an escape sequence', '\u001B[31ma'],
    ['a bidirectional override', '\u202Eab'],
    ['an invisible character', 'a\u200Bb'],
    ['blanks around it', ' a '],
  ]
  const comesBack = async (key: string, value: string) => {
    const { home, run } = openPlace()
    const set = await run(['config', 'set', '--', key, value])
    if (set.code === 2) {
      expect(madeIn(home)).toEqual([])
      return
    }
    expect(set).toEqual({ code: 0, out: '', err: '' })
    expect((await run(['config', 'get', key])).out).toBe(`${value}\n`)
    expect(JSON.parse((await run(['config', 'get', key, '--json'])).out).value).toBe(value)
  }
  test.each(values)('%s', async (_, value) => {
    await comesBack('target-branch', value)
  })
  test.each(hidden)('%s', (_, value) => comesBack('target-branch', value))

  test('a value of 1 MB is refused', async () => {
    const { code, err } = await mergeq(['config', 'set', 'target-branch', 'x'.repeat(1_000_000)], {
      env: { HOME: '/nowhere' },
    })
    expect(code).toBe(2)
    expect(err.length).toBeLessThan(4_096)
  })

  test('settings of more than a megabyte are not written: the file stays readable', async () => {
    const { file, lay, run } = openPlace()
    lay({ filler: 'x'.repeat(1024 * 1024 - 100) })
    const { code } = await run(['config', 'set', 'target-branch', 'y'.repeat(4_000)])
    expect([2, 16]).toContain(code)
    expect(statSync(file).size).toBeLessThan(1024 * 1024)
    expect((await run('config get retries')).err).toBe('')
  })
})

describe('the new file while it is being written', () => {
  /**
   * Logs in while looking at the folder as often as this process can; returns what was seen beside the
   * settings.
   */
  async function look(env: Readonly<Record<string, string>>) {
    const service = await serve()
    const { file, folder, home, lay } = openPlace()
    // Enough that it takes a while to be written.
    lay({ filler: 'x'.repeat(500_000) })
    const { ino } = statSync(file)
    const seen = new Map<string, Set<string>>()
    const child = execa(
      'sh',
      ['-c', `umask 000; printf %s '${token}' | '${launcher}' auth login --with-token --no-verify`],
      {
        env: { ...bareEnvironment(home), MERGEQ_BASE_URL: service.baseUrl, ...env },
        extendEnv: false,
        reject: false,
      },
    )
    const until = performance.now() + 10_000
    while (statSync(file).ino === ino && performance.now() < until)
      for (const name of readdirSync(folder)) {
        if (name === 'config.json') continue
        const stat = lstatSync(join(folder, name), { throwIfNoEntry: false })
        if (stat === undefined || stat.isDirectory()) continue
        const modes = seen.get(name) ?? new Set()
        seen.set(name, modes.add(`${stat.isFile() ? 'file' : 'other'} ${(stat.mode & 0o777).toString(8)}`))
      }
    expect((await child).exitCode).toBe(0)
    expect(readdirSync(folder)).toEqual(['config.json'])
    expect(modeOf(file)).toBe('600')
    return seen
  }

  test.each([
    ['', {}],
    [' with SNAP set', { SNAP: '/snap/x/1' }],
  ])('it is created with 0600 next to the file, under a name that cannot be guessed%s', async (_, env) => {
    const names: string[] = []
    for (let times = 0; times < 3; times++)
      for (const [name, modes] of await look(env)) {
        expect({ name, modes: [...modes] }).toEqual({ name, modes: ['file 600'] })
        expect(name).toMatch(/[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/)
        names.push(name)
      }
    expect(names.length).toBeGreaterThan(0)
    expect(new Set(names).size).toBe(names.length)
  })

  test('a link that another user placed next to it is not followed', async () => {
    const { folder, lay, place, run } = openPlace()
    lay({})
    const victim = join(place, 'victim')
    writeFileSync(victim, 'precious')
    const link = join(folder, 'config.json.11111111-2222-4333-8444-555555555555.new')
    symlinkSync(victim, link)
    expect((await run('config set repo acme/web')).code).toBe(0)
    expect(readFileSync(victim, 'utf8')).toBe('precious')
    expect(existsSync(link)).toBe(false)
  })
})
