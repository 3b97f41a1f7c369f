import { createServer, type Server } from 'node:http'
import fc from 'fast-check'
import { describe, expect, test, vi } from 'vitest'
import { files as nodeFiles } from '../../src/host/files.ts'
import { backoff, HttpClient } from '../../src/http/http-client.ts'
import { closeAfterTests } from '../support/close-after-tests.ts'
import { queue, runAndCheck } from '../support/command-checks.ts'
import { mergeq, noon, type Seen, serveScript, useConnections } from '../support/harness.ts'
import { operationExamples, responseText } from '../support/operations.ts'
import { slowTest } from '../support/sample.ts'
import {
  type Answer,
  closedPort,
  listening,
  rawReply,
  type Script,
  type ServerReply,
} from '../support/service.ts'

useConnections()
const kept = closeAfterTests()
const record = '{"state":"PENDING","prNumber":7,"isCurrentlySubmittedToQueue":true}'

/** The delays before the retries, with the dice of the simulated host. */
const delays = [1, 2, 3].map(attempt => backoff(attempt, 0.5))
const [firstDelay = 0, secondDelay = 0] = delays
const inSeconds = (delay: number) => `${(delay / 1_000).toFixed(1)}s`

/** The reads of one request, of a service that is not the hosted one. */
const reads = operationExamples.filter(
  ({ line, operation }) =>
    operation.change === undefined && !/^(?:api status|flaky unhealthy|queue runs)/.test(line),
)

/** Answers with these in turn, and with the record of a pull request afterwards. */
const inTurn =
  (...replies: readonly ServerReply[]): Script =>
  (_, index) =>
    replies[index] ?? { body: record }

const run = (line: string, answer: Script) => mergeq(line, { env: queue, answer })

const unavailable = { status: 503 }
const limited = (retryAfter: string): Answer => ({ status: 429, headers: { 'retry-after': retryAfter } })
const onWire = ({ method, path, headers, body }: Seen) => ({ method, path, headers, body })

describe('reads are repeated', () => {
  test.each(reads)('$line: 503, 503, good', async example => {
    const { line } = example
    const body = responseText(example)
    const good = await run(line, () => ({ body }))
    const { code, out, err, sleeps, requests } = await run(line, inTurn(unavailable, unavailable, { body }))
    expect({ code, out, sleeps }).toEqual({ code: 0, out: good.out, sleeps: [firstDelay, secondDelay] })
    expect(err.split('\n').slice(0, 2)).toEqual([
      `The service could not process the request (503); retrying in ${inSeconds(firstDelay)}.`,
      `The service could not process the request (503); retrying in ${inSeconds(secondDelay)}.`,
    ])
    const [first, ...others] = requests.map(onWire)
    expect(others, 'every attempt is the same').toEqual([first, first])
  })

  test('the delays stay within the doubling jitter for any random number', () => {
    const dice = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 100 }), dice, (attempt, random) => {
        const gap = backoff(attempt, random)
        const bound = Math.min(20_000, 500 * 2 ** (attempt - 1))
        expect(gap).toBeGreaterThanOrEqual(100)
        expect(gap).toBeLessThanOrEqual(bound)
        expect(Math.abs(gap - random * bound), 'full jitter').toBeLessThan(random * bound < 100 ? 101 : 1)
      }),
    )
  })

  const httpDate = (time: number) => new Date(time).toUTCString()
  test.each<readonly [string, number]>([
    ['2', 2_000],
    ['60', 60_000],
    // Not shorter than usual.
    ['0', firstDelay],
    [httpDate(noon - 60_000), firstDelay],
    // What says nothing.
    ...['-1', 'soon', '1.5', '1e9', '', '0x10', '２', '2026-13-45', '1; 2'].map(
      value => [value, firstDelay] as const,
    ),
  ])('429 with Retry-After %j waits %i ms', async (value, delay) => {
    const head = `HTTP/1.1 429 x\r\nretry-after: ${value}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n`
    const { code, err, sleeps, requests } = await run('pr get 7', inTurn(rawReply(Buffer.from(head))))
    expect({ code, sleeps, requests: requests.length }).toEqual({ code: 0, sleeps: [delay], requests: 2 })
    expect(err).toMatch(/\(429\); retrying in \d+\.\ds\.\n$/)
  })

  test.each([0, -3_600_000, 3_600_000])(
    "a date in Retry-After is compared with the Date of the response, the service's clock %i ms ahead",
    async skew => {
      const date = noon + skew
      const headers = { date: httpDate(date), 'retry-after': httpDate(date + 4_000) }
      const { code, sleeps } = await run('pr get 7', inTurn({ status: 429, headers }))
      expect({ code, sleeps }).toEqual({ code: 0, sleeps: [4_000] })
    },
  )

  test.each([
    [429, '61'],
    [503, '3600'],
    [429, httpDate(noon + 3_600_000)],
    [429, '999999999'],
  ])('%i with Retry-After: %s gives up at once, and says when to come back', async (status, value) => {
    const answer = () => ({ status, headers: { date: httpDate(noon), 'retry-after': value } })
    const { err, sleeps, requests } = await runAndCheck('pr get 7', { code: 7 }, { answer })
    expect({ sleeps, requests: requests.length }).toEqual({ sleeps: [], requests: 1 })
    if (/^3600$|13:00/.test(value)) expect(err).toMatch(/\b3,?600 ?s|\b60 ?m|\b1 ?h|13:00/)
  })

  test('a change also fails at once, and was not applied', async () => {
    const { code, sleeps, requests, out } = await run('pr submit 7 --json', () => limited('3600'))
    expect({ code, sleeps, requests: requests.length }).toEqual({ code: 7, sleeps: [], requests: 1 })
    expect(JSON.parse(out)).toMatchObject({ ok: false, delivery: 'not-applied' })
  })

  test('ten repeats are all there are for a whole run', async () => {
    const { code, requests } = await run('pr get 1 2 3 4 5 6 --eta --retries 9', () => unavailable)
    expect({ code, requests: requests.length }).toEqual({ code: 7, requests: 16 })
  })

  test('a time limit may be longer than a timer of Node', async () => {
    expect(await run('pr cancel 7 --timeout 30d', inTurn())).toMatchObject({ code: 0, err: '' })
  })
})

