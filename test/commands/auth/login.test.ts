import { readdirSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectUsageError } from '../../support/command-checks.ts'
import { mergeq, type Seen, type Service, type Setting, serveScript } from '../../support/harness.ts'
import { done, openHome } from '../../support/settings-sources.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import {
  echoesToken,
  encodingsFound,
  hosted,
  otherToken as other,
  takesToken,
  token,
} from '../../support/tokens.ts'

const queueGet = 'queue get -R acme/web -b main'
const login = 'auth login --with-token'

const root = temporaryFolder('mergeq-login-')
const open = () => openHome(root)

describe('`auth login --with-token`', () => {
  let service: Service
  let origin = ''
  let setting: Setting = {}
  beforeAll(async () => {
    service = await serveScript(takesToken)
    origin = new URL(service.baseUrl).origin
    setting = { env: { MERGEQ_BASE_URL: service.baseUrl } }
  })
  afterAll(() => service.close())

  test.each([token, `\t\v\f ${token} \r\n\n`])(
    'verifies and stores the token without the white space around it: %j',
    async input => {
      const { file, read, run } = open()
      const before = service.requests.length
      expect(await run(login, { ...setting, input })).toEqual({
        ...done,
        err: `Stored the token for ${origin}.\n`,
      })
      expect(read()).toEqual({ tokens: { [origin]: token } })
      expect((await run(`${queueGet} --json`, setting)).code).toBe(0)
      const headers = { 'x-api-token': token }
      expect(service.requests.slice(before)).toMatchObject([
        { method: 'GET', path: '/v1/getMergeQueueMetrics', headers },
        { method: 'POST', path: '/v1/getQueue', headers },
      ])
      expect((await run('auth status', setting)).out).toBe(
        `source\tthe stored token for ${origin}\norigin\t${origin}\nprofile\tdefault\nsettings file\t${file}\ntoken ends with\tb6aa\nverification\taccepted\n`,
      )
    },
  )

  test('stores it for the origin of the base URL, whatever its path, and keeps those of others', async () => {
    const { read, run, write } = open()
    const others = { 'https://x.test': other }
    write({ tokens: others })
    const at = (path: string) => ({ env: { MERGEQ_BASE_URL: `${origin}${path}` }, input: `\uFEFF${token}` })
    const before = service.requests.length
    expect(await run(`${login} --no-verify`, at('/some/where/'))).toEqual({
      ...done,
      err: `Stored the token for ${origin} without verifying it.\n`,
    })
    expect(service.requests).toHaveLength(before)
    expect(read()).toEqual({ tokens: { ...others, [origin]: token } })
    expect((await run(queueGet, at('/v1'))).code).toBe(0)
    expect((await run('auth status')).code).toBe(4)
  })

  test.each([
    ['rejects it (401)', 4, 401, '3'],
    ['does not let it through (403)', 4, 403, '3'],
    ['fails (500)', 7, 500, '0'],
    ['redirects (302)', 15, 302, '0'],
  ])('stores nothing where the service %s: exit %i', async (_, code, status, retries) => {
    const { home, run } = open()
    const headers = { location: 'https://elsewhere.test/' }
    const answer = (seen: Seen) => ({ ...echoesToken(seen), status, headers })
    const ran = await run(`${login} --retries ${retries}`, { answer, input: token })
    expect({ code: ran.code, out: ran.out }).toEqual({ code, out: '' })
    expect(ran.err).toMatch(/^mergeq: .*127\.0\.0\.1/m)
    expect(encodingsFound(ran.err, token)).toEqual([])
    expect(readdirSync(home)).toEqual([])
  })

  test('in a CI job never prints the token, not even in a line that masks it', async () => {
    const { run } = open()
    const env = { ...setting.env, GITHUB_ACTIONS: 'true', CI: 'true' }
    for (const line of [login, 'auth status --verbose', `${queueGet} -v`]) {
      const { code, out, err } = await run(line, { env, input: token })
      expect(code).toBe(0)
      expect(`${out}${err}`).not.toMatch(/add-mask|^::/m)
    }
  })

  test('refuses 10 MB on standard input', async () => {
    const input = Buffer.alloc(10_000_000, 'x')
    expectUsageError(await mergeq(login, { input }), /^mergeq: Standard input is too long/)
  })
})

