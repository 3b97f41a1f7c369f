import { describe, expect, test } from 'vitest'
import {
  type Answer,
  mergeq,
  type Outcome,
  type Seen,
  type Setting,
  serveScript,
} from '../support/harness.ts'

// Repeats have tests of their own: here every request is sent once.
const where = '-R acme/web -b main --retries 0'
const org = '-R acme/web --org acme --retries 0'
const id = '2b4e8d1c-93f0-4c57-8a3b-1f2e3d4c5b6a'
const page = '<!DOCTYPE html><html><head><script>alert(1)</script></head><body>Sign in</body></html>'

const always =
  (status: number, body = '', headers: Readonly<Record<string, string>> = {}) =>
  (): Answer => ({ status, body, headers })

const reads: readonly (readonly [words: string, operation: string])[] = [
  [`pr get 7 ${where}`, 'getSubmittedPullRequest'],
  [`pr testing x ${where}`, 'getMergeQueueTestingDetails'],
  [`queue get ${where}`, 'getQueue'],
  [`metrics --retries 0`, 'getMergeQueueMetrics'],
  [`flaky list ${org}`, 'flaky-tests/list-failing-tests'],
  [`flaky get ${id} ${org}`, 'flaky-tests/get-test-details'],
]
const readsOfJson = reads.filter(([, operation]) => operation !== 'getMergeQueueMetrics')

const changes: readonly (readonly [words: string, operation: string, more?: object])[] = [
  [`pr submit 7 ${where}`, 'submitPullRequest', { pr: 7 }],
  [`pr cancel 7 ${where}`, 'cancelPullRequest', { pr: 7 }],
  [`pr restart 7 ${where}`, 'restartTestsOnPullRequest', { pr: 7 }],
  [`pr targets 7 a b --sha 4f2a ${where}`, 'setImpactedTargets', { pr: 7, targets: 2 }],
  [`pr targets 7 --all --sha 4f2a ${where}`, 'setImpactedTargets', { pr: 7, targets: 'ALL' }],
  [`pr targets 7 --none --sha 4f2a ${where}`, 'setImpactedTargets', { pr: 7, targets: 0 }],
  [`queue create ${where}`, 'createQueue'],
  [`queue update --batch ${where}`, 'updateQueue'],
  [`queue pause ${where}`, 'updateQueue'],
  [`queue delete --yes ${where}`, 'deleteQueue'],
]

const receiptOf = (
  operation: string,
  more: object = {},
  rest: object = { ok: true, delivery: 'confirmed' },
) => ({
  operation,
  repo: 'github.com/acme/web',
  targetBranch: 'main',
  ...more,
  ...rest,
})

/** The error object: the last line of standard error. */
const errorOf = ({ err }: Pick<Outcome, 'err'>) => JSON.parse(err.trimEnd().split('\n').at(-1) ?? '').error

