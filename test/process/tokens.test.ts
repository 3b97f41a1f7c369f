import { execFileSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { execa } from 'execa'
import { afterAll, afterEach, describe, expect, test } from 'vitest'
import { type Answer, mergeq, type Seen, type Service, serveScript } from '../support/harness.ts'
import { bareEnvironment, launcher, testWith } from '../support/programs.ts'
import { encodingsFound, token } from '../support/tokens.ts'

const other = 'tok_b1d85e03c62f49bb'

const places: string[] = []
const services: Service[] = []
afterEach(() => Promise.all(services.splice(0).map(service => service.close())))
afterAll(() => {
  for (const place of places) rmSync(place, { recursive: true, force: true })
})

/** A service on loopback that takes the good token and no other. */
async function serve(answer: (seen: Seen) => Answer = takes(token)): Promise<Service> {
  const service = await serveScript(answer)
  services.push(service)
  return service
}

const takes =
  (good: string) =>
  ({ headers, path }: Seen): Answer => {
    if (headers['x-api-token'] !== good) return { status: 401, body: 'Unauthorized' }
    return path.startsWith('/v1/getMergeQueueMetrics')
      ? {}
      : { body: '{"state":"RUNNING","enqueuedPullRequests":[]}' }
  }

const originOf = ({ baseUrl }: Service): string => new URL(baseUrl).origin

/** What one spawned command left. */
interface Ran {
  readonly code: number | undefined
  readonly out: string
  readonly err: string
}

interface Surroundings {
  readonly env?: Readonly<Record<string, string>>
  readonly input?: string | Uint8Array
  /** Standard output may hold a token: for `auth token` alone. */
  readonly reveals?: boolean
}

/** Every file below a folder. */
const filesBelow = (folder: string): readonly string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => join(entry.parentPath, entry.name))

/** What stands in a home; the cache of what V8 compiled may be there. */
const madeIn = (home: string): readonly string[] => readdirSync(home).filter(name => name !== '.cache')

/** A home of its own beside a working folder, and the built binary in it. */
function openPlace() {
  const place = realpathSync(mkdtempSync(join(tmpdir(), 'mergeq-tokens-')))
  places.push(place)
  const [home, work] = [join(place, 'home'), join(place, 'work')]
  for (const folder of [home, work]) mkdirSync(folder)
  const file = join(home, '.config/mergeq/config.json')

  /** Runs a command line; a token in a stream, or in a file that is not the settings, fails the test. */
  const run = async (
    args: readonly string[],
    { env = {}, input, reveals }: Surroundings = {},
  ): Promise<Ran> => {
    const { exitCode, stdout, stderr } = await execa(launcher, args, {
      cwd: work,
      env: { ...bareEnvironment(home), ...env },
      extendEnv: false,
      reject: false,
      stripFinalNewline: false,
      ...(input === undefined ? { stdin: 'ignore' as const } : { input }),
    })
    const texts = [
      ['standard error', stderr],
      ['standard output', reveals === true ? '' : stdout],
    ] as const
    const left = filesBelow(place).filter(path => path !== file)
    for (const [where, text] of [...texts, ...left.map(path => [path, readFileSync(path, 'utf8')] as const)])
      for (const secret of [token, other])
        expect({ where, ways: encodingsFound(text, secret) }).toEqual({ where, ways: [] })
    return { code: exitCode, out: stdout, err: stderr }
  }
  return {
    place,
    home,
    work,
    file,
    run,
    stored: (): unknown => JSON.parse(readFileSync(file, 'utf8')),
    store(document: unknown) {
      mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
      writeFileSync(file, JSON.stringify(document), { mode: 0o600 })
    },
  }
}

const login = ['auth', 'login', '--with-token']

