import { execFile, execFileSync, spawn } from 'node:child_process'
import { createWriteStream } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { files } from '../../../src/host/files.ts'
import { createRedactor } from '../../../src/output/redactor.ts'
import { expectUsageError } from '../../support/command-checks.ts'
import { mergeq, type Service, type Setting, serveScript } from '../../support/harness.ts'
import { file, mergeSettings, openHome, runningQueue, stored } from '../../support/settings-sources.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import {
  echoesToken,
  encodingsFound,
  hosted,
  otherToken as other,
  takesToken,
  token,
} from '../../support/tokens.ts'

const where = '-R acme/web -b main'
const queueGet = `queue get ${where}`
const login = 'auth login --with-token'
const noToken: Setting = { env: { MERGEQ_TOKEN: undefined } }

const root = temporaryFolder('mergeq-tokens-')
const open = () => openHome(root)

describe('what is no token is refused', () => {
  test('by code point and position, in the name of its source: smart quotes around it', async () => {
    const value = `\u201C${token}\u201D`
    const inStore = mergeSettings(noToken, stored({ tokens: { [hosted]: value } }))
    const sources: readonly (readonly [string, string, Setting])[] = [
      ['MERGEQ_TOKEN', queueGet, { env: { MERGEQ_TOKEN: value }, answer: runningQueue }],
      ['standard input', `${login} --no-verify`, { input: value }],
      [`the stored token for ${hosted}`, queueGet, inStore],
    ]
    for (const [source, line, setting] of sources)
      expect(await mergeq(line, setting)).toMatchObject({
        code: 2,
        out: '',
        err:
          `mergeq: Invalid token (${source}): it contains the character U+201C at position 1.\n` +
          '  Copy the token again, without quotes, spaces or line breaks.\n',
        requests: [],
      })
  })

  // The messages have the beginning of it, too.
  const long = `token${'x'.repeat(20_000)}`
  const sources: readonly (readonly [string, string, (value: string) => Setting])[] = [
    ['MERGEQ_TOKEN', queueGet, value => ({ env: { MERGEQ_TOKEN: value } })],
    ['TRUNK_API_TOKEN', queueGet, value => ({ env: { ...noToken.env, TRUNK_API_TOKEN: value } })],
    [
      'MERGEQ_TOKEN_FILE',
      queueGet,
      value => ({ env: { ...noToken.env, MERGEQ_TOKEN_FILE: '/run/token' }, files: { '/run/token': value } }),
    ],
    ['standard input', `${login} --no-verify`, value => ({ input: value })],
    ['the prompt', 'auth login --no-verify', value => ({ typed: [value], inputTerminal: true })],
    [
      `the stored token for ${hosted}`,
      queueGet,
      value => mergeSettings(noToken, stored({ tokens: { [hosted]: value } })),
    ],
  ]
  test.each(sources)('by its length, without a letter of it: %s', async (source, line, setting) => {
    // With --verbose an error that is not expected shows its stack.
    const { code, out, err } = await mergeq(`${line} --verbose`, setting(long))
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(err).toContain(`mergeq: Invalid token (${source}): it is longer than 4096 characters.\n`)
    expect(err).not.toContain('xxx')
  })

  test.each(sources)(
    'a byte order mark before it counts in its position: %s',
    async (source, line, setting) => {
      const says = `Invalid token (${source}): it contains the character U+00A0 at position 6.`
      expectUsageError(await mergeq(line, setting(`\uFEFF tok\u00A0en`)), says)
    },
  )

  test('text in UTF-16, by name', async () => {
    const bytes = Buffer.from(`\uFEFF${token}\r\n`, 'utf16le')
    const env = { ...noToken.env, MERGEQ_TOKEN_FILE: '/run/token' }
    const ran = await mergeq(queueGet, { env, files: { '/run/token': bytes } })
    expect(ran.err).toMatch(/^mergeq: MERGEQ_TOKEN_FILE: \/run\/token is encoded as UTF-16, not UTF-8\.\n/)
    const piped = await mergeq(`${login} --no-verify`, { input: bytes })
    expect(piped.err).toMatch(/^mergeq: Standard input is encoded as UTF-16, not UTF-8\.\n/)
    expect([ran.code, piped.code]).toEqual([2, 2])
  })

  test('commands without a token work with any value', async () => {
    const env = { MERGEQ_TOKEN: `\u201C${token}\u201D` }
    expect(await mergeq('config get retries', { env })).toMatchObject({ code: 0, out: '3\n' })
  })
})

