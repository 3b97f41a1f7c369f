import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../src/base/json.ts'
import { liveLine } from '../../src/commands/pr/shared/wait/screen.ts'
import { milestones, type WaitOutcome } from '../../src/domain/states.ts'
import { plainText } from '../../src/output/styled-text.ts'
import { textWidth } from '../../src/output/text-width.ts'
import { parseRepository } from '../../src/values/repository.ts'
import { automaticDelay, backOff } from '../../src/wait/poll.ts'
import { describeEnd } from '../../src/wait/results.ts'
import type { TrackedPullRequest, WaitEnd, WaitOptions } from '../../src/wait/wait-state.ts'
import { noon } from '../support/harness.ts'
import type { Json } from '../support/pr-wait.ts'
import { judge, trackedAs, type WaitState } from '../support/wait-life.ts'

describe('what a reading means', () => {
  const record = (state: string, more: Json = {}) => ({
    id: '0b9f',
    state,
    stateChangedAt: '2026-01-05T12:00:00.000Z',
    timeline: [],
    ...more,
  })
  const at = (ms: number) => ({ at: noon + ms, waited: ms })
  const submitted = { isCurrentlySubmittedToQueue: true }
  const left = { isCurrentlySubmittedToQueue: false }
  const judged = (
    observation: { readonly record?: ReturnType<typeof record> | undefined; readonly position?: number },
    aim: Partial<WaitOptions> = {},
    known: WaitState = {},
  ) =>
    judge(known, { record: undefined, ...at(0), ...observation } as Parameters<typeof judge>[1], {
      until: 'merged',
      grace: 90_000,
      ...aim,
    }).outcome

  /** The outcome of a wait until each milestone; the wait goes on where none is named. */
  type Outcomes = Partial<Readonly<Record<(typeof milestones)[number], WaitOutcome>>>
  const settled: readonly (readonly [state: string, more: Json, outcomes: Outcomes])[] = [
    ['PENDING', submitted, {}],
    ['TESTING', submitted, { testing: 'reached' }],
    ['PENDING_FAILURE', submitted, { testing: 'reached' }],
    ['TESTS_PASSED', submitted, { 'tests-passed': 'reached', testing: 'reached' }],
    ['MERGED', left, { merged: 'merged', 'tests-passed': 'reached', testing: 'reached', left: 'left' }],
    ['merged', {}, { merged: 'merged', 'tests-passed': 'reached', testing: 'reached', left: 'left' }],
    ['FAILED', submitted, {}],
    ['FAILED', left, { merged: 'failed', 'tests-passed': 'failed', testing: 'failed', left: 'left' }],
    ['FAILED', {}, { merged: 'failed', 'tests-passed': 'failed', testing: 'failed', left: 'left' }],
    ['CANCELLED', submitted, {}],
    [
      'cancelled',
      left,
      { merged: 'cancelled', 'tests-passed': 'cancelled', testing: 'cancelled', left: 'left' },
    ],
    ['PUZZLED', submitted, {}],
    ['PUZZLED', left, { left: 'left' }],
  ]
  test.each(settled)('%s with %j', (state, more, outcomes) => {
    const found = milestones.map(until => [until, judged({ record: record(state, more) }, { until })])
    expect(Object.fromEntries(found)).toEqual(outcomes)
  })

  test('a pull request that the queue lists is submitted, in any state', () => {
    expect(judged({ record: record('FAILED'), position: 1 })).toBe(undefined)
    expect(judged({ record: record('TESTING'), position: 1 }, { until: 'testing' })).toBe('reached')
  })

  const heads: readonly (readonly [string, string | undefined, WaitOutcome | undefined])[] = [
    ['4f2a9c1', '4f2a9c1d00', undefined],
    ['4F2A', '4f2a9c1d00', undefined],
    ['4f2a9c1d00', '4f2a', undefined],
    ['4f2a', '4f2b9c1d00', 'stale'],
    ['4f2a', undefined, undefined],
  ]
  test.each(heads)('the requested head commit is %s, the current one %s', (head, prSha, outcome) => {
    const there = record('TESTING', { ...submitted, ...(prSha && { prSha }) })
    expect(judged({ record: there }, { head })).toBe(outcome)
  })

  test('a finished record that was there before is as good as not found, until the attempt shows', () => {
    const before = record('FAILED', left)
    const aim = { until: 'merged', grace: 90_000 } as const
    const first = judge({ recordBeforeSubmit: before }, { record: before, ...at(0) }, aim)
    expect(first).toMatchObject({
      state: { recordBeforeSubmit: before, missingSince: 0, unchanged: 0 },
    })
    expect(first.change).toBeUndefined()
    expect(judge(first.state, { record: before, ...at(90_000) }, aim).outcome).toBe('error')
    const shown = judge(first.state, { record: record('PENDING', submitted), ...at(1_000) }, aim)
    expect(judge(shown.state, { record: before, ...at(2_000) }, aim).outcome).toBeUndefined()
    for (const other of [
      record('FAILED', { ...left, id: 'other' }),
      record('FAILED', { ...left, stateChangedAt: '2026-01-05T12:00:01.000Z' }),
      record('CANCELLED', left),
    ])
      expect(judge(first.state, { record: other, ...at(0) }, aim).outcome).toBeDefined()
    const older = record('MERGED', { ...left, stateChangedAt: '2026-01-05T11:00:00.000Z' })
    expect(judge(first.state, { record: older, ...at(0) }, aim).outcome).toBeUndefined()
    expect(judge(first.state, { record: older, ...at(90_000) }, aim).outcome).toBe('error')
  })

  test('a record that is older than one before it changes nothing, however often it is read', () => {
    const aim = { until: 'merged', grace: 90_000 } as const
    const later = { ...submitted, stateChangedAt: '2026-01-05T12:00:30.000Z' }
    const { state } = judge({}, { record: record('TESTING', later), ...at(30_000) }, aim)
    for (const [older, ms] of [
      [record('PENDING', submitted), 40_000],
      [record('FAILED', left), 50_000],
      [record('FAILED', left), 200_000],
    ] as const) {
      const { outcome, change, ...judged } = judge(state, { record: older, ...at(ms) }, aim)
      expect(judged).toMatchObject({ state: { state: 'TESTING' }, isOutdated: true })
      expect([outcome, change]).toEqual([undefined, undefined])
    }
  })

  test('a record of the previous submission does not count, even after the queue listed it', () => {
    const before = record('FAILED', { ...left, prSha: 'aaaa111' })
    const aim = { until: 'merged', grace: 90_000, head: 'bbbb222' } as const
    const first = judge({ recordBeforeSubmit: before }, { record: before, ...at(0) }, aim)
    expect(first.outcome).toBeUndefined()
    const listed = judge(first.state, { record: { state: 'PENDING' }, position: 1, ...at(1_000) }, aim)
    const again = judge(listed.state, { record: before, ...at(2_000) }, aim)
    expect(again.outcome).toBeUndefined()
    const merged = { ...left, prSha: 'bbbb222', stateChangedAt: '2026-01-05T12:00:03.000Z' }
    const last = judge(again.state, { record: record('MERGED', merged), ...at(3_000) }, aim)
    expect(last).toMatchObject({ change: { from: 'PENDING', to: 'MERGED' }, outcome: 'merged' })
    // Without the moment nothing tells the two apart: then what the queue lists is the end of the old one.
    const { stateChangedAt: _, ...bare } = before
    const seen = judge(
      { recordBeforeSubmit: bare },
      { record: { state: 'PENDING' }, position: 1, ...at(0) },
      aim,
    )
    expect(judge(seen.state, { record: { ...bare, prSha: 'bbbb222' }, ...at(0) }, aim).outcome).toBe('failed')
  })

  test('a state from before the submission does not count, by the clock of the service', () => {
    const aim = { until: 'merged', grace: 90_000 } as const
    const submission = { from: noon, to: noon + 500 }
    for (const state of ['FAILED', 'CANCELLED'])
      for (const skew of [0, 3_600_000, -3_600_000])
        for (const isUncertain of [false, true]) {
          /** The outcome of each of several readings, a second apart, the first one at `at`. */
          const outcomesAt = (at: number, changedAt: number, readings = 1) => {
            const stateChangedAt = new Date(changedAt + skew).toISOString()
            let state_: WaitState = { submission: { ...submission, isUncertain } }
            return Array.from({ length: readings }, (_, index) => {
              const now = at + index * 1_000
              const date = Math.floor((now + skew) / 1_000) * 1_000
              const reading = { record: record(state, { stateChangedAt }), at: now, waited: 0, date }
              const judged = judge(state_, reading, aim)
              state_ = judged.state
              return judged.outcome
            })
          }
          const outcome = state.toLowerCase()
          expect(outcomesAt(noon + 60_000, noon - 60_000, 4)).toEqual(Array(4).fill(undefined))
          // The response may have come later than the end.
          expect(outcomesAt(noon + 5_000, noon + 2_000)).toEqual([outcome])
          // In the second of the sending it may be older: three readings must show it.
          expect(outcomesAt(noon + 5_000, noon, 3)).toEqual([undefined, undefined, outcome])
        }
  })

  test('an end that may be of the second before the sending does not show that a submission was made', () => {
    const aim = { until: 'merged', grace: 90_000 } as const
    const stateChangedAt = new Date(noon - 1_000).toISOString()
    /** After how many milliseconds the end counts; the responses take 20 ms, so that the second of the sending is open. */
    const countsAfter = (isUncertain: boolean): number | undefined => {
      const submission = { from: noon + 20, to: noon + 500, isUncertain }
      const recordBeforeSubmit = record('TESTS_PASSED', {
        stateChangedAt: new Date(noon - 3_600_000).toISOString(),
      })
      let state: WaitState = { submission, recordBeforeSubmit }
      for (let askedAt = noon + 1_000; askedAt < noon + 60_000; askedAt += 1_000) {
        const times = { askedAt: askedAt + 30, at: askedAt + 50, date: askedAt, waited: askedAt - noon }
        const judged = judge(state, { record: record('FAILED', { stateChangedAt }), ...times }, aim)
        if (judged.outcome !== undefined) return askedAt - noon
        state = judged.state
      }
      return undefined
    }
    expect(countsAfter(false)).toBe(11_000)
    expect(countsAfter(true)).toBeUndefined()
  })

  test('a merge counts, whenever it was, unless it is of another head', () => {
    const aim = { until: 'merged', grace: 90_000 } as const
    const state = {
      submission: { from: noon, to: noon },
      recordBeforeSubmit: record('PENDING', { stateChangedAt: new Date(noon - 60_000).toISOString() }),
    }
    const merged = (changedAt: number, more = {}) => {
      const stateChangedAt = new Date(changedAt).toISOString()
      const reading = {
        record: record('MERGED', { stateChangedAt, prSha: 'abc1234', ...more }),
        at: noon + 1_000,
      }
      return { ...reading, waited: 0, date: noon + 1_000 }
    }
    expect(judge(state, merged(noon - 5_000), aim).outcome).toBe('merged')
    expect(judge(state, merged(noon - 3_600_000), aim).outcome).toBe('merged')
    expect(judge(state, merged(noon), { ...aim, head: 'abc1234d' }).outcome).toBe('merged')
    expect(judge(state, merged(noon), { ...aim, head: 'def5678' }).outcome).toBe('stale')
    // `pr land` kept the head that it submitted; a head that only moved does not end it.
    expect(judge(state, merged(noon), { ...aim, keptHead: 'def5678' }).outcome).toBe('stale')
    const testing = { ...merged(noon), record: record('TESTING', { ...submitted, prSha: 'abc1234' }) }
    expect(judge(state, testing, { ...aim, keptHead: 'def5678' }).outcome).toBeUndefined()
  })

  test('a record shows the submission if it differs from the one before and is not older', () => {
    const aim = { until: 'merged', grace: 90_000 } as const
    const iso = (time: number) => new Date(time).toISOString()
    const recordBeforeSubmit = record('FAILED', { ...left, stateChangedAt: iso(noon - 60_000) })
    const submission = { from: noon, to: noon, isUncertain: true }
    const shows = (state: string, fields: JsonObject, date: number | undefined = noon + 1_000) => {
      const reading = { record: record(state, fields), at: noon + 1_000, waited: 0, date }
      const judged = judge({ submission, recordBeforeSubmit }, reading, aim)
      return { shown: judged.showsSubmission === true, open: judged.state.mayBeVisible === true }
    }
    expect(shows('TESTING', { ...submitted, stateChangedAt: iso(noon) })).toEqual({ shown: true, open: true })
    expect(shows('TESTING', { ...submitted, stateChangedAt: iso(noon - 2_000) }).shown).toBe(false)
    expect(shows('TESTING', { ...submitted, stateChangedAt: '' })).toEqual({ shown: false, open: true })
    expect(shows('CANCELLED', { ...left, stateChangedAt: iso(noon) })).toEqual({ shown: false, open: true })
    expect(shows('CANCELLED', { ...left, stateChangedAt: iso(noon + 2_000) })).toEqual({
      shown: true,
      open: true,
    })
    expect(shows('CANCELLED', { ...left, stateChangedAt: iso(noon - 2_000) })).toEqual({
      shown: false,
      open: false,
    })
    expect(shows('FAILED', { ...left, stateChangedAt: iso(noon - 60_000) })).toEqual({
      shown: false,
      open: false,
    })
  })

  test('a submission that is not found counts as missing after three readings, whatever the grace period', () => {
    const aim = { until: 'merged', grace: 0 } as const
    const missing = { record: undefined, ...at(0) }
    const first = judge({ submission: { from: noon, to: noon } }, missing, aim)
    const second = judge(first.state, missing, aim)
    const third = judge(second.state, missing, aim)
    expect({ first: first.outcome, second: second.outcome, third: third.outcome }).toEqual({
      first: undefined,
      second: undefined,
      third: 'error',
    })
    expect(judge({}, missing, aim).outcome).toBe('error')
  })

  test.each([
    ['TESTING', 30_000],
    ['NOT_READY', 60_000],
  ])('%s without a change is polled after 2, 5 and 10 s, then every %i ms', (state, usual) => {
    const delays = [0, 1, 2, 3, 900].map(unchanged => automaticDelay({ state, unchanged }))
    expect(delays).toEqual([2_000, 5_000, 10_000, usual, usual])
  })

  test.each([
    [2_000, 0, 2_000],
    [2_000, 3, 16_000],
    [60_000, 3, 300_000],
    [2_000, 1_000, 300_000],
  ])('a delay of %i ms becomes, after %i errors, about %i ms', (delay, errors, pause) => {
    expect(backOff(delay, errors, 0.5)).toBe(pause)
    expect(backOff(delay, errors, 0)).toBe(Math.round(pause * 0.9))
    expect(backOff(delay, errors, 0.999)).toBeLessThanOrEqual(300_000)
  })
})

