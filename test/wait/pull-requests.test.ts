import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../src/base/json.ts'
import { liveLine } from '../../src/commands/pr/shared/wait/screen.ts'
import { plainText } from '../../src/output/styled-text.ts'
import { textWidth } from '../../src/output/text-width.ts'
import { parseRepository } from '../../src/values/repository.ts'
import { automaticDelay, backOff } from '../../src/wait/poll.ts'
import { describeEnd } from '../../src/wait/results.ts'
import { type TrackedPullRequest, track, type WaitEnd } from '../../src/wait/wait-state.ts'
import { noon } from '../support/harness.ts'

const pullRequest = (pr: number) => ({ repo: parseRepository('acme/web'), targetBranch: 'main', pr })
/** A pull request that was read in a state, or not yet. */
const seenAs = (pr: number, state?: string, position?: number): TrackedPullRequest => ({
  ...track(pullRequest(pr), { isDue: false }),
  seen: { state, position },
})
/** A pull request that readings do not show, and that was perhaps submitted. */
const missing = (pr: number, isSubmitted = false): TrackedPullRequest => ({
  ...track(pullRequest(pr), { isDue: false, ...(isSubmitted && { sent: { from: noon, to: noon } }) }),
  phase: { name: 'absent', absence: { since: 0, readings: 1 } },
})