describe('a byte order mark before a token', () => {
  const marked = `\uFEFF${token}\r\n`
  test.each([
    ['MERGEQ_TOKEN', { env: { MERGEQ_TOKEN: marked } }],
    [
      'MERGEQ_TOKEN_FILE',
      { env: { ...noToken.env, MERGEQ_TOKEN_FILE: '/run/token' }, files: { '/run/token': marked } },
    ],
  ])('is removed, and the token is hidden: %s', async (_, setting) => {
    const { code, err, requests } = await mergeq(queueGet, { ...setting, answer: echoesToken })
    expect(requests[0]?.headers['x-api-token']).toBe(token)
    expect({ code, err }).toMatchObject({ code: 6, err: expect.stringContaining(': not [REDACTED].\n') })
  })

  test('alone is no token', async () => {
    const { code, err } = await mergeq(queueGet, { env: { MERGEQ_TOKEN: '\uFEFF\n' } })
    expect(code).toBe(4)
    expect(err).toMatch(/MERGEQ_TOKEN is set but empty/)
  })
})

describe('without a token', () => {
  test.each([`pr get 7 ${where}`, 'metrics', 'flaky list --org acme -R acme/web'])(
    '`%s` sends nothing and names both ways to give one, and the tour',
    async line => {
      expect(await mergeq(line, { ...noToken, answer: runningQueue })).toMatchObject({
        code: 4,
        out: '',
        err:
          'mergeq: No API token was found.\n' +
          '  Set MERGEQ_TOKEN to an API token of your organization, or run: mergeq auth login\n' +
          '  To try mergeq without a service, run: mergeq sandbox tour\n',
        requests: [],
      })
    },
  )

  const emptyNote =
    'MERGEQ_TOKEN is set but empty, which is normal in CI jobs for pull requests from forks, because they have no access to secrets.'

  test.each(['', '\t\r\n '])(
    'a MERGEQ_TOKEN that is empty (%j) counts as unset, and is named',
    async value => {
      for (const line of [queueGet, 'auth status']) {
        const env = { MERGEQ_TOKEN: value, CI: 'true' }
        const { code, out, err, requests } = await mergeq(line, { env, answer: runningQueue })
        expect({ code, out, requests }).toEqual({ code: 4, out: '', requests: [] })
        expect(err).toContain(emptyNote)
      }
    },
  )
})

describe('a stored token is not a setting', () => {
  const setting = stored({
    tokens: { [hosted]: token },
    profiles: { default: { repo: 'acme/web', token: other } },
  })
  test('`config list` does not show it', async () => {
    const { code, out } = await mergeq('config list --show-origin --json', setting)
    expect(code).toBe(0)
    expect(out).toContain('acme/web')
    expect(out).not.toMatch(/token/i)
  })

  test.each(['config get token --json', 'config unset token', `config set token ${token}`])(
    '`%s` is refused, and names `auth login`',
    async line => {
      const ran = await mergeq(line, setting)
      expectUsageError(ran, "'token' is not a setting that can be stored", 'auth login')
      expect(encodingsFound(ran.err, token)).toEqual([])
    },
  )
})

describe('the file of MERGEQ_TOKEN_FILE', () => {
  const ask = (text: string | undefined, env: Setting['env'] = {}) =>
    mergeq(queueGet, {
      env: { MERGEQ_TOKEN: '', TRUNK_API_TOKEN: other, MERGEQ_TOKEN_FILE: '/run/token', ...env },
      files: text === undefined ? {} : { '/run/token': text },
      answer: runningQueue,
    })

  test.each([
    ['comes before TRUNK_API_TOKEN', {}, token],
    ['comes after MERGEQ_TOKEN', { MERGEQ_TOKEN: other }, other],
  ])('%s', async (_, env, sent) => {
    const { code, requests } = await ask(`${token}\n`, env)
    expect({ code, sent: requests[0]?.headers['x-api-token'] }).toEqual({ code: 0, sent })
  })

  test.each([
    ['is missing', undefined, 'MERGEQ_TOKEN_FILE: the file /run/token does not exist'],
    ['is empty', '\n', 'Invalid token (MERGEQ_TOKEN_FILE): it is empty'],
  ])('that %s is an error, and no other token is used', async (_, text, message) => {
    expectUsageError(await ask(text), `mergeq: ${message}.\n`)
  })

  test('that cannot be read is an error', async () => {
    const ran = await open().run(queueGet, { env: { MERGEQ_TOKEN_FILE: root } })
    expectUsageError(ran, `mergeq: MERGEQ_TOKEN_FILE: ${root} cannot be read: `)
  })
})