describe('the sentence about the end of a wait', () => {
  const pullRequest = { repo: parseRepository('acme/web'), targetBranch: 'main', pr: 7 }
  const sentenceOf = (
    state: WaitState,
    { record, queue, ...end }: WaitEnd & Pick<TrackedPullRequest, 'record' | 'queue'>,
    seconds: number,
  ) => {
    const tracked = trackedAs(pullRequest, state, { record, queue })
    return describeEnd(tracked, end, seconds * 1_000, { head: '4f2a9c1d3e' })
  }

  test.each([
    ['merged', 'MERGED', '#7 is already merged'],
    ['reached', 'MERGED', '#7 has already reached the requested state (merged)'],
    ['left', 'FAILED', '#7 has already left the queue (failed)'],
    ['failed', 'FAILED', '#7 has already failed'],
    ['cancelled', 'CANCELLED', '#7 is already cancelled'],
  ] as const)('of the first reading, %s (%s): %s', (outcome, state, sentence) => {
    expect(sentenceOf({ state }, { outcome, isFirstReading: true }, 0)).toBe(sentence)
  })

  const missing = { missingSince: noon }
  const pending = { state: 'PENDING' }
  const stale = (prSha: string) => ({ outcome: 'stale', record: { prSha } }) as const
  test.each<[string, WaitState, Parameters<typeof sentenceOf>[1], number?]>([
    ['#7 merged after 6m52s', { state: 'MERGED' }, { outcome: 'merged' }, 412],
    ['#7 merged after 3h04m', { state: 'MERGED' }, { outcome: 'merged' }, 11_045],
    [
      '#7 reached the requested state after 1m00s (testing)',
      { state: 'TESTING' },
      { outcome: 'reached' },
      60,
    ],
    ['#7 left the queue after 20s (failed)', { state: 'FAILED' }, { outcome: 'left' }],
    ['The wait for #7 timed out after 20s (not checked yet)', {}, { outcome: 'timed-out' }],
    ['The wait for #7 timed out after 20s (not found in the queue)', missing, { outcome: 'timed-out' }],
    [
      'The wait for #7 timed out after 20s (just submitted)',
      { submission: { from: noon, to: noon }, ...missing },
      { outcome: 'timed-out' },
    ],
    ['#7 is still pending', pending, { outcome: 'pending' }],
    ['#7 is still pending: the queue is paused', pending, { outcome: 'pending', queue: { state: 'PAUSED' } }],
    ['#7 has not finished (not found in the queue)', missing, { outcome: 'pending' }],
    ['#7 could not be checked (not found in the queue)', missing, { outcome: 'error' }],
    ['#7 could not be checked', {}, { outcome: 'error' }],
    ['mergeq did not wait for #7', {}, { outcome: 'pending', isSkipped: true }],
    ['The head of #7 moved: expected 4f2a9c1, found 81d0e33', pending, stale('81d0e33a52')],
    ['The head of #7 moved: expected 4f2a9c1d3e, found 4f2a9c1fff', pending, stale('4f2a9c1fff')],
  ])('of later ones: %s', (sentence, state, end, seconds = 20) => {
    expect(sentenceOf(state, end, seconds)).toBe(sentence)
  })
})