describe('a token from standard input is stored without the white space around it', () => {
  const inputs: readonly (readonly [string, string])[] = [
    ['a newline', `${token}\n`],
    ['CRLF', `${token}\r\n`],
    ['a space before it', ` ${token}`],
    ['white space of every kind around it', `\t\v\f ${token} \r\n\n`],
    ['nothing around it', token],
  ]
  test.each(inputs)('%s', async (_, input) => {
    const service = await serve()
    const { run, stored } = openPlace()
    const env = { MERGEQ_BASE_URL: service.baseUrl }
    expect(await run(login, { env, input })).toEqual({
      code: 0,
      out: '',
      err: `Stored the token for ${originOf(service)}.\n`,
    })
    expect(stored()).toEqual({ tokens: { [originOf(service)]: token } })
    expect((await run(['queue', 'get', '-R', 'acme/web', '-b', 'main', '--json'], { env })).code).toBe(0)
    expect(
      service.requests.map(({ method, path, headers }) => [method, path, headers['x-api-token']]),
    ).toEqual([
      ['GET', '/v1/getMergeQueueMetrics', token],
      ['POST', '/v1/getQueue', token],
    ])
  })

  test('other stored data stays: other origins, profiles, and unknown keys', async () => {
    const service = await serve()
    const { run, store, stored } = openPlace()
    const before = {
      future: { kept: [1, null, 'x'] },
      profiles: { default: { repo: 'acme/web' } },
      tokens: { 'https://api.trunk.io': other },
    }
    store(before)
    expect((await run(login, { env: { MERGEQ_BASE_URL: service.baseUrl }, input: token })).code).toBe(0)
    expect(stored()).toEqual({
      ...before,
      tokens: { 'https://api.trunk.io': other, [originOf(service)]: token },
    })
  })

  test('--no-verify stores it without asking the service, and says so', async () => {
    const service = await serve()
    const { run, stored } = openPlace()
    const env = { MERGEQ_BASE_URL: service.baseUrl }
    expect(await run([...login, '--no-verify'], { env, input: token })).toEqual({
      code: 0,
      out: '',
      err: `Stored the token for ${originOf(service)} without verifying it.\n`,
    })
    expect(stored()).toEqual({ tokens: { [originOf(service)]: token } })
    expect(service.requests).toEqual([])
  })

  const refusals: readonly (readonly [what: string, code: number, status: number, retries: string])[] = [
    ['refused (401)', 4, 401, '3'],
    ['not let through (403)', 4, 403, '3'],
    ['not to be checked (500)', 7, 500, '0'],
    ['answered with a redirect (302)', 15, 302, '0'],
  ]
  test.each(refusals)('a token that is %s is not stored: exit %i', async (_, code, status, retries) => {
    const service = await serve(() => ({ status, headers: { location: 'https://elsewhere.test/' } }))
    const { home, run } = openPlace()
    const ran = await run([...login, '--retries', retries], {
      env: { MERGEQ_BASE_URL: service.baseUrl },
      input: token,
    })
    expect({ code: ran.code, out: ran.out }).toEqual({ code, out: '' })
    expect(ran.err).toMatch(/^mergeq: .*127\.0\.0\.1/m)
    expect(madeIn(home)).toEqual([])
    expect(service.requests).toHaveLength(1)
  })

  test('a token that cannot be verified is not stored: exit 7', async () => {
    const service = await serveScript(() => ({}))
    await service.close()
    const { home, run } = openPlace()
    const env = { MERGEQ_BASE_URL: service.baseUrl }
    expect((await run([...login, '--retries', '0'], { env, input: token })).code).toBe(7)
    expect(madeIn(home)).toEqual([])
  })
})