describe('a pipe of MERGEQ_TOKEN_FILE', () => {
  const limits = { maxBytes: 64, time: 500, interrupted: new AbortController().signal }
  const openPipe = () => {
    const path = join(temporaryFolder('mergeq-pipe-'), 'token')
    execFileSync('mkfifo', [path])
    return path
  }

  test('is read once: the writer comes later, and another read has the same text', async () => {
    const path = openPipe()
    const reading = files.readOnce(path, limits)
    execFile(
      'sh',
      ['-c', `sleep 0.1; printf 'tok'; sleep 0.1; printf 'en\\n'`],
      () => undefined,
    ).stdout?.pipe(createWriteStream(path))
    expect(await reading).toBe('token\n')
    expect(await files.readOnce(path, limits)).toBe('token\n')
  })

  test.each([
    ['does not end', `exec 3<>"$1"; echo token >&3; sleep 5`, 'the pipe has not ended after 0.5 seconds'],
    ['is too long', `yes token | head -c 65 > "$1"`, 'it is larger than 64 bytes'],
  ])('that %s is an error', async (_, script, message) => {
    const path = openPipe()
    const writer = spawn('sh', ['-c', script, 'sh', path], { stdio: 'ignore' })
    await expect(files.readOnce(path, limits)).rejects.toThrow(message)
    writer.kill()
  })

  test('an interruption ends the wait for its writer', async () => {
    const stop = new AbortController()
    const reading = files.readOnce(openPipe(), { ...limits, time: 10_000, interrupted: stop.signal })
    stop.abort(new Error('interrupted'))
    await expect(reading).rejects.toThrow('interrupted')
  })

  test('gives a token', async () => {
    const path = openPipe()
    execFile('sh', ['-c', `echo ${token} > ${path}`], () => undefined)
    const env = { MERGEQ_TOKEN: '', MERGEQ_TOKEN_FILE: path }
    const { code, requests } = await mergeq(queueGet, { env, realFiles: true, answer: runningQueue })
    expect({ code, sent: requests[0]?.headers['x-api-token'] }).toEqual({ code: 0, sent: token })
  })
})

describe('a stored token belongs to one origin', () => {
  const withToken = (origin: string, baseUrl: string): Setting =>
    mergeSettings(stored({ tokens: { [origin]: token } }), {
      env: { MERGEQ_TOKEN: undefined, MERGEQ_BASE_URL: baseUrl },
    })
  let service: Service
  beforeAll(async () => {
    service = await serveScript(takesToken)
  })
  afterAll(() => service.close())

  test('that other users can read is used with one warning', async () => {
    const setting = withToken(new URL(service.baseUrl).origin, service.baseUrl)
    const warning = `mergeq: Other users can read the stored token (mode 644). Run: chmod 600 ${file}\n`
    for (const line of [queueGet, `pr get 7 8 ${where}`, 'auth status', 'auth token']) {
      const { err } = await mergeq(`${line} -q`, { ...setting, modes: { [file]: 0o644 } })
      expect({ line, err }).toEqual({ line, err: warning })
      expect((await mergeq(`${line} -q`, { ...setting, modes: { [file]: 0o600 } })).err).toBe('')
    }
    expect((await mergeq('config list', { ...setting, modes: { [file]: 0o644 } })).err).toBe('')
  })

  const foreign: readonly (readonly [string, (port: number) => string])[] = [
    ['another port', port => `http://127.0.0.1:${port + 1}`],
    ['another name of the same machine', port => `http://localhost:${port}`],
    ['another host that begins alike', port => `http://127.0.0.1.evil.test:${port}`],
    ['another scheme', port => `https://127.0.0.1:${port}`],
    ['an origin with a path, which is none', port => `http://127.0.0.1:${port}/v1`],
  ]
  test.each(foreign)('of %s it is refused before a request, with the way to log in', async (_, ownerOf) => {
    const { origin, port } = new URL(service.baseUrl)
    const owner = ownerOf(Number(port))
    const before = service.requests.length
    for (const line of [queueGet, `pr submit 7 ${where}`, 'metrics', 'auth status', 'auth token']) {
      const { code, out, err } = await mergeq(line, withToken(owner, service.baseUrl))
      expect({ line, code, out }).toEqual({ line, code: 4, out: '' })
      expect(err).toContain(`No token is stored for ${origin}, only for ${owner}.`)
      expect(err).toContain(`mergeq auth login --base-url ${service.baseUrl}`)
      expect(err).not.toContain(token)
    }
    expect(service.requests).toHaveLength(before)
  })

  test('it is hidden in what the service says', async () => {
    const { baseUrl, close } = await serveScript(echoesToken)
    const { err } = await mergeq(queueGet, withToken(new URL(baseUrl).origin, baseUrl))
    await close()
    expect(err).toContain(': not [REDACTED].\n')
  })

  test('the same origin in another spelling gets it', async () => {
    const { origin, port } = new URL(service.baseUrl)
    for (const spelled of [`http://127.1:${port}/v1`, `HTTP://127.0.0.1:${port}/v1/`]) {
      expect((await mergeq(queueGet, withToken(origin, spelled))).code).toBe(0)
      expect(service.requests.at(-1)?.headers['x-api-token']).toBe(token)
    }
  })
})

