import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { backoff, createHttpClient } from '../../src/http/http-client.ts'
import { pullRequest, writeOperationNames } from '../support/fake-queue.ts'
import { type LoggedRequest, withFaultServer } from '../support/fault-server.ts'
import { runAndCheck } from '../support/fault-server-runs.ts'
import { noon, serveScript } from '../support/harness.ts'
import {
  neverRespond,
  normalBehavior,
  type Responder,
  resetConnection,
  respondWith,
  truncateBody,
  withEffect,
  withoutEffect,
} from '../support/responders.ts'
import { get, operationNames, pulls, rateLimited, reads } from '../support/retries.ts'

/** The changes, and the stage on which each can be done. */
const changes = [
  { line: 'pr submit 7', operation: 'submitPullRequest', stage: {} },
  { line: 'pr cancel 7', operation: 'cancelPullRequest', stage: { pulls } },
  { line: 'pr restart 7', operation: 'restartTestsOnPullRequest', stage: { pulls } },
  { line: 'pr targets 7 //a //é --sha 4f2a', operation: 'setImpactedTargets', stage: {} },
  { line: 'queue create --concurrency 2', operation: 'createQueue', stage: { queue: null } },
  { line: 'queue update --concurrency 5', operation: 'updateQueue', stage: {} },
  { line: 'queue delete --yes', operation: 'deleteQueue', stage: {} },
] as const

const unavailable = withoutEffect(respondWith(503))
const onWire = ({ method, path, headers, body }: LoggedRequest) => ({
  method,
  path,
  type: headers['content-type'],
  length: headers['content-length'],
  body: body.toString('latin1'),
})

/** The notes that tell a repeat. */
const repeats = (notes: readonly string[]) => notes.filter(note => /; retrying in \d+\.\ds\.$/.test(note))