/** A failure as people see it: one sentence and a hint, nothing that only programmers can read. */
const sentence = /^mergeq: [^\n]+\n(?: {2}[^\n]+\n)*$/
const hinted = /^mergeq: [^\n]+\n(?: {2}[^\n]+\n)+$/
const slips = /undefined|\[object|fetch failed|\n {4}at |NaN|<html|<script|test-token/

const statuses: readonly (readonly [status: number, exit: number, kind: string])[] = [
  ...[
    400, 402, 405, 406, 409, 410, 411, 412, 413, 414, 415, 418, 422, 423, 424, 425, 426, 428, 431, 451, 499,
  ].map(status => [status, 6, 'refused'] as const),
  [401, 4, 'auth'],
  [403, 4, 'auth'],
  [404, 5, 'not-found'],
  ...[407, 408, 429, 500, 501, 502, 503, 504, 520, 599].map(status => [status, 7, 'unavailable'] as const),
  ...[300, 301, 302, 303, 304, 307, 308, 600, 999].map(status => [status, 15, 'bad-answer'] as const),
]

describe('each status of a read', () => {
  test.each(statuses)('%i is exit %i', async (status, exit, kind) => {
    for (const [words, operation] of reads) {
      const person = await mergeq(words, {
        answer: always(status, status === 304 ? '' : 'No.'),
      })
      expect({ code: person.code, out: person.out, requests: person.requests.length }).toEqual({
        code: exit,
        out: '',
        requests: 1,
      })
      expect(person.err).toMatch(sentence)
      expect(person.err).toMatch(new RegExp(`^mergeq: .*${status}`))
      expect(person.err).not.toContain(operation)
      if (status !== 404) expect(person.err).toMatch(status === 407 ? /proxy/ : /127\.0\.0\.1:\d+/)
      expect(person.err).not.toMatch(slips)
      const script = await mergeq(`${words} --json`, {
        answer: always(status, '', { 'x-request-id': 'r-1' }),
      })
      expect({ code: script.code, out: script.out }).toEqual({ code: exit, out: '' })
      expect(script.err.split('\n')).toHaveLength(2)
      expect(errorOf(script)).toMatchObject({ kind, exit, status, operation, requestId: 'r-1' })
    }
  })

  // The sentence names the host where one was involved.
  test('a 404 names the host, too', async () => {
    for (const [words] of reads)
      expect((await mergeq(words, { answer: always(404) })).err).toMatch(/^mergeq: .*127\.0\.0\.1:\d+/)
  })

  // docs/reference/cli.md, "Error messages": one sentence, then an indented hint that says what to do.
  const hintless = [400, 404, 409, 413, 418, 422]
  const isHinted = async (status: number) => {
    for (const [words] of reads) expect((await mergeq(words, { answer: always(status) })).err).toMatch(hinted)
  }
  test.each(
    statuses.filter(([status, exit]) => exit !== 6 && !hintless.includes(status)).map(([status]) => status),
  )('%i has a hint', isHinted)
  test.each(hintless)('%i has a hint', isHinted)
})

describe('each status of a change', () => {
  test.each(statuses.filter(([, exit]) => exit === 4 || exit === 5 || exit === 6))(
    '%i is exit %i, and the receipt says that nothing was changed',
    async (status, exit) => {
      for (const [words, operation, more] of changes) {
        if (operation === 'setImpactedTargets' && status === 413) continue
        if (operation === 'deleteQueue' && (status === 400 || status === 409)) continue
        const { code, out, err, requests } = await mergeq(`${words} --json`, {
          answer: always(status, 'No.'),
        })
        expect({ code, requests: requests.length }).toEqual({ code: exit, requests: 1 })
        const { message } = errorOf({ err })
        expect(out).toBe(
          `${JSON.stringify(receiptOf(operation, more, { ok: false, delivery: 'not-applied', exit, message }))}\n`,
        )
      }
    },
  )

  test.each([
    ...statuses.filter(([, exit]) => exit === 15).map(([status]) => [status, 15] as const),
    ...[408, 500, 501, 502, 503, 504, 520, 599].map(status => [status, 11] as const),
  ])('%i is exit %i: without reading back the outcome is unknown', async (status, exit) => {
    for (const [words, operation, more] of changes) {
      const { code, out, err, requests } = await mergeq(`${words} --json`, { answer: always(status) })
      expect({ code, requests: requests.length }).toEqual({ code: exit, requests: 1 })
      const { message } = errorOf({ err })
      expect(JSON.parse(out)).toEqual(
        receiptOf(operation, more, { ok: false, delivery: 'unknown', exit, message }),
      )
    }
  })

  test.each([407, 429])('%i is exit 7: nothing was changed', async status => {
    for (const [words, operation, more] of changes) {
      const { code, out, err, requests } = await mergeq(`${words} --json`, { answer: always(status) })
      expect({ code, requests: requests.length }).toEqual({ code: 7, requests: 1 })
      const { message } = errorOf({ err })
      expect(JSON.parse(out)).toEqual(
        receiptOf(operation, more, { ok: false, delivery: 'not-applied', exit: 7, message }),
      )
    }
  })

  test('a web page is an error with an unknown outcome', async () => {
    for (const [words, operation, more] of changes) {
      const { code, out, err } = await mergeq(`${words} --json`, { answer: always(200, page) })
      expect(code).toBe(11)
      const { message } = errorOf({ err })
      expect(JSON.parse(out)).toEqual(
        receiptOf(operation, more, { ok: false, delivery: 'unknown', exit: 11, message }),
      )
      expect(message).toMatch(/web page/)
    }
  })

  test('on a terminal the receipt of a failure is its message on standard error, and nothing on standard output', async () => {
    const { code, out, err } = await mergeq(`pr submit 7 ${where}`, {
      answer: always(400, 'No.'),
      terminal: true,
      columns: 200,
      env: { NO_COLOR: '1' },
    })
    expect({ code, out }).toEqual({ code: 6, out: '' })
    expect(err).toMatch(sentence)
  })

  test('on a pipe it is a row', async () => {
    const { out } = await mergeq(`pr submit 7 ${where}`, { answer: always(400, 'No.') })
    expect(out).toMatch(
      /^7\tfalse\tnot-applied\t127\.0\.0\.1:\d+ rejected the request for #7 in the queue for main in github\.com\/acme\/web \(400\): No\.\n$/,
    )
  })

  test.each([
    ['no token', `pr submit 7 ${where}`, { MERGEQ_TOKEN: '' }, 4],
    ['a port that nobody listens on', `pr submit 7 ${where} --base-url http://127.0.0.1:1/v1`, {}, 7],
  ])('%s: nothing was sent, so there is no receipt', async (_, words, env, exit) => {
    const { code, out, err, requests } = await mergeq(`${words} --json`, { answer: always(200), env })
    expect({ code, out, requests }).toEqual({ code: exit, out: '', requests: [] })
    expect(errorOf({ err })).toMatchObject({ exit })
  })

  test('a connection that is refused names host and port, and that nothing was sent', async () => {
    for (const words of [`pr submit 7 ${where}`, `queue get ${where}`]) {
      const { code, out, err } = await mergeq(`${words} --base-url http://127.0.0.1:1/v1`)
      expect({ code, out }).toEqual({ code: 7, out: '' })
      expect(err).toMatch(hinted)
      expect(err).toMatch(/127\.0\.0\.1:1 /)
      expect(err).toMatch(/Nothing was sent/)
    }
  })
})

describe('the messages', () => {
  test.each([
    ['', '.'],
    ['Unauthorized', ': Unauthorized.'],
    ['{"error":{"message":"bad token"}}', ': bad token.'],
    [page, '.'],
  ])('401 names where the token came from, and says what the service said: %j', async (body, end) => {
    const { err } = await mergeq(`queue get ${where}`, { answer: always(401, body) })
    const [sentence, hint] = err.replace(/127\.0\.0\.1:\d+/, 'host').split('\n')
    expect(sentence).toBe(`mergeq: host rejected the token from MERGEQ_TOKEN (401)${end}`)
    expect(hint).toMatch(/^ {2}\S/)
  })

  // The message says how to log in, too.
  test('and how to log in', async () => {
    const { err } = await mergeq(`queue get ${where}`, { answer: always(401) })
    expect(err).toMatch(/\n {2}.*mergeq auth login/)
  })

  test('403 is another message: access denied', async () => {
    const { err } = await mergeq(`queue get ${where}`, { answer: always(403) })
    expect(err).toMatch(/denied access to the token from MERGEQ_TOKEN \(403\)/)
    expect(err).not.toMatch(/rejected/)
  })

  test('a pull request that was never submitted', async () => {
    const { code, out, err, requests } = await mergeq('pr get 7 -R git.example.com/acme/web -b release', {
      answer: always(404, 'Not Found'),
    })
    expect({ code, out, requests: requests.length }).toEqual({ code: 5, out: '', requests: 1 })
    expect(err).toMatch(hinted)
    expect(err).toMatch(
      /^mergeq: 127\.0\.0\.1:\d+ returned 404 \(not found\) for #7 in the queue for release in git\.example\.com\/acme\/web\.\n/,
    )
  })

  test('a queue that is not there', async () => {
    const { code, err } = await mergeq(`queue get ${where}`, { answer: always(404, 'Not Found') })
    expect(code).toBe(5)
    expect(err).toMatch(/404 \(not found\) for the queue for main in github\.com\/acme\/web\.\n/)
  })

  test.each([404])(
    'a 404 with a web page says that the base address may be wrong, and shows the path',
    async status => {
      for (const [words, operation] of reads) {
        const { code, err } = await mergeq(words, { answer: always(status, page) })
        expect(code).toBe(5)
        expect(err).toMatch(hinted)
        expect(err).toContain(`/v1/${operation}`)
        expect(err).toMatch(/base URL/)
        expect(err).not.toMatch(/never submitted|pull request|<|Sign in/)
      }
    },
  )

  test('407 is the proxy, not the service', async () => {
    const { code, err, requests } = await mergeq(`queue get ${where}`, { answer: always(407) })
    expect({ code, requests: requests.length }).toEqual({ code: 7, requests: 1 })
    expect(err).toMatch(/proxy/)
    expect(err).toMatch(/service was not reached/)
  })

  test.each([500, 400, 403, 503])(
    'of the HTML of a %i nothing is shown but its status and host',
    async status => {
      for (const flags of ['', '--json']) {
        const { err } = await mergeq(`queue get ${where} ${flags}`, { answer: always(status, page) })
        expect(err).toMatch(new RegExp(`127\\.0\\.0\\.1:\\d+ .*${status}`))
        expect(err).not.toMatch(/<|alert|Sign in/)
      }
    },
  )

  test.each([
    ['plain text', 'queue is locked', 'queue is locked'],
    ['text in JSON', '{"error":"queue is locked"}', 'queue is locked'],
    ['v2', '{"error":{"code":"locked","message":"queue is locked"}}', 'queue is locked'],
    ['a message', '{"message":"queue is locked"}', 'queue is locked'],
    ['JSON without a message', '{"why":["locked"]}', '{"why":["locked"]}'],
    ['several lines', ' queue\r\nis\tlocked\n', 'queue is locked'],
    ['escapes', '\u001B[31mqueue\u001B[0m is\u202E locked\u0007', 'queue is locked'],
  ])('what an error says is shown: %s', async (_, body, said) => {
    const { code, err } = await mergeq(`queue get ${where}`, {
      answer: always(400, body, { 'content-type': 'application/plain-text' }),
    })
    expect(code).toBe(6)
    expect(err).toMatch(
      /^mergeq: 127\.0\.0\.1:\d+ rejected the request for the queue for main in github\.com\/acme\/web \(400\): /,
    )
    expect(err.split('\n')[0]).toContain(`(400): ${said}`)
  })

  test('an error without a body is still a sentence', async () => {
    const { err } = await mergeq(`queue get ${where}`, { answer: always(400) })
    expect(err.split('\n')[0]).toMatch(
      /^mergeq: 127\.0\.0\.1:\d+ rejected the request for the queue for main in github\.com\/acme\/web \(400\)\.$/,
    )
  })

  test('at most 500 characters of an error are shown, marked as cut', async () => {
    for (const flags of ['', '--json']) {
      const { code, err } = await mergeq(`queue get ${where} ${flags}`, {
        answer: always(400, 'x'.repeat(5_000_000)),
      })
      expect(code).toBe(6)
      expect(err).toMatch(/x…/)
      expect(err.match(/x+/)?.[0].length).toBeLessThanOrEqual(500)
      expect(Buffer.byteLength(err)).toBeLessThan(4096)
    }
  })

  test('characters are counted, and none is split', async () => {
    const { err } = await mergeq(`queue get ${where}`, { answer: always(400, '界'.repeat(100_000)) })
    expect(Buffer.byteLength(err)).toBeLessThan(4096)
  })

  test('the token is hidden in what the service says, in every form', async () => {
    const forms = ['test-token', encodeURIComponent('test-token'), btoa('test-token'), btoa('x:test-token')]
    for (const flags of ['', '--json', '-v']) {
      const { err } = await mergeq(`queue get ${where} ${flags}`, {
        answer: always(400, `bad: ${forms.join(' ')} !`),
      })
      expect(err).toContain('bad: [REDACTED]')
      expect(err).not.toMatch(/test-token|dGVzdC10b2tl/)
    }
  })
})

describe('redirects', () => {
  test.each([301, 302, 303, 307, 308])('a %i to another origin is not followed', async status => {
    const other = await serveScript(() => ({ body: '{"state":"running"}' }))
    try {
      const location = `${other.baseUrl}/steal?token=1`
      for (const words of [`queue get ${where}`, `pr submit 7 ${where}`]) {
        const { code, err, requests } = await mergeq(words, { answer: always(status, '', { location }) })
        expect({ code, requests: requests.length, stolen: other.requests }).toEqual({
          code: 15,
          requests: 1,
          stolen: [],
        })
        expect(err).toMatch(hinted)
        expect(err).toContain(`(${status})`)
        expect(err).toContain(new URL(other.baseUrl).origin)
        expect(err).not.toContain('steal')
        expect(err).toMatch(/base URL/)
      }
    } finally {
      await other.close()
    }
  })

  test.each(['', '/elsewhere', 'not an address', 'javascript:alert(1)'])(
    'a redirect to %j is reported without a stack trace',
    async location => {
      const { code, err } = await mergeq(`queue get ${where}`, { answer: always(302, '', { location }) })
      expect(code).toBe(15)
      expect(err).toMatch(hinted)
      expect(err).not.toMatch(slips)
    },
  )
})

describe('success', () => {
  const bodies: readonly (readonly [status: number, body: string])[] = [
    [200, ''],
    [200, 'OK'],
    [200, '{}'],
    [200, ' \n'],
    [201, ''],
    [201, '{"ok":true}'],
    [202, 'OK'],
    [203, 'null'],
    [204, ''],
    [200, '[]'],
    [200, '"OK"'],
  ]

  test.each(bodies)('%i with %j is success for a change', async (status, body) => {
    for (const [words, operation, more] of changes) {
      if (operation === 'updateQueue' && body.includes('ok')) continue
      const person = await mergeq(words, {
        answer: always(status, body),
        terminal: true,
        env: { NO_COLOR: '1' },
      })
      expect({ code: person.code, err: person.err, lines: person.out.split('\n').length }).toEqual({
        code: 0,
        // The next command, for a person.
        err:
          operation === 'submitPullRequest'
            ? `For the result, run: mergeq pr wait 7 --repo acme/web --target-branch main\n`
            : '',
        lines: 2,
      })
      const script = await mergeq(`${words} --json`, { answer: always(status, body) })
      expect({ code: script.code, out: script.out, err: script.err }).toEqual({
        code: 0,
        out: `${JSON.stringify(receiptOf(operation, more))}\n`,
        err: '',
      })
    }
  })

  test('queue update prints the document where there is one', async () => {
    const { code, out } = await mergeq(`queue update --batch ${where} --json`, {
      answer: always(200, '{"state":"running","batch":true,"news":9007199254740993}'),
    })
    expect({ code, out }).toEqual({
      code: 0,
      out: '{"state":"RUNNING","batch":true,"news":9007199254740992}\n',
    })
  })

  test('the other changes print their receipt although there is a document', async () => {
    for (const [words, operation, more] of changes) {
      if (operation === 'updateQueue') continue
      const { out } = await mergeq(`${words} --json`, { answer: always(200, '{"state":"running","x":1}') })
      expect(out).toBe(`${JSON.stringify(receiptOf(operation, more))}\n`)
    }
  })

  test.each([
    [204, ''],
    [200, ''],
    [200, ' \r\n'],
  ])('%i with %j is an error for a read that returns JSON', async (status, body) => {
    for (const [words, operation] of readsOfJson) {
      const { code, out, err } = await mergeq(words, { answer: always(status, body) })
      expect({ code, out }).toEqual({ code: 15, out: '' })
      expect(err).toMatch(/^mergeq: Invalid response from 127\.0\.0\.1:\d+: the body is missing\.\n/)
      expect(err).not.toContain(operation)
    }
  })

  test.each([
    'OK',
    '[]',
    'null',
    '42',
    '"x"',
    '{"state":NaN}',
    '{"state":Infinity}',
    "{'state':1}",
    '{"a":1} x',
    '{"a":1}{',
  ])('a read whose response is %j fails', async body => {
    for (const [words, operation] of readsOfJson) {
      const { code, out, err } = await mergeq(words, { answer: always(200, body) })
      expect({ code, out }).toEqual({ code: 15, out: '' })
      expect(err).toMatch(/^mergeq: Invalid response from 127\.0\.0\.1:\d+: the body is not /)
      expect(err).not.toContain(operation)
      expect(err).not.toMatch(slips)
    }
  })

  test('half a document is named so, with the bytes received', async () => {
    const { code, out, err } = await mergeq(`queue get ${where}`, { answer: always(200, '{"state":"runn') })
    expect({ code, out }).toEqual({ code: 15, out: '' })
    expect(err).toMatch(/not complete JSON.*14 bytes/)
  })

  // docs/reference/cli.md, "Error messages": an indented hint follows.
  test.each(['', 'OK', '{"state":'])('an answer that is %j has a hint', async body => {
    const { err } = await mergeq(`queue get ${where}`, { answer: always(200, body) })
    expect(err).toMatch(hinted)
  })

  test.each([
    [
      'a BOM before and white space behind',
      '\uFEFF \n{"state":"running","enqueuedPullRequests":[]}\r\n ',
      {},
    ],
    ['no content type', '{"state":"running","enqueuedPullRequests":[]}', {}],
    [
      'in upper case',
      '{"state":"running","enqueuedPullRequests":[]}',
      { 'content-type': 'APPLICATION/JSON' },
    ],
    [
      'vendor JSON',
      '{"state":"running","enqueuedPullRequests":[]}',
      { 'content-type': 'application/vnd.acme+json; charset=utf-8' },
    ],
    ['plain text', '{"state":"running","enqueuedPullRequests":[]}', { 'content-type': 'text/plain' }],
  ])('%s is accepted', async (_, body, headers) => {
    const { code, out, err } = await mergeq(`queue get ${where} --json`, {
      answer: always(200, body, headers),
    })
    expect({ code, out, err }).toEqual({
      code: 0,
      out: '{"state":"RUNNING","enqueuedPullRequests":[]}\n',
      err: '',
    })
  })

  const pages = [page, '  <html>', '\uFEFF<HTML lang="de">', '<?xml version="1.0"?><html/>']

  const isTold = async (words: string, operation: string) => {
    for (const body of pages)
      for (const flags of ['', '--json']) {
        const { code, out, err } = await mergeq(`${words} ${flags}`, { answer: always(200, body) })
        expect({ code, out }).toEqual({ code: 15, out: '' })
        const [sentence = '', ...hints] = err.split('\n')
        const { message, hint } =
          flags === '' ? { message: sentence, hint: hints.join('') } : errorOf({ err })
        expect(message).toMatch(/Invalid response from 127\.0\.0\.1:\d+: /)
        expect(message).not.toContain(operation)
        expect(message).toMatch(/web page/)
        expect(hint).toMatch(/proxy/)
        expect(hint).toMatch(/sign in/)
        expect(err).not.toMatch(/</)
      }
  }

  test.each(readsOfJson)('to %s a web page is not the service', isTold)

  // The text is read as metrics first: "line 1 of the metrics is not of the text format".
  test('to metrics a web page is not the service', () =>
    isTold('metrics --retries 0', 'getMergeQueueMetrics'))
})

describe('a queue that is not empty', () => {
  const answer =
    (status: number, numbers: readonly number[]) =>
    ({ path }: Seen): Answer =>
      path.endsWith('/deleteQueue')
        ? { status, body: 'Queue is not empty' }
        : { body: JSON.stringify({ enqueuedPullRequests: numbers.map(prNumber => ({ prNumber })) }) }
  const words = 'queue delete --yes -R acme/web -b main'
  const paths = ({ requests }: Outcome) => requests.map(({ path }) => path.replace('/v1/', ''))

  test.each([400, 409])('%i says so, how many it lists, and what to do', async status => {
    const outcome = await mergeq(words, {
      answer: answer(status, [7, 8]),
      terminal: true,
      columns: 200,
      env: { NO_COLOR: '1' },
    })
    expect({ code: outcome.code, out: outcome.out, paths: paths(outcome) }).toEqual({
      code: 6,
      out: '',
      paths: ['deleteQueue', 'getQueue'],
    })
    expect(outcome.err).toMatch(
      /^mergeq: .*not empty \(2 pull requests queued: #7, #8\)\.\n {2}.*--cancel-all/,
    )
  })

  test('one that lists none says that not ready pull requests are not listed', async () => {
    const outcome = await mergeq(words, { answer: answer(409, []) })
    expect({ code: outcome.code, paths: paths(outcome) }).toEqual({
      code: 6,
      paths: ['deleteQueue', 'getQueue'],
    })
    expect(outcome.err).toMatch(/not ready/)
  })

  test('a script gets the receipt and the error', async () => {
    const { code, out, err } = await mergeq(`${words} --json`, { answer: answer(409, [7]) })
    expect(code).toBe(6)
    const error = errorOf({ err })
    expect(error).toMatchObject({ kind: 'refused', exit: 6, status: 409, operation: 'deleteQueue' })
    expect(JSON.parse(out)).toEqual(
      receiptOf('deleteQueue', {}, { ok: false, delivery: 'not-applied', exit: 6, message: error.message }),
    )
  })
})

describe('413 to a list', () => {
  const words = 'pr targets 7 a b --sha 4f2a -R acme/web -b main'
  const sent = ({ requests }: Outcome) => requests.map(({ body }) => JSON.parse(body).impactedTargets)

  // docs/reference/cli.md, "Impacted targets": after 413, "ALL" is sent once.
  test('sends "ALL" once, with the warning', async () => {
    const outcome = await mergeq(`${words} --json`, {
      answer: ({ body }) => (body.includes('"ALL"') ? { body: 'OK' } : { status: 413, body: 'Too large' }),
    })
    expect({ code: outcome.code, sent: sent(outcome) }).toEqual({ code: 0, sent: [['a', 'b'], 'ALL'] })
    expect(JSON.parse(outcome.out)).toEqual(receiptOf('setImpactedTargets', { pr: 7, targets: 'ALL' }))
    expect(outcome.err).toMatch(/"ALL"/)
  })

  test('413 to that too stops after two requests', async () => {
    const outcome = await mergeq(words, { answer: always(413) })
    expect({ code: outcome.code, sent: sent(outcome) }).toEqual({ code: 6, sent: [['a', 'b'], 'ALL'] })
  })

  test('with --too-large fail it stops after one', async () => {
    const outcome = await mergeq(`${words} --too-large=fail`, { answer: always(413) })
    expect({ code: outcome.code, sent: sent(outcome) }).toEqual({ code: 6, sent: [['a', 'b']] })
  })

  test('413 for --all is not retried', async () => {
    const outcome = await mergeq('pr targets 7 --all --sha 4f2a -R acme/web -b main', { answer: always(413) })
    expect({ code: outcome.code, sent: sent(outcome) }).toEqual({ code: 6, sent: ['ALL'] })
  })
})

describe('errors for scripts', () => {
  test.each([
    [404, 'not-found', 5],
    [401, 'auth', 4],
  ])('%i', async (status, kind, exit) => {
    for (const flags of ['--json', '-o json', '-o ndjson']) {
      const { code, out, err } = await mergeq(`pr get 7 ${where} ${flags}`, {
        answer: always(status, 'No', { 'X-Request-Id': 'abc-1' }),
      })
      expect({ code, out, lines: err.split('\n').length }).toEqual({ code: exit, out: '', lines: 2 })
      expect(Object.keys(JSON.parse(err))).toEqual(['error'])
      const { message, hint, attempts, ...rest } = errorOf({ err })
      expect(rest).toEqual({
        kind,
        exit,
        status,
        operation: 'getSubmittedPullRequest',
        requestId: 'abc-1',
        details: 'No',
      })
      expect([message, hint].every(text => typeof text === 'string' && text !== '')).toBe(true)
    }
  })

  // docs/reference/cli.md, "Error messages" names it among the fields; after one attempt it is left out.
  test('the number of attempts is reported', async () => {
    const { err } = await mergeq(`pr get 7 ${where} --json`, { answer: always(404) })
    expect(errorOf({ err }).attempts).toBe(1)
  })

  test('a timeout', async () => {
    const { code, out, err } = await mergeq(`pr get 7 ${where} --json --timeout 50ms`, {
      answer: () => new Promise(() => undefined),
    })
    expect({ code, out }).toEqual({ code: 7, out: '' })
    expect(errorOf({ err })).toMatchObject({
      kind: 'unavailable',
      exit: 7,
      operation: 'getSubmittedPullRequest',
    })
    expect(errorOf({ err }).message).toMatch(/within 0\.05s/)
  })

  test.each<[string, Setting]>([
    ['pr submit 7 --timeout 0', {}],
    ['pr submit 7', { env: { MERGEQ_TIMEOUT: '0' } }],
    ['pr wait 7 --timeout 0', { env: { MERGEQ_TIMEOUT: '0' } }],
    ['pr wait 7 --timeout 5s', { env: { MERGEQ_TIMEOUT: '0' } }],
  ])('the time limit 0 is the default of a request: %s, %j', async (line, setting) => {
    const { code, requests } = await mergeq(`${line} ${where}`, {
      ...setting,
      answer: () => ({ body: '{"state":"merged"}' }),
    })
    expect({ code, sent: requests.length }).toEqual({ code: 0, sent: 1 })
  })

  test.each(['25d', '10000w'])(
    'a time limit of %s, longer than that of any timer, is not over at once',
    async limit => {
      const { code, err, requests } = await mergeq(`pr get 7 ${where} --timeout ${limit}`, {
        answer: () => ({ body: '{"state":"testing"}' }),
      })
      expect({ code, err, sent: requests.length }).toEqual({ code: 0, err: '', sent: 1 })
    },
  )
})

describe('several pull requests', () => {
  const by =
    (answers: Readonly<Record<number, Answer>>, setting: Setting = {}) =>
    (words: string) =>
      mergeq(words, {
        ...setting,
        answer: ({ body }) => answers[JSON.parse(body).pr.number] ?? { body: '{"state":"testing"}' },
      })
  const no = (status: number) => ({ status, body: 'No.' })

  test('a read that failed prints nothing on standard output, and does not stop the rest', async () => {
    const { code, out, err, requests } = await by({ 8: no(404) })(`pr get 7 8 9 ${where} --json`)
    expect({ code, out, requests: requests.length }).toEqual({
      code: 5,
      out: '{"state":"TESTING"}\n{"state":"TESTING"}\n',
      requests: 3,
    })
    expect(errorOf({ err }).message).toContain('#8')
  })

  test('each change has its receipt, in the order given; the worst exit code wins', async () => {
    const { code, out } = await by({ 7: no(404), 9: no(400) })(`pr cancel 7 8 9 --yes ${where} --json`)
    const receipts = out
      .trimEnd()
      .split('\n')
      .map(line => JSON.parse(line))
    expect(code).toBe(6)
    expect(receipts.map(({ pr, ok, delivery, exit }) => [pr, ok, delivery, exit])).toEqual([
      [7, false, 'not-applied', 5],
      [8, true, 'confirmed', undefined],
      [9, false, 'not-applied', 6],
    ])
  })

  test.each([
    [[404, 400], 6],
    [[400, 401], 4],
    [[404, 401, 400], 4],
    [[503, 400, 404], 7],
    [[302, 503], 15],
  ])('of %j the exit code is %i', async (statuses, exit) => {
    const answers = Object.fromEntries(statuses.map((status, index) => [index + 1, no(status)]))
    const { code } = await by(answers)(`pr get ${statuses.map((_, index) => index + 1).join(' ')} ${where}`)
    expect(code).toBe(exit)
  })

  // docs/reference/cli.md, "Several pull requests": each error names the pull request, the most severe one
  // last.
  test('the worst error is the last', async () => {
    const { code, err } = await by({ 7: no(401), 8: no(404) })(`pr get 7 8 ${where} --json`)
    expect({ code, exit: errorOf({ err }).exit }).toEqual({ code: 4, exit: 4 })
  })

  test.each([400, 401, 500])('a %i names the pull request', async status => {
    const { err } = await by({ 8: no(status) })(`pr get 7 8 ${where}`)
    expect(err).toMatch(/#8\b/)
  })

  test('--stop-on-error stops at the first failure', async () => {
    const { code, out, requests } = await by({ 8: no(400) })(
      `pr submit 7 8 9 ${where} --stop-on-error --json`,
    )
    expect({ code, lines: out.trimEnd().split('\n').length, requests: requests.length }).toEqual({
      code: 6,
      lines: 2,
      requests: 2,
    })
  })
})

describe('MERGEQ_DEBUG=1', () => {
  const env = { MERGEQ_DEBUG: '1', MERGEQ_TOKEN: 'tok_4f2a9c1e77d0' }

  test('prints the stack trace of an error before its message', async () => {
    const { code, out, err } = await mergeq('pr sbumit', { env })
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(err).toMatch(/^Error: unknown command 'sbumit'\.\n(?: {4}at [^\n]+\n)+mergeq: unknown command/)
  })

  test('prints the stack trace of a failed request', async () => {
    const { code, err } = await mergeq('pr get 7 -R acme/web -b main', {
      env,
      answer: () => ({ status: 403 }),
    })
    expect(code).toBe(4)
    expect(err).toMatch(/^Error: [^\n]+\n(?: {4}at [^\n]+\n)+mergeq: /)
  })

  test('hides tokens, and leaves the JSON error on the last line', async () => {
    const { err } = await mergeq('pr get 7 --nonsense-tok_4f2a9c1e77d0 --json', { env })
    expect(err).not.toContain('tok_4f2a9c1e77d0')
    expect(err).toContain('    at ')
    expect(errorOf({ err })).toMatchObject({ kind: 'usage', exit: 2 })
  })
})
