import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { WaitEnd, WaitTarget } from '../../src/commands/pr/wait/poll.ts'
import { describeEnd } from '../../src/commands/pr/wait/report.ts'
import { milestones, outcomeOfRecord, pullRequestStates, type WaitOutcome } from '../../src/domain/states.ts'
import { parseRepository } from '../../src/domain/values/repository.ts'
import { advance, pollDelay, type WaitOptions, type WaitState } from '../../src/domain/wait-state.ts'
import { plainText } from '../../src/output/styled-text.ts'
import { noon } from '../support/harness.ts'
import type { Json } from '../support/pr-wait.ts'

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
    observation: { readonly record?: ReturnType<typeof record> | undefined; readonly position?: number },
    aim: Partial<WaitOptions> = {},
    known: WaitState = {},
  ) =>
    advance(known, { record: undefined, at: noon, ...observation } as Parameters<typeof advance>[1], {
      until: 'merged',
      grace: 90_000,
      ...aim,
    }).outcome

  const settled: readonly (readonly [string, Json, (WaitOutcome | undefined)[]])[] = [
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
    const first = advance({ recordBeforeSubmit: before }, { record: before, at: noon }, aim)
    expect(first).toEqual({
      state: { recordBeforeSubmit: before, missingSince: noon, isStateUnchanged: false },
    })
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

  test('a record of the previous submission does not count, even after the queue listed it', () => {
    const before = record('FAILED', { ...left, prSha: 'aaaa111' })
    const aim = { until: 'merged', grace: 90_000, head: 'bbbb222' } as const
    const first = advance({ recordBeforeSubmit: before }, { record: before, at: noon }, aim)
    expect(first.outcome).toBeUndefined()
    const listed = advance(first.state, { record: { state: 'PENDING' }, position: 1, at: noon + 1_000 }, aim)
    const again = advance(listed.state, { record: before, at: noon + 2_000 }, aim)
    expect(again.outcome).toBeUndefined()
    const merged = { ...left, prSha: 'bbbb222', stateChangedAt: '2026-01-05T12:00:03.000Z' }
    const last = advance(again.state, { record: record('MERGED', merged), at: noon + 3_000 }, aim)
    expect(last).toMatchObject({ change: { from: 'PENDING', to: 'MERGED' }, outcome: 'merged' })
    // Without the moment nothing tells the two apart: then what the queue lists is the end of the old one.
    const { stateChangedAt: _, ...bare } = before
    const seen = advance(
      { recordBeforeSubmit: bare },
      { record: { state: 'PENDING' }, position: 1, at: noon },
      aim,
    )
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
        let known: WaitState = { recordBeforeSubmit: before }
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
          if (one?.state === 'MERGED' && outcomeOfRecord(before ?? {}) === 'pending') expect.unreachable()
          known = next
        }
      }),
      { numRuns: 2_000 },
    )
  })
})

describe('the sentence about the end of a wait', () => {
  const values = { repo: parseRepository('acme/web'), targetBranch: 'main', pr: 7 }
  const sentenceOf = (
    state: WaitState,
    { record, queue, ...end }: WaitEnd & Pick<WaitTarget, 'record' | 'queue'>,
    seconds: number,
  ) => {
    const target = { request: { values, overrides: [] }, state, errors: 0, record, queue }
    return plainText(describeEnd(target, end, seconds * 1_000, { head: '4f2a9c1d3e' }))
  }
  const first = { isFirstReading: true }
  const record = { prSha: '81d0e33a52' }
  const failing = { submission: { from: noon, to: noon }, missingSince: noon }
  test.each([
    [{ outcome: 'merged', ...first }, { state: 'MERGED' }, 0, '#7 is already merged'],
    [{ outcome: 'merged' }, { state: 'MERGED' }, 412, '#7 merged after 6m52s'],
    [{ outcome: 'merged' }, { state: 'MERGED' }, 11_045, '#7 merged after 3h04m'],
    [
      { outcome: 'reached' },
      { state: 'TESTING' },
      60,
      '#7 reached the requested state after 1m00s (testing)',
    ],
    [
      { outcome: 'reached', ...first },
      { state: 'MERGED' },
      0,
      '#7 has already reached the requested state (merged)',
    ],
    [{ outcome: 'left' }, { state: 'FAILED' }, 20, '#7 left the queue after 20s (failed)'],
    [{ outcome: 'left', ...first }, { state: 'FAILED' }, 0, '#7 has already left the queue (failed)'],
    [{ outcome: 'failed' }, { state: 'FAILED' }, 184, '#7 failed after 3m04s'],
    [{ outcome: 'failed', ...first }, { state: 'FAILED' }, 0, '#7 has already failed'],
    [{ outcome: 'cancelled' }, { state: 'CANCELLED' }, 20, '#7 was cancelled after 20s'],
    [{ outcome: 'cancelled', ...first }, { state: 'CANCELLED' }, 0, '#7 is already cancelled'],
    [
      { outcome: 'timed-out' },
      { state: 'PENDING' },
      20,
      'The wait for #7 timed out after 20s, still pending',
    ],
    [
      { outcome: 'timed-out' },
      { missingSince: noon },
      20,
      'The wait for #7 timed out after 20s (not found in the queue)',
    ],
    [{ outcome: 'timed-out' }, failing, 20, 'The wait for #7 timed out after 20s (not visible yet)'],
    [{ outcome: 'timed-out' }, {}, 20, 'The wait for #7 timed out after 20s (not checked yet)'],
    [
      { outcome: 'stale', record },
      { state: 'PENDING' },
      20,
      'The head of #7 moved: expected 4f2a9c1, found 81d0e33',
    ],
    [{ outcome: 'pending' }, { state: 'TESTING' }, 0, '#7 is still testing'],
    [
      { outcome: 'pending', queue: { state: 'PAUSED' } },
      { state: 'PENDING' },
      0,
      '#7 is still pending: the queue is paused',
    ],
    [{ outcome: 'pending' }, { missingSince: noon }, 0, '#7 has not finished (not found in the queue)'],
    [{ outcome: 'pending', isSkipped: true }, {}, 0, 'mergeq did not wait for #7'],
    [{ outcome: 'error' }, { missingSince: noon }, 90, '#7 could not be checked (not found in the queue)'],
  ] as const)('%j %j after %d s', (end, state, seconds, sentence) => {
    expect(sentenceOf(state, end, seconds)).toBe(sentence)
  })

  test('a head that differs after its first seven digits is shown whole', () => {
    const similar = { prSha: '4f2a9c1fff' }
    const sentence = sentenceOf({ state: 'PENDING' }, { outcome: 'stale', record: similar }, 20)
    expect(sentence).toBe('The head of #7 moved: expected 4f2a9c1d3e, found 4f2a9c1fff')
  })
})
