import { execFileSync } from 'node:child_process'
import {
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join, relative } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { anyCharacter } from '../../support/any-character.ts'
import { expectUsageError } from '../../support/command-checks.ts'
import { mergeq, noon } from '../../support/harness.ts'
import { done, openHome, runningQueue, stored } from '../../support/settings-sources.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { token } from '../../support/tokens.ts'

// The files of these tests are real: what stores settings locks, links and renames them.
const root = temporaryFolder('mergeq-stored-settings-')
const open = () => openHome(root)
const modeOf = (path: string): string => (statSync(path).mode & 0o777).toString(8)
const queueGet = 'queue get -R acme/web -b main'
const login = 'auth login --with-token --no-verify'

describe('storing a setting', () => {
  test('writes a file as a person would write it, which lists, reads and removes it', async () => {
    const { file, run } = open()
    for (const [key, value] of [
      ['base-url', 'https://git.test/v1/'],
      ['timeout', '1m30s'],
      ['output', 'table'],
    ])
      expect(await run(`config set ${key} ${value}`)).toEqual(done)
    expect(readFileSync(file, 'utf8')).toBe(
      '{\n  "profiles": {\n    "default": {\n      "base-url": "https://git.test/v1/",\n      "timeout": "1m30s",\n      "output": "table"\n    }\n  }\n}\n',
    )
    expect((await run('config get timeout')).out).toBe('1m30s\n')
    for (const key of ['base-url', 'timeout', 'output', 'output'])
      expect((await run(`config unset ${key}`)).code).toBe(0)
    expect((await run('config list')).out).toBe(
      'base-url\thttps://api.trunk.io/v1\noutput\ttable\nretries\t3\ncolor\tauto\n',
    )
  })

  test('with --profile creates the profile, and each profile has its own values', async () => {
    const { read, run } = open()
    for (const line of [
      'config set repo in/default',
      '--profile work config set repo in/work',
      'config set org acme --profile work',
      'config unset repo --profile work',
    ])
      expect(await run(line)).toEqual(done)
    expect(read()).toEqual({ profiles: { default: { repo: 'in/default' }, work: { org: 'acme' } } })
    expect((await run('config get org', { env: { MERGEQ_PROFILE: 'work' } })).out).toBe('acme\n')
  })

  test('names the variable that takes precedence', async () => {
    const { run } = open()
    expect(await run('config set repo acme/web', { env: { MERGEQ_REPO: 'acme/api' } })).toEqual({
      ...done,
      err: 'mergeq: MERGEQ_REPO is set and takes precedence.\n',
    })
  })

  test('repairs a stored value that stops every other command', async () => {
    const { run, write } = open()
    for (const line of ['config unset output', 'config set output json']) {
      write({ profiles: { default: { output: 'xml' } } })
      expect((await run('config list')).code).toBe(2)
      expect(await run(line)).toEqual(done)
      expect((await run('config list')).code).toBe(0)
    }
  })

  test('takes the names of profiles as they are, dots and members of objects among them', async () => {
    const { read, run } = open()
    const names = ['a.b', 'a', '..', 'ü ö/1', '__proto__', 'constructor']
    for (const name of names) {
      expect((await run(['config', 'get', 'repo', '--profile', name])).code).toBe(2)
      expect(await run(['config', 'set', 'repo', 'acme/web', '--profile', name])).toEqual(done)
    }
    const { profiles } = read() as { profiles: object }
    expect(Object.entries(profiles)).toEqual(names.map(name => [name, { repo: 'acme/web' }]))
    expect((await run('config unset repo --profile a.b')).code).toBe(0)
    expect(await run('config get repo --profile a.b')).toMatchObject({ code: 2, out: '' })
    expect((await run('config get repo --profile a')).out).toBe('acme/web\n')
    expect((await run('config get repo')).code).toBe(5)
  })

  test('keeps members that are not known', async () => {
    const { file, run, write } = open()
    write(
      '{"__proto__":{"x":1},"constructor":{"prototype":{"y":2}},"profiles":{"default":{"new-key":[1]},"__proto__":{"repo":"a/b"}}}',
    )
    expect(await run('config set org acme')).toEqual(done)
    expect(JSON.stringify(JSON.parse(readFileSync(file, 'utf8')))).toBe(
      '{"__proto__":{"x":1},"constructor":{"prototype":{"y":2}},"profiles":{"default":{"new-key":[1],"org":"acme"},"__proto__":{"repo":"a/b"}}}',
    )
  })

  test('stores any value so that it is read back unchanged, or refuses it and writes nothing', async () => {
    const odd = ['-1', '{"a":1}', `"'\\\\"`, 'cafe\u0301', '🚀 feat/👩‍👩‍👧', '', ' a ', 'a\nb', '\u001B[31ma']
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: anyCharacter }), async value => {
        const { home, run } = open()
        const set = await run(['config', 'set', '--', 'target-branch', value])
        if (set.code === 2) {
          expect(readdirSync(home)).toEqual([])
          return
        }
        expect(set).toEqual(done)
        expect((await run('config get target-branch')).out).toBe(`${value}\n`)
      }),
      { numRuns: 25, examples: [...odd, 'x'.repeat(4_096), 'x'.repeat(4_097)].map(value => [value]) },
    )
  })

  test('that makes the file larger than 1 MiB is refused, so that it stays readable', async () => {
    const { file, run, write } = open()
    write({ filler: 'x'.repeat(1024 * 1024 - 100) })
    expect((await run(['config', 'set', 'target-branch', 'y'.repeat(4_000)])).code).toBe(2)
    expect(statSync(file).size).toBeLessThan(1024 * 1024)
    expect((await run('config get retries')).err).toBe('')
  })
})

