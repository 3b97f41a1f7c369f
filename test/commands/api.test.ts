import { describe, expect, test } from 'vitest'
import { operationName } from '../../src/api/operation.ts'
import { serviceOperations } from '../../src/api/operations/index.ts'
import { completeWords } from '../../src/cli/complete.ts'
import { commandGroups } from '../../src/commands/index.ts'
import { knowingNothing, mergeq, queueEnv } from '../support/harness.ts'

const answer = () => ({ body: '{}' })
const repo = { host: 'github.com', owner: 'acme', name: 'web' }

const send = async (line: string) => {
  const { code, err, requests } = await mergeq(line, { env: queueEnv, answer })
  const [{ method = '', path = '', body = '' } = {}] = requests
  return {
    code,
    err,
    requests: requests.length,
    method,
    path,
    body: body === '' ? undefined : JSON.parse(body),
  }
}

test.each<readonly [input: string | Buffer, code: number, says: string]>([
  [
    Buffer.from('{"note":"\xe9"}', 'latin1'),
    2,
    'mergeq: --input: the body contains bytes that are not UTF-8.\n',
  ],
  [Buffer.alloc(40 * 1024 * 1024 + 1, ' '), 6, 'mergeq: The request has 41,943,041 bytes or more; '],
  [
    '{"a":[9007199254740993]}',
    2,
    'mergeq: --input: the number 9007199254740993 cannot be represented exactly.\n  To send it as text, use a JSON string: "9007199254740993"\n',
  ],
])(
  '--input that is not UTF-8, not exact or too long is refused, and nothing is sent',
  async (input, code, says) => {
    const outcome = await mergeq('api getQueue --input -', { env: queueEnv, answer, input })
    expect(outcome).toMatchObject({ code, out: '', requests: [] })
    expect(outcome.err.startsWith(says)).toBe(true)
  },
)

describe('a known operation gets its method, and what settings give', () => {
  test.each([
    ['listPullRequests', 'POST', { repo, targetBranch: 'main' }],
    ['flaky-tests/list-unhealthy-tests', 'POST', { repo, org_url_slug: 'acme' }],
    ['flaky-tests/link-ticket-to-test-case', 'POST', { repo }],
    ['status', 'GET', undefined],
  ])('%s', async (operation, method, body) => {
    const path = `/v1/${operation}`
    expect(await send(`api ${operation}`)).toEqual({ code: 0, err: '', requests: 1, method, path, body })
  })
})

test.each(['submitPullRequest', 'setImpactedTargets'])(
  'a change by %s that may have been made is neither read nor sent again',
  async operation => {
    const failing = { env: queueEnv, answer: () => ({ status: 500 }) }
    const { code, requests } = await mergeq(`api ${operation} -F pr.number=7`, failing)
    expect({ code, requests: requests.length }).toEqual({ code: 11, requests: 1 })
  },
)

describe('fields', () => {
  test.each([
    ['-F n=5', { n: 5 }],
    ['-f n=5', { n: '5' }],
    [`-f 'n=a=b "c"'`, { n: 'a=b "c"' }],
    ['-f a.b=5 -F a.c=5', { a: { b: '5', c: 5 } }],
    ['--raw-field n=null --field m=null', { n: 'null', m: null }],
  ])('%s', async (flags, body) => {
    expect((await send(`api something ${flags}`)).body).toEqual(body)
  })

  test('a field replaces one value inside the body of --input', async () => {
    const input = '{"pr":{"number":7,"sha":"4f2a","id":9007199254740991},"list":[{"a":1}]}'
    const { requests } = await mergeq('api something --input - -F pr.number=8', {
      env: queueEnv,
      answer,
      input,
    })
    expect(requests[0]?.body).toBe('{"pr":{"number":8,"sha":"4f2a","id":9007199254740991},"list":[{"a":1}]}')
  })

  test.each([
    [
      "something -F 'a=[1e400]'",
      '--field: the number 1e400 cannot be represented exactly.\n  To send it as text, use a JSON string: "1e400"',
    ],
    [
      'something -f value',
      "--raw-field: 'value' does not have the form <path>=<value>.\n  For example: concurrency=5 or pr.number=7",
    ],
    ['something -f a=1 -F a=2', '--field was given twice for a.\n  Use each path only once.'],
    [
      'getQueue -R acme/api -F repo.owner=x',
      '--field repo.owner conflicts with --repo, which sets the same field.\n  Use only --repo.',
    ],
    [
      'getQueue -b release -f targetBranch=x',
      '--raw-field targetBranch conflicts with --target-branch, which sets the same field.\n  Use only --target-branch.',
    ],
    ['status -f a=1', 'A GET request cannot have a body.\n  Omit -f, -F and --input, or use -X post.'],
  ])('api %s is a usage error', async (words, says) => {
    const { code, err, requests } = await send(`api ${words}`)
    expect({ code, err, requests }).toEqual({ code: 2, err: `mergeq: ${says}\n`, requests: 0 })
  })

  test('a state that the user names is sent as it is', async () => {
    expect((await send('api listPullRequests -f state=merged')).body).toMatchObject({ state: 'merged' })
  })
})