describe('at the prompt', () => {
  test('the prompt names the origin, and a token that the service rejects is not stored', async () => {
    const { code, out, err, requests } = await mergeq('auth login', {
      env: { MERGEQ_TOKEN: '', HOME: '/nowhere' },
      inputTerminal: true,
      typed: [token],
      answer: () => ({ status: 401 }),
    })
    expect({ code, out }).toEqual({ code: 4, out: '' })
    expect(err).toMatch(
      /^To get an API token for (http:\/\/127\.0\.0\.1:\d+), ask the administrator of this service\.\nAPI token for http:\/\/127\.0\.0\.1:\d+ \(not shown\): mergeq: /,
    )
    expect(encodingsFound(err, token)).toEqual([])
    expect(requests.map(({ headers }) => headers['x-api-token'])).toEqual([token])
  })

  test.each([[[]], [['']], [['   ']]])('nothing typed stores nothing: exit 2 (%j)', async typed => {
    const { code, requests } = await mergeq('auth login', { inputTerminal: true, typed, answer: () => ({}) })
    expect({ code, requests }).toEqual({ code: 2, requests: [] })
  })

  testWith('script')('what is typed at the prompt of a real terminal is not shown', async () => {
    const { home, run, stored } = openPlace()
    const env = { ...bareEnvironment(home), MERGEQ_BASE_URL: 'http://127.0.0.1:9/v1', SHELL: '/bin/sh' }
    const terminal = execa('script', ['-qec', `'${launcher}' auth login --no-verify`, '/dev/null'], {
      env,
      extendEnv: false,
      reject: false,
      stdin: 'pipe',
    })
    let typed = false
    terminal.stdout.on('data', piece => {
      if (typed || !String(piece).includes('(not shown)')) return
      typed = true
      // The prompt is written just before the echo goes off.
      setTimeout(() => terminal.stdin.write(`${token}\r`), 200)
    })
    const { stdout, exitCode } = await terminal
    expect(encodingsFound(stdout, token)).toEqual([])
    expect({ exitCode, stored: stored() }).toEqual({
      exitCode: 0,
      stored: { tokens: { 'http://127.0.0.1:9': token } },
    })
    expect(
      (await run(['auth', 'status', '--no-verify'], { env: { MERGEQ_BASE_URL: 'http://127.0.0.1:9/v1' } }))
        .code,
    ).toBe(0)
  })
})

/** What is no token: how it is written, and the code point and position that are named. */
const bad: readonly (readonly [what: string, value: string, code: string, position: number])[] = [
  ['a BOM before it', `\uFEFF${token}`, 'U+FEFF', 1],
  ['a space and a BOM before it', ` \uFEFF${token}`, 'U+FEFF', 2],
  ['smart quotes around it', `\u201C${token}\u201D`, 'U+201C', 1],
  ['a smart quote after it', `${token}\u201D`, 'U+201D', 21],
  ['a non-breaking space inside', `${token}\u00A0x`, 'U+00A0', 21],
  ['a non-breaking space before it', `\u00A0${token}`, 'U+00A0', 1],
  ['a newline inside', `\n${token}\n${token}\n`, 'U+000A', 22],
  ['a blank inside', `  ${token} x`, 'U+0020', 23],
  ['a character beyond the BMP', `${token}\u{1F600}x`, 'U+1F600', 21],
  ['a control character', `${token}\u007F.`, 'U+007F', 21],
]

describe('a token that cannot be one is refused here, by code point and position', () => {
  test.each(bad)('MERGEQ_TOKEN with %s is refused', async (_, value, code, position) => {
    const ran = await mergeq('queue get -R acme/web -b main', {
      env: { MERGEQ_TOKEN: value },
      answer: () => ({}),
    })
    expect(ran).toEqual({
      code: 2,
      out: '',
      err:
        `mergeq: Invalid token (MERGEQ_TOKEN): it contains the character ${code} at position ${position}.\n` +
        '  Copy the token again, without quotes, spaces or line breaks.\n',
      requests: [],
      sleeps: [],
    })
  })

  test.each(['MERGEQ_TOKEN', 'TRUNK_API_TOKEN'])(
    'commands without a token work with any value of %s',
    async name => {
      const { code, out } = await mergeq('config get retries', { env: { [name]: `\u201C${token}\u201D` } })
      expect({ code, out }).toEqual({ code: 0, out: '3\n' })
    },
  )

  test('a byte order mark before a token on standard input is left out', async () => {
    const { run } = openPlace()
    expect((await run([...login, '--no-verify'], { input: `\uFEFF${token}\r\n` })).code).toBe(0)
  })

  test.each(bad.slice(1))('standard input with %s', async (_, value, code, position) => {
    const { home, run } = openPlace()
    expect(await run([...login, '--no-verify'], { input: value })).toEqual({
      code: 2,
      out: '',
      err:
        `mergeq: Invalid token (standard input): it contains the character ${code} at position ${position}.\n` +
        '  Copy the token again, without quotes, spaces or line breaks.\n',
    })
    expect(madeIn(home)).toEqual([])
  })

  test('bytes that are not UTF-8 are refused like any other character', async () => {
    const { run } = openPlace()
    const input = Buffer.concat([Buffer.from(token), Buffer.from([0xff, 0x41])])
    const { code, err } = await run([...login, '--no-verify'], { input })
    expect(code).toBe(2)
    expect(err).toContain('U+FFFD at position 21')
  })

  test('a stored token that was edited by hand is refused too', async () => {
    const { run, store } = openPlace()
    store({ tokens: { 'http://127.0.0.1:9': `${token}\u00A0` } })
    const { code, err } = await run(['queue', 'get', '-R', 'acme/web', '-b', 'main'], {
      env: { MERGEQ_BASE_URL: 'http://127.0.0.1:9/v1' },
    })
    expect(code).toBe(2)
    expect(err).toContain('U+00A0 at position 21')
  })

  test.each(['', ' \n', '\r\n'])('standard input without a token (%j) is rejected', async input => {
    const { home, run } = openPlace()
    const { code, err } = await run([...login, '--no-verify'], { input })
    expect(code).toBe(2)
    expect(err).toMatch(/^mergeq: Invalid token \(standard input\): it is empty\.\n {2}/)
    expect(madeIn(home)).toEqual([])
  })
})