describe('the time until the next reading', () => {
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
  const sentenceOf = (
    tracked: TrackedPullRequest,
    { record, queue, ...end }: WaitEnd & Pick<TrackedPullRequest, 'record' | 'queue'>,
    seconds: number,
  ) => describeEnd({ ...tracked, record, queue }, end, seconds * 1_000, { head: '4f2a9c1d3e' })

  test.each([
    ['merged', 'MERGED', '#7 is already merged'],
    ['reached', 'MERGED', '#7 has already reached the requested state (merged)'],
    ['left', 'FAILED', '#7 has already left the queue (failed)'],
    ['failed', 'FAILED', '#7 has already failed'],
    ['cancelled', 'CANCELLED', '#7 is already cancelled'],
  ] as const)('of the first reading, %s (%s): %s', (outcome, state, sentence) => {
    expect(sentenceOf(seenAs(7, state), { outcome, isFirstReading: true }, 0)).toBe(sentence)
  })

  const pending = seenAs(7, 'PENDING')
  const stale = (prSha: string) => ({ outcome: 'stale', record: { prSha } }) as const
  test.each<[string, TrackedPullRequest, Parameters<typeof sentenceOf>[1], number?]>([
    ['#7 merged after 6m52s', seenAs(7, 'MERGED'), { outcome: 'merged' }, 412],
    ['#7 merged after 3h04m', seenAs(7, 'MERGED'), { outcome: 'merged' }, 11_045],
    [
      '#7 reached the requested state after 1m00s (testing)',
      seenAs(7, 'TESTING'),
      { outcome: 'reached' },
      60,
    ],
    ['#7 left the queue after 20s (failed)', seenAs(7, 'FAILED'), { outcome: 'left' }],
    ['The wait for #7 timed out after 20s (not checked yet)', seenAs(7), { outcome: 'timed-out' }],
    ['The wait for #7 timed out after 20s (not found in the queue)', missing(7), { outcome: 'timed-out' }],
    ['The wait for #7 timed out after 20s (just submitted)', missing(7, true), { outcome: 'timed-out' }],
    ['#7 is still pending', pending, { outcome: 'pending' }],
    ['#7 is still pending: the queue is paused', pending, { outcome: 'pending', queue: { state: 'PAUSED' } }],
    ['#7 has not finished (not found in the queue)', missing(7), { outcome: 'pending' }],
    ['#7 could not be checked (not found in the queue)', missing(7), { outcome: 'error' }],
    ['#7 could not be checked', seenAs(7), { outcome: 'error' }],
    ['mergeq did not wait for #7', seenAs(7), { outcome: 'pending', isSkipped: true }],
    ['The head of #7 moved: expected 4f2a9c1, found 81d0e33', pending, stale('81d0e33a52')],
    ['#7 merged at 81d0e33, not at 4f2a9c1', seenAs(7, 'MERGED'), stale('81d0e33a52')],
    ['The head of #7 moved: expected 4f2a9c1d3e, found 4f2a9c1fff', pending, stale('4f2a9c1fff')],
    ['#7 merged at 81d0e33, not at 4f2a9c1', seenAs(7, 'MERGED'), stale('81d0e33a52')],
  ])('of later ones: %s', (sentence, tracked, end, seconds = 20) => {
    expect(sentenceOf(tracked, end, seconds)).toBe(sentence)
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
    state: string,
    { position, ...documents }: Pick<TrackedPullRequest, 'record' | 'queue'> & { position?: number } = {},
  ): TrackedPullRequest => ({ ...seenAs(pr, state, position), record: entry(pr, state), ...documents })
  type Times = Parameters<typeof liveLine>[1]
  const times: Times = {
    now: noon,
    elapsed: 372_000,
    limit: 372_000 + 38 * minute,
    usual: 14 * minute,
  }
  const bare = { usual: undefined, limit: 0 }
  const queued = target(141, 'PENDING', { position: 3, queue })
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
    const tested = target(131, 'TESTING', { position: 2, queue })
    expect(said([tested], 60)).toBe('#131 testing 4m, 2nd of 12')
    const lanes = { ...queue, mode: 'parallel' }
    expect(said([{ ...queued, queue: lanes }], 200, bare)).toBe('#141 pending 4m, 3rd of 12')
  })

  const blocked = { gitHubMergeability: 'NOT_MERGEABLE' }
  const unready = (more: JsonObject) =>
    target(141, 'NOT_READY', { record: { state: 'NOT_READY', prNumber: 141, ...more } })
  const targetless = { requiresImpactedTargets: true, hasImpactedTargets: false }
  test.each<[string, TrackedPullRequest]>([
    ['not ready, waits for impacted targets', unready({ readiness: targetless })],
    ['not ready, may wait for impacted targets', { ...unready({}), queue: { ...queue, mode: 'parallel' } }],
    // The reason of the service is more exact than the code host's.
    ['not ready, conflicts with main', unready({ blockReasons: ['merge_conflict'], readiness: blocked })],
    ['not ready, GitHub blocks the merge', unready({ readiness: blocked })],
    ['pending 4m, queue paused, 3rd of 12', { ...queued, queue: { ...queue, state: 'PAUSED' } }],
    ['PUZZLED 4m', target(141, 'PUZZLED')],
    ['just submitted', missing(141, true)],
    ['not found in the queue', missing(141)],
    ['not checked yet', seenAs(141)],
  ])('says what holds a pull request back: %s', (text, one) => {
    expect(said([one], 80, bare)).toBe(`#141 ${text}`)
  })

  test('shows the usual time only for pull requests that were seen or submitted', () => {
    expect(said([missing(99)])).toBe('#99 not found in the queue')
    expect(said([missing(98), missing(99)])).not.toContain('usually')
    expect(said([missing(99, true)])).toBe('#99 just submitted, usually 14m in the queue')
  })

  test('counts the states of several pull requests', () => {
    const unread = [seenAs(1), seenAs(2)]
    expect(shown(unread, 40)).toBe('2 pull requests: 2 not checked yet')
    const targets = ['TESTING', 'PENDING', 'TESTING', undefined].map((state, index) =>
      state === undefined ? missing(index + 1) : target(index + 1, state),
    )
    const counts = '4 pull requests: 2 testing, 1 pending, 1 not found in the queue'
    expect(said(targets, 120)).toBe(`${counts}, usually 14m in the queue`)
    expect(shown(targets, 60)).toBe(counts)
  })
})
