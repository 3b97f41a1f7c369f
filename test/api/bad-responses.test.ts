import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { outputFormats } from '../../src/output/output-formats.ts'
import { queue as place, runAndCheck } from '../support/command-checks.ts'
import { mergeq, type Seen, type Setting } from '../support/harness.ts'
import { operationExamples, testId } from '../support/operations.ts'
import { rawReply, type ServerReply } from '../support/service.ts'

const record = { state: 'pending', prNumber: 7, prTitle: 'Change 7', isCurrentlySubmittedToQueue: true }

/** The reads of one request that answer with JSON. */
const reads = operationExamples.filter(
  ({ line, operation, response }) =>
    operation.change === undefined &&
    typeof response === 'object' &&
    !/^(?:api status|flaky unhealthy|queue runs)/.test(line),
)
const whole = JSON.stringify(record)

const run = (line: string, answer: Setting['answer'], setting: Setting = {}) =>
  mergeq(line, { ...setting, env: { ...place, MERGEQ_PR: '7' }, answer: answer ?? (() => ({})) })

/** `pr get 7 --json` of a service that answers always so. */
const get = (reply: ServerReply) => run('pr get 7 --json', () => reply)

/** Reads what must be taken for no answer; returns what is said of it. */
async function expectBad(reply: ServerReply): Promise<string> {
  const { out, err } = await runAndCheck('pr get 7 --retries 0', { code: 15 }, { answer: () => reply })
  expect(out).toBe('')
  expect(err, 'names the host').toMatch(/127\.0\.0\.1:\d+/)
  return err
}

/** Breaks after so many bytes of the body. */
const breakAfter =
  (body: string, bytes: number): ServerReply =>
  (response, socket) => {
    response.writeHead(200, { 'content-length': body.length })
    response.write(body.slice(0, bytes), () => setTimeout(() => socket.resetAndDestroy(), 20))
  }

const head = 'HTTP/1.1 200 OK\r\n'
const chunked = `${head}transfer-encoding: chunked\r\nconnection: close\r\n\r\n`

describe('incomplete responses', () => {
  test.each(reads)(
    'JSON that is cut is asked for again, then reported: $line',
    async ({ line, response }) => {
      const body = JSON.stringify(response).slice(0, 20)
      const { code, out, err, requests } = await run(line, () => ({ body }))
      expect({ code, out, requests: requests.length }).toEqual({ code: 15, out: '', requests: 4 })
      expect(err.match(/; retrying in /g)).toHaveLength(3)
      expect(err).toMatch(/not complete JSON.*\b20 bytes/)
    },
  )

  test('a page that is reset in the body does not print a row twice', async () => {
    const page = (name: string, next_page_token: string) =>
      JSON.stringify({ tests: [{ id: name, name }], page: { next_page_token } })
    const replies = [
      { body: page('one', 'more') },
      breakAfter(page('two', ''), 20),
      { body: page('two', '') },
    ]
    const { code, out, requests } = await run(
      'flaky list -o ndjson --fields name',
      (_, index) => replies[index] ?? {},
    )
    expect({ code, out, requests: requests.length }).toEqual({
      code: 0,
      out: '{"name":"one"}\n{"name":"two"}\n',
      requests: 3,
    })
  })

  test('a content-length shorter than the body is a bad response', async () => {
    await expectBad(rawReply(`${head}content-length: 30\r\n\r\n${whole}`))
  })

  test.each([
    ['a content-length longer than the body', 'content-length: 99\r\n\r\n{"state":"pending"}'],
    ['no last chunk', 'transfer-encoding: chunked\r\n\r\n13\r\n{"state":"pending"}\r\n'],
  ])('%s is a closed connection', async (_, text) => {
    const answer = () => rawReply(head + text)
    const { out } = await runAndCheck('pr get 7 --retries 0', { code: 7 }, { answer })
    expect(out).toBe('')
  })

  test('chunks of one byte give the same result', async () => {
    const prTitle = 'Zoë 🛒 カート'
    const bytes = Buffer.from(JSON.stringify({ ...record, prTitle }))
    const pieces = [...bytes].flatMap(byte => ['1\r\n', Buffer.of(byte), '\r\n'])
    const { code, out } = await get(rawReply(chunked, ...pieces, '0\r\n\r\n'))
    expect({ code, prTitle: JSON.parse(out).prTitle }).toEqual({ code: 0, prTitle })
  })
})