describe('an empty MERGEQ_TOKEN counts as unset', () => {
  const where = '-R acme/web -b main'
  test.each(['', ' ', '\t\r\n'])(
    'with nothing stored (%j) the message says that it is set but empty, and why',
    async value => {
      for (const line of [`queue get ${where}`, 'auth status']) {
        const { code, out, err, requests } = await mergeq(line, {
          env: { MERGEQ_TOKEN: value },
          answer: () => ({}),
        })
        expect({ code, out, requests }).toEqual({ code: 4, out: '', requests: [] })
        expect(err).toMatch(
          /MERGEQ_TOKEN is set but empty, which is normal in CI jobs for pull requests from forks/,
        )
      }
    },
  )

  test('then the stored token is used, and `auth status` says so', async () => {
    const service = await serve()
    const { run, store } = openPlace()
    store({ tokens: { [originOf(service)]: token } })
    const env = { MERGEQ_TOKEN: '', MERGEQ_BASE_URL: service.baseUrl }
    expect((await run(['queue', 'get', ...where.split(' ')], { env })).code).toBe(0)
    expect(service.requests.map(({ headers }) => headers['x-api-token'])).toEqual([token])
    const status = await run(['auth', 'status'], { env })
    expect(status).toEqual({
      code: 0,
      out: `source\tthe stored token for ${originOf(service)}\norigin\t${originOf(service)}\ntoken ends with\tb6aa\nverification\taccepted\n`,
      err: 'mergeq: MERGEQ_TOKEN is set but empty, which is normal in CI jobs for pull requests from forks, because they have no access to secrets.\n',
    })
  })

  test('with a token stored for another origin the message says both', async () => {
    const { run, store } = openPlace()
    store({ tokens: { 'https://elsewhere.test': token } })
    const { code, err } = await run(['queue', 'get', ...where.split(' ')], { env: { MERGEQ_TOKEN: '' } })
    expect(code).toBe(4)
    expect(err).toContain('https://elsewhere.test')
    expect(err).toContain('MERGEQ_TOKEN is set but empty')
  })

  test('an empty TRUNK_API_TOKEN counts as unset too', async () => {
    const { code } = await mergeq('auth status', { env: { MERGEQ_TOKEN: '', TRUNK_API_TOKEN: ' ' } })
    expect(code).toBe(4)
  })
})

const reads: readonly (readonly string[])[] = [
  ['pr', 'get', '7', '-R', 'acme/web', '-b', 'main'],
  ['pr', 'testing', '4f2a9c1e-0000-4000-8000-000000000000', '-R', 'acme/web', '-b', 'main'],
  ['queue', 'get', '-R', 'acme/web', '-b', 'main'],
  ['metrics'],
  ['flaky', 'list', '--org', 'acme', '-R', 'acme/web'],
  ['flaky', 'get', '4f2a9c1e-0000-4000-8000-000000000000', '--org', 'acme', '-R', 'acme/web'],
]

