import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { pullRequestStates, settledOutcome } from '../src/domain/states.ts'
import {
  advance,
  milestones,
  type Outcome,
  pollDelay,
  type WaitGoal,
  type WaitState,
} from '../src/domain/wait-state.ts'
import { MergeqError } from '../src/errors.ts'
import { answers, hangs, launch, pull, resets, unapplied, withFaults, works } from './fault-server.ts'
import { type Answer, mergeq, noon, openStory, type Seen, type Setting } from './harness.ts'

type Json = Readonly<Record<string, unknown>>

const dialects = ['document', 'hosted'] as const
const env = { MERGEQ_REPO: 'acme/web', MERGEQ_TARGET_BRANCH: 'main' }

/** From a second on, a pull request stands so; `undefined` is not there. */
type Course = readonly (readonly [second: number, state: string | undefined, more?: Json])[]

interface Play {
  readonly pulls: Readonly<Record<number, Course>>
  /** From a second on, the queue's state. */
  readonly queue?: readonly (readonly [second: number, state: string])[]
  /** What happens instead of an answer. */
  readonly fault?: (second: number, operation: string) => Answer | undefined
  readonly setting?: Setting
}

/** Runs a command line against pull requests that stand as the story says, by the clock that the command sleeps on. */
async function play(line: string, { pulls, queue = [[0, 'running']], fault, setting = {} }: Play) {
  const clock = { now: noon }
  const asked: { readonly second: number; readonly operation: string; readonly pr: number }[] = []
  const at = <T extends readonly [number, ...unknown[]]>(course: readonly T[], second: number) =>
    course.findLast(([from]) => from <= second)
  const recordOf = (number: number, second: number): Json | undefined => {
    const [from, state, more] = at(pulls[number] ?? [], second) ?? [0, undefined]
    if (state === undefined) return undefined
    return {
      id: `entry-${number}`,
      prNumber: number,
      state: state.toLowerCase(),
      stateChangedAt: new Date(noon + from * 1_000).toISOString(),
      isCurrentlySubmittedToQueue: !/^(merged|failed|cancelled)$/i.test(state),
      ...more,
    }
  }
  const answer = (seen: Seen): Answer => {
    const second = (clock.now - noon) / 1_000
    const operation = seen.path.replace('/v1/', '')
    const pr = JSON.parse(seen.body).pr?.number ?? 0
    asked.push({ second, operation, pr })
    const faulty = fault?.(second, operation)
    if (faulty !== undefined) return faulty
    if (operation === 'getQueue') {
      const enqueuedPullRequests = Object.keys(pulls).flatMap(number => {
        const { isCurrentlySubmittedToQueue, ...entry } = recordOf(Number(number), second) ?? {}
        return isCurrentlySubmittedToQueue === true && entry.state !== 'not_ready' ? [entry] : []
      })
      return { body: JSON.stringify({ state: at(queue, second)?.[1], enqueuedPullRequests }) }
    }
    if (operation !== 'getSubmittedPullRequest') return { body: 'OK' }
    const record = recordOf(pr, second)
    return record === undefined ? { status: 404, body: 'Not Found' } : { body: JSON.stringify(record) }
  }
  const dated = (seen: Seen): Answer => {
    const one = answer(seen)
    return { ...one, headers: { date: new Date(clock.now).toUTCString(), ...one.headers } }
  }
  const outcome = await mergeq(line, { answer: dated, clock, ...setting, env: { ...env, ...setting.env } })
  const operations = asked.map(({ operation }) => operation)
  return { ...outcome, asked, operations, seconds: (clock.now - noon) / 1_000 }
}

const documentsIn = (out: string): readonly Json[] =>
  out
    .split('\n')
    .slice(0, -1)
    .map(line => JSON.parse(line))

const walk: Course = [
  [0, 'NOT_READY'],
  [2, 'PENDING'],
  [4, 'TESTING'],
  [6, 'TESTS_PASSED'],
  [8, 'MERGED'],
]