describe('responses that are not JSON', () => {
  const broken = Buffer.from('{"state":"pending","prTitle":"caf\xE9 \xC3","prAuthor":"\xFF"}', 'latin1')

  test('what is not UTF-8 is shown with U+FFFD, and warned of once', async () => {
    for (const line of ['pr get 7', 'pr get 7 --json']) {
      const { code, out, err } = await run(line, () => ({ body: broken }))
      expect({ code, out }).toEqual({ code: 0, out: expect.stringContaining('caf\uFFFD \uFFFD') })
      expect(err.match(/UTF-8/g)).toHaveLength(1)
    }
  })

  test('several pages cause only one warning', async () => {
    const bodies = ['a', 'b', ''].map(token =>
      Buffer.from(`{"tests":[{"name":"caf\xE9"}],"page":{"next_page_token":"${token}"}}`, 'latin1'),
    )
    const answer = (_: Seen, index: number) => ({ body: bodies[index] ?? Buffer.of() })
    const { code, err, requests } = await run('flaky list', answer)
    expect({ code, requests: requests.length }).toEqual({ code: 0, requests: 3 })
    expect(err.match(/UTF-8/g)).toHaveLength(1)
  })

  test('a U+FFFD that the service sent causes no warning', async () => {
    const body = JSON.stringify({ ...record, prTitle: 'caf\uFFFD' })
    expect(await get({ body })).toMatchObject({ code: 0, err: '' })
  })

  test.each(reads)(
    'a BOM before the JSON and white space after it are fine: $line',
    async ({ line, response }) => {
      const body = `\uFEFF${JSON.stringify(response)}\r\n\t \n`
      const { code, requests } = await run(`${line} --json`, () => ({ body }))
      expect({ code, requests: requests.length }).toEqual({ code: 0, requests: 1 })
    },
  )
})

describe('responses that are not HTTP, or not what they say', () => {
  const length = `content-length: ${whole.length}\r\n`
  test.each([
    [
      'content-length and chunked together',
      `${head}${length}transfer-encoding: chunked\r\n\r\n${whole.length.toString(16)}\r\n${whole}\r\n0\r\n\r\n`,
    ],
    ['HTTP/0.9', whole],
    ['a header with a NUL', `${head}x-y: a\0b\r\n\r\n${whole}`],
    ['headers without end', `${head}x-filler: ${'x'.repeat(17_000)}\r\n\r\n{}`],
  ])('%s: not valid HTTP', async (_, text) => {
    expect(await expectBad(rawReply(text))).toMatch(/not (valid )?HTTP/)
  })

  const hint = 'HTTP/1.1 103 Early Hints\r\nlink: </style.css>; rel=preload\r\n\r\n'
  test.each([
    ['headers of 15 KiB', `${head}x-filler: ${'x'.repeat(15_000)}\r\nconnection: close\r\n\r\n${whole}`],
    ['50 times 103 Early Hints', `${hint.repeat(50)}${head}${length}\r\n${whole}`],
  ])('%s are read', async (_, text) => {
    expect(await get(rawReply(text))).toMatchObject({ code: 0, err: '' })
  })

  const zipped = gzipSync(whole)
  const encoded = (body: Uint8Array, encoding: string) => ({
    body,
    headers: { 'content-encoding': encoding },
  })
  test.each([
    ['says gzip and is not', encoded(Buffer.from(whole), 'gzip')],
    ['says something unknown', encoded(Buffer.from(whole), 'x-rot13')],
    ['is cut in half', encoded(zipped.subarray(0, zipped.length / 2), 'gzip')],
    ['has a wrong checksum', encoded(Buffer.concat([zipped.subarray(0, -8), Buffer.alloc(8, 1)]), 'gzip')],
  ])('a body that %s', async (_, reply) => {
    await expectBad(reply)
  })

  test.each(['gzip', 'GZIP', 'x-gzip'])('what says %s and is, is read', async encoding => {
    expect(await get(encoded(zipped, encoding))).toMatchObject({ code: 0 })
  })

  test('one byte at a time: the limit applies to the body and to the head', async () => {
    for (const start of [`${head}\r\n`, '']) {
      const text = `${start === '' ? head : ''}x-filler: ${'x'.repeat(500)}`
      const answer = (): ServerReply => (_, socket) => {
        socket.write(start)
        let at = 0
        const timer = setInterval(() => socket.write(text[at++] ?? 'x'), 20)
        socket.once('close', () => clearInterval(timer))
      }
      const line = 'pr get 7 --timeout 300ms --retries 0'
      expect((await runAndCheck(line, { code: 7 }, { answer })).err).toMatch(/within 0\.3s/)
    }
  })
})

