import { describe, expect, test } from 'vitest'
import { liveLine } from '../../src/commands/pr/wait/live-line.ts'
import type { WaitTarget } from '../../src/commands/pr/wait/poll.ts'
import { parseRepository } from '../../src/domain/values/repository.ts'
import type { JsonObject } from '../../src/json.ts'
import { plainText } from '../../src/output/styled-text.ts'
import { textWidth } from '../../src/output/text-width.ts'
import { noon } from '../support/harness.ts'

const minute = 60_000
const at = (minutesAgo: number) => new Date(noon - minutesAgo * minute).toISOString()
const entry = (prNumber: number, state: string, minutesAgo = 4): JsonObject => ({
  prNumber,
  state,
  stateChangedAt: at(minutesAgo),
})

const queue: JsonObject = {
  state: 'RUNNING',
  enqueuedPullRequests: [
    entry(120, 'TESTING', 9),
    entry(131, 'TESTING'),
    entry(141, 'PENDING'),
    ...Array.from({ length: 9 }, (_, index) => entry(150 + index, 'PENDING')),
  ],
}

interface Shown {
  readonly pr?: number
  readonly state?: string | undefined
  readonly position?: number
  readonly record?: JsonObject
  readonly queue?: JsonObject
  readonly isSubmitted?: boolean
  /** Whether no reading has succeeded. */
  readonly isUnread?: boolean
}

const target = ({
  pr = 141,
  state,
  position,
  isSubmitted = false,
  isUnread = false,
  ...documents
}: Shown): WaitTarget => ({
  request: {
    values: { repo: parseRepository('acme/web'), targetBranch: 'main', pr },
    overrides: [],
  },
  state: {
    state,
    position,
    ...(state === undefined && !isUnread ? { missingSince: noon } : {}),
    ...(isSubmitted ? { submission: { from: noon, to: noon } } : {}),
  },
  errors: 0,
  ...(state === undefined ? {} : { record: entry(pr, state) }),
  ...documents,
})

type Times = Parameters<typeof liveLine>[1]

const times: Times = {
  now: noon,
  startedAt: noon - 372_000,
  limit: 372_000 + 38 * minute,
  usual: { median: 14 * minute, p95: undefined, count: 9 },
}

const queued = target({ state: 'PENDING', position: 3, queue })
const shown = (targets: readonly WaitTarget[], columns = 200, more: Partial<Times> = {}) =>
  plainText(liveLine(targets, { ...times, ...more }, columns))

describe('the live line of a wait', () => {
  test.each([
    [
      200,
      '#141 pending, 3rd of 12, behind #131 (testing 4m)    6m12s elapsed, usually 14m, times out in 38m',
    ],
    [
      120,
      '#141 pending, 3rd of 12, behind #131 (testing 4m)    6m12s elapsed, usually 14m, times out in 38m',
    ],
    [80, '#141 pending, 3rd of 12, behind #131 (testing 4m)    6m12s elapsed, usually 14m'],
    [77, '#141 pending, 3rd of 12, behind #131 (testing 4m)    6m12s elapsed'],
    [60, '#141 pending, 3rd of 12    6m12s elapsed'],
    [30, '#141 pending, 3rd of 12'],
    [20, '#141 pending'],
    [5, '#141 pending'],
  ])('shows at %i columns what fits', (columns, line) => {
    expect(shown([queued], columns)).toBe(line)
  })

  test('fits every width that has room for the state', () => {
    for (let columns = 12; columns <= 200; columns++)
      expect(textWidth(shown([queued], columns))).toBeLessThanOrEqual(columns)
  })

  test('omits an unknown time and a missing time limit', () => {
    expect(shown([queued], 200, { usual: undefined, limit: 0 })).toBe(
      '#141 pending, 3rd of 12, behind #131 (testing 4m)    6m12s elapsed',
    )
  })

  test('says how long a pull request has been tested, and nothing of another lane', () => {
    expect(shown([target({ pr: 131, state: 'TESTING', position: 2, queue })], 60)).toBe(
      '#131 testing 4m, 2nd of 12    6m12s elapsed',
    )
    const lanes = { ...queue, mode: 'parallel' }
    expect(shown([target({ state: 'PENDING', position: 3, queue: lanes })], 77)).toBe(
      '#141 pending, 3rd of 12    6m12s elapsed, usually 14m, times out in 38m',
    )
  })

  const readiness = (more: JsonObject): JsonObject => ({ state: 'NOT_READY', prNumber: 141, ...more })
  test.each<readonly [string, Shown, string]>([
    [
      'impacted targets',
      {
        state: 'NOT_READY',
        record: readiness({ readiness: { requiresImpactedTargets: true, hasImpactedTargets: false } }),
      },
      '#141 not ready, waits for impacted targets    6m12s elapsed',
    ],
    [
      'a conflict, more exactly than the code host',
      {
        state: 'NOT_READY',
        record: readiness({
          blockReasons: ['merge_conflict'],
          readiness: { gitHubMergeability: 'NOT_MERGEABLE' },
        }),
      },
      '#141 not ready, conflicts with main    6m12s elapsed',
    ],
    [
      'the code host',
      { state: 'NOT_READY', record: readiness({ readiness: { gitHubMergeability: 'NOT_MERGEABLE' } }) },
      '#141 not ready, GitHub blocks the merge    6m12s elapsed',
    ],
    [
      'a pause',
      { state: 'PENDING', position: 3, queue: { ...queue, state: 'PAUSED' } },
      '#141 pending, queue paused, 3rd of 12    6m12s elapsed',
    ],
    ['a state that is not known', { state: 'PUZZLED' }, '#141 PUZZLED    6m12s elapsed'],
    ['a submission that does not show', { isSubmitted: true }, '#141 not visible yet    6m12s elapsed'],
    ['no submission', {}, '#141 not found in the queue    6m12s elapsed'],
    ['no reading', { isUnread: true }, '#141 not checked yet    6m12s elapsed'],
  ])('says what holds it back: %s', (_, one, line) => {
    expect(shown([target(one)], 60, { usual: undefined, limit: 0 })).toBe(line)
  })

  test('says that nothing of several pull requests was read', () => {
    const targets = [1, 2].map(pr => target({ pr, isUnread: true }))
    expect(shown(targets, 40)).toBe('2 pull requests: 2 not checked yet')
  })

  test('counts the states of several pull requests', () => {
    const targets = ['TESTING', 'PENDING', 'TESTING', undefined].map((state, index) =>
      target({ pr: index + 1, state, queue }),
    )
    expect(shown(targets, 120)).toBe(
      '4 pull requests: 2 testing, 1 pending, 1 not found in the queue    6m12s elapsed, usually 14m, times out in 38m',
    )
    expect(shown(targets, 60)).toBe('4 pull requests: 2 testing, 1 pending, 1 not found in the queue')
  })
})
