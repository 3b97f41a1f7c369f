import { describe, expect, test } from 'vitest'
import { changeSentence } from '../../src/api/change-sentence.ts'
import { serviceMessageOf } from '../../src/api/error-response.ts'
import {
  type Answer,
  knowingNothing,
  mergeq,
  type Outcome,
  openStory,
  queueEnv,
  type Seen,
  type Setting,
} from '../support/harness.ts'
import { type OperationExample, operationExamples, queueChanges } from '../support/operations.ts'

// Repeats have tests of their own: here every request is sent once.
const where = '-R acme/web -b main --retries 0'
const org = '-R acme/web --org acme --retries 0'
const id = '2b4e8d1c-93f0-4c57-8a3b-1f2e3d4c5b6a'
const sha = '4f2a9c1d0e8b7a6655443322110ffeeddccbbaa9'
const repo = { host: 'github.com', owner: 'acme', name: 'web' }
const page = '<!DOCTYPE html><html><head><script>alert(1)</script></head><body>Sign in</body></html>'

const always =
  (status: number, body = '', headers: Readonly<Record<string, string>> = {}) =>
  (): Answer => ({ status, body, headers })

const wordsOf = ({ line }: OperationExample): string =>
  `${line} -R acme/web --org acme --retries 0${line.includes(' -b ') ? '' : ' -b main'}`

/** The reads whose request is the first: `queue runs` reads the queue before. */
const reads = operationExamples
  .filter(({ operation, line }) => operation.change === undefined && !/^(?:api |queue runs)/.test(line))
  .map(example => [wordsOf(example), example.name] as const)
const readsOfJson = reads.filter(([, operation]) => operation !== 'getMergeQueueMetrics')

/** A command line, its operation, and what its receipt names besides the queue. */
const changes: readonly (readonly [words: string, operation: string, more: object])[] = [
  ...queueChanges.map(example => {
    const about = { ...example.options }
    const pr = 'pr' in about ? { pr: 7 } : {}
    const targets = 'targets' in about ? { targets: 2 } : {}
    return [`${example.line} ${where}`, example.name, { ...pr, ...targets }] as const
  }),
  [`pr targets 7 --all --sha ${sha} ${where}`, 'setImpactedTargets', { pr: 7, targets: 'ALL' }],
  [`pr targets 7 --none --sha ${sha} ${where}`, 'setImpactedTargets', { pr: 7, targets: 0 }],
  [`queue pause ${where}`, 'updateQueue', {}],
]

const receiptOf = (
  operation: string,
  more: object = {},
  {
    ok,
    delivery,
    ...failure
  }: { readonly ok: boolean; readonly delivery: string; readonly [key: string]: unknown } = {
    ok: true,
    delivery: 'confirmed',
  },
) => ({
  operation,
  repo: 'github.com/acme/web',
  targetBranch: 'main',
  ...more,
  ok,
  delivery,
  ...(operation === 'submitPullRequest' && { submitted: delivery === 'unknown' ? null : ok }),
  ...failure,
})

/** The error object: the last line of standard error. */
const errorOf = ({ err }: Pick<Outcome, 'err'>) => JSON.parse(err.trimEnd().split('\n').at(-1) ?? '').error