describe('`auth login` at a prompt', () => {
  const ask = (line: string, setting: Setting = {}) =>
    mergeq(`auth login ${line}`, {
      inputTerminal: true,
      terminal: true,
      columns: 200,
      ...setting,
      env: { NO_COLOR: '1', MERGEQ_TOKEN: undefined, ...setting.env },
    })

  test.each([[[]], [['   ']]])('stores nothing where nothing was typed: %j', async typed => {
    expectUsageError(await ask('', { typed, answer: () => ({}) }), 'No token was entered')
  })

  test('asks if CI is "false"', async () => {
    expect((await ask('--no-verify', { env: { CI: 'false' } })).err).toContain('(not shown)')
  })
})

test('a stored token belongs to one profile, which `auth login` creates', async () => {
  const { read, run } = open()
  const tokens = { [hosted]: token }
  for (const profile of ['', ' --profile b'])
    expect((await run(`${login} --no-verify${profile}`, { input: token })).code).toBe(0)
  expect(read()).toEqual({ tokens, profiles: { b: { tokens } } })
  expect((await run('auth logout --profile b')).err).toBe(`Removed the token for ${hosted} in profile b.\n`)
  expect(read()).toEqual({ tokens, profiles: {} })
  expect((await run('config set org acme --profile b')).code).toBe(0)
  expect(await run('auth status --profile b')).toEqual({
    code: 4,
    out: '',
    err:
      'mergeq: No API token was found for profile b.\n' +
      '  Set MERGEQ_TOKEN to an API token of your organization, or run: mergeq auth login --profile b\n',
  })
  expect((await run('auth status --no-verify')).code).toBe(0)
})

describe('`auth login --profile work`', () => {
  const line = `${login} --no-verify --profile work`

  test('stores the base URL that was typed for a new profile, and names the profile in the next command', async () => {
    const { read, run } = open()
    const ran = await run(`${line} --base-url https://mq.test/v1`, { input: token })
    expect(ran).toEqual({
      ...done,
      err:
        'Stored the token and the base URL for https://mq.test in profile work without verifying it.\n' +
        'To use it, add --profile to each command, or set MERGEQ_PROFILE: mergeq queue list --profile work\n',
    })
    expect(read()).toEqual({
      profiles: { work: { 'base-url': 'https://mq.test/v1', tokens: { 'https://mq.test': token } } },
    })
    expect((await run('config get base-url --profile work')).out).toBe('https://mq.test/v1\n')
  })

  test.each([
    ['of this machine', 'http://127.0.0.1:9/v1', {}],
    ['for a profile that exists', 'https://mq.test/v1', { profiles: { work: { repo: 'a/b' } } }],
  ])('stores no base URL %s, and says how', async (_, url, before) => {
    const { read, run, write } = open()
    write(before)
    const { code, err } = await run(`${line} --base-url ${url}`, { input: token })
    expect(code).toBe(0)
    expect(err).toContain(`run: mergeq config set base-url ${url} --profile work\n`)
    expect(JSON.stringify(read())).not.toContain('base-url')
  })

  test.each([
    ['', {}],
    ['--base-url http://127.0.0.1:9/v1', {}],
    ['--base-url http://127.0.0.1:9/v1', { MERGEQ_TOKEN: 'another-token' }],
  ])('prints two lines: %s %o', async (typed, env) => {
    const { code, err } = await open().run(`${line} ${typed}`, { input: token, env })
    expect({ code, lines: err.trimEnd().split('\n').length }).toEqual({ code: 0, lines: 2 })
  })

  test('asks for a login of the same profile where nothing was typed, and after a rejection', async () => {
    const asked = await mergeq('auth login --profile work', { typed: [''], inputTerminal: true })
    expect(asked.err).toContain('Run: mergeq auth login --profile work\n')
    const piped = await mergeq('auth login --profile work', {})
    expect(piped.err).toContain('mergeq auth login --with-token --profile work\n')
    const rejected = await mergeq(`${login} --profile work`, {
      input: token,
      answer: () => ({ status: 401 }),
    })
    expect({ code: rejected.code, err: rejected.err }).toMatchObject({
      code: 4,
      err: expect.stringContaining('run: mergeq auth login --profile work\n'),
    })
  })
})