describe('what a reading means', () => {
  const record = (state: string, more: Json = {}) => ({
    id: '0b9f',
    state,
    stateChangedAt: '2026-01-05T12:00:00.000Z',
    ...more,
  })
  const submitted = { isCurrentlySubmittedToQueue: true }
  const left = { isCurrentlySubmittedToQueue: false }
  const judged = (
    sight: { readonly record?: ReturnType<typeof record> | undefined; readonly position?: number },
    aim: Partial<WaitGoal> = {},
    known: WaitState = {},
  ) =>
    advance(known, { record: undefined, at: noon, ...sight } as Parameters<typeof advance>[1], {
      until: 'merged',
      grace: 90_000,
      ...aim,
    }).outcome

  const settled: readonly (readonly [string, Json, (Outcome | undefined)[]])[] = [
    // merged, tests-passed, testing, left
    ['NOT_READY', submitted, [undefined, undefined, undefined, undefined]],
    ['PENDING', submitted, [undefined, undefined, undefined, undefined]],
    ['TESTING', submitted, [undefined, undefined, 'reached', undefined]],
    ['testing', submitted, [undefined, undefined, 'reached', undefined]],
    ['PENDING_FAILURE', submitted, [undefined, undefined, 'reached', undefined]],
    ['PENDING_FAILURE', {}, [undefined, undefined, 'reached', undefined]],
    ['TESTS_PASSED', submitted, [undefined, 'reached', 'reached', undefined]],
    ['MERGED', left, ['merged', 'reached', 'reached', 'left']],
    ['MERGED', submitted, ['merged', 'reached', 'reached', 'left']],
    ['merged', {}, ['merged', 'reached', 'reached', 'left']],
    ['FAILED', submitted, [undefined, undefined, undefined, undefined]],
    ['FAILED', left, ['failed', 'failed', 'failed', 'left']],
    ['FAILED', {}, ['failed', 'failed', 'failed', 'left']],
    ['CANCELLED', submitted, [undefined, undefined, undefined, undefined]],
    ['cancelled', left, ['cancelled', 'cancelled', 'cancelled', 'left']],
    ['PUZZLED', submitted, [undefined, undefined, undefined, undefined]],
    ['PUZZLED', left, [undefined, undefined, undefined, 'left']],
  ]
  test.each(settled)('%s with %j', (state, more, outcomes) => {
    expect(milestones.map(until => judged({ record: record(state, more) }, { until }))).toEqual(outcomes)
  })

  test('what the queue lists is submitted, whatever its state says', () => {
    expect(judged({ record: record('FAILED'), position: 1 })).toBe(undefined)
    expect(judged({ record: record('TESTING'), position: 1 }, { until: 'testing' })).toBe('reached')
  })

  const heads: readonly (readonly [string, string | undefined, Outcome | undefined])[] = [
    ['4f2a9c1', '4f2a9c1d00', undefined],
    ['4F2A', '4f2a9c1d00', undefined],
    ['4f2a9c1d00', '4f2a', undefined],
    ['4f2a', '4f2b9c1d00', 'stale'],
    ['4f2a', undefined, undefined],
  ]
  test.each(heads)('the head that was asked for is %s, the one that is there %s', (head, prSha, outcome) => {
    const there = record('TESTING', { ...submitted, ...(prSha && { prSha }) })
    expect(judged({ record: there }, { head })).toBe(outcome)
  })

  test('a finished record that was there before is as good as not found, until the attempt shows', () => {
    const before = record('FAILED', left)
    const aim = { until: 'merged', grace: 90_000 } as const
    const first = advance({ before }, { record: before, at: noon }, aim)
    expect(first).toEqual({ state: { before, missingSince: noon, isStill: false } })
    expect(advance(first.state, { record: before, at: noon + 90_000 }, aim).outcome).toBe('error')
    const shown = advance(first.state, { record: record('PENDING', submitted), at: noon + 1_000 }, aim)
    expect(advance(shown.state, { record: before, at: noon + 2_000 }, aim).outcome).toBe('failed')
    for (const other of [
      record('FAILED', { ...left, id: 'other' }),
      record('FAILED', { ...left, stateChangedAt: '2026-01-05T12:00:01.000Z' }),
      record('CANCELLED', left),
    ])
      expect(advance(first.state, { record: other, at: noon }, aim).outcome).toBeDefined()
  })

  test('a record of the attempt before is none of this one, also once the queue has listed it', () => {
    const before = record('FAILED', { ...left, prSha: 'aaaa111' })
    const aim = { until: 'merged', grace: 90_000, head: 'bbbb222' } as const
    const first = advance({ before }, { record: before, at: noon }, aim)
    expect(first.outcome).toBeUndefined()
    const listed = advance(first.state, { record: { state: 'PENDING' }, position: 1, at: noon + 1_000 }, aim)
    const again = advance(listed.state, { record: before, at: noon + 2_000 }, aim)
    expect(again.outcome).toBeUndefined()
    const merged = { ...left, prSha: 'bbbb222', stateChangedAt: '2026-01-05T12:00:03.000Z' }
    const last = advance(again.state, { record: record('MERGED', merged), at: noon + 3_000 }, aim)
    expect(last).toMatchObject({ change: { from: 'PENDING', to: 'MERGED' }, outcome: 'merged' })
    // Without the moment nothing tells the two apart: then what the queue lists is the end of the old one.
    const { stateChangedAt: _, ...bare } = before
    const seen = advance({ before: bare }, { record: { state: 'PENDING' }, position: 1, at: noon }, aim)
    expect(advance(seen.state, { record: { ...bare, prSha: 'bbbb222' }, at: noon }, aim).outcome).toBe(
      'failed',
    )
  })

  const paces: readonly (readonly [string | undefined, number, number])[] = [
    ['TESTING', 0, 10_000],
    ['PENDING', 0, 30_000],
    ['NOT_READY', 0, 60_000],
    [undefined, 0, 10_000],
    ['TESTING', 3, 80_000],
    ['NOT_READY', 3, 300_000],
    ['TESTING', 1_000, 300_000],
  ]
  test.each(paces)('%s after %i errors: about %i ms', (state, errors, pause) => {
    expect(pollDelay({ state }, errors, 0.5)).toBe(pause)
    expect(pollDelay({ state }, errors, 0)).toBe(Math.round(pause * 0.9))
    expect(pollDelay({ state }, errors, 0.999)).toBeLessThanOrEqual(300_000)
  })

  test('over any history: merged only on MERGED, failed and cancelled only once it has left', () => {
    const states = [...pullRequestStates, 'PUZZLED'] as const
    const records = fc.record(
      {
        id: fc.constantFrom('one', 'two'),
        state: fc.constantFrom(...states),
        stateChangedAt: fc.constantFrom('2026-01-05T11:00:00.000Z', '2026-01-05T12:00:00.000Z'),
        isCurrentlySubmittedToQueue: fc.boolean(),
      },
      { requiredKeys: ['state'] },
    )
    const histories = fc.array(fc.option(records, { nil: undefined }), { minLength: 1, maxLength: 12 })
    const befores = fc.option(records, { nil: undefined })
    fc.assert(
      fc.property(histories, befores, fc.constantFrom(...milestones), (history, before, until) => {
        let known: WaitState = { before }
        for (const [index, one] of history.entries()) {
          const at = noon + index * 10_000
          const { state: next, outcome } = advance(known, { record: one, at }, { until, grace: 30_000 })
          if (outcome === 'merged') expect(one?.state).toBe('MERGED')
          if (outcome === 'failed' || outcome === 'cancelled') {
            expect(one?.state).toBe(outcome.toUpperCase())
            expect(one?.isCurrentlySubmittedToQueue).not.toBe(true)
          }
          if (outcome === 'error') expect(index).toBeGreaterThanOrEqual(3)
          if (outcome !== undefined) return
          if (one?.state === 'MERGED' && settledOutcome(before ?? {}) === 'pending') expect.unreachable()
          known = next
        }
      }),
      { numRuns: 2_000 },
    )
  })
})

