import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { backoff, createRetryPolicy } from '../../src/http/retry-policy.ts'
import {
  answers,
  applied,
  changingOperations,
  cuts,
  hangs,
  type Logged,
  pull,
  resets,
  run,
  type Show,
  unapplied,
  withFaults,
  works,
} from '../support/fault-server.ts'
import { noon } from '../support/harness.ts'
import { get, limited, named, pulls, reads } from '../support/retries.ts'

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

const unavailable = unapplied(answers(503))
const onWire = ({ method, path, headers, body }: Logged) => ({
  method,
  path,
  type: headers['content-type'],
  length: headers['content-length'],
  body: body.toString('latin1'),
})

/** The notes that tell a repeat. */
const repeats = (notes: readonly string[]) => notes.filter(note => /again in \d+\.\d s\.$/.test(note))

describe('reads are repeated', () => {
  test.each(reads)('503, 503, good: $line', async ({ line, operation }) => {
    const good = await withFaults({ pulls }, server => run(server, line))
    await withFaults({ pulls, script: { [operation]: [unavailable, unavailable] } }, async server => {
      const { code, out, sleeps, notes } = await run(server, line)
      expect({ code, out, sleeps }).toEqual({ code: 0, out: good.out, sleeps: [250, 500] })
      expect(server.log).toHaveLength(3)
      expect(repeats(notes)).toEqual([
        expect.stringContaining(`${operation}: `),
        expect.stringContaining(`${operation}: `),
      ])
    })
  })

  test('the delays stay within the doubling jitter for any random number', () => {
    const dice = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 100 }), dice, (attempt, random) => {
        const gap = backoff(createRetryPolicy(3), attempt, random)
        const bound = Math.min(20_000, 500 * 2 ** (attempt - 1))
        expect(gap).toBeGreaterThanOrEqual(100)
        expect(gap).toBeLessThanOrEqual(bound)
        expect(Math.abs(gap - random * bound), 'full jitter').toBeLessThan(random * bound < 100 ? 101 : 1)
      }),
    )
  })

  test.each(reads)('429 with Retry-After: 2, good: $line', async ({ line, operation }) => {
    await withFaults({ pulls, script: { [operation]: [limited('2')] } }, async server => {
      const { code, notes } = await run(server, line)
      const [first, second, ...others] = server.log
      expect({ code, others }).toEqual({ code: 0, others: [] })
      const gap = (second?.clock ?? 0) - (first?.clock ?? 0)
      expect(gap).toBeGreaterThanOrEqual(2_000)
      expect(gap).toBeLessThan(3_000)
      expect(repeats(notes)).toEqual([expect.stringContaining('429')])
    })
  })

  const inFourSeconds: Show = exchange =>
    answers(429, '', { 'retry-after': new Date(Date.parse(exchange.date) + 4_000).toUTCString() })(exchange)

  test.each([0, -3_600_000, 3_600_000])(
    "429 with a date 4 s after the answer's own, the service's clock %i ms ahead",
    async skew => {
      const script = { [get.operation]: [unapplied(inFourSeconds)] }
      await withFaults({ pulls, skew, script }, async server => {
        const { code, sleeps } = await run(server, get.line)
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
    { name: 'Retry-After: 3600', show: answers(429, '', { 'retry-after': '3600' }) },
    {
      name: 'a date in an hour',
      show: answers(429, '', { 'retry-after': new Date(noon + 3_600_000).toUTCString() }),
    },
    { name: '503 and Retry-After: 3600', show: answers(503, '', { 'retry-after': '3600' }) },
  ]
  describe.each(tooLong)('$name', ({ show }) => {
    test('gives up at once, after one request', async () => {
      await withFaults({ pulls, script: { [get.operation]: unapplied(show) } }, async server => {
        const { code, sleeps } = await run(server, get.line)
        expect({ code, sleeps, requests: server.log.length }).toEqual({ code: 7, sleeps: [], requests: 1 })
      })
    })

    test('says when to come back', async () => {
      await withFaults({ pulls, script: { [get.operation]: unapplied(show) } }, async server => {
        const { sentence, hint } = await run(server, get.line)
        expect(`${sentence} ${hint}`).toMatch(/\b3,?600 ?s|\b60 ?m|\b1 ?h|13:00/)
      })
    })
  })

  test('a change gives up at once, too, and was not applied', async () => {
    await withFaults({ script: { submitPullRequest: limited('3600') } }, async server => {
      const { code, sleeps, documents } = await run(server, 'pr submit 7 --json')
      expect({ code, sleeps, requests: server.log.length }).toEqual({ code: 7, sleeps: [], requests: 1 })
      expect(documents).toMatchObject([{ ok: false, delivery: 'not-applied' }])
    })
  })

  test('503 with Retry-After: 0, always', async () => {
    const script = { [get.operation]: unapplied(answers(503, '', { 'retry-after': '0' })) }
    await withFaults({ pulls, script }, async server => {
      const { code, sleeps, sentence } = await run(server, get.line)
      expect({ code, requests: server.log.length }).toEqual({ code: 7, requests: 4 })
      expect(sleeps).toHaveLength(3)
      expect(Math.min(...sleeps)).toBeGreaterThanOrEqual(100)
      expect(sentence).toContain('503')
    })
  })

  test.each(['-1', 'soon', '1.5', '1e9', '', 'NaN', '0x10', '２', '2026-13-45', '1; 2'])(
    'a Retry-After that says nothing is ignored: %j',
    async value => {
      const show: Show = ({ socket }) =>
        socket.end(
          `HTTP/1.1 503 x\r\nretry-after: ${value}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n`,
        )
      await withFaults({ pulls, script: { [get.operation]: [unapplied(show)] } }, async server => {
        const { code, sleeps } = await run(server, get.line)
        expect({ code, sleeps, requests: server.log.length }).toEqual({ code: 0, sleeps: [250], requests: 2 })
      })
    },
  )

  test.each(['99999999999', '2147483648', 'Fri, 31 Dec 9999 23:59:59 GMT'])(
    'a Retry-After beyond all timers never becomes one: %s',
    async value => {
      await withFaults({ pulls, script: { [get.operation]: [limited(value)] } }, async server => {
        const { sleeps } = await run(server, get.line)
        expect(Math.max(0, ...sleeps)).toBeLessThanOrEqual(60_000)
      })
    },
  )

  test('a Retry-After in the past does not shorten the delay', async () => {
    const past = new Date(noon - 60_000).toUTCString()
    await withFaults({ pulls, script: { [get.operation]: [limited(past)] } }, async server => {
      const { code, sleeps } = await run(server, get.line)
      expect({ code, sleeps }).toEqual({ code: 0, sleeps: [250] })
    })
  })

  test('ten repeats are all there are for a whole run', async () => {
    await withFaults({ script: { [get.operation]: unavailable } }, async server => {
      const { code } = await run(server, 'pr get 1 2 3 4 5 6 --retries 9')
      expect({ code, requests: server.log.length }).toEqual({ code: 7, requests: 16 })
    })
  })

  test.each(reads)('reset twice, then good: $line', async ({ line, operation }) => {
    await withFaults(
      { pulls, script: { [operation]: [unapplied(resets), unapplied(resets)] } },
      async server => {
        const { code, notes } = await run(server, line)
        expect({ code, requests: server.log.length }).toEqual({ code: 0, requests: 3 })
        expect(repeats(notes)).toHaveLength(2)
      },
    )
  })

  test.each(reads)('the server never answers: $line', async ({ line, operation }) => {
    await withFaults({ pulls, script: { [operation]: unapplied(hangs) } }, async server => {
      const began = performance.now()
      const { code, sentence } = await run(server, `${line} --timeout 300ms --retries 0`)
      const took = performance.now() - began
      expect({ code, requests: server.log.length }).toEqual({ code: 7, requests: 1 })
      expect(sentence).toContain(operation)
      expect(sentence).toMatch(/\b0\.3 s\b|\b300 ms\b/)
      expect(took).toBeGreaterThanOrEqual(295)
      expect(took).toBeLessThan(1_500)
    })
  })

  test.each(reads)('503 with --retries 0: $line', async ({ line, operation }) => {
    await withFaults({ pulls, script: { [operation]: unavailable } }, async server => {
      const { code, sleeps, notes } = await run(server, `${line} --retries 0`)
      expect({ code, sleeps, notes, requests: server.log.length }).toEqual({
        code: 7,
        sleeps: [],
        notes: [],
        requests: 1,
      })
    })
  })

  test.each(reads)('a refused connection with --retries 0: $line', async ({ line, operation }) => {
    await withFaults({ opensAfter: 1 }, async server => {
      const { code, sentence, hint } = await run(server, `${line} --retries 0`)
      expect({ code, connections: server.connections }).toEqual({ code: 7, connections: 0 })
      expect(sentence).toContain(operation)
      expect(sentence).toContain(server.host)
      expect(hint).toContain('safe')
    })
  })
})

describe('changes are repeated only when they were not applied', () => {
  test('connection refused, then the port opens', async () => {
    await withFaults({ opensAfter: 1 }, async server => {
      const { code, out, notes } = await run(server, 'pr submit 7')
      expect({ code, out }).toEqual({ code: 0, out: expect.stringMatching(/^7\ttrue\tconfirmed\t/) })
      expect({ sent: named(server), applied: server.applied.length }).toEqual({
        sent: ['submitPullRequest'],
        applied: 1,
      })
      expect(repeats(notes)).toEqual([expect.stringContaining('refused the connection')])
    })
  })

  test('applied, then reset: pr submit', async () => {
    await withFaults({ script: { submitPullRequest: [applied(resets)] } }, async server => {
      const { code, out } = await run(server, 'pr submit 7')
      expect({ code, out }).toEqual({ code: 0, out: expect.stringMatching(/^7\ttrue\tconfirmed-by-read\t/) })
      expect(named(server)).toEqual(['submitPullRequest', 'getSubmittedPullRequest'])
      expect(server.applied).toHaveLength(1)
    })
  })

  test('reset before it was applied: pr submit', async () => {
    await withFaults({ script: { submitPullRequest: [unapplied(resets)] } }, async server => {
      const { code, out, notes } = await run(server, 'pr submit 7')
      expect({ code, out }).toEqual({ code: 0, out: expect.stringMatching(/^7\ttrue\tconfirmed\t/) })
      const sent = named(server)
      expect(sent.filter(operation => operation === 'submitPullRequest')).toHaveLength(2)
      expect(sent.at(1), 'reads again first').toBe('getSubmittedPullRequest')
      expect(server.applied).toHaveLength(1)
      expect(notes.join('\n'), 'every repeat is told').toMatch(/submitPullRequest.*once more/)
    })
  })

  test('applied, never answered: pr cancel', async () => {
    await withFaults({ pulls, script: { cancelPullRequest: [applied(hangs)] } }, async server => {
      const { code, out } = await run(server, 'pr cancel 7 --timeout 300ms')
      expect({ code, out }).toEqual({ code: 0, out: expect.stringMatching(/^7\ttrue\tconfirmed-by-read\t/) })
      // An end that is dated in the second of the sending must be seen three times.
      const readings = Array.from({ length: 3 }, () => 'getSubmittedPullRequest')
      expect(named(server)).toEqual(['cancelPullRequest', ...readings])
    })
  })

  test('applied, then reset: queue delete', async () => {
    await withFaults({ script: { deleteQueue: [applied(resets)] } }, async server => {
      const { code, documents } = await run(server, 'queue delete --yes --json')
      expect({ code, documents }).toMatchObject({
        code: 0,
        documents: [{ ok: true, delivery: 'confirmed-by-read' }],
      })
      expect(named(server)).toEqual(['deleteQueue', 'getQueue', 'getQueue', 'getQueue'])
      expect(server.applied).toHaveLength(1)
    })
  })

  test('200, but the body is cut: queue update', async () => {
    await withFaults({ script: { updateQueue: [applied(cuts)] } }, async server => {
      const { code, documents } = await run(server, 'queue update --concurrency 5 --batch --json')
      expect({ code, documents }).toMatchObject({
        code: 0,
        documents: [{ ok: true, delivery: 'confirmed-by-read' }],
      })
      expect(named(server)).toEqual(['updateQueue', 'getQueue'])
      expect(server.stage.queue).toMatchObject({ concurrency: 5, batch: true })
    })
  })

  /** A list of 15 MB, of so many targets. */
  const listOf = (count: number) => {
    const name = 'x'.repeat(15_000_000 / count - 10)
    return { 'list.txt': Array.from({ length: count }, (_, index) => `//${name}:${index + 1e5}\n`).join('') }
  }
  const files = listOf(10_000)

  test('reset in the middle of a 15 MB upload, then good: pr targets', async () => {
    const script = { setImpactedTargets: [{ ...unapplied(resets), cutUploadAt: 5_000_000 }] }
    await withFaults({ script }, async server => {
      const { code, out } = await run(server, 'pr targets 7 --from list.txt --sha 4f2a', { files })
      expect({ code, out }).toEqual({ code: 0, out: expect.stringMatching(/^7\ttrue\tconfirmed\t/) })
      const [first, second, ...others] = server.log
      if (first === undefined || second === undefined) throw new Error('two requests were due')
      expect(others).toEqual([])
      expect({ first: first.whole, second: second.whole }).toEqual({ first: false, second: true })
      expect(first.body.equals(second.body.subarray(0, first.body.length)), 'the same bytes').toBe(true)
      expect(first.headers['content-length']).toBe(String(second.body.length))
      expect(second.body.length).toBeGreaterThan(15_000_000)
      expect(second.socket).not.toBe(first.socket)
      expect(server.applied).toHaveLength(1)
    })
  })

  test('the list may have as many targets as fit into it', async () => {
    const script = { setImpactedTargets: [unapplied(resets)] }
    await withFaults({ script }, async server => {
      const line = 'pr targets 7 --from list.txt --sha 4f2a'
      const { code } = await run(server, line, { files: listOf(250_000) })
      expect({ code, requests: server.log.length }).toEqual({ code: 0, requests: 2 })
    })
  })

  test('the upload is not counted in the timeout', async () => {
    const script = { setImpactedTargets: [{ ...works, stalls: 700 }] }
    await withFaults({ script }, async server => {
      const line = 'pr targets 7 --from list.txt --sha 4f2a --timeout 400ms --retries 0'
      const { code } = await run(server, line, { files })
      expect({ code, applied: server.applied.length }).toEqual({ code: 0, applied: 1 })
    })
  })

  const posts = [
    ...reads
      .filter(({ operation }) => operation !== 'getMergeQueueMetrics')
      .map(read => ({ ...read, stage: { pulls }, act: unavailable })),
    ...changes.map(change => ({ ...change, act: unapplied(answers(429)) })),
  ]
  test('the twelve POSTs are all here', () => {
    expect(posts).toHaveLength(12)
    expect(changes.map(({ operation }) => operation)).toEqual(changingOperations)
  })
  test.each(posts)('every attempt is the same: $line', async ({ line, operation, stage, act }) => {
    await withFaults({ ...stage, script: { [operation]: [act, act] } }, async server => {
      const { code } = await run(server, line)
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
    const script = ({ nthOnSocket }: Logged) => (nthOnSocket > 0 ? unapplied(resets) : works)
    await withFaults({ script }, async server => {
      const { code, out } = await run(server, 'pr submit 7 8')
      expect({ code, out }).toEqual({
        code: 0,
        out: expect.stringMatching(/^7\ttrue\tconfirmed\t.*\n8\ttrue\tconfirmed\t.*\n$/),
      })
      expect(named(server)).toEqual(['submitPullRequest', 'submitPullRequest'])
      expect(new Set(server.log.map(({ socket }) => socket)).size, 'a fresh connection each').toBe(2)
    })
  })

  test('a change never follows a read on its connection: queue delete --cancel-all', async () => {
    const script = ({ nthOnSocket }: Logged) => (nthOnSocket > 0 ? unapplied(resets) : works)
    await withFaults({ pulls, script }, async server => {
      const { code } = await run(server, 'queue delete --cancel-all --yes')
      expect({ code, changes: server.applied.map(({ operation }) => operation) }).toEqual({
        code: 0,
        changes: ['cancelPullRequest', 'cancelPullRequest', 'deleteQueue'],
      })
      for (const { operation, nthOnSocket } of server.log)
        if (changingOperations.includes(operation)) expect(nthOnSocket).toBe(0)
    })
  })

  test('reads that meet a dropped connection are repeated', async () => {
    const script = ({ nthOnSocket }: Logged) => (nthOnSocket > 0 ? unapplied(resets) : works)
    await withFaults({ pulls: { ...pulls, 9: pull(9) }, script }, async server => {
      const { code, out } = await run(server, 'pr get 7 8 9')
      expect(code).toBe(0)
      expect(out.split('\n').map(row => row.split('\t')[0])).toEqual(['7', '8', '9', ''])
    })
  })

  test.each([
    ['D19', '503 with Retry-After: 1', answers(503, '', { 'retry-after': '1' })],
    ['D20', '408', answers(408)],
  ] as const)('%s: %s, then good: pr submit reads first', async (_, __, show) => {
    await withFaults({ script: { submitPullRequest: [unapplied(show)] } }, async server => {
      const { code, out } = await run(server, 'pr submit 7')
      expect({ code, out }).toEqual({ code: 0, out: expect.stringMatching(/^7\ttrue\tconfirmed\t/) })
      const sent = named(server)
      expect(sent.slice(0, 2)).toEqual(['submitPullRequest', 'getSubmittedPullRequest'])
      expect(sent.filter(operation => operation === 'submitPullRequest')).toHaveLength(2)
      expect(server.applied).toHaveLength(1)
    })
  })

  test.each([
    ['D19', '503 with Retry-After: 1', answers(503, '', { 'retry-after': '1' })],
    ['D20', '408', answers(408)],
  ] as const)('%s: %s, though it was applied: one submit', async (_, __, show) => {
    await withFaults({ script: { submitPullRequest: [applied(show)] } }, async server => {
      const { code, out } = await run(server, 'pr submit 7')
      expect({ code, out }).toEqual({ code: 0, out: expect.stringMatching(/^7\ttrue\tconfirmed-by-read\t/) })
      expect(named(server)).toEqual(['submitPullRequest', 'getSubmittedPullRequest'])
      expect(server.applied).toHaveLength(1)
    })
  })
})
