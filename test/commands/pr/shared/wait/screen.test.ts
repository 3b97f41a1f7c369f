import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../../../../src/base/json.ts'
import { waitLine } from '../../../../../src/commands/pr/shared/wait/screen.ts'
import { plainText } from '../../../../../src/output/styled-text.ts'
import { textWidth } from '../../../../../src/output/text-width.ts'
import type { TrackedPullRequest } from '../../../../../src/wait/wait-state.ts'
import { noon } from '../../../../support/harness.ts'
import { missing, seenAs } from '../../../../support/tracked.ts'

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
  type Times = Omit<Parameters<typeof waitLine>[2], 'now'> & { readonly limit: number }
  const times: Times = { elapsed: 372_000, limit: 372_000 + 38 * minute, usual: 14 * minute }
  const bare = { usual: undefined, limit: 0 }
  const queued = target(141, 'PENDING', { position: 3, queue })
  const shown = (targets: readonly TrackedPullRequest[], columns = 200, more: Partial<Times> = {}) => {
    const { limit, ...shown } = { ...times, ...more }
    const options = { waitLimit: limit, grace: 90_000 }
    return plainText(waitLine(targets, options, { now: noon, ...shown }, columns))
  }
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