describe('an invalid setting is rejected', () => {
  const wrong: readonly (readonly [key: string, value: string])[] = [
    ['targetBranch', 'main'],
    ['', 'x'],
    ['ca-file', 'ca.pem'],
    ['target-branch', 'x'.repeat(1_000_000)],
    ['base-url', `https://me:${token}@example.com/v1`],
  ]
  test('and the file stays unchanged', async () => {
    const { file, run, write } = open()
    write({ profiles: { default: { repo: 'acme/web' } } })
    const before = [readFileSync(file, 'utf8'), statSync(file).ino, statSync(file).mtimeMs]
    for (const [key, value] of wrong) {
      const ran = await run(['config', 'set', key, value])
      expectUsageError(ran, /^mergeq: [^\n]+\n/)
      expect(ran.err.length).toBeLessThan(4_096)
    }
    expect([readFileSync(file, 'utf8'), statSync(file).ino, statSync(file).mtimeMs]).toEqual(before)
  })

  test.each(['__proto__.x', 'constructor', 'profiles.default.repo'])(
    '`%s` is not a key: set, get and unset reject it',
    async key => {
      for (const line of [`config set ${key} 1`, `config get ${key}`, `config unset ${key}`])
        expectUsageError(await mergeq(line), `'${key}' is not a setting that can be stored`)
    },
  )
})

describe('the settings file', () => {
  test.each([0o000, 0o022, 0o077])('is 0600 and its folder 0700 under the umask %o', async mask => {
    const { file, folder, home, run } = open()
    const old = open()
    old.write({}, 0o644)
    const before = process.umask(mask)
    try {
      expect(await run('config set repo acme/web')).toEqual(done)
      expect((await old.run(login, { input: token })).code).toBe(0)
    } finally {
      process.umask(before)
    }
    expect([file, folder, join(home, '.config'), old.file].map(modeOf)).toEqual(['600', '700', '700', '600'])
  })

  test('is not created by a command that only reads', async () => {
    const { home, run } = open()
    for (const line of ['config list --show-origin', 'config path', 'auth status', 'auth logout', queueGet])
      await run(line)
    expect(readdirSync(home)).toEqual([])
  })

  test('that another process left behind while it wrote is removed by the next write, also a link, and no other', async () => {
    const { folder, home, run, write } = open()
    write({})
    const left = 'config.json.11111111-2222-4333-8444-555555555555.new'
    for (const name of [`${left}.tmp-1767614400abcdef`, 'config.json.mine'])
      writeFileSync(join(folder, name), '{"tok')
    const victim = join(home, 'victim')
    writeFileSync(victim, 'precious')
    symlinkSync(victim, join(folder, left))
    expect(await run('config set repo acme/web')).toEqual(done)
    expect(readFileSync(victim, 'utf8')).toBe('precious')
    expect(readdirSync(folder).sort()).toEqual(['config.json', 'config.json.mine'])
  })
})

describe('the lock of the settings file', () => {
  const locked = () => {
    const place = open()
    place.write({})
    const lock = `${place.file}.lock`
    mkdirSync(lock)
    return { ...place, lock }
  }

  test('is broken when the process that held it is gone', async () => {
    const { folder, lock, read, run } = locked()
    utimesSync(lock, Date.now() / 1_000 - 10, Date.now() / 1_000 - 10)
    expect(await run('config set repo acme/web')).toEqual(done)
    expect(read()).toEqual({ profiles: { default: { repo: 'acme/web' } } })
    expect(readdirSync(folder)).toEqual(['config.json'])
  })

  test('is waited for while another process holds it', async () => {
    const { lock, run } = locked()
    let sleeps = 0
    const clock = {
      now: noon,
      sleep: async () => {
        if (++sleeps === 3) rmSync(lock, { recursive: true })
      },
    }
    expect(await run('config set repo acme/web', { clock })).toEqual(done)
    expect(sleeps).toBe(3)
  })

  test('that is never given back ends with 16 after 15 seconds, and the hint names it', async () => {
    const { file, lock, read, run } = locked()
    const clock = { now: noon }
    expect(await run('config set repo acme/web', { clock })).toEqual({
      code: 16,
      out: '',
      err: `mergeq: The settings file ${file} is locked by another mergeq process.\n  Nothing was changed. Try again. If no other mergeq is running, remove the lock ${lock}.\n`,
    })
    expect(clock.now - noon).toBeGreaterThan(15_000)
    expect(read()).toEqual({})
  })
})

