import { describe, expect, test } from 'vitest'
import { describeEnd } from '../../src/wait/results.ts'
import type { TrackedPullRequest, WaitEnd } from '../../src/wait/wait-state.ts'
import { missing, seenAs } from '../support/tracked.ts'

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
  ])('of later ones: %s', (sentence, tracked, end, seconds = 20) => {
    expect(sentenceOf(tracked, end, seconds)).toBe(sentence)
  })
})