test('completion offers the name of every operation', async () => {
  const { candidates } = await completeWords(['api'], '', commandGroups)
  expect(candidates.map(({ value }) => value)).toEqual(
    serviceOperations.map(({ route }) => operationName(route)).sort(),
  )
})

test('a hosted operation that is missing says so, whatever its name', async () => {
  const { code, err } = await mergeq('api listPullRequests', {
    env: queueEnv,
    answer: knowingNothing,
  })
  expect(code).toBe(5)
  expect(err).toContain(' has no operation listPullRequests (404).\n')
})

describe('an unknown operation is a POST, and a POST is a change', () => {
  test.each(['', ' -f a=b'])('without and with a body: api something%s', async flags => {
    const line = `api something${flags}`
    expect(await send(line)).toMatchObject({ code: 0, method: 'POST', requests: 1 })
    const readOnly = await mergeq(line, { env: { ...queueEnv, MERGEQ_READ_ONLY: '1' }, answer })
    expect(readOnly).toMatchObject({ code: 2, requests: [] })
    const lost = await mergeq(line, { env: queueEnv, answer: (_: unknown) => response => response.destroy() })
    expect({ code: lost.code, requests: lost.requests.length }).toEqual({ code: 11, requests: 1 })
  })

  test('--method get reads it, also where nothing may be changed', async () => {
    const env = { ...queueEnv, MERGEQ_READ_ONLY: '1' }
    const { code, requests } = await mergeq('api something --method get', { env, answer })
    expect({ code, methods: requests.map(({ method }) => method) }).toEqual({ code: 0, methods: ['GET'] })
  })
})

describe('a response outside 2xx', () => {
  const secret = 'tok_0123456789abcdef'
  const body = `{"reason":"not now \u001b[31m","echo":"${secret}"}`
  const setting = { env: { ...queueEnv, MERGEQ_TOKEN: secret } }
  const rows = [400, 401, 404, 409, 422, 429, 500].flatMap(status =>
    ['getQueue', 'submitPullRequest -F pr.number=7', 'something', 'something -X get'].map(
      words => [status, words] as const,
    ),
  )

  test.each(rows)('%i to api %s: the body is printed, the error has the status', async (status, words) => {
    const line = `api ${words} --retries 0`
    const refused = { ...setting, answer: () => ({ status, body }) }
    const { code, out, err } = await mergeq(line, refused)
    expect(out).toBe(body.replace(secret, '[REDACTED]'))
    expect(err).toMatch(new RegExp(`\\b${status}\\b`))
    const asJson = await mergeq(`${line} --json`, refused)
    expect(asJson.out).toBe(out)
    expect(JSON.parse(asJson.err).error).toMatchObject({ exit: code, status })
    const other = await mergeq(line, { ...setting, answer: () => ({ status }) })
    expect({ code: other.code, out: other.out.includes('not now') }).toEqual({ code, out: false })
  })

  test('on a terminal it is text', async () => {
    const line = 'api something'
    const { out } = await mergeq(line, {
      ...setting,
      terminal: true,
      answer: () => ({ status: 400, body: '\u001b[2Jno' }),
    })
    expect(out).not.toContain('\u001b[2J')
    expect(out).toMatch(/no\n$/)
  })
})