describe('the live line of a wait', () => {
  const minute = 60_000
  const entry = (prNumber: number, state: string, minutesAgo = 4): JsonObject => ({
    prNumber,
    state,
    stateChangedAt: new Date(noon - minutesAgo * minute).toISOString(),
  })
  const queue: JsonObject = {
    state: 'RUNNING',
    enqueuedPullRequests: [
      entry(120, 'TESTING', 9),
      entry(131, 'TESTING'),
      ...Array.from({ length: 10 }, (_, index) => entry(141 + index, 'PENDING')),
    ],
  }
  const target = (
    pr: number,
    state: WaitState,
    documents: Partial<TrackedPullRequest> = {},
  ): TrackedPullRequest => ({
    ...trackedAs({ repo: parseRepository('acme/web'), targetBranch: 'main', pr }, state),
    ...(state.state === undefined ? {} : { record: entry(pr, state.state) }),
    ...documents,
  })
  type Times = Parameters<typeof liveLine>[1]
  const times: Times = {
    now: noon,
    elapsed: 372_000,
    limit: 372_000 + 38 * minute,
    usual: 14 * minute,
  }
  const bare = { usual: undefined, limit: 0 }
  const pending = { state: 'PENDING', position: 3 }
  const queued = target(141, pending, { queue })
  const shown = (targets: readonly TrackedPullRequest[], columns = 200, more: Partial<Times> = {}) =>
    plainText(liveLine(targets, { ...times, ...more }, columns))
  /** The line without how long the wait has taken, which the first test compares. */
  const said = (...line: Parameters<typeof shown>) => shown(...line).split('    ')[0]

  test('shows what fits the width', () => {
    const [waited, left] = ['    waited 6m12s', ', times out in 38m']
    const state = '#141 pending 4m, 3rd of 12'
    const behind = `${state}, behind #131 (testing 4m)`
    const usually = `${behind}, usually 14m in the queue`
    const whole = `${usually}${waited}${left}`
    expect([200, whole.length, 100, 77, 60, 30, 20, 5].map(columns => shown([queued], columns))).toEqual([
      whole,
      whole,
      `${usually}${waited}`,
      `${behind}${waited}`,
      `${state}${waited}`,
      state,
      '#141 pending 4m',
      '#141 pending 4m',
    ])
    for (let columns = 15; columns <= 200; columns++)
      expect(textWidth(shown([queued], columns))).toBeLessThanOrEqual(columns)
  })

  test('says one time if the state is as old as the wait', () => {
    expect(shown([queued], 200, { ...bare, elapsed: 4 * minute + 2_000 })).toMatch(/\(testing 4m\)$/)
  })

  test('says how long a pull request has been tested, and nothing of another lane', () => {
    const tested = target(131, { state: 'TESTING', position: 2 }, { queue })
    expect(said([tested], 60)).toBe('#131 testing 4m, 2nd of 12')
    const lanes = { ...queue, mode: 'parallel' }
    expect(said([target(141, pending, { queue: lanes })], 200, bare)).toBe('#141 pending 4m, 3rd of 12')
  })

  const blocked = { gitHubMergeability: 'NOT_MERGEABLE' }
  const unready = (more: JsonObject) =>
    target(141, { state: 'NOT_READY' }, { record: { state: 'NOT_READY', prNumber: 141, ...more } })
  const targetless = { requiresImpactedTargets: true, hasImpactedTargets: false }
  test.each<[string, TrackedPullRequest]>([
    ['not ready, waits for impacted targets', unready({ readiness: targetless })],
    ['not ready, may wait for impacted targets', { ...unready({}), queue: { ...queue, mode: 'parallel' } }],
    // The reason of the service is more exact than the code host's.
    ['not ready, conflicts with main', unready({ blockReasons: ['merge_conflict'], readiness: blocked })],
    ['not ready, GitHub blocks the merge', unready({ readiness: blocked })],
    ['pending 4m, queue paused, 3rd of 12', target(141, pending, { queue: { ...queue, state: 'PAUSED' } })],
    ['PUZZLED 4m', target(141, { state: 'PUZZLED' })],
    ['just submitted', target(141, { missingSince: noon, submission: { from: noon, to: noon } })],
    ['not found in the queue', target(141, { missingSince: noon })],
    ['not checked yet', target(141, {})],
  ])('says what holds a pull request back: %s', (text, one) => {
    expect(said([one], 80, bare)).toBe(`#141 ${text}`)
  })

  test('shows the usual time only for pull requests that were seen or submitted', () => {
    const missing = { missingSince: noon }
    const submitted = { ...missing, submission: { from: noon, to: noon } }
    expect(said([target(99, missing)])).toBe('#99 not found in the queue')
    expect(said([target(98, missing), target(99, missing)])).not.toContain('usually')
    expect(said([target(99, submitted)])).toBe('#99 just submitted, usually 14m in the queue')
  })

  test('counts the states of several pull requests', () => {
    const unread = [target(1, {}), target(2, {})]
    expect(shown(unread, 40)).toBe('2 pull requests: 2 not checked yet')
    const targets = ['TESTING', 'PENDING', 'TESTING', undefined].map((state, index) =>
      target(index + 1, state === undefined ? { missingSince: noon } : { state }),
    )
    const counts = '4 pull requests: 2 testing, 1 pending, 1 not found in the queue'
    expect(said(targets, 120)).toBe(`${counts}, usually 14m in the queue`)
    expect(shown(targets, 60)).toBe(counts)
  })
})