test.each(['pr get 7', 'pr get 7 --exit-status', 'pr explain 7', 'pr wait 7 --timeout 0'])(
  '`%s` does not believe the record of another pull request',
  async line => {
    const answer = { body: JSON.stringify({ ...record, prNumber: 8, state: 'MERGED' }) }
    const { code, err } = await run(line, () => answer)
    expect({ code, err }).toEqual({ code: 15, err: expect.stringContaining('another pull request than #7') })
  },
)

describe('a response without a required part is rejected', () => {
  const others = ['{}', '{"error":{"message":"busy"}}', '12345678901234567890', '1e400', 'null', '"x"', '[]']
  const noState = ['{"state":null}', '{"state":""}', '{"state":7}', '{"test":{}}']
  const noQueue = ['{"state":"running"}', '{"enqueuedPullRequests":null}', '{"enqueuedPullRequests":{}}']
  const noTests = ['{"tests":null,"page":{}}', '{"tests":{},"page":{}}', '{"tests":[1,2],"page":{}}']
  const noTest = ['{"test":null}', '{"test":[]}', '{"tests":null}']
  const junit = '<testsuite><testcase name="cart"><failure/></testcase></testsuite>'
  test.each<readonly [string, readonly string[]]>([
    ['pr get 7', noState],
    ['pr wait 7 --timeout 0', noState],
    ['pr explain 7', []],
    ['queue get', noQueue],
    ['queue check --max-depth 3', noQueue],
    ['queue watch --once', noQueue],
    ['queue export', noQueue],
    ['flaky list', noTests],
    ['flaky gate --max 0 --on-unavailable pass', noTests],
    ['flaky report', noTests],
    ['flaky match junit.xml', noTests],
    [`flaky get ${testId}`, noTest],
  ])('%s', async (line, bodies) => {
    for (const body of [...others, ...bodies]) {
      const { code, out, err, requests } = await run(line, () => ({ body }), {
        files: { 'junit.xml': junit },
      })
      const asked = line === 'pr explain 7' ? 2 : 1
      expect({ body, code, requests: requests.length }).toEqual({ body, code: 15, requests: asked })
      expect(err).toMatch(/(^mergeq: |"message":")Invalid response from 127\.0\.0\.1:\d+: /m)
      if (!line.startsWith('pr wait')) expect(out).toBe('')
    }
  })

  test.each([
    '{"state":"running","enqueuedPullRequests":[]}',
    '{"enqueuedPullRequests":[null,{}]}',
    '{"state":"HOVERING","enqueuedPullRequests":[{"state":"HOVERING","prNumber":7}]}',
  ])('a record with a list of pull requests is a queue, whatever else it has: %s', async body => {
    expect(await run('queue get', () => ({ body }))).toMatchObject({ code: 0 })
  })

  test('`pr explain` reads a record without a state if it has other fields', async () => {
    const answer = ({ path }: Seen) =>
      path.endsWith('/getQueue')
        ? { status: 404 }
        : { body: '{"readiness":{"gitHubMergeability":"not_mergeable"}}' }
    expect(await run('pr explain 7 --json', answer)).toMatchObject({ code: 0 })
  })

  test('a later page without a list of tests leaves the list incomplete', async () => {
    const first = '{"tests":[{"id":"a"}],"page":{"next_page_token":"2"}}'
    const { code, out, err } = await run('flaky list --fields id', (_, index) => ({
      body: index === 0 ? first : '{"message":"busy"}',
    }))
    expect({ code, out }).toEqual({ code: 17, out: 'a\n' })
    expect(err).toContain('it has no list of tests (tests) and says: busy. The list is incomplete.')
  })
})

describe('shapes that the document does not show', () => {
  const commands = ['pr get 7', 'queue get']
  const otherFormats = outputFormats.map(({ name }) => `-o ${name}`).filter(option => option !== '-o json')

  test.each(commands)('%s --json prints any object', async command => {
    const body = '{"number":7,"phase":"late"}'
    expect(await run(`${command} --json`, () => ({ body }))).toMatchObject({
      code: 0,
      out: `${body}\n`,
      err: '',
    })
  })

  test.each(commands)('%s: every other format needs what it reads, and says what is there', async command => {
    for (const flags of [...otherFormats, '--json --fields state']) {
      const { code, out, err } = await run(`${command} ${flags}`, () => ({
        body: '{"number":7,"phase":"late"}',
      }))
      expect({ flags, code, out }).toEqual({ flags, code: 15, out: '' })
      expect(err).toMatch(/it has no (?:state|list of enqueued pull requests \(\w+\)), only: number, phase\./)
    }
  })

  test.each(commands)(
    '%s --json: an empty object, and the words of an error, are no record',
    async command => {
      for (const body of ['{}', '{"error":"no","message":"not now","code":1,"status":500}']) {
        const outcome = await run(`${command} --json`, () => ({ body }))
        expect(outcome).toMatchObject({ code: 15, out: '' })
      }
    },
  )

  test('an exit status needs a state', async () => {
    const outcome = await run('pr get 7 --json --exit-status', () => ({ body: '{"number":7}' }))
    expect(outcome).toMatchObject({ code: 15, out: '' })
  })

  test('a wait goes on after a record without a state', async () => {
    const { code, out } = await run('pr wait 7 --json', (_, index) => ({
      body: index === 0 ? '{"phase":"late"}' : '{"state":"MERGED","prNumber":7}',
    }))
    expect({ code, state: JSON.parse(out).state }).toEqual({ code: 0, state: 'MERGED' })
  })
})

test('a state that is not known is cut in sentences, and whole in JSON', async () => {
  const state = 'x'.repeat(5_000)
  const answer = ({ path }: Seen) => ({
    body: JSON.stringify(
      path.endsWith('/getQueue') ? { state, enqueuedPullRequests: [] } : { prNumber: 7, state },
    ),
  })
  for (const line of ['queue get', 'queue pause --yes', 'pr explain 7']) {
    const { out, err } = await run(line, answer)
    expect(`${out}${err}`, line).not.toContain('x'.repeat(201))
  }
  const waited = await run('pr wait 7 --timeout 2s --interval 1s', answer)
  expect(waited.err).toContain(`Unknown state ${'x'.repeat(199)}…; still waiting.`)
  for (const line of ['queue get --json', 'pr get 7 --json'])
    expect(JSON.parse((await run(line, answer)).out).state).toBe(state)
})

test('the time limit in an error is rounded', async () => {
  const silent = () => new Promise<never>(() => undefined)
  const { err } = await run('pr get 7 --timeout 123ms --retries 0', silent)
  expect(err).toContain('did not send a complete response within 0.1s')
})