describe('without a token anywhere and without a terminal', () => {
  test.each(reads.map(args => [args.join(' '), args] as const))(
    '`%s` fails at once and names both ways',
    async (_, args) => {
      const service = await serve()
      const { home, run } = openPlace()
      const env = { MERGEQ_BASE_URL: service.baseUrl }
      let quickest = Number.POSITIVE_INFINITY
      // The machine may be busy: the quickest of three counts.
      for (let tries = 0; tries < 3 && quickest > 1_000; tries++) {
        const started = performance.now()
        expect(await run(args, { env })).toEqual({
          code: 4,
          out: '',
          err:
            'mergeq: No API token was found.\n' +
            '  Set MERGEQ_TOKEN to an API token of your organization, or run: mergeq auth login\n',
        })
        quickest = Math.min(quickest, performance.now() - started)
      }
      expect(quickest).toBeLessThan(1_000)
      expect(service.requests).toEqual([])
      expect(madeIn(home)).toEqual([])
    },
  )

  test('without a terminal there is no prompt for the token: exit 2, and the error names the option', async () => {
    const { run } = openPlace()
    const { code, out, err } = await run(['auth', 'login'])
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(err).toMatch(/^mergeq: .*\n {2}.*--with-token/)
  })

  test.each([
    ['CI is set', 'auth login', { CI: 'true' }],
    ['a CI system runs it that does not set CI', 'auth login', { JENKINS_URL: 'https://ci.example' }],
    ['--no-input', 'auth login --no-input', {}],
  ])('nor on a terminal when %s', async (_, line, env) => {
    const { code, err } = await mergeq(line, {
      env: { NO_COLOR: '1', ...env },
      inputTerminal: true,
      terminal: true,
      typed: [token],
    })
    expect(code).toBe(2)
    expect(err).toMatch(/^mergeq: .*\n {2}.*--with-token/)
  })

  test('CI=false is not a CI job: the token is prompted for', async () => {
    const { err } = await mergeq('auth login --no-verify', {
      env: { CI: 'false' },
      inputTerminal: true,
      terminal: true,
    })
    expect(err).toContain('API token for https://api.trunk.io (not shown)')
  })
})

describe('`auth status` shows the source, the origin, and at most the last four characters', () => {
  const base = 'https://api.mergeq.test/v1'
  const origin = 'https://api.mergeq.test'
  const stored = (document: unknown) => ({ '/home/me/.config/mergeq/config.json': JSON.stringify(document) })
  const cases: readonly (readonly [string, Parameters<typeof mergeq>[1], string, string])[] = [
    ['the environment', { env: { MERGEQ_TOKEN: token, MERGEQ_BASE_URL: base } }, 'MERGEQ_TOKEN', origin],
    [
      'the environment although one is stored',
      {
        env: { MERGEQ_TOKEN: token, MERGEQ_BASE_URL: base, HOME: '/home/me' },
        files: stored({ tokens: { [origin]: other } }),
      },
      'MERGEQ_TOKEN',
      origin,
    ],
    [
      'the store',
      {
        env: { MERGEQ_TOKEN: '', MERGEQ_BASE_URL: base, HOME: '/home/me' },
        files: stored({ tokens: { 'https://x.test': other, [origin]: token } }),
      },
      `the stored token for ${origin}`,
      origin,
    ],
    [
      'TRUNK_API_TOKEN for the default address',
      { env: { MERGEQ_TOKEN: '', TRUNK_API_TOKEN: token } },
      'TRUNK_API_TOKEN',
      'https://api.trunk.io',
    ],
    [
      'MERGEQ_TOKEN before TRUNK_API_TOKEN',
      { env: { MERGEQ_TOKEN: token, TRUNK_API_TOKEN: other } },
      'MERGEQ_TOKEN',
      'https://api.trunk.io',
    ],
  ]
  test.each(cases)('%s', async (_, setting, source, goesTo) => {
    const [plain, json] = [
      await mergeq('auth status --no-verify', setting),
      await mergeq('auth status --no-verify --json', setting),
    ]
    expect([plain.code, plain.out]).toEqual([
      0,
      `source\t${source}\norigin\t${goesTo}\ntoken ends with\tb6aa\nverification\tskipped\n`,
    ])
    expect([json.code, json.out]).toEqual([
      0,
      `${JSON.stringify({ source, origin: goesTo, lastCharacters: 'b6aa', verification: 'skipped' })}\n`,
    ])
    for (const text of [plain.out, plain.err, json.out, json.err])
      for (const secret of [token, other]) expect(encodingsFound(text, secret)).toEqual([])
  })

  test.each(['tok', 'eightchr', 'elevenchars'])('nothing of a short token (%s) is shown', async short => {
    const { code, out } = await mergeq('auth status --no-verify --json', { env: { MERGEQ_TOKEN: short } })
    expect(code).toBe(0)
    expect(JSON.parse(out)).toEqual({
      source: 'MERGEQ_TOKEN',
      origin: 'https://api.trunk.io',
      lastCharacters: '',
      verification: 'skipped',
    })
  })

  test('TRUNK_API_TOKEN is used for the default base address only', async () => {
    const env = { MERGEQ_TOKEN: '', TRUNK_API_TOKEN: token }
    const { code, out, err, requests } = await mergeq('queue get -R acme/web -b main', {
      env,
      answer: () => ({}),
    })
    expect({ code, out, requests }).toEqual({ code: 4, out: '', requests: [] })
    expect(encodingsFound(err, token)).toEqual([])
  })

  test('`auth token` prints the token and nothing else, and its help says that it does', async () => {
    const { run, store } = openPlace()
    store({ tokens: { 'https://api.trunk.io': token } })
    expect(await run(['auth', 'token'], { reveals: true })).toEqual({ code: 0, out: `${token}\n`, err: '' })
    const { out } = await mergeq('auth token --help')
    expect(out).toMatch(/print the API token in plain text/i)
  })
})

