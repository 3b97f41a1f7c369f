import { describe, expect, test } from 'vitest'
import { type Answer, mergeq } from '../support/harness.ts'

const token = 'tok_4f2a9c1e77d0b6aa'
const row = (verification: string) => ({
  source: 'MERGEQ_TOKEN',
  origin: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
  lastCharacters: 'b6aa',
  verification,
})

describe('`auth status` asks the service whether it accepts the token', () => {
  const cases: readonly (readonly [answer: Answer, code: number, verification: string, kind: string])[] = [
    [{ body: '' }, 0, 'accepted', ''],
    [{ status: 401, body: 'bad token' }, 4, 'rejected', 'auth'],
    [{ status: 403 }, 4, 'rejected', 'auth'],
    [{ status: 500 }, 7, 'unavailable', 'unavailable'],
    [{ status: 429 }, 7, 'unavailable', 'unavailable'],
    [{ status: 404 }, 7, 'unavailable', 'unavailable'],
    [{ body: '<html>', headers: { 'content-type': 'text/html' } }, 7, 'unavailable', 'unavailable'],
  ]
  test.each(cases)('%j: exit %i', async (answer, code, verification, kind) => {
    const result = await mergeq('auth status --json --retries 0', {
      env: { MERGEQ_TOKEN: token },
      answer: () => answer,
    })
    expect({ code: result.code, out: JSON.parse(result.out) }).toEqual({ code, out: row(verification) })
    expect(
      result.requests.map(({ method, path, headers }) => [method, path, headers['x-api-token']]),
    ).toEqual([['GET', '/v1/getMergeQueueMetrics', token]])
    if (kind === '') expect(result.err).toBe('')
    else expect(JSON.parse(result.err).error).toMatchObject({ kind, exit: code })
  })

  test('no connection: exits 7 and still shows the token', async () => {
    const { code, out, err } = await mergeq('auth status --retries 0 --base-url http://127.0.0.1:9/v1', {
      env: { MERGEQ_TOKEN: token },
    })
    expect({ code, out }).toEqual({
      code: 7,
      out: 'source\tMERGEQ_TOKEN\norigin\thttp://127.0.0.1:9\ntoken ends with\tb6aa\nverification\tunavailable\n',
    })
    expect(err).toMatch(/^mergeq: The token could not be verified: 127\.0\.0\.1:9 refused the connection\.\n/)
  })

  test.each([
    [token, /^token ends with +b6aa$/m],
    ['short', /^origin +\S+\nverification +skipped$/m],
  ])('a terminal shows "token ends with" for a long token only: %s', async (value, row) => {
    const { out } = await mergeq('auth status --no-verify --color never', {
      env: { MERGEQ_TOKEN: value },
      terminal: true,
    })
    expect(out).toMatch(row)
  })

  test('a redirect is not followed, and the token is not sent to its target', async () => {
    const { code, requests } = await mergeq('auth status --retries 0', {
      env: { MERGEQ_TOKEN: token },
      answer: () => ({ status: 302, headers: { location: 'https://elsewhere.test/' } }),
    })
    expect({ code, requests: requests.length }).toEqual({ code: 7, requests: 1 })
  })

  test('--no-verify sends no request', async () => {
    const { code, out, err, requests } = await mergeq('auth status --no-verify --json', {
      env: { MERGEQ_TOKEN: token },
      answer: () => ({ status: 401 }),
    })
    expect({ code, out: JSON.parse(out), err, requests }).toEqual({
      code: 0,
      out: row('skipped'),
      err: '',
      requests: [],
    })
  })

  test('--dry-run sends no request, needs no token, and says what it would do', async () => {
    const setting = { env: { MERGEQ_TOKEN: '', MERGEQ_BASE_URL: 'https://api.mergeq.test/v1' } }
    expect(await mergeq('auth status --dry-run', setting)).toMatchObject({
      code: 0,
      out: 'Would show which token is used and verify the token with GET https://api.mergeq.test/v1/getMergeQueueMetrics.\n',
    })
    expect((await mergeq('auth status --dry-run --no-verify', setting)).out).toBe(
      'Would show which token is used.\n',
    )
  })
})

describe('`auth login` says where tokens are made before it prompts', () => {
  const login = (line: string, env: Readonly<Record<string, string>> = {}) =>
    mergeq(`auth login ${line}`, {
      env: { MERGEQ_TOKEN: '', ...env },
      inputTerminal: true,
      terminal: true,
      columns: 200,
    })

  test('for the hosted service', async () => {
    expect((await login('')).err).toMatch(
      /^Copy the organization API token \(v1\).*https:\/\/app\.trunk\.io.*\n.*trunk_v2_.*\nAPI token for https:\/\/api\.trunk\.io \(not shown\): .*mergeq:.* No token was entered/,
    )
  })

  test('for another base URL', async () => {
    expect((await login('--base-url https://queue.example/v1')).err).toMatch(
      /^To get an API token for https:\/\/queue\.example, ask the administrator of this service\.\nAPI token for https:\/\/queue\.example \(not shown\): /,
    )
  })

  test('not on a pipe, and not with --quiet', async () => {
    expect((await login('--quiet')).err).toMatch(/^API token for /)
    const piped = await mergeq('auth login --with-token --no-verify', {
      input: '',
      env: { MERGEQ_TOKEN: '' },
    })
    expect(piped.err).not.toContain('Your organization has one')
  })
})