test('no program that is started gets a token', async () => {
  for (const ci of [{}, { CI: 'true', GITHUB_ACTIONS: 'true', GITHUB_REPOSITORY: 'acme/web' }]) {
    const environments: unknown[] = []
    const setting: Setting = {
      env: { ...ci, MERGEQ_TOKEN: token, MERGEQ_TOKEN_FILE: '/tok_file', TRUNK_API_TOKEN: other },
      spawn: (_, args, { env }) => {
        environments.push(env)
        return { code: 0, out: args.includes('remote') ? 'origin\thttps://git.test/acme/web (fetch)\n' : '' }
      },
      answer: runningQueue,
    }
    for (const line of ['pr submit 7 --dry-run', 'pr get', 'queue get --dry-run -v', 'config list', 'doctor'])
      await mergeq(line, setting)
    expect(environments.length).toBeGreaterThan(4)
    expect(JSON.stringify(environments)).not.toMatch(/tok_/)
  }
})

test('--verbose and --dry-run show a request without the token in header and body', async () => {
  const setting = { env: { MERGEQ_TOKEN: token }, answer: runningQueue }
  const line = `queue update --set note=${token} ${where}`
  const { code, err, requests } = await mergeq(`${line} --verbose`, setting)
  expect(code).toBe(0)
  expect(requests.map(({ body }) => JSON.parse(body).note)).toEqual([token])
  expect(err).toMatch(/POST http:\/\/127\.0\.0\.1:\d+\/v1\/updateQueue/)
  expect(err).toMatch(/200 .*\d+ ms/)
  expect(err).toMatch(/x-api-token: \[REDACTED\]/i)
  expect(err).toContain('"note":"[REDACTED]"')
  expect(encodingsFound(err, token)).toEqual([])
  expect(JSON.parse((await mergeq(`${line} --dry-run`, setting)).out)).toMatchObject({
    headers: { 'x-api-token': '[REDACTED]' },
    body: { note: '[REDACTED]' },
  })
})

test.each([
  `auth login ${token}`,
  `auth login --with-token=${token}`,
  `auth login --token=${token}`,
  `auth token ${token}`,
  `--token=${token} queue get`,
])('a token is never taken as an argument, and not echoed: %s', async line => {
  const ran = await mergeq(line, { answer: () => ({}) })
  expectUsageError(ran, line.startsWith('auth login') ? /--with-token|run: mergeq auth login/ : '')
  expect(encodingsFound(ran.err, token)).toEqual([])
})

describe('the redactor knows a token raw, percent-encoded and in base64', () => {
  const visible = Array.from({ length: 94 }, (_, index) => String.fromCharCode(index + 33))
  const tokensOf = (characters: readonly string[]) =>
    fc.string({ unit: fc.constantFrom(...characters), minLength: 12, maxLength: 48 })

  const spellings: readonly ((secret: string) => string)[] = [
    secret => secret,
    encodeURIComponent,
    secret => Buffer.from(secret).toString('base64'),
    secret => Buffer.from(secret).toString('base64url'),
    // Invisible characters are removed for a terminal, which would show the token.
    secret => [...secret].join('\u200B'),
    // Lower case, and an address, which leaves most of a token as it is.
    secret => encodeURIComponent(secret).replace(/%../g, code => code.toLowerCase()),
    encodeURI,
  ]

  // `%cb` also reads as an invisible character, and `%5c` as a backslash before the next character.
  const escapes = [
    '!%cb%!!!!!!!!!!!!',
    '%5c%%%%%%%%%%%%',
    '%%%%%\\\\%%%%%',
    '\\\\!!!!!!!!!!!!',
    'a\\u00ad\\bcdefghi',
  ]
  test('in any spelling, also with parts that read as escapes, it is redacted', () =>
    fc.assert(
      fc.property(
        fc.oneof(tokensOf([...'%&cb5!u0"\\']), tokensOf(visible)),
        fc.string({ unit: fc.constantFrom(...'ab9 %&"\u200B'), maxLength: 8 }),
        (secret, around) => {
          const redactor = createRedactor()
          redactor.hide(secret)
          for (const spell of spellings) {
            const text = around + spell(secret) + around
            for (const shown of [text, JSON.stringify({ title: text })])
              expect(encodingsFound(redactor.redact(shown), secret)).toEqual([])
          }
        },
      ),
      { numRuns: 100, examples: escapes.map(secret => [secret, '']) },
    ))

  test('with characters that Markdown escapes, it does not come back out of Markdown', async () => {
    const answer = () => ({ body: JSON.stringify({ prTitle: `see ${token}` }) })
    const { out } = await mergeq(`pr get 7 ${where} -o markdown`, { env: { MERGEQ_TOKEN: token }, answer })
    expect(encodingsFound(out, token)).toEqual([])
  })
})
