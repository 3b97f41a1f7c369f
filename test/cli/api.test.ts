import { describe, expect, test } from 'vitest'
import { operationName } from '../../src/api/operation.ts'
import { serviceOperations } from '../../src/api/operations/index.ts'
import { completeWords } from '../../src/cli/complete.ts'
import { commandGroups } from '../../src/commands/index.ts'
import { mergeq } from '../support/harness.ts'

const env = { MERGEQ_REPO: 'acme/web', MERGEQ_TARGET_BRANCH: 'main', MERGEQ_ORG: 'acme' }
const answer = () => ({ body: '{}' })
const repo = { host: 'github.com', owner: 'acme', name: 'web' }

const send = async (line: string) => {
  const { code, err, requests } = await mergeq(line, { env, answer })
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

test.each([
  [
    Buffer.from('{"note":"\xe9"}', 'latin1'),
    2,
    'mergeq: --input: the body contains bytes that are not UTF-8.\n',
  ],
  [
    Buffer.from('{"note":"\xc3', 'latin1'),
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
  async (input, code, text) => {
    const outcome = await mergeq('api getQueue --input -', { env, answer, input })
    expect(outcome).toMatchObject({ code, out: '', requests: [] })
    expect(outcome.err.startsWith(text)).toBe(true)
  },
)

describe('a known operation gets its method, and what settings give', () => {
  test.each([
    ['listPullRequests', { repo, targetBranch: 'main' }],
    ['flaky-tests/list-quarantined-tests', { repo, org_url_slug: 'acme' }],
    ['flaky-tests/list-unhealthy-tests', { repo, org_url_slug: 'acme' }],
    ['flaky-tests/link-ticket-to-test-case', { repo }],
    ['getQueue', { repo, targetBranch: 'main' }],
  ])('%s', async (operation, body) => {
    expect(await send(`api ${operation}`)).toEqual({
      code: 0,
      err: '',
      requests: 1,
      method: 'POST',
      path: `/v1/${operation}`,
      body,
    })
  })

  test('status is a GET', async () => {
    expect(await send('api status')).toMatchObject({ method: 'GET', path: '/v1/status', body: undefined })
  })

  test('an unknown operation gets nothing', async () => {
    expect(await send('api getSubmittedPullRequests -f a=b')).toMatchObject({
      method: 'POST',
      body: { a: 'b' },
    })
  })
})

describe('fields', () => {
  test.each([
    ['-F n=5', { n: 5 }],
    ['-f n=5', { n: '5' }],
    ['-f n=true', { n: 'true' }],
    ['-f n=', { n: '' }],
    [`-f 'n=a=b "c"'`, { n: 'a=b "c"' }],
    ['-f a.b=5 -F a.c=5', { a: { b: '5', c: 5 } }],
    ['--raw-field n=null --field m=null', { n: 'null', m: null }],
  ])('%s', async (flags, body) => {
    expect((await send(`api something ${flags}`)).body).toEqual(body)
  })

  test.each([
    ['9007199254740993', '{"b":9007199254740993}'],
    ['1e400', '[1e400]'],
  ])('the number %s, which would be changed, is a usage error', async (number, value) => {
    const { code, err, requests } = await mergeq(['api', 'something', '-F', `a=${value}`], { env, answer })
    expect({ code, requests }).toEqual({ code: 2, requests: [] })
    expect(err).toBe(
      `mergeq: --field: the number ${number} cannot be represented exactly.\n  To send it as text, use a JSON string: "${number}"\n`,
    )
  })

  test('a field replaces one value inside the body of --input', async () => {
    const input = '{"pr":{"number":7,"sha":"4f2a","id":9007199254740991},"list":[{"a":1}]}'
    const { requests } = await mergeq('api something --input - -F pr.number=8', { env, answer, input })
    expect(requests[0]?.body).toBe('{"pr":{"number":8,"sha":"4f2a","id":9007199254740991},"list":[{"a":1}]}')
  })

  test('a field without a key is a usage error', async () => {
    const { code, err, requests } = await send('api something -f value')
    expect({ code, requests }).toEqual({ code: 2, requests: 0 })
    expect(err).toBe(
      "mergeq: --raw-field: 'value' does not have the form <path>=<value>.\n  For example: concurrency=5 or pr.number=7\n",
    )
  })

  test('the same field twice is a usage error', async () => {
    const { code, err, requests } = await send('api something -f a=1 -F a=2')
    expect({ code, requests }).toEqual({ code: 2, requests: 0 })
    expect(err).toBe('mergeq: --field was given twice for a.\n  Use each path only once.\n')
  })

  test.each([
    ['api getQueue -R acme/api -F repo.owner=x', '--field repo.owner', '--repo'],
    ['api getQueue -b release -f targetBranch=x', '--raw-field targetBranch', '--target-branch'],
    ['api flaky-tests/get-test-details --org x -F org_url_slug=y', '--field org_url_slug', '--org'],
  ])('%s is a usage error', async (line, field, option) => {
    const { code, err, requests } = await send(line)
    expect({ code, requests }).toEqual({ code: 2, requests: 0 })
    expect(err).toBe(
      `mergeq: ${field} conflicts with ${option}, which sets the same field.\n  Use only one of them.\n`,
    )
  })

  test('a GET has no fields', async () => {
    const { code, err } = await send('api status -f a=1')
    expect(code).toBe(2)
    expect(err).toBe(
      'mergeq: A GET request cannot have a body.\n  Omit -f, -F and --input, or use -X post.\n',
    )
  })

  test('a state that the user names is sent as it is', async () => {
    expect((await send('api listPullRequests -f state=merged')).body).toMatchObject({ state: 'merged' })
  })
})

test('completion offers the name of every operation', async () => {
  const { candidates } = await completeWords(['api'], '', commandGroups)
  expect(candidates.map(({ value }) => value)).toEqual(
    serviceOperations.map(({ route }) => operationName(route)),
  )
})

test('a hosted operation that is missing says so, whatever its name', async () => {
  const { code, err } = await mergeq('api listPullRequests', {
    env,
    answer: () => ({ status: 404, body: 'Not Found' }),
  })
  expect(code).toBe(5)
  expect(err).toContain('the service has no operation listPullRequests.\n')
})