describe('the value of a stored token is not a setting', () => {
  test.each([
    'config list',
    'config list --json',
    'config list --show-origin',
    'config list --show-origin --json',
  ])('`%s` does not show it', async line => {
    const { run, store } = openPlace()
    store({
      tokens: { 'https://api.trunk.io': token },
      profiles: { default: { repo: 'acme/web', token: other } },
    })
    const { code, out } = await run(line.split(' '))
    expect(code).toBe(0)
    expect(out).toContain('acme/web')
    expect(out).not.toMatch(/token/i)
  })

  test.each([
    'config get token',
    'config get token --json',
    'config unset token',
    `config set token ${token}`,
  ])('`%s` is rejected: token is not a key of config', async line => {
    const { file, run, store } = openPlace()
    store({ tokens: { 'https://api.trunk.io': token } })
    const before = readFileSync(file)
    const { code, out, err } = await run(line.split(' '))
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(err).toMatch(/'token' is not a setting that can be stored/)
    expect(err).toContain('mergeq auth login')
    expect(readFileSync(file).equals(before)).toBe(true)
  })
})

test('on a runner the token is never printed, not even in a line that masks it', async () => {
  const service = await serve()
  const { run } = openPlace()
  const env = { GITHUB_ACTIONS: 'true', CI: 'true', MERGEQ_BASE_URL: service.baseUrl }
  const lines = [
    login,
    ['auth', 'status', '--verbose'],
    ['queue', 'get', '-R', 'acme/web', '-b', 'main', '-v'],
  ]
  for (const args of lines) {
    const { code, out, err } = await run(args, { env, input: token })
    expect(code).toBe(0)
    expect(`${out}${err}`).not.toMatch(/add-mask|^::/m)
  }
})

describe('a token has its length', () => {
  test('MERGEQ_TOKEN of 8 KiB is refused before anything is sent', async () => {
    const value = token.repeat(410)
    const { code, out, err, requests } = await mergeq('queue get -R acme/web -b main', {
      env: { MERGEQ_TOKEN: value },
      answer: () => ({}),
    })
    expect({ code, out, requests }).toEqual({ code: 2, out: '', requests: [] })
    expect(err).toMatch(/^mergeq: Invalid token \(MERGEQ_TOKEN\): it is longer than 4096 characters\.\n/)
    expect(err.length).toBeLessThan(1_024)
  })

  test('10 MB on standard input are refused unread', async () => {
    const { home, run } = openPlace()
    const started = performance.now()
    const { code, err } = await run(login, { input: Buffer.alloc(10_000_000, 'x') })
    expect(code).toBe(2)
    expect(err).toMatch(/^mergeq: Standard input is too long/)
    expect(performance.now() - started).toBeLessThan(5_000)
    expect(madeIn(home)).toEqual([])
  })

  test.each([
    [4096, 4],
    [4097, 2],
  ])('%i characters: exit %i', async (length, expected) => {
    const { code } = await mergeq('queue get -R acme/web -b main', {
      env: { MERGEQ_TOKEN: 'x'.repeat(length) },
      answer: () => ({ status: 401 }),
    })
    expect(code).toBe(expected)
  })
})