describe('changes are repeated only when they were not applied', () => {
  test('a refused connection is tried again, and nothing was sent', async () => {
    const host = `127.0.0.1:${closedPort}`
    const env = { MERGEQ_BASE_URL: `http://${host}/v1` }
    const { out, err, sleeps } = await runAndCheck('pr submit 7', { code: 7, names: [host] }, { env })
    expect({ out, sleeps }).toEqual({ out: '', sleeps: delays })
    expect(err).toContain(`refused the connection; retrying in ${inSeconds(firstDelay)}.\n`)
    expect(err).toContain(`\nmergeq: #7 was not submitted: ${host} refused the connection (4 attempts).\n`)
    expect(err).toMatch(/safe to try again\.\n$/)
  })

  test.each<readonly [string, ServerReply]>([
    ['a reset', 'reset'],
    ['the end of the connection', rawReply()],
    ['silence', 'silence'],
    ['503', { status: 503, headers: { 'retry-after': '1' } }],
    ['a cut body', rawReply('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nOK')],
    ['what is no HTTP', rawReply('SSH-2.0-OpenSSH_9.2p1\r\n')],
  ])('after %s the service is read before a change is sent again', async (_, reply) => {
    let changes = 0
    const answer: Script = ({ path }) => {
      if (/get/.test(path)) return { status: 404, body: 'Not Found' }
      return changes++ === 0 ? reply : { body: 'OK' }
    }
    const limit = reply === 'silence' ? '1s' : '30s'
    const { code, out, err, requests } = await run(`pr submit 7 --timeout ${limit}`, answer)
    expect({ code, out }).toEqual({ code: 0, out: expect.stringMatching(/^7\ttrue\tconfirmed\t/) })
    expect(requests.map(({ path }) => path.replace('/v1/', '').replace(/PullRequest$/, ''))).toEqual([
      'submit',
      'getSubmitted',
      'getSubmitted',
      'getSubmitted',
      'submit',
    ])
    expect(err).toMatch(/The change was not applied\. Retrying once\.\n$/)
    expect(onWire(requests[4] as Seen)).toEqual(onWire(requests[0] as Seen))
  })

  test('each change has a new connection, which the service cannot have dropped', async () => {
    const body = `{"state":"running","enqueuedPullRequests":[${record}]}`
    const { code, requests } = await run('queue delete --cancel-all --yes', () => ({ body }))
    expect({ code, on: requests.map(({ connection }) => connection) }).toEqual({ code: 0, on: [1, 2, 3] })
  })

  /** 15 MB of targets, as many as fit. */
  const name = 'x'.repeat(50)
  const files = {
    'list.txt': Array.from({ length: 250_000 }, (_, index) => `//${name}:${index + 1e5}\n`).join(''),
  }
  const upload = async (server: Server, options = '') => {
    const { port } = kept(await listening(server, '127.0.0.1'))
    const env = { ...queue, MERGEQ_BASE_URL: `http://127.0.0.1:${port}/v1` }
    return mergeq(`pr targets 7 --from list.txt --sha 4f2a9c1d0e8b7a6655443322110ffeeddccbbaa9 ${options}`, {
      files,
      env,
    })
  }

  test('an upload that is reset in the middle is sent again, with the same bytes', async () => {
    const bodies: Buffer[] = []
    const lengths: (string | undefined)[] = []
    const server = createServer(async (request, response) => {
      const pieces: Buffer[] = []
      const isFirst = lengths.push(request.headers['content-length']) === 1
      let bytes = 0
      try {
        for await (const piece of request) {
          pieces.push(piece)
          bytes += piece.length
          if (isFirst && bytes > 5_000_000) request.socket.resetAndDestroy()
        }
        response.end('OK')
      } catch {}
      bodies.push(Buffer.concat(pieces))
    })
    const { code, out } = await upload(server)
    expect({ code, out }).toEqual({ code: 0, out: expect.stringMatching(/^7\ttrue\tconfirmed\t/) })
    const [first = Buffer.of(), second = Buffer.of(), ...others] = bodies
    expect(others).toEqual([])
    expect(second.length).toBeGreaterThan(15_000_000)
    expect(first.length).toBeLessThan(second.length)
    expect(first.equals(second.subarray(0, first.length)), 'the same bytes').toBe(true)
    expect(lengths).toEqual([String(second.length), String(second.length)])
  })

  slowTest('the upload is not counted in the timeout', async () => {
    const server = createServer((request, response) => {
      setTimeout(() => request.resume().once('end', () => response.end('OK')), 1_500)
    })
    const { code } = await upload(server, '--timeout 1s --retries 0')
    expect(code).toBe(0)
  })
})