/** A failure as people see it: one sentence and a hint, nothing that only programmers can read. */
const hinted = /^mergeq: [^\n]+\n(?: {2}[^\n]+\n)+$/
const slips = /undefined|\[object|fetch failed|\n {4}at |NaN|<html|<script|qj7-token/

const statuses: readonly (readonly [status: number, exit: number, kind: string])[] = [
  ...[400, 402, 405, 409, 422, 499].map(status => [status, 6, 'refused'] as const),
  [401, 4, 'auth'],
  [403, 4, 'auth'],
  [404, 5, 'not-found'],
  ...[407, 408, 429, 500, 503, 599].map(status => [status, 7, 'unavailable'] as const),
  ...[300, 302, 304, 600, 999].map(status => [status, 15, 'bad-answer'] as const),
]

/** A status that is refused, one of what is not there, and one of a service that fails. */
const someStatuses = statuses.filter(([status]) => [400, 404, 500].includes(status))

describe('a status of a read', () => {
  async function expectFailure(
    words: string,
    operation: string,
    [status, exit, kind]: (typeof statuses)[number],
  ) {
    const person = await mergeq(words, { answer: always(status, status === 304 ? '' : 'No.') })
    expect({ code: person.code, out: person.out, requests: person.requests.length }).toEqual({
      code: exit,
      out: '',
      requests: 1,
    })
    // docs/reference/cli.md, "Error messages": one sentence, then an indented hint that says what to do.
    expect(person.err).toMatch(hinted)
    // Status and host are part of the sentence only where they are the cause.
    if (kind !== 'refused' && kind !== 'not-found') {
      expect(person.err).toMatch(new RegExp(`^mergeq: .*${status}`))
      expect(person.err).toMatch(status === 407 ? /proxy/ : /^mergeq: .*127\.0\.0\.1:\d+/)
      if (status === 429) expect(person.err).toContain('rate limit')
    }
    expect(person.err).not.toMatch(slips)
    // The hint names an operation that only the hosted service has.
    expect(person.err.split('\n')[0]).not.toContain(operation)
    const said = status === 304 ? {} : { details: 'No' }
    const answer = always(status, said.details, { 'X-Request-Id': 'r-1' })
    const script = await mergeq(`${words} --json`, { answer })
    expect({ code: script.code, out: script.out }).toEqual({ code: exit, out: '' })
    const { pr, repo, targetBranch, ...error } = JSON.parse(script.err).error
    expect(error).toEqual({
      kind,
      exit,
      status,
      host: expect.stringMatching(/^127\.0\.0\.1:\d+$/),
      operation,
      requestId: 'r-1',
      ...said,
      attempts: 1,
      message: expect.stringMatching(/./),
      hint: expect.stringMatching(/./),
    })
    if (operation === 'getQueue')
      expect({ pr, repo, targetBranch }).toEqual({ repo: 'github.com/acme/web', targetBranch: 'main' })
  }

  test.each(statuses)('%i is exit %i, %s', (...row) => expectFailure(`queue get ${where}`, 'getQueue', row))

  test.each(reads)('is reported by %s in one sentence with a hint', async (words, operation) => {
    for (const row of someStatuses) await expectFailure(words, operation, row)
  })
})

describe('a status of a change', () => {
  /** How a failure ends: without reading back the outcome of most is unknown. */
  const endOf = ([status, exit]: (typeof statuses)[number]) => ({
    exit: exit === 7 && status !== 407 && status !== 429 ? 11 : exit,
    delivery: [7, 15].includes(exit) && status !== 407 && status !== 429 ? 'unknown' : 'not-applied',
  })

  // That every change has its receipt: test/every-command/receipts.test.ts.
  test.each(statuses)('%i is exit %i or 11, and the receipt says whether it was applied', async (...row) => {
    const { exit, delivery } = endOf(row)
    const answer = always(row[0], row[0] === 304 ? '' : 'No.')
    const { code, out, err, requests } = await mergeq(`pr submit 7 ${where} --json`, { answer })
    expect({ code, requests: requests.length }).toEqual({ code: exit, requests: 1 })
    const { message } = errorOf({ err })
    const receipt = receiptOf('submitPullRequest', { pr: 7 }, { ok: false, delivery, exit, message })
    expect(out).toBe(`${JSON.stringify(receipt)}\n`)
  })

  test('is its message on standard error on a terminal, and a row on a pipe', async () => {
    const answer = always(400, 'No.')
    const setting = { answer, terminal: true, columns: 200, env: { NO_COLOR: '1' } }
    const { code, out, err } = await mergeq(`pr submit 7 ${where}`, setting)
    expect({ code, out }).toEqual({ code: 6, out: '' })
    expect(err).toMatch(hinted)
    expect((await mergeq(`pr submit 7 ${where}`, { answer })).out).toBe(
      '7\tfalse\tnot-applied\t#7 was not submitted: No.\n',
    )
  })
})

/** A command line, the status and the body of every answer, and the token; 404 without a body is `knowingNothing`. */
type Told = readonly [line: string, status: number, body?: string, token?: string]

const told: readonly Told[] = [
  ...['', 'Unauthorized', '{"error":{"message":"bad token"}}', page].map(
    (body): Told => [`queue get ${where}`, 401, body],
  ),
  [`queue get ${where}`, 403, ''],
  ['api status', 401, '', ''],
  ...['pr get 7', 'metrics', 'flaky list --org acme'].map(
    (line): Told => [
      `${line} ${line.startsWith('pr') ? where : '-R acme/web'}`,
      401,
      '',
      'trunk_v2_01234567',
    ],
  ),
  ...[
    'pr get 7 -R git.example.com/acme/web -b release',
    `queue get ${where}`,
    `pr testing x ${where}`,
    `pr submit 7 ${where}`,
    `queue create ${where}`,
    `flaky get ${id} ${org}`,
    'api nothing',
  ].map((line): Told => [line, 404]),
  [`pr get 7 ${where}`, 404, page],
  ...[
    `pr submit 7 ${where}`,
    `pr targets 7 a --sha ${sha} ${where}`,
    `pr testing x ${where}`,
    `queue create ${where}`,
    `queue delete --yes ${where}`,
    `api getQueue ${where}`,
    'metrics -R acme/web',
  ].map((line): Told => [line, 404, 'no']),
  [`pr submit 7 ${where}`, 409, 'no'],
  [`queue create ${where}`, 409, 'no'],
  ...[`pr submit 7 ${where}`, `pr cancel 7 --yes ${where}`, `queue get ${where}`].map(
    (line): Told => [line, 400, 'no'],
  ),
]

test('a message names what was asked for, and its hint fits the command and the response', async () => {
  const pieces: string[] = []
  for (const [line, status, body, token = 'qj7-token'] of told) {
    const answer = body === undefined ? knowingNothing : always(status, body)
    const { code, out, err, requests } = await mergeq(line, { answer, env: { MERGEQ_TOKEN: token } })
    const sent = requests[0]?.headers['x-api-token'] ?? ''
    expect({ line, sent, isTold: err.includes(token) && token !== '' }).toEqual({
      line,
      sent: token,
      isTold: false,
    })
    const told = `${out}${err}`.replaceAll(/127\.0\.0\.1:\d+/g, 'HOST')
    const said = body === undefined ? '' : ` with ${JSON.stringify(body)}`
    pieces.push(`=== mergeq ${line}: ${status}${said}, exit ${code}\n${told}`)
  }
  await expect(pieces.join('\n')).toMatchFileSnapshot('../golden/error-messages.txt')
})

describe('the messages', () => {
  test.each(['pr get 7', 'queue get', 'pr cancel 7'])(
    'a 404 of %s that the metrics have, too, names the base URL first',
    async line => {
      const answer = always(404, '404 page not found')
      const { code, err, requests } = await mergeq(`${line} -R acme/web -b main`, { answer })
      expect(code).toBe(5)
      expect(err.replace(/127\.0\.0\.1:\d+/, 'HOST')).toContain(
        'mergeq: The service answered 404.\n  Check the base URL (now http://HOST/v1), --repo and --target-branch.\n',
      )
      expect(requests.filter(({ path }) => path.includes('Metrics'))).toHaveLength(1)
      const once = await mergeq(`${line} -R acme/web -b main --retries 0`, { answer })
      expect(once.requests).toHaveLength(1)
    },
  )

  test.each([403, 503])('of the HTML of a %i only status, host and size are shown', async status => {
    const answer = always(status, page)
    for (const flags of ['', '--json', '-v']) {
      const { err } = await mergeq(`queue get ${where} ${flags}`, { answer })
      expect(err).toMatch(new RegExp(`127\\.0\\.0\\.1:\\d+ .*${status}`))
      expect(err).not.toMatch(/<!|<html|alert|Sign in/)
    }
    const { err } = await mergeq(`queue get ${where} -v`, { answer })
    expect(err).toContain(`< (web page, ${page.length} bytes)\n`)
  })

  test('the operation is named with -v only; the JSON error has it in `operation`', async () => {
    const answer = always(400, 'no')
    expect((await mergeq(`queue get ${where} -v`, { answer })).err).toMatch(/^mergeq: getQueue: The service/m)
    expect(errorOf(await mergeq(`queue get ${where} --json`, { answer })).message).toMatch(/^The service/)
  })
})

describe('the words of the service', () => {
  const words = 'Impacted targets are disabled for this repository'
  test.each([400, 404, 503])('are part of the error of a %i', async status => {
    const body = JSON.stringify({ message: words })
    for (const line of [`pr submit 7 ${where}`, `api getQueue ${where}`]) {
      const answer = always(status, body)
      const person = await mergeq(line, { answer })
      expect(person.err.split(words)).toHaveLength(2)
      const script = await mergeq(`${line} -o ndjson`, { answer })
      expect(errorOf(script)).toMatchObject({
        status,
        details: words,
        message: expect.stringContaining(words),
      })
      expect((await mergeq(`${line} -v`, { answer })).err).toContain(`< ${body}\n`)
    }
  })

  test.each([
    ['{"message":"no"}', 'no'],
    ['{"error":"Not Found","message":"no run 7"}', 'no run 7'],
    ['{"error":{"code":7,"message":"no"}}', 'no'],
    ['{"title":"Conflict","detail":"no"}', 'no'],
    ['{"errors":[{"message":"one"},"two"]}', 'one\ntwo'],
    ['{\n  "code": 7,\n  "at": [1]\n}', '{"code":7,"at":[1]}'],
    ['"no"', 'no'],
    ['  no\r\n\r\nat all ', 'no\nat all'],
    ['1\n2\n3\n4\n5\n6', '1\n2\n3\n4\n5…'],
    ['🦀'.repeat(501), `${'🦀'.repeat(500)}…`],
    ['{}', undefined],
    ['[]', undefined],
    ['null', undefined],
    [' ', undefined],
    ['<!doctype html><p>no', undefined],
  ])('of %j are %j', (text, expected) => {
    let document: unknown
    try {
      document = JSON.parse(text)
    } catch {
      document = undefined
    }
    expect(serviceMessageOf({ text, document: document as never })).toBe(expected)
  })

  test('are without control characters in the details', async () => {
    const answer = always(400, '\u001B[31mno\u202E\u001B[0m')
    expect(errorOf(await mergeq(`queue get ${where} --json`, { answer })).details).toBe('no')
  })
})

describe('api --include', () => {
  const headers = { 'x-request-id': 'r-1' }
  test.each(['', '--json', '-o ndjson'])('prints an error response on standard output: %s', async format => {
    for (const line of ['getQueue', 'submitPullRequest -F pr.number=7']) {
      const { code, out, err } = await mergeq(`api ${line} --include ${where} ${format}`, {
        answer: always(400, '{"message":"no"}', headers),
      })
      expect(code).toBe(6)
      expect(out).toMatch(
        /^HTTP 400\r\n(?:[^\r\n]+\r\n)*x-request-id: r-1\r\n(?:[^\r\n]+\r\n)*\r\n\{"message":"no"\}$/,
      )
      expect(err).toMatch(
        format === '' ? /^mergeq: .*: no \(400\)\.\n {2}/ : /^\{"error":\{.*"details":"no"\}\}\n$/,
      )
    }
  })

  test('prints nothing with --fields', async () => {
    const line = `api getQueue ${where} --include --fields state`
    expect((await mergeq(line, { answer: always(404, 'no') })).out).toBe('')
  })
})

test('standard error is as wide as the terminal; on a pipe and as JSON it is not limited', async () => {
  const linesOf = async (flags: string, setting: Setting = {}) => {
    const answer = always(403, 'word '.repeat(60))
    return (await mergeq(`queue get ${where} ${flags}`, { ...setting, answer })).err.split('\n')
  }
  const narrow = { terminal: true, columns: 40, env: { NO_COLOR: '1' } }
  expect(Math.max(...(await linesOf('', narrow)).map(line => line.length))).toBeLessThanOrEqual(40)
  expect(await linesOf('')).toHaveLength(3)
  expect(await linesOf('--json', narrow)).toHaveLength(2)
})

describe('success', () => {
  async function expectSuccess(
    [words, operation, more]: (typeof changes)[number],
    status: number,
    body: string,
  ) {
    const setting = { terminal: true, columns: 160, env: { NO_COLOR: '1' } }
    const person = await mergeq(words, { answer: always(status, body), ...setting })
    // The next command, for a person.
    const next = 'For the result, run: mergeq pr wait 7 --repo acme/web --target-branch main\n'
    expect({ code: person.code, err: person.err, lines: person.out.split('\n').length }).toEqual({
      code: 0,
      err: operation === 'submitPullRequest' ? next : '',
      lines: 2,
    })
    const example = queueChanges.find(({ line }) => words.startsWith(line))
    if (example !== undefined)
      expect(person.out).toContain(changeSentence(example.operation, { repo, targetBranch: 'main', pr: 7 }))
    const script = await mergeq(`${words} --json`, { answer: always(status, body) })
    expect(script).toMatchObject({ code: 0, out: `${JSON.stringify(receiptOf(operation, more))}\n`, err: '' })
  }

  test.each([
    [200, ''],
    [201, '{"ok":true}'],
    [204, ''],
    [200, '[]'],
  ])('%i with %j is success for a change', async (status, body) => {
    await expectSuccess(changes[0] as (typeof changes)[number], status, body)
  })

  test.each(changes.map(change => [change[0], change] as const))(
    '200 without a document is success for %s',
    async (_, change) => {
      await expectSuccess(change, 200, 'OK')
    },
  )

  test('queue update prints the document where there is one, the other changes their receipt', async () => {
    const answer = always(200, '{"state":"running","batch":true,"news":9007199254740993}')
    const due = '{"state":"RUNNING","batch":true,"news":9007199254740992}\n'
    for (const [words, operation, more] of changes) {
      const { code, out } = await mergeq(`${words} --json`, { answer })
      const isUpdate = words.startsWith('queue update')
      if (isUpdate || operation !== 'updateQueue')
        expect({ code, out }).toEqual({
          code: 0,
          out: isUpdate ? due : `${JSON.stringify(receiptOf(operation, more))}\n`,
        })
    }
  })

  /** A read whose answer is no document ends with 15, a sentence without the operation and a hint. */
  async function expectInvalid(words: string, operation: string, status: number, body: string) {
    const { code, out, err } = await mergeq(words, { answer: always(status, body) })
    expect({ code, out }).toEqual({ code: 15, out: '' })
    expect(err).toMatch(/^mergeq: Invalid response from 127\.0\.0\.1:\d+: /)
    expect(err).toMatch(hinted)
    expect(err).not.toContain(operation)
    expect(err).not.toMatch(slips)
    return err
  }

  test.each([
    [204, '', 'the body is missing.'],
    [200, ' \r\n', 'the body is missing.'],
    [200, 'OK', 'the body is not '],
    [200, '[]', 'the body is not '],
    [200, '{"state":"runn', 'the body is not complete JSON'],
  ])('%i with %j is an error for a read', async (status, body, what) => {
    const err = await expectInvalid(`queue get ${where}`, 'getQueue', status, body)
    expect(err).toContain(what)
    if (what.includes('complete')) expect(err).toContain('14 bytes')
  })

  test.each(readsOfJson)('an answer that is no object is an error for %s', async (words, operation) => {
    const noObject = { '[]': '[]', ' null\n': 'null', '[{}]': 'a list', '"OK"': 'a string', '5': 'a number' }
    const answers = [
      ['', 'the body is missing'],
      ['OK', 'the body is not JSON (2 bytes received)'],
      ...Object.entries(noObject).map(([body, name]) => [body, `the body is not a JSON object but ${name}`]),
    ] as const
    for (const [body = '', said = ''] of answers)
      expect(await expectInvalid(words, operation, 200, body)).toContain(`: ${said}.\n`)
  })

  test.each([page, '  <html>', '\uFEFF<HTML lang="de">', '<?xml version="1.0"?><html/>'])(
    'the web page %j is not the service',
    async body => {
      const err = await expectInvalid(`queue get ${where}`, 'getQueue', 200, body)
      expect(err).toMatch(/web page.*proxy.*sign in/s)
      expect(err).not.toMatch(/</)
    },
  )
})

// On a terminal, and where it lists none: test/golden/screens/queue-changes.txt.
test.each([400, 409])(
  '%i for a queue that is not empty says how many it lists, and what to do',
  async status => {
    const enqueuedPullRequests = [{ prNumber: 7 }, { prNumber: 8 }]
    const { code, out, err, requests } = await mergeq(`queue delete --yes ${where} --json`, {
      answer: ({ path }) =>
        path.endsWith('/deleteQueue')
          ? { status, body: 'Queue is not empty' }
          : { body: JSON.stringify({ enqueuedPullRequests }) },
    })
    expect({ code, paths: requests.map(({ path }) => path) }).toEqual({
      code: 6,
      paths: ['/v1/deleteQueue', '/v1/getQueue'],
    })
    const { message, ...error } = errorOf({ err })
    expect(message).toMatch(/not empty \(2 pull requests queued: #7, #8\)\.$/)
    const hint = expect.stringContaining('--cancel-all')
    expect(error).toMatchObject({ kind: 'refused', exit: 6, status, operation: 'deleteQueue', hint })
    const due = { ok: false, delivery: 'not-applied', exit: 6, message }
    expect(JSON.parse(out)).toEqual(receiptOf('deleteQueue', {}, due))
  },
)

// docs/reference/cli.md, "Impacted targets": after 413, "ALL" is sent once.
describe('413 to a list of targets', () => {
  const listed = `pr targets 7 a b --sha ${sha} -R acme/web -b main`
  const tooLarge = always(413, 'Too large')
  test.each([
    ['sends "ALL" once', listed, false, 0, [['a', 'b'], 'ALL']],
    ['stops after two requests', listed, true, 6, [['a', 'b'], 'ALL']],
    ['stops after one with --too-large fail', `${listed} --too-large=fail`, true, 6, [['a', 'b']]],
    ['is not retried for --all', `pr targets 7 --all --sha ${sha} -R acme/web -b main`, true, 6, ['ALL']],
  ])('%s', async (_, line, isAllTooLarge, code, due) => {
    const answer = ({ body }: Seen) =>
      body.includes('"ALL"') && !isAllTooLarge ? { body: 'OK' } : tooLarge()
    const outcome = await mergeq(`${line} --json`, { answer })
    const sent = outcome.requests.map(({ body }) => JSON.parse(body).impactedTargets)
    expect({ code: outcome.code, sent }).toEqual({ code, sent: due })
    if (code === 0) {
      expect(JSON.parse(outcome.out)).toEqual(receiptOf('setImpactedTargets', { pr: 7, targets: 'ALL' }))
      expect(outcome.err).toMatch(
        /^mergeq: The list of targets is too large for the service \(413\) .*"ALL" instead\.$/m,
      )
    }
  })
})

test.each<[string, Setting]>([
  ['pr submit 7 --timeout 0', {}],
  ['pr submit 7', { env: { MERGEQ_TIMEOUT: '0' } }],
  ['pr wait 7 --timeout 0', { env: { MERGEQ_TIMEOUT: '0' } }],
  ['pr wait 7 --timeout 5s', { env: { MERGEQ_TIMEOUT: '0' } }],
])('the time limit 0 is the default of a request: %s, %j', async (line, setting) => {
  const answer = always(200, '{"state":"merged"}')
  const { code, requests } = await mergeq(`${line} ${where}`, { ...setting, answer })
  expect({ code, sent: requests.length }).toEqual({ code: 0, sent: 1 })
})

test.each([
  ['pr sbumit', 2],
  ['pr get 7 --nonsense-tok_4f2a9c1e77d0', 2],
  ['pr get 7 -R acme/web -b main', 4],
])('MERGEQ_DEBUG=1 prints a stack trace before the error of %s, and no token', async (line, code) => {
  const env = { MERGEQ_DEBUG: '1', MERGEQ_TOKEN: 'tok_4f2a9c1e77d0' }
  const person = await mergeq(line, { env, answer: always(403) })
  expect({ code: person.code, out: person.out }).toEqual({ code, out: '' })
  expect(person.err).toMatch(/^MergeqError: [^\n]+\n(?: {4}at [^\n]+\n)+mergeq: /)
  const script = await mergeq(`${line} --json`, { env, answer: always(403) })
  expect(script.err).toMatch(/^ {4}at /m)
  expect(errorOf(script).exit).toBe(code)
  expect(person.err + script.err).not.toContain('tok_4f2a9c1e77d0')
})

test('where the queue is missing, every command names it and the nearest one, and advises no change', async () => {
  const story = await openStory()
  for (const line of [
    'pr get 7',
    'pr submit 7',
    'pr cancel 7',
    'pr wait 7 --grace 0',
    `pr targets 7 --all --sha ${sha}`,
    'queue get',
    'queue watch',
    'queue wait',
    'pr list',
  ]) {
    const near = await story.mergeq(`${line} -b mian`)
    expect(near, line).toMatchObject({
      code: 5,
      err: expect.stringContaining('mergeq: acme/web has no queue for mian.\n  Did you mean main?\n'),
    })
    expect(near.err).not.toMatch(/pr submit|queue create/)
  }
  expect((await story.mergeq('pr get 7 -b release')).err).toContain('  It has queues for: main.\n')
  expect((await story.mergeq('pr get 7')).err).toContain('#7 is not in the queue for main')
})

test('an error in JSON says which pull request, queue or repository it is about', async () => {
  const place = { repo: 'github.com/acme/web', targetBranch: 'main' }
  const about = async (line: string, answer: () => { status: number }) => {
    const { err } = await mergeq(`${line} --json --retries 0`, { answer, env: queueEnv })
    const lines = err.split('\n').filter(text => text.startsWith('{'))
    return lines.map(text => {
      const { pr, repo, targetBranch } = JSON.parse(text).error
      return { pr, repo, targetBranch }
    })
  }
  const status = (status: number) => () => ({ status })
  expect(await about('pr get 7 8', status(400))).toEqual([
    { pr: 7, ...place },
    { pr: 8, ...place },
  ])
  expect(await about('pr cancel 9', status(400))).toEqual([{ pr: 9, ...place }])
  expect(await about('pr submit 9', status(504))).toEqual([{ pr: 9, ...place }])
  expect(await about('pr wait 9 --timeout 0', status(401))).toEqual([{ pr: 9, ...place }])
  expect(await about('queue check --not-paused', status(200))).toEqual([{ pr: undefined, ...place }])
  expect(await about('queue wait --timeout 0', status(404))).toEqual([{ pr: undefined, ...place }])
  const { err } = await mergeq('pr get 7 --json', { env: { ...queueEnv, MERGEQ_TOKEN: undefined } })
  expect(JSON.parse(err).error).not.toHaveProperty('pr')
})