describe('reads are repeated', () => {
  test.each(reads)('503, 503, good: $line', async ({ line, operation }) => {
    const good = await withFaultServer({ pulls }, server => runAndCheck(server, line))
    await withFaultServer({ pulls, script: { [operation]: [unavailable, unavailable] } }, async server => {
      const { code, out, sleeps, earlierLines: notes } = await runAndCheck(server, line)
      expect({ code, out, sleeps }).toEqual({ code: 0, out: good.out, sleeps: [250, 500] })
      expect(server.log).toHaveLength(3)
      expect(repeats(notes)).toEqual([
        'The service could not process the request (503); retrying in 0.3s.',
        'The service could not process the request (503); retrying in 0.5s.',
      ])
    })
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

  test.each(reads)('429 with Retry-After: 2, good: $line', async ({ line, operation }) => {
    await withFaultServer({ pulls, script: { [operation]: [rateLimited('2')] } }, async server => {
      const { code, earlierLines: notes } = await runAndCheck(server, line)
      const [first, second, ...others] = server.log
      expect({ code, others }).toEqual({ code: 0, others: [] })
      const gap = (second?.clock ?? 0) - (first?.clock ?? 0)
      expect(gap).toBeGreaterThanOrEqual(2_000)
      expect(gap).toBeLessThan(3_000)
      expect(repeats(notes)).toEqual([expect.stringContaining('429')])
    })
  })

  const inFourSeconds: Responder = exchange =>
    respondWith(429, '', { 'retry-after': new Date(Date.parse(exchange.date) + 4_000).toUTCString() })(
      exchange,
    )

  test.each([0, -3_600_000, 3_600_000])(
    "429 with a date 4 s after the answer's own, the service's clock %i ms ahead",
    async skew => {
      const script = { [get.operation]: [withoutEffect(inFourSeconds)] }
      await withFaultServer({ pulls, skew, script }, async server => {
        const { code, sleeps } = await runAndCheck(server, get.line)
        expect({ code, requests: server.log.length, waits: sleeps.length }).toEqual({
          code: 0,
          requests: 2,
          waits: 1,
        })
        expect(sleeps[0]).toBeGreaterThanOrEqual(3_000)
        expect(sleeps[0]).toBeLessThanOrEqual(6_000)
      })
    },
  )

  const tooLong = [
    { name: 'Retry-After: 3600', show: respondWith(429, '', { 'retry-after': '3600' }) },
    {
      name: 'a date in an hour',
      show: respondWith(429, '', { 'retry-after': new Date(noon + 3_600_000).toUTCString() }),
    },
    { name: '503 and Retry-After: 3600', show: respondWith(503, '', { 'retry-after': '3600' }) },
  ]
  describe.each(tooLong)('$name', ({ show }) => {
    test('gives up at once, after one request', async () => {
      await withFaultServer({ pulls, script: { [get.operation]: withoutEffect(show) } }, async server => {
        const { code, sleeps } = await runAndCheck(server, get.line)
        expect({ code, sleeps, requests: server.log.length }).toEqual({ code: 7, sleeps: [], requests: 1 })
      })
    })

    test('says when to come back', async () => {
      await withFaultServer({ pulls, script: { [get.operation]: withoutEffect(show) } }, async server => {
        const { sentence, hint } = await runAndCheck(server, get.line)
        expect(`${sentence} ${hint}`).toMatch(/\b3,?600 ?s|\b60 ?m|\b1 ?h|13:00/)
      })
    })
  })

  test('a change also fails at once, and was not applied', async () => {
    await withFaultServer({ script: { submitPullRequest: rateLimited('3600') } }, async server => {
      const { code, sleeps, documents } = await runAndCheck(server, 'pr submit 7 --json')
      expect({ code, sleeps, requests: server.log.length }).toEqual({ code: 7, sleeps: [], requests: 1 })
      expect(documents).toMatchObject([{ ok: false, delivery: 'not-applied' }])
    })
  })

  test('503 with Retry-After: 0, always', async () => {
    const script = { [get.operation]: withoutEffect(respondWith(503, '', { 'retry-after': '0' })) }
    await withFaultServer({ pulls, script }, async server => {
      const { code, sleeps, sentence } = await runAndCheck(server, get.line)
      expect({ code, requests: server.log.length }).toEqual({ code: 7, requests: 4 })
      expect(sleeps).toHaveLength(3)
      expect(Math.min(...sleeps)).toBeGreaterThanOrEqual(100)
      expect(sentence).toContain('503')
    })
  })

  test.each(['-1', 'soon', '1.5', '1e9', '', 'NaN', '0x10', '２', '2026-13-45', '1; 2'])(
    'a Retry-After that says nothing is ignored: %j',
    async value => {
      const show: Responder = ({ socket }) =>
        socket.end(
          `HTTP/1.1 503 x\r\nretry-after: ${value}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n`,
        )
      await withFaultServer({ pulls, script: { [get.operation]: [withoutEffect(show)] } }, async server => {
        const { code, sleeps } = await runAndCheck(server, get.line)
        expect({ code, sleeps, requests: server.log.length }).toEqual({ code: 0, sleeps: [250], requests: 2 })
      })
    },
  )

  test.each(['99999999999', '2147483648', 'Fri, 31 Dec 9999 23:59:59 GMT'])(
    'a Retry-After beyond all timers never becomes one: %s',
    async value => {
      await withFaultServer({ pulls, script: { [get.operation]: [rateLimited(value)] } }, async server => {
        const { sleeps } = await runAndCheck(server, get.line)
        expect(Math.max(0, ...sleeps)).toBeLessThanOrEqual(60_000)
      })
    },
  )

  test('a Retry-After in the past does not shorten the delay', async () => {
    const past = new Date(noon - 60_000).toUTCString()
    await withFaultServer({ pulls, script: { [get.operation]: [rateLimited(past)] } }, async server => {
      const { code, sleeps } = await runAndCheck(server, get.line)
      expect({ code, sleeps }).toEqual({ code: 0, sleeps: [250] })
    })
  })

  test('ten repeats are all there are for a whole run', async () => {
    await withFaultServer({ script: { [get.operation]: unavailable } }, async server => {
      const { code } = await runAndCheck(server, 'pr get 1 2 3 4 5 6 --retries 9')
      expect({ code, requests: server.log.length }).toEqual({ code: 7, requests: 16 })
    })
  })

  test.each(reads)('reset twice, then good: $line', async ({ line, operation }) => {
    await withFaultServer(
      { pulls, script: { [operation]: [withoutEffect(resetConnection), withoutEffect(resetConnection)] } },
      async server => {
        const { code, earlierLines: notes } = await runAndCheck(server, line)
        expect({ code, requests: server.log.length }).toEqual({ code: 0, requests: 3 })
        expect(repeats(notes)).toHaveLength(2)
      },
    )
  })

  test.each(reads)('the server never responds: $line', async ({ line, operation }) => {
    await withFaultServer({ pulls, script: { [operation]: withoutEffect(neverRespond) } }, async server => {
      const began = performance.now()
      const { code, sentence } = await runAndCheck(server, `${line} --timeout 300ms --retries 0`)
      const took = performance.now() - began
      expect({ code, requests: server.log.length }).toEqual({ code: 7, requests: 1 })
      expect(sentence).not.toContain(operation)
      expect(sentence).toMatch(/within 0\.3s/)
      expect(took).toBeGreaterThanOrEqual(295)
      expect(took).toBeLessThan(1_500)
    })
  })

  test.each(['pr get 7', 'pr cancel 7'])('a time limit longer than a timer of Node: %s', async line => {
    await withFaultServer({ pulls }, async server => {
      const { code, earlierLines: notes } = await runAndCheck(server, `${line} --timeout 30d`)
      expect({ code, notes }).toEqual({ code: 0, notes: [] })
    })
  })

  test.each(reads)('503 with --retries 0: $line', async ({ line, operation }) => {
    await withFaultServer({ pulls, script: { [operation]: unavailable } }, async server => {
      const { code, sleeps, earlierLines: notes } = await runAndCheck(server, `${line} --retries 0`)
      expect({ code, sleeps, notes, requests: server.log.length }).toEqual({
        code: 7,
        sleeps: [],
        notes: [],
        requests: 1,
      })
    })
  })

  test.each(reads)('a refused connection with --retries 0: $line', async ({ line, operation }) => {
    await withFaultServer({ opensAfter: 1 }, async server => {
      const { code, sentence, hint } = await runAndCheck(server, `${line} --retries 0`)
      expect({ code, connections: server.connections }).toEqual({ code: 7, connections: 0 })
      expect(sentence).not.toContain(operation)
      expect(sentence).toContain(server.host)
      expect(hint).toContain('safe')
    })
  })
})

describe('changes are repeated only when they were not applied', () => {
  test('connection refused, then the port opens', async () => {
    await withFaultServer({ opensAfter: 1 }, async server => {
      const { code, out, earlierLines: notes } = await runAndCheck(server, 'pr submit 7')
      expect({ code, out }).toEqual({ code: 0, out: expect.stringMatching(/^7\ttrue\tconfirmed\t/) })
      expect({ sent: operationNames(server), applied: server.applied.length }).toEqual({
        sent: ['submitPullRequest'],
        applied: 1,
      })
      expect(repeats(notes)).toEqual([expect.stringContaining('refused the connection')])
    })
  })

  test('applied, then reset: pr submit', async () => {
    await withFaultServer({ script: { submitPullRequest: [withEffect(resetConnection)] } }, async server => {
      const { code, out } = await runAndCheck(server, 'pr submit 7')
      expect({ code, out }).toEqual({ code: 0, out: expect.stringMatching(/^7\ttrue\tconfirmed-by-read\t/) })
      expect(operationNames(server)).toEqual(['submitPullRequest', 'getSubmittedPullRequest'])
      expect(server.applied).toHaveLength(1)
    })
  })

  test('reset before it was applied: pr submit', async () => {
    await withFaultServer(
      { script: { submitPullRequest: [withoutEffect(resetConnection)] } },
      async server => {
        const { code, out, earlierLines: notes } = await runAndCheck(server, 'pr submit 7')
        expect({ code, out }).toEqual({ code: 0, out: expect.stringMatching(/^7\ttrue\tconfirmed\t/) })
        const sent = operationNames(server)
        expect(sent.filter(operation => operation === 'submitPullRequest')).toHaveLength(2)
        expect(sent.at(1), 'reads again first').toBe('getSubmittedPullRequest')
        expect(server.applied).toHaveLength(1)
        expect(notes.join('\n'), 'every repeat is reported').toMatch(
          /The change was not applied\. Retrying once\./,
        )
      },
    )
  })

  test('applied, without a response: pr cancel', async () => {
    await withFaultServer(
      { pulls, script: { cancelPullRequest: [withEffect(neverRespond)] } },
      async server => {
        const { code, out } = await runAndCheck(server, 'pr cancel 7 --timeout 300ms')
        expect({ code, out }).toEqual({
          code: 0,
          out: expect.stringMatching(/^7\ttrue\tconfirmed-by-read\t/),
        })
        // An end that is dated in the second of the sending must be seen three times.
        const readings = Array.from({ length: 3 }, () => 'getSubmittedPullRequest')
        expect(operationNames(server)).toEqual(['cancelPullRequest', ...readings])
      },
    )
  })

  test('applied, then reset: queue delete', async () => {
    await withFaultServer({ script: { deleteQueue: [withEffect(resetConnection)] } }, async server => {
      const { code, documents } = await runAndCheck(server, 'queue delete --yes --json')
      expect({ code, documents }).toMatchObject({
        code: 0,
        documents: [{ ok: true, delivery: 'confirmed-by-read' }],
      })
      expect(operationNames(server)).toEqual(['deleteQueue', 'getQueue', 'getQueue', 'getQueue'])
      expect(server.applied).toHaveLength(1)
    })
  })

  test('200, but the body is cut: queue update', async () => {
    await withFaultServer({ script: { updateQueue: [withEffect(truncateBody)] } }, async server => {
      const { code, documents } = await runAndCheck(server, 'queue update --concurrency 5 --batch --json')
      expect({ code, documents }).toMatchObject({
        code: 0,
        documents: [{ ok: true, delivery: 'confirmed-by-read' }],
      })
      expect(operationNames(server)).toEqual(['updateQueue', 'getQueue'])
      expect(server.data.queue).toMatchObject({ concurrency: 5, batch: true })
    })
  })

  /** A list of 15 MB, of so many targets. */
  const listOf = (count: number) => {
    const name = 'x'.repeat(15_000_000 / count - 10)
    return { 'list.txt': Array.from({ length: count }, (_, index) => `//${name}:${index + 1e5}\n`).join('') }
  }
  const files = listOf(10_000)

  test('reset in the middle of a 15 MB upload, then good: pr targets', async () => {
    const script = { setImpactedTargets: [{ ...withoutEffect(resetConnection), cutUploadAt: 5_000_000 }] }
    await withFaultServer({ script }, async server => {
      const { code, out } = await runAndCheck(server, 'pr targets 7 --from list.txt --sha 4f2a', { files })
      expect({ code, out }).toEqual({ code: 0, out: expect.stringMatching(/^7\ttrue\tconfirmed\t/) })
      const [first, second, ...others] = server.log
      if (first === undefined || second === undefined) throw new Error('two requests were due')
      expect(others).toEqual([])
      expect({ first: first.isComplete, second: second.isComplete }).toEqual({ first: false, second: true })
      expect(first.body.equals(second.body.subarray(0, first.body.length)), 'the same bytes').toBe(true)
      expect(first.headers['content-length']).toBe(String(second.body.length))
      expect(second.body.length).toBeGreaterThan(15_000_000)
      expect(second.socket).not.toBe(first.socket)
      expect(server.applied).toHaveLength(1)
    })
  })

  test('the list may have as many targets as fit into it', async () => {
    const script = { setImpactedTargets: [withoutEffect(resetConnection)] }
    await withFaultServer({ script }, async server => {
      const line = 'pr targets 7 --from list.txt --sha 4f2a'
      const { code } = await runAndCheck(server, line, { files: listOf(250_000) })
      expect({ code, requests: server.log.length }).toEqual({ code: 0, requests: 2 })
    })
  })

  test('the upload is not counted in the timeout', async () => {
    const script = { setImpactedTargets: [{ ...normalBehavior, delayBeforeBody: 3_000 }] }
    await withFaultServer({ script }, async server => {
      const line = 'pr targets 7 --from list.txt --sha 4f2a --timeout 2s --retries 0'
      const { code } = await runAndCheck(server, line, { files })
      expect({ code, applied: server.applied.length }).toEqual({ code: 0, applied: 1 })
    })
  })

  const posts = [
    ...reads
      .filter(({ operation }) => operation !== 'getMergeQueueMetrics')
      .map(read => ({ ...read, stage: { pulls }, act: unavailable })),
    ...changes.map(change => ({ ...change, act: withoutEffect(respondWith(429)) })),
  ]
  test('the twelve POSTs are all here', () => {
    expect(posts).toHaveLength(12)
    expect(changes.map(({ operation }) => operation)).toEqual(writeOperationNames)
  })
  test.each(posts)('every attempt is the same: $line', async ({ line, operation, stage, act }) => {
    await withFaultServer({ ...stage, script: { [operation]: [act, act] } }, async server => {
      const { code } = await runAndCheck(server, line)
      expect(code).toBe(0)
      const [first, ...others] = server.log.map(onWire)
      expect(first).toMatchObject({
        method: 'POST',
        path: `/v1/${operation}`,
        type: 'application/json',
        length: String(first?.body.length),
      })
      expect(others).toEqual([first, first])
    })
  })

  test('the server drops kept-alive connections: pr submit 7 8', async () => {
    const script = ({ nthOnSocket }: LoggedRequest) =>
      nthOnSocket > 0 ? withoutEffect(resetConnection) : normalBehavior
    await withFaultServer({ script }, async server => {
      const { code, out } = await runAndCheck(server, 'pr submit 7 8')
      expect({ code, out }).toEqual({
        code: 0,
        out: expect.stringMatching(/^7\ttrue\tconfirmed\t.*\n8\ttrue\tconfirmed\t.*\n$/),
      })
      expect(operationNames(server)).toEqual(['submitPullRequest', 'submitPullRequest'])
      expect(new Set(server.log.map(({ socket }) => socket)).size, 'a fresh connection each').toBe(2)
    })
  })

  test('a change never follows a read on its connection: queue delete --cancel-all', async () => {
    const script = ({ nthOnSocket }: LoggedRequest) =>
      nthOnSocket > 0 ? withoutEffect(resetConnection) : normalBehavior
    await withFaultServer({ pulls, script }, async server => {
      const { code } = await runAndCheck(server, 'queue delete --cancel-all --yes')
      expect({ code, changes: server.applied.map(({ operation }) => operation) }).toEqual({
        code: 0,
        changes: ['cancelPullRequest', 'cancelPullRequest', 'deleteQueue'],
      })
      for (const { operation, nthOnSocket } of server.log)
        if (writeOperationNames.includes(operation)) expect(nthOnSocket).toBe(0)
    })
  })

  test('reads that meet a dropped connection are repeated', async () => {
    const script = ({ nthOnSocket }: LoggedRequest) =>
      nthOnSocket > 0 ? withoutEffect(resetConnection) : normalBehavior
    await withFaultServer({ pulls: { ...pulls, 9: pullRequest(9) }, script }, async server => {
      const { code, out } = await runAndCheck(server, 'pr get 7 8 9')
      expect(code).toBe(0)
      expect(out.split('\n').map(row => row.split('\t')[0])).toEqual(['7', '8', '9', ''])
    })
  })

  test.each([
    ['503 with Retry-After: 1', respondWith(503, '', { 'retry-after': '1' })],
    ['408', respondWith(408)],
  ] as const)('%s, then success: pr submit reads before the retry', async (_, respond) => {
    await withFaultServer({ script: { submitPullRequest: [withoutEffect(respond)] } }, async server => {
      const { code, out } = await runAndCheck(server, 'pr submit 7')
      expect({ code, out }).toEqual({ code: 0, out: expect.stringMatching(/^7\ttrue\tconfirmed\t/) })
      const sent = operationNames(server)
      expect(sent.slice(0, 2)).toEqual(['submitPullRequest', 'getSubmittedPullRequest'])
      expect(sent.filter(operation => operation === 'submitPullRequest')).toHaveLength(2)
      expect(server.applied).toHaveLength(1)
    })
  })

  test.each([
    ['503 with Retry-After: 1', respondWith(503, '', { 'retry-after': '1' })],
    ['408', respondWith(408)],
  ] as const)('%s, though it was applied: one submit', async (_, respond) => {
    await withFaultServer({ script: { submitPullRequest: [withEffect(respond)] } }, async server => {
      const { code, out } = await runAndCheck(server, 'pr submit 7')
      expect({ code, out }).toEqual({ code: 0, out: expect.stringMatching(/^7\ttrue\tconfirmed-by-read\t/) })
      expect(operationNames(server)).toEqual(['submitPullRequest', 'getSubmittedPullRequest'])
      expect(server.applied).toHaveLength(1)
    })
  })
})

test.each([
  ['in flight', () => new Promise<never>(() => undefined), 0],
  ['waiting for its next attempt', () => ({ status: 503 }), 1],
] as const)('a client that is closed ends a request that is %s', async (_, answer, sleeps) => {
  const service = await serveScript(answer)
  const delays: number[] = []
  const client = await createHttpClient({
    env: {},
    runtime: { version: '', node: '20', platform: 'linux', nullDevice: '', user: undefined },
    clock: {
      now: Date.now,
      sleep: (delay, signal) => {
        delays.push(delay)
        return new Promise((__, reject) => signal?.addEventListener('abort', () => reject(signal.reason)))
      },
    },
    random: () => 0,
    authorities: [],
    limit: 10_000,
    interrupted: new AbortController().signal,
    isLoopback: () => true,
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
      timeout: () => 10_000,
      maxRetries: 3,
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