describe('any history', () => {
  test('ends within the limit, with one result that the records bear out', async () => {
    const stands = fc.tuple(
      fc.option(fc.constantFrom(...pullRequestStates, 'PUZZLED'), { nil: undefined }),
      fc.record({ isCurrentlySubmittedToQueue: fc.boolean() }),
      fc.constantFrom(200, 200, 200, 500, 404, 429),
    )
    await fc.assert(
      fc.asyncProperty(
        fc.array(stands, { minLength: 1, maxLength: 10 }),
        fc.boolean(),
        async (history, two) => {
          const course: Course = history.map(([state, more], index) => [index * 10, state, more])
          const { code, out, seconds } = await play(
            `pr wait 7${two ? ' 8' : ''} --interval 10s --timeout 90s --json`,
            {
              pulls: { 7: course, 8: [[0, 'MERGED']] },
              fault: second => {
                const status = history[second / 10]?.[2] ?? 200
                return status === 200 ? undefined : { status, body: 'no' }
              },
            },
          )
          const results = documentsIn(out)
          expect(results.map(({ pr }) => pr)).toEqual(two ? [7, 8] : [7])
          expect(seconds).toBeLessThanOrEqual(90)
          const { outcome, state } = results[0] ?? {}
          if (outcome === 'merged') expect(history.map(([each]) => each)).toContain('MERGED')
          if (outcome === 'failed' || outcome === 'cancelled')
            expect(history).toContainEqual([
              outcome.toUpperCase(),
              { isCurrentlySubmittedToQueue: false },
              expect.anything(),
            ])
          if (outcome === 'timed-out') expect({ code, seconds }).toEqual({ code: 124, seconds: 90 })
          else if (outcome !== 'error') expect(state).toBe(String(outcome).toUpperCase())
        },
      ),
      { numRuns: 60 },
    )
  })
})