test.each([
  ['in flight', () => new Promise<never>(() => undefined), 0],
  ['waiting for its next attempt', () => ({ status: 503 }), 1],
] as const)('a client that is closed ends a request that is %s', async (_, answer, sleeps) => {
  const service = await serveScript(answer)
  const delays: number[] = []
  const client = new HttpClient({
    env: {},
    clock: {
      now: Date.now,
      monotonic: Date.now,
      sleep: (delay, signal) => {
        delays.push(delay)
        return new Promise((__, reject) => signal?.addEventListener('abort', () => reject(signal.reason)))
      },
    },
    random: () => 0,
    files: nodeFiles,
    caFile: undefined,
    warnOnce: async () => undefined,
    nameOf: setting => setting,
    limit: 10_000,
    interrupted: new AbortController().signal,
    notify: async () => undefined,
  })
  const sending = client.send(
    {
      operation: 'getQueue',
      method: 'GET',
      url: `${service.baseUrl}/getQueue`,
      headers: {},
      credential: 'none',
      isChange: false,
      maxResponseSize: 1_000,
    },
    {
      token: undefined,
      beginAttempt: () => 10_000,
      maxRetries: 3,
      remaining: () => Number.POSITIVE_INFINITY,
      isComplete: async () => true,
    },
  )
  const ended = sending.then(
    ({ status }) => status,
    () => 'failed',
  )
  while (service.requests.length === 0 || delays.length < sleeps)
    await new Promise(resolve => setTimeout(resolve, 10))
  await client.close()
  expect(await ended).toBe(sleeps === 0 ? 'failed' : 503)
  expect({ sent: service.requests.length, sleeps: delays.length }).toEqual({ sent: 1, sleeps })
  await service.close()
})

describe('a server that accepts and stays silent', () => {
  const silent = () => new Promise<never>(() => undefined)

  test.concurrent.each(reads)('$line is repeated once, and as often as --retries says', async ({ line }) => {
    const limit = '--timeout 100ms'
    // Not the requests that came: on a busy machine a time of 100 ms is over before.
    const usual = await run(`${line} ${limit}`, silent)
    expect({ code: usual.code, repeats: usual.sleeps.length }).toEqual({ code: 7, repeats: 1 })
    expect((await run(`${line} ${limit} --retries 2`, silent)).sleeps).toHaveLength(2)
  })

  test('only attempts without a byte count for it', async () => {
    const begins: ServerReply = response => {
      response.writeHead(200, { 'content-length': 99 })
      response.write('{')
    }
    const others = await run('pr get 7 --timeout 200ms', () => begins)
    expect(others.requests).toHaveLength(4)
    const mixed = await run('pr get 7 --timeout 200ms', (_, index) => (index === 1 ? unavailable : silent()))
    expect(mixed.requests).toHaveLength(3)
  })

  /** Runs a line while the delays after which the silence is told pass at once. */
  async function told(line: string, terminal: boolean) {
    const realTimeout = globalThis.setTimeout
    const delays: number[] = []
    vi.stubGlobal('setTimeout', (work: () => void, delay: number) => {
      const isOfSilence = delay === 5_000 || delay === 20_000
      if (isOfSilence) delays.push(delay)
      return realTimeout(work, isOfSilence ? 50 : delay)
    })
    const env = { ...queue, TERM: 'dumb' }
    const { err } = await mergeq(`${line} --timeout 300ms`, { env, terminal, answer: silent }).finally(() =>
      vi.unstubAllGlobals(),
    )
    return { delays, said: err.split('\n').filter(text => text.startsWith('Still waiting')) }
  }

  test.each([
    ['at a terminal', true, 5_000],
    ['elsewhere', false, 20_000],
  ] as const)('%s one line says once what is waited for', async (_, terminal, delay) => {
    const { delays, said } = await told('pr get 7 8', terminal)
    expect(said).toEqual([expect.stringMatching(/^Still waiting for 127\.0\.0\.1:\d+ to respond to \w+\.$/)])
    expect(new Set(delays)).toEqual(new Set([delay]))
    expect((await told('pr get 7 -q', terminal)).said).toEqual([])
    expect(await told('guard hook -- origin https://github.com/acme/web', terminal)).toEqual({
      delays: [],
      said: [],
    })
  })
})