describe('a settings file that is a link stays one', () => {
  test('to another link into another folder: its target is created and updated', async () => {
    const { file, folder, home, run } = open()
    const dotfiles = join(home, 'dotfiles')
    for (const made of [dotfiles, folder]) mkdirSync(made, { recursive: true })
    const target = join(dotfiles, 'mergeq.json')
    const link = relative(folder, join(home, 'between'))
    symlinkSync(link, file)
    symlinkSync(target, join(home, 'between'))
    for (const line of ['config set repo acme/web', 'config set org acme'])
      expect(await run(line)).toEqual(done)
    expect([readlinkSync(file), readlinkSync(join(home, 'between'))]).toEqual([link, target])
    expect(JSON.parse(readFileSync(target, 'utf8'))).toEqual({
      profiles: { default: { repo: 'acme/web', org: 'acme' } },
    })
    expect(modeOf(target)).toBe('600')
    expect([readdirSync(dotfiles), readdirSync(folder)]).toEqual([['mergeq.json'], ['config.json']])
  })

  test('links in a circle are reported', async () => {
    const { file, folder, run } = open()
    mkdirSync(folder, { recursive: true })
    symlinkSync('config.json', file)
    const { code, err } = await run('config set org acme')
    expect(code).toBe(16)
    expect(err).toContain(file)
    expect(readdirSync(folder)).toEqual(['config.json'])
  })
})

describe('a settings file that cannot be read', () => {
  const refusal = (file: string) =>
    new RegExp(
      `^mergeq: The settings file ${file.replaceAll('.', '\\.')} cannot be read: [^\\n]+\\.\\n`,
      'gm',
    )

  const broken: readonly (readonly [what: string, (file: string) => void])[] = [
    ['is not JSON', file => writeFileSync(file, '{"profiles": {')],
    ['is no JSON object', file => writeFileSync(file, '[1]')],
    ['is empty', file => writeFileSync(file, '')],
    ['is UTF-16', file => writeFileSync(file, '\uFEFF{}', 'utf16le')],
    ['is a folder', file => mkdirSync(file)],
    [
      'has 1 GB',
      file => {
        writeFileSync(file, '{}')
        truncateSync(file, 1_000_000_000)
      },
    ],
    ['is a FIFO', file => execFileSync('mkfifo', [file])],
    ['is a link to a device that never ends', file => symlinkSync('/dev/zero', file)],
  ]
  test.each(broken)('because it %s is never overwritten', async (_, make) => {
    const { file, folder, run } = open()
    mkdirSync(folder, { recursive: true })
    make(file)
    const { ino, mode, size, mtimeMs } = lstatSync(file)
    for (const line of [queueGet, 'config set repo acme/web', 'config unset repo', login, 'auth logout'])
      expectUsageError(await run(line, { input: token }), refusal(file), /^ {2}Fix the file/m)
    expect(lstatSync(file)).toMatchObject({ ino, mode, size, mtimeMs })
    expect(readdirSync(folder)).toEqual(['config.json'])
  })

  test('is named when a setting is missing that may be in it', async () => {
    const unreadable = stored('{"profiles":{"default":{"target-branch":"main"')
    const given = { MERGEQ_TOKEN: token, MERGEQ_BASE_URL: 'http://127.0.0.1:9/v1' }
    const line = 'queue get -R acme/web --json --color never'
    const { code, err } = await mergeq(line, { ...unreadable, env: { ...unreadable.env, ...given } })
    expect(code).toBe(2)
    expect(JSON.parse(err.trim().split('\n').at(-1) ?? '').error.hint).toContain('config.json')
  })
})

describe('without a folder for settings', () => {
  const environments: readonly Readonly<Record<string, string>>[] = [
    {},
    { HOME: 'here' },
    { XDG_CONFIG_HOME: './xdg' },
    { HOME: '/home/me', MERGEQ_CONFIG_DIR: 'settings' },
  ]
  test.each(environments)('a read works, and storing is refused: %j', async env => {
    expect(await mergeq(`${queueGet} --json`, { env, answer: runningQueue })).toMatchObject({
      code: 0,
      err: '',
    })
    for (const line of ['config set repo acme/web', 'config path', login])
      expect(await mergeq(line, { env, input: token })).toMatchObject({
        code: 2,
        out: '',
        err: 'mergeq: There is no configuration directory.\n  Set HOME, or set MERGEQ_CONFIG_DIR to an absolute path.\n',
      })
  })

  test.each([
    ['HOME', '/proc'],
    ['MERGEQ_CONFIG_DIR', '/dev/null/x'],
  ])('%s=%s: a read works, and storing ends with 16 and names the folder', async (name, path) => {
    const { run } = open()
    const env = { [name]: path }
    const setting = { env: { ...env, MERGEQ_TOKEN: token }, answer: runningQueue }
    expect((await run(queueGet, setting)).code).toBe(0)
    const { code, err } = await run('config set repo acme/web', { env })
    expect(code).toBe(16)
    expect(err).toContain(path)
  })
})