describe('one pull request', () => {
  test('L1: from NOT_READY to MERGED, polled no faster than the interval', async () => {
    const { code, out, err, asked } = await play('pr wait 7 --interval 2s', { pulls: { 7: walk } })
    expect({ code, out }).toEqual({ code: 0, out: '7\tmerged\tMERGED\t8\n' })
    expect(err.split('\n').slice(0, -1)).toEqual([
      '#7 NOT_READY',
      '#7 NOT_READY -> PENDING',
      '#7 PENDING -> TESTING',
      '#7 TESTING -> TESTS_PASSED',
      '#7 TESTS_PASSED -> MERGED',
    ])
    expect(asked.map(({ second }) => second)).toEqual([0, 2, 4, 6, 8])
  })

  test.each([
    ['L2', 'FAILED', 3],
    ['L3', 'CANCELLED', 10],
  ])('%s: %s counts once it is no longer submitted', async (_, state, exit) => {
    const course: Course = [
      [0, 'TESTING'],
      [2, state, { isCurrentlySubmittedToQueue: true }],
      [6, state],
    ]
    const { code, out } = await play('pr wait 7 --interval 2s', { pulls: { 7: course } })
    expect({ code, out }).toEqual({ code: exit, out: `7\t${state.toLowerCase()}\t${state}\t6\n` })
  })

  test('L4: TESTING for ever ends at the time-out with the last state', async () => {
    const { code, out, seconds } = await play('pr wait 7 --interval 2s --timeout 5s', {
      pulls: { 7: [[0, 'TESTING']] },
    })
    expect({ code, out, seconds }).toEqual({ code: 124, out: '7\ttimed-out\tTESTING\t5\n', seconds: 5 })
  })

  test('L5: 503 and resets between good answers', async () => {
    const states = ['testing', 'testing', 'testing', 'testing', 'merged']
    await withFaults(
      {
        pulls: { 7: pull(7) },
        script: ({ nth }, server) => {
          const state = states[nth] ?? 'merged'
          server.stage.pulls.set(7, pull(7, { state, isCurrentlySubmittedToQueue: state !== 'merged' }))
          return nth === 1 ? unapplied(answers(503)) : nth === 3 ? unapplied(resets) : works
        },
      },
      async server => {
        const { code, out } = await mergeq('pr wait 7 --interval 1s', {
          clock: server.clock,
          env: { ...env, MERGEQ_BASE_URL: server.baseUrl },
        })
        expect({ code, out }).toEqual({ code: 0, out: '7\tmerged\tMERGED\t4\n' })
      },
    )
  })

  test.each([401, 403])('L6: a %i in the middle ends it at once', async status => {
    const { code, out, err, seconds } = await play('pr wait 7 --interval 2s', {
      pulls: { 7: walk },
      fault: second => (second < 4 ? undefined : { status, body: 'no' }),
    })
    expect({ code, out, seconds }).toEqual({ code: 4, out: '7\terror\tPENDING\t4\n', seconds: 4 })
    expect(err).toMatch(new RegExp(`^mergeq: .*${status}`, 'm'))
  })

  test('L7: one line for each change, not for each poll', async () => {
    const course: Course = [0, 1, 2, 3, 4].map(second => [second, second % 2 === 0 ? 'TESTING' : 'PENDING'])
    const { code, err } = await play('pr wait 7 --interval 1s --timeout 5s', { pulls: { 7: course } })
    expect(code).toBe(124)
    expect(err).toBe(
      '#7 TESTING\n#7 TESTING -> PENDING\n#7 PENDING -> TESTING\n#7 TESTING -> PENDING\n#7 PENDING -> TESTING\n',
    )
  })

  test.each([['pr wait 7'], ['pr wait 7 8 --json']])(
    'L8: %s: Ctrl-C ends the waiting, not the pull request, and says how to cancel',
    async line => {
      const stop = new AbortController()
      const { code, out, err, operations } = await play(`${line} --interval 2s`, {
        pulls: {
          7: [[0, 'TESTING']],
          8: [
            [0, 'TESTING'],
            [2, 'MERGED'],
          ],
        },
        fault: second => {
          if (second === 4) stop.abort(new MergeqError('interrupted', 'stopped by SIGINT.', { exit: 130 }))
          return undefined
        },
        setting: { signal: stop.signal },
      })
      expect(code).toBe(130)
      expect(err).toMatch(/stopped by SIGINT.*mergeq pr cancel 7 -R github.com\/acme\/web -b main/s)
      expect(operations.filter(operation => !operation.startsWith('get'))).toEqual([])
      // What had settled is told.
      expect(documentsIn(out).map(({ pr }) => pr)).toEqual(line.includes('8') ? [8] : [])
    },
  )

  test('L8: the binary, stopped by a real SIGINT', async () => {
    await withFaults({ pulls: { 7: pull(7, { state: 'testing' }) } }, async server => {
      const { code, out, err } = await launch(server, 'pr wait 7 --interval 30s', {
        started: kill => {
          const timer = setInterval(() => {
            if (server.log.length === 0) return
            clearInterval(timer)
            setTimeout(() => kill('SIGINT'), 150)
          }, 10)
        },
      })
      expect({ code, out, asked: server.log.map(({ operation }) => operation) }).toEqual({
        code: 130,
        out: '',
        asked: ['getSubmittedPullRequest'],
      })
      expect(err).toMatch(/stopped by SIGINT.*\n.*stays in the queue.*\n.*mergeq pr cancel 7 /)
    })
  })

  test('L9: --json prints one document, the result', async () => {
    const { code, out } = await play('pr wait 7 --interval 2s --json', { pulls: { 7: walk } })
    expect(code).toBe(0)
    expect(documentsIn(out)).toEqual([
      { type: 'result', pr: 7, outcome: 'merged', state: 'MERGED', elapsedSeconds: 8, exit: 0 },
    ])
  })

  test('L9: -o ndjson prints changes as they come and one result', async () => {
    const { out } = await play('pr wait 7 --interval 2s -o ndjson', { pulls: { 7: walk } })
    const documents = documentsIn(out)
    expect(documents.map(({ type, from, to, outcome }) => [type, from ?? outcome, to])).toEqual([
      ['change', undefined, 'NOT_READY'],
      ['change', 'NOT_READY', 'PENDING'],
      ['change', 'PENDING', 'TESTING'],
      ['change', 'TESTING', 'TESTS_PASSED'],
      ['change', 'TESTS_PASSED', 'MERGED'],
      ['result', 'merged', undefined],
    ])
    expect(documents[0]).toEqual({
      type: 'change',
      pr: 7,
      from: null,
      to: 'NOT_READY',
      at: '2026-01-05T12:00:00.000Z',
      position: null,
    })
  })

  test('G3: an unknown state is shown as it is, warned of once and waited out', async () => {
    const course: Course = [
      [0, 'TESTING'],
      [2, 'puzzled'],
      [4, 'TESTING'],
      [6, 'puzzled'],
      [8, 'MERGED'],
    ]
    const { code, err } = await play('pr wait 7 --interval 2s', { pulls: { 7: course } })
    expect(code).toBe(0)
    expect(err.match(/puzzled is a state that mergeq does not know/g)).toHaveLength(1)
    expect(err.match(/-> puzzled/g)).toHaveLength(2)
  })

  const ends = (last: string): Course => [
    [0, 'TESTING'],
    [2, last],
  ]
  const passes: Course = [
    [0, 'PENDING'],
    [3, 'TESTING'],
    [3.5, 'MERGED'],
  ]
  const until: readonly (readonly [state: string, Course, exit: number, row: string])[] = [
    ['testing', walk, 0, 'reached\tTESTING\t4'],
    ['testing', passes, 0, 'reached\tMERGED\t4'],
    ['tests-passed', walk, 0, 'reached\tTESTS_PASSED\t6'],
    ['tests-passed', ends('FAILED'), 3, 'failed\tFAILED\t2'],
    ['left', walk, 0, 'left\tMERGED\t8'],
    ['left', ends('FAILED'), 0, 'left\tFAILED\t2'],
    ['left', ends('CANCELLED'), 0, 'left\tCANCELLED\t2'],
  ]
  test.each(until)('--until %s of %j: %i', async (state, course, exit, row) => {
    const { code, out } = await play(`pr wait 7 --interval 2s --until ${state}`, { pulls: { 7: course } })
    expect({ code, out }).toEqual({ code: exit, out: `7\t${row}\n` })
  })

  test('PENDING_FAILURE for an hour is no failure', async () => {
    const course: Course = [
      [0, 'TESTING'],
      [60, 'PENDING_FAILURE'],
      [3_660, 'MERGED'],
    ]
    const { code, out } = await play('pr wait 7 --timeout 2h', { pulls: { 7: course } })
    expect({ code, row: out.split('\t').slice(0, 3) }).toEqual({ code: 0, row: ['7', 'merged', 'MERGED'] })
  })

  test('--timeout 0 asks once', async () => {
    const { code, out, operations } = await play('pr wait 7 --timeout 0', { pulls: { 7: [[0, 'TESTING']] } })
    expect({ code, out, operations }).toEqual({
      code: 8,
      out: '7\tpending\tTESTING\t0\n',
      operations: ['getSubmittedPullRequest'],
    })
    expect((await play('pr wait 7 --timeout 0', { pulls: { 7: [[0, 'MERGED']] } })).code).toBe(0)
    const broken = await play('pr wait 7 --timeout 0 --retries 1', {
      pulls: {},
      fault: () => ({ status: 503 }),
    })
    expect({ code: broken.code, asked: broken.asked.length }).toEqual({ code: 7, asked: 2 })
  })

  test('L4: a service that never answers does not hold it longer', async () => {
    await withFaults({ script: { getSubmittedPullRequest: unapplied(hangs) } }, async server => {
      const { code, out, took } = await launch(server, 'pr wait 7 --timeout 1s')
      expect({ code, out }).toEqual({ code: 124, out: '7\ttimed-out\t\t1\n' })
      expect(took).toBeLessThan(4_000)
    })
  })

  test('the wait ends after an hour where nothing else is said', async () => {
    const { code, seconds } = await play('pr wait 7', { pulls: { 7: [[0, 'TESTING']] } })
    expect({ code, seconds }).toEqual({ code: 124, seconds: 3_600 })
  })

  test('--interval auto: 60 s not ready, 30 s pending, 10 s testing, doubled after errors', async () => {
    const course: Course = [
      [0, 'NOT_READY'],
      [60, 'PENDING'],
      [90, 'TESTING'],
      [130, 'MERGED'],
    ]
    const { code, asked } = await play('pr wait 7', {
      pulls: { 7: course },
      fault: second => (second === 100 ? { status: 503 } : undefined),
    })
    expect({ code, seconds: asked.map(({ second }) => second) }).toEqual({
      code: 0,
      seconds: [0, 60, 90, 100, 120, 130],
    })
  })

  test('--grace: not found means not there yet, and after it that it is not there', async () => {
    const late = await play('pr wait 7 --interval 10s', {
      pulls: {
        7: [
          [30, 'TESTING'],
          [50, 'MERGED'],
        ],
      },
    })
    expect({ code: late.code, seconds: late.seconds }).toEqual({ code: 0, seconds: 50 })
    const never = await play('pr wait 7 --interval 10s --json', { pulls: {} })
    expect({ code: never.code, seconds: never.seconds }).toEqual({ code: 5, seconds: 90 })
    expect(documentsIn(never.out)).toEqual([
      { type: 'result', pr: 7, outcome: 'error', state: null, elapsedSeconds: 90, exit: 5 },
    ])
    expect(JSON.parse(never.err.trimEnd().split('\n').at(-1) ?? '').error).toMatchObject({ exit: 5 })
    const short = await play('pr wait 7 --interval 10s --grace 0', { pulls: {} })
    expect({ code: short.code, seconds: short.seconds }).toEqual({ code: 5, seconds: 0 })
  })

  test('--match-head: a head that moves', async () => {
    const course: Course = [
      [0, 'TESTING', { prSha: '4f2a9c1d00' }],
      [4, 'TESTING', { prSha: 'aaaa9c1d00' }],
    ]
    const { code, out } = await play('pr wait 7 --interval 2s --match-head 4f2a9c1', { pulls: { 7: course } })
    expect({ code, out }).toEqual({ code: 14, out: '7\tstale\tTESTING\t4\n' })
  })

  test('--match-head HEAD is the commit of the checkout', async () => {
    const head = '4f2a9c1d00112233445566778899aabbccddeeff'
    const spawn = (_: string, args: readonly string[]) =>
      args.includes('rev-parse') && args.includes('HEAD')
        ? { code: 0, out: `${head}\n` }
        : { code: 1, out: '' }
    const line = 'pr wait 7 --interval 2s --match-head HEAD'
    const ways = [
      [head, 0],
      ['bbbb', 14],
    ] as const
    for (const [prSha, exit] of ways) {
      const pulls = {
        7: [
          [0, 'TESTING', { prSha }],
          [2, 'MERGED', { prSha }],
        ] as const,
      }
      expect((await play(line, { pulls, setting: { spawn } })).code).toBe(exit)
    }
    const nowhere = await play(line, { pulls: { 7: walk } })
    expect({ code: nowhere.code, asked: nowhere.asked }).toEqual({ code: 2, asked: [] })
  })

  test('--match-head where the service does not say the head: said once', async () => {
    const { code, err } = await play('pr wait 7 --interval 2s --match-head 4f2a', { pulls: { 7: walk } })
    expect({ code, said: err.match(/--match-head is not checked/g)?.length }).toEqual({ code: 0, said: 1 })
  })

  test('--max-errors in a row end it with the code of the last; a good answer begins the count anew', async () => {
    const on = (second: number) =>
      second >= 10 ? { status: second === 16 ? 400 : 503, body: 'no' } : undefined
    const { code, out, err } = await play('pr wait 7 --interval 2s --max-errors 4', {
      pulls: { 7: [[0, 'TESTING']] },
      fault: second => (second === 2 || second === 4 || second === 6 ? { status: 500 } : on(second)),
    })
    expect({ code, out }).toEqual({ code: 6, out: '7\terror\tTESTING\t16\n' })
    expect(err).toMatch(/\(3 in a row; 4 end the wait\)/)
  })

  test('502 for three minutes in the middle', async () => {
    const { code, out } = await play('pr wait 7', {
      pulls: {
        7: [
          [0, 'TESTING'],
          [300, 'MERGED'],
        ],
      },
      fault: second =>
        second >= 30 && second < 210 ? { status: 502, body: '<html>Bad Gateway</html>' } : undefined,
    })
    expect({ code, row: out.split('\t').slice(0, 3) }).toEqual({ code: 0, row: ['7', 'merged', 'MERGED'] })
  })

  test('no poll before the time that Retry-After asks for', async () => {
    const { code, asked } = await play('pr wait 7 --interval 1s', {
      pulls: { 7: [[0, 'MERGED']] },
      fault: second => (second === 0 ? { status: 429, headers: { 'retry-after': '30' } } : undefined),
    })
    expect({ code, seconds: asked.map(({ second }) => second) }).toEqual({ code: 0, seconds: [0, 30] })
  })

  const queue = [
    [0, 'running'],
    [20, 'paused'],
    [100, 'running'],
  ] as const
  const held: Course = [
    [0, 'PENDING'],
    [120, 'MERGED'],
  ]
  test('a queue that is paused in the middle is said once, with what its state says of the position', async () => {
    const { code, err } = await play('pr wait 7 --interval 5s', { pulls: { 7: held }, queue })
    expect(code).toBe(0)
    expect(err.match(/The queue of main in github.com\/acme\/web is PAUSED/g)).toHaveLength(1)
  })

  test.each(['pr wait 7', 'pr wait 7 8'])('%s --fail-on-paused ends with 8', async line => {
    const pulls = { 7: held, 8: [[0, 'MERGED']] as const }
    const { code, out, seconds } = await play(`${line} --interval 5s --fail-on-paused`, { pulls, queue })
    expect({ code, seconds }).toEqual({ code: 8, seconds: 20 })
    expect(out).toMatch(/^7\tpending\tPENDING\t20\n/)
  })

  test('a sign of life every five minutes, elsewhere than on a terminal, unless -q', async () => {
    const course: Course = [
      [0, 'TESTING'],
      [900, 'MERGED'],
    ]
    const pulls = { 7: course }
    const signs = async (line: string, setting: Setting = {}) =>
      (await play(line, { pulls, setting })).err.match(/^Still waiting.*$/gm)
    expect(await signs('pr wait 7 --interval 7m')).toEqual([
      'Still waiting after 5 minutes for #7: TESTING',
      'Still waiting after 10 minutes for #7: TESTING',
      'Still waiting after 15 minutes for #7: TESTING',
      'Still waiting after 20 minutes for #7: TESTING',
    ])
    expect(await signs('pr wait 7 -q')).toBe(null)
    expect(await signs('pr wait 7', { terminal: true })).toBe(null)
  })

  test('on a terminal the result is a sentence', async () => {
    const { out } = await play('pr wait 7 --interval 2s --color never', {
      pulls: { 7: walk },
      setting: { terminal: true },
    })
    expect(out).toBe('#7 was merged after 8 s (MERGED).\n')
  })

  test('L8: the binary, stopped while several are read', async () => {
    const script = ({ operation }: { readonly operation: string }) =>
      operation === 'getQueue' ? works : unapplied(hangs)
    await withFaults({ script }, async server => {
      const { code, out, err } = await launch(server, 'pr wait 7 8 9', {
        started: kill => {
          const timer = setInterval(() => {
            if (server.log.length < 4) return
            clearInterval(timer)
            setTimeout(() => kill('SIGINT'), 100)
          }, 10)
        },
      })
      expect({ code, out }).toEqual({ code: 130, out: '' })
      expect(err).toMatch(/^mergeq: stopped by SIGINT.*\n/)
      expect(err).toMatch(/What is in the queue stays there\. To cancel:\n *mergeq pr cancel 7 8 9 /)
    })
  })

  test('--dry-run prints the first request', async () => {
    for (const [line, operation] of [
      ['pr wait 7', 'getSubmittedPullRequest'],
      ['pr wait 7 8', 'getQueue'],
    ]) {
      const { code, out, asked } = await play(`${line} --dry-run`, { pulls: {} })
      expect({ code, operation: JSON.parse(out).operation, asked }).toEqual({ code: 0, operation, asked: [] })
    }
  })

  test.each([
    ['pr wait 7 --until somewhere', /--until/],
    ['pr wait 7 --max-errors 0', /--max-errors/],
    ['pr wait 7 --interval 25d', /--interval.*day/],
    ['pr wait 7 8 --match-head 4f2a --dry-run', /--match-head/],
    ['pr submit 7 8 --wait --match-head 4f2a --dry-run', /--match-head/],
    ['pr wait 7 --grace 5', /--grace/],
    ['pr wait 7 --match-head main', /--match-head/],
    ['pr wait 7 8 --match-head 4f2a', /--match-head/],
    ['pr submit 7 8 --wait --match-head 4f2a', /--match-head/],
    ['pr submit 7 --until testing', /--until.*\n.*--wait/],
    ['pr submit 7 --fail-on-paused', /--fail-on-paused.*\n.*--wait/],
  ])('%s is refused before anything is sent', async (line, why) => {
    const { code, err, asked } = await play(line, { pulls: { 7: walk } })
    expect({ code, asked }).toEqual({ code: 2, asked: [] })
    expect(err).toMatch(why)
  })
})