describe('logged out', () => {
  test('the token is gone from every file; the second time says that nothing was stored', async () => {
    const service = await serve()
    const { place, run, stored } = openPlace()
    const env = { MERGEQ_BASE_URL: service.baseUrl }
    await run(login, { env, input: token })
    const origin = originOf(service)
    expect(await run(['auth', 'logout'], { env })).toEqual({
      code: 0,
      out: '',
      err: `Removed the token for ${origin}.\n`,
    })
    expect(stored()).toEqual({ tokens: {} })
    for (const path of filesBelow(place))
      expect(encodingsFound(readFileSync(path, 'utf8'), token)).toEqual([])
    expect(await run(['auth', 'logout'], { env })).toEqual({
      code: 0,
      out: '',
      err: `No token is stored for ${origin}.\n`,
    })
    expect((await run(['auth', 'status'], { env })).code).toBe(4)
  })

  test('only the token of this origin is sent', async () => {
    const { run, store, stored } = openPlace()
    const before = { future: 1, profiles: { work: { repo: 'acme/web' } } }
    store({ ...before, tokens: { 'https://api.trunk.io': token, 'https://x.test': other } })
    expect((await run(['auth', 'logout'])).code).toBe(0)
    expect(stored()).toEqual({ ...before, tokens: { 'https://x.test': other } })
  })

  test('with nothing ever stored it says so, and makes nothing', async () => {
    const { home, run } = openPlace()
    expect(await run(['auth', 'logout'])).toEqual({
      code: 0,
      out: '',
      err: 'No token is stored for https://api.trunk.io.\n',
    })
    expect(madeIn(home)).toEqual([])
  })

  const leftover = 'config.json.11111111-2222-4333-8444-555555555555.new'
  const leave = (file: string, name: string) => {
    const path = join(dirname(file), name)
    writeFileSync(path, JSON.stringify({ tokens: { 'https://api.trunk.io': token } }), { mode: 0o600 })
    return path
  }
  const isGoneAfterLogout = async (tokens: Readonly<Record<string, string>>, name: string) => {
    const { file, run, store } = openPlace()
    store({ tokens })
    const path = leave(file, name)
    // That no file but the settings holds a token is looked at by `run` itself, too.
    expect((await run(['auth', 'logout'])).code).toBe(0)
    expect(existsSync(path)).toBe(false)
  }
  test('it is gone from the new file that a killed write left behind', () =>
    isGoneAfterLogout({ 'https://api.trunk.io': token }, leftover))
  test('it is gone from the file that the library left when it was killed', () =>
    isGoneAfterLogout({ 'https://api.trunk.io': token }, `${leftover}.tmp-1767614400abcdef`))
  test('it is also sent if the settings no longer contain a token', async () => {
    await isGoneAfterLogout({}, leftover)
  })
})

testWith('git')(
  'no child process sees a token: git and what CI detection runs get an environment without it',
  async () => {
    const { place, run, store, work } = openPlace()
    store({ tokens: { 'https://api.trunk.io': other } })
    const bin = join(place, 'bin')
    mkdirSync(bin)
    const git = execFileSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim()
    for (const words of [
      ['init', '--quiet'],
      ['remote', 'add', 'origin', 'https://127.0.0.1:9/acme/web.git'],
    ])
      execFileSync(git, words, { cwd: work, env: bareEnvironment(place) })
    // That no file but the settings holds a token is looked at by `run` itself.
    writeFileSync(join(bin, 'git'), `#!/bin/sh\nenv > '${place}/seen.'$$\nexec '${git}' "$@"\n`, {
      mode: 0o755,
    })
    const path = { PATH: `${bin}:${process.env.PATH ?? ''}`, MERGEQ_TOKEN: token, TRUNK_API_TOKEN: other }
    const ci = { CI: 'true', GITHUB_ACTIONS: 'true', GITHUB_REPOSITORY: 'acme/web' }
    for (const env of [path, { ...path, ...ci }])
      for (const line of ['pr submit 7 --dry-run', 'pr get', 'queue get --dry-run -v', 'config list'])
        await run(line.split(' '), { env })
    expect(readdirSync(place).filter(name => name.startsWith('seen.'))).not.toEqual([])
  },
)