describe('several pull requests', () => {
  test('they end differently: results in the order given, the worst code wins', async () => {
    const pulls = {
      7: [
        [0, 'TESTING'],
        [6, 'MERGED'],
      ] as const,
      8: [
        [0, 'TESTING'],
        [2, 'FAILED'],
      ] as const,
      9: [
        [0, 'NOT_READY'],
        [4, 'CANCELLED'],
      ] as const,
      10: [[0, 'TESTING']] as const,
    }
    const { code, out, err } = await play('pr wait 7 8 9 10 --interval 2s --timeout 10s', { pulls })
    expect({ code, out }).toEqual({
      code: 3,
      out: '7\tmerged\tMERGED\t6\n8\tfailed\tFAILED\t2\n9\tcancelled\tCANCELLED\t4\n10\ttimed-out\tTESTING\t10\n',
    })
    expect(err).toMatch(/^#7 TESTING, position 1$/m)
    const { out: lines } = await play('pr wait 7 8 9 10 --interval 2s --timeout 10s -o ndjson', { pulls })
    const results = documentsIn(lines).filter(({ type }) => type === 'result')
    expect(results.map(({ pr, exit }) => [pr, exit])).toEqual([
      [8, 3],
      [9, 10],
      [7, 0],
      [10, 124],
    ])
  })

  test('50 pull requests cost one getQueue a round and one read for each that is not in it', async () => {
    const numbers = Array.from({ length: 50 }, (_, index) => index + 1)
    // The first five are not ready for the first two rounds.
    const pulls = Object.fromEntries(
      numbers.map(number => [
        number,
        [
          [0, number <= 5 ? 'NOT_READY' : 'PENDING'],
          [20, 'TESTING'],
          [40, 'MERGED'],
        ] as const,
      ]),
    )
    const { code, asked } = await play(`pr wait ${numbers.join(' ')} --interval 10s`, { pulls })
    expect(code).toBe(0)
    const rounds = [0, 10, 20, 30, 40].map(second => {
      const those = asked.filter(one => one.second === second)
      return [
        those.filter(({ operation }) => operation === 'getQueue').length,
        those.filter(({ operation }) => operation === 'getSubmittedPullRequest').length,
      ]
    })
    expect(rounds).toEqual([
      [1, 5],
      [1, 5],
      [1, 0],
      [1, 0],
      [1, 50],
    ])
    expect(asked).toHaveLength(65)
  })

  test.each([404, 400])('a queue that answers %i is done without', async status => {
    const pulls = { 7: walk, 8: walk }
    const { code, err, operations } = await play('pr wait 7 8 --interval 2s', {
      pulls,
      fault: (_, operation) => (operation === 'getQueue' ? { status, body: 'no' } : undefined),
    })
    expect({ code, queues: operations.filter(one => one === 'getQueue').length }).toEqual({
      code: 0,
      queues: 1,
    })
    expect(err).toMatch(/Reading each pull request by itself/)
  })

  test('L6: a token that may not read the queue ends the wait', async () => {
    const { code, asked } = await play('pr wait 7 8 --interval 2s', {
      pulls: { 7: walk, 8: walk },
      fault: (_, operation) => (operation === 'getQueue' ? { status: 403, body: 'no' } : undefined),
    })
    expect({ code, asked: asked.length }).toEqual({ code: 4, asked: 1 })
  })

  test.each([
    [404, /^mergeq: .*a pause of the queue is not noticed\.\n$/],
    [500, /^mergeq: .*A pause of the queue is not noticed while that lasts\.\n$/],
  ])('--fail-on-paused with a queue that answers %i: one warning, also with -q', async (status, warning) => {
    const { code, err } = await play('pr wait 7 --interval 2s --fail-on-paused -q', {
      pulls: { 7: walk },
      fault: (_, operation) => (operation === 'getQueue' ? { status } : undefined),
    })
    expect(code).toBe(0)
    expect(err).toMatch(warning)
  })

  test('no reading is begun once the time is over, however many there are', async () => {
    const clock = { now: noon }
    const numbers = Array.from({ length: 20 }, (_, index) => index + 1)
    const { code, out, requests } = await mergeq(`pr wait ${numbers.join(' ')} --timeout 5s`, {
      env,
      clock,
      answer: ({ path }) => {
        clock.now += 1_000
        return { body: path.endsWith('/getQueue') ? '{}' : '{"state":"TESTING"}' }
      },
    })
    expect({ code, lines: out.match(/timed-out/g)?.length }).toEqual({ code: 124, lines: 20 })
    // Four are under way when it ends.
    expect(requests.length).toBeLessThanOrEqual(5 + 4)
  })

  test('one that stands still is told of its queue, and goes on where that fails', async () => {
    const { code } = await play('pr wait 7 --interval 10s', {
      pulls: {
        7: [
          [0, 'PENDING'],
          [300, 'MERGED'],
        ],
      },
      fault: (_, operation) => (operation === 'getQueue' ? { status: 500 } : undefined),
    })
    expect(code).toBe(0)
  })

  test('a token that is revoked ends all of them, and is told once', async () => {
    const { code, out, err, seconds } = await play('pr wait 7 8 9 --interval 2s --json', {
      pulls: { 7: walk, 8: [[0, 'MERGED']], 9: walk },
      fault: second => (second === 4 ? { status: 401 } : undefined),
    })
    expect({ code, seconds }).toEqual({ code: 4, seconds: 4 })
    expect(documentsIn(out).map(({ pr, outcome, exit }) => [pr, outcome, exit])).toEqual([
      [7, 'error', 4],
      [8, 'merged', 0],
      [9, 'error', 4],
    ])
    expect(err.match(/"kind":"auth"/g)).toHaveLength(1)
  })

  test('--stop-on-error: the first that fails ends the waiting for the rest', async () => {
    const { code, out } = await play('pr wait 7 8 --interval 2s --stop-on-error', {
      pulls: {
        7: walk,
        8: [
          [0, 'TESTING'],
          [4, 'FAILED'],
        ],
      },
    })
    expect({ code, out }).toEqual({ code: 3, out: '7\tpending\tTESTING\t4\n8\tfailed\tFAILED\t4\n' })
  })
})

describe('pr submit --wait', () => {
  test('the record of the last attempt is no answer', async () => {
    const old = { stateChangedAt: '2026-01-05T11:00:00.000Z', isCurrentlySubmittedToQueue: false }
    const course: Course = [
      [0, 'FAILED', old],
      [4, 'PENDING'],
      [6, 'MERGED'],
    ]
    const { code, out, operations } = await play('pr submit 7 --wait --interval 2s', { pulls: { 7: course } })
    expect({ code, out }).toEqual({ code: 0, out: '7\tmerged\tMERGED\t6\n' })
    expect(operations.slice(0, 3)).toEqual([
      'getSubmittedPullRequest',
      'submitPullRequest',
      'getSubmittedPullRequest',
    ])
  })

  test('where nothing but the last attempt ever shows, it says so', async () => {
    const course: Course = [[-3_600, 'FAILED']]
    const { code, err, seconds } = await play('pr submit 7 --wait --interval 10s', { pulls: { 7: course } })
    expect({ code, seconds }).toEqual({ code: 5, seconds: 90 })
    expect(err).toMatch(/#7 was submitted, but .* only its earlier attempt: FAILED since 2026-01-05T11:00:00/)
  })

  test('a new failure of the new attempt is an answer, even within a moment', async () => {
    const course: Course = [
      [-3_600, 'FAILED'],
      [2, 'FAILED'],
    ]
    const { code } = await play('pr submit 7 --wait --interval 2s', { pulls: { 7: course } })
    expect(code).toBe(3)
  })

  test.each(['FAILED', 'CANCELLED', 'MERGED'])(
    'a record that was %s before the submission is no answer, also where the reading before showed nothing of it',
    async ending => {
      for (const skew of [0, 3_600_000, -3_600_000]) {
        const clock = { now: noon + 3_700_000 }
        const old = { state: ending, stateChangedAt: new Date(noon + skew).toISOString(), prNumber: 7 }
        const [submitted, merged] = [clock.now, clock.now + 40_000]
        let reads = 0
        const { code, out } = await mergeq('pr submit 7 --wait --interval 5s --json', {
          clock,
          env,
          answer(seen) {
            const headers = { date: new Date(clock.now + skew).toUTCString() }
            if (seen.path.endsWith('/submitPullRequest')) return { headers, body: 'OK' }
            if (reads++ === 0) return { headers, status: 404, body: 'Not Found' }
            const isOld = clock.now < submitted + 12_000
            const state = clock.now < merged ? 'TESTING' : 'MERGED'
            const at = clock.now < merged ? submitted + 1_000 : merged
            const record = { state, stateChangedAt: new Date(at + skew).toISOString(), prNumber: 7 }
            return { headers, body: JSON.stringify(isOld ? old : record) }
          },
        })
        expect({ code, ...documentsIn(out).at(-1) }).toMatchObject({
          code: 0,
          outcome: 'merged',
          elapsedSeconds: 40,
        })
      }
    },
  )

  test('--until testing: what was under test before the submission may be an earlier attempt', async () => {
    const { code, out } = await play('pr submit 7 --wait --interval 2s --until testing', {
      pulls: {
        7: [
          [-60, 'TESTING'],
          [4, 'PENDING'],
          [8, 'TESTING'],
        ],
      },
    })
    expect({ code, out }).toEqual({ code: 0, out: '7\treached\tTESTING\t8\n' })
    const queued = await play('pr submit 7 --wait --interval 2s --until testing', {
      pulls: { 7: [[-60, 'TESTING']] },
    })
    expect({ code: queued.code, out: queued.out }).toEqual({ code: 0, out: '7\treached\tTESTING\t10\n' })
  })

  test('an end whose date does not settle whether it is newer is believed once readings must have caught up', async () => {
    const clock = { now: noon }
    const { code, out } = await mergeq('pr submit 7 --wait --interval 2s --json', {
      clock,
      env,
      answer({ path }, index) {
        const headers = { date: new Date(clock.now).toUTCString() }
        if (path.endsWith('/submitPullRequest')) return { headers, body: 'OK' }
        if (index === 0) return { headers, status: 404, body: 'Not Found' }
        const stateChangedAt = new Date(noon).toISOString()
        return { headers, body: JSON.stringify({ state: 'MERGED', stateChangedAt }) }
      },
    })
    const result = { code, ...documentsIn(out).at(-1) }
    expect(result).toMatchObject({ code: 0, outcome: 'merged', elapsedSeconds: 10 })
  })

  test('one that is refused has its result, and the others are waited for', async () => {
    let submits = 0
    const { code, out, err } = await play('pr submit 7 8 --wait --interval 2s --json', {
      pulls: { 7: walk, 8: walk },
      fault: (_, operation) =>
        operation === 'submitPullRequest' && submits++ === 0 ? { status: 422, body: 'no' } : undefined,
    })
    expect(code).toBe(6)
    expect(documentsIn(out).map(({ pr, outcome, exit }) => [pr, outcome, exit])).toEqual([
      [7, 'error', 6],
      [8, 'merged', 0],
    ])
    expect(JSON.parse(err.trimEnd().split('\n').at(-1) ?? '').error).toMatchObject({ exit: 6 })
  })

  test('L4: --timeout bounds the reading before, too, where the service is silent', async () => {
    await withFaults({ script: { getSubmittedPullRequest: unapplied(hangs) } }, async server => {
      const { code, out, took } = await launch(server, 'pr submit 7 --wait --timeout 1s')
      expect({ code, out }).toEqual({ code: 7, out: '7\terror\t\t1\n' })
      expect(took).toBeLessThan(4_000)
      expect(server.log).toHaveLength(1)
    })
  })

  test('--timeout bounds the submissions: none is begun once it is over', async () => {
    const clock = { now: noon }
    const { code, out, err, requests } = await mergeq('pr submit 7 8 9 --wait --timeout 5s --json', {
      env,
      clock,
      answer: ({ path }) => {
        if (path !== '/v1/submitPullRequest') return { status: 404 }
        clock.now += 3_000
        return { body: 'OK' }
      },
    })
    expect(code).toBe(124)
    expect(documentsIn(out).map(({ pr, outcome }) => [pr, outcome])).toEqual([
      [7, 'timed-out'],
      [8, 'timed-out'],
      [9, 'error'],
    ])
    expect(err).toMatch(/over before #9 was submitted/)
    expect(requests.filter(({ path }) => path === '/v1/submitPullRequest')).toHaveLength(2)
  })

  test('--timeout is the whole wait, not the limit of the submission', async () => {
    const { code, operations } = await play('pr submit 7 --wait --timeout 0', { pulls: { 7: walk } })
    expect({ code, operations }).toEqual({
      code: 8,
      operations: ['getSubmittedPullRequest', 'submitPullRequest', 'getSubmittedPullRequest'],
    })
  })
})

describe.each(dialects)('stories in the %s dialect', dialect => {
  const endings: readonly (readonly [string, string, number, string])[] = [
    ['happy', '--interval 1s', 0, 'merged\tMERGED'],
    ['flaky', '--interval 1s', 0, 'merged\tMERGED'],
    ['failure', '--interval 1s', 3, 'failed\tFAILED'],
    ['cancelled', '--interval 1s', 10, 'cancelled\tCANCELLED'],
    ['slow', '', 0, 'merged\tMERGED'],
    ['failure', '--interval 1s --until left', 0, 'left\tFAILED'],
    ['happy', '--interval 1s --until testing', 0, 'reached\tTESTING'],
    ['paused', '--interval 1s --timeout 5s', 124, 'timed-out\tPENDING'],
    ['paused', '--interval 1s --fail-on-paused', 8, 'pending\t'],
    ['happy', '--timeout 0', 8, 'pending\t'],
  ]
  test.each(endings)('%s: pr submit 9 --wait %s ends with %i', async (scenario, flags, exit, row) => {
    const story = await openStory({ dialect, scenario })
    try {
      const { code, out } = await story.mergeq(`pr submit 9 --wait ${flags}`)
      expect({ code, out }).toEqual({ code: exit, out: expect.stringContaining(`9\t${row}`) })
    } finally {
      await story.close()
    }
  })

  test('a resubmission whose last attempt was cancelled', async () => {
    const story = await openStory({ dialect })
    try {
      await story.mergeq('pr submit 9')
      story.clock.now += 500
      await story.mergeq('pr cancel 9')
      story.clock.now += 5_000
      expect((await story.mergeq('pr wait 9')).code).toBe(10)
      const { code, out } = await story.mergeq('pr submit 9 --wait --interval 1s')
      expect({ code, out }).toEqual({ code: 0, out: expect.stringMatching(/^9\tmerged\tMERGED\t\d+\n$/) })
    } finally {
      await story.close()
    }
  })

  test('an outage in the middle', async () => {
    const story = await openStory({ dialect, scenario: 'outage' })
    try {
      expect((await story.mergeq('pr submit 9')).code).toBe(0)
      const { code, err } = await story.mergeq('pr wait 9 --interval 1s')
      expect(code).toBe(0)
      expect(err).toMatch(/\(503\).*Still waiting\./)
    } finally {
      await story.close()
    }
  })

  test('several that end differently', async () => {
    const story = await openStory({ dialect, scenario: 'failure' })
    try {
      const { code, out } = await story.mergeq('pr submit 7 9 11 --wait --interval 1s')
      expect(code).toBe(3)
      expect(out).toMatch(/^7\tmerged\tMERGED\t\d+\n9\tfailed\tFAILED\t\d+\n11\tmerged\tMERGED\t\d+\n$/)
    } finally {
      await story.close()
    }
  })
})
