import { describe, expect, test } from 'vitest'
import type { ScenarioName } from '../../../src/domain/scenario-names.ts'
import { openStory } from '../../support/harness.ts'
import { type Course, documentsIn, runWithHistory } from '../../support/pr-wait.ts'

describe('`pr land` in the scenarios of the sandbox', () => {
  test.each<[ScenarioName, string, number, string, number]>([
    ['happy', '9', 1, 'merged', 0],
    ['flaky', '9', 1, 'merged', 0],
    ['failure', '9', 1, 'failed', 3],
    ['failure', '9 --resubmit any', 3, 'failed', 3],
    ['failure', '9 --resubmit any --attempts 2', 2, 'failed', 3],
    ['failure', '7', 1, 'merged', 0],
    ['cancelled', '9', 1, 'cancelled', 10],
    ['cancelled', '9 --resubmit any', 1, 'cancelled', 10],
    ['batch-failure', '8', 1, 'failed', 3],
    ['batch-failure', '7', 1, 'merged', 0],
    ['paused', '9', 1, 'timed-out', 124],
    ['paused', '9 --fail-on-paused', 1, 'pending', 8],
    ['outage', '9', 1, 'merged', 0],
    ['slow', '9', 1, 'merged', 0],
    ['host-trouble', '9', 2, 'merged', 0],
  ])('%s: pr land %s', async (scenario, words, attempts, outcome, exit) => {
    for (const dialect of ['document', 'hosted'] as const) {
      const story = await openStory({ scenario, dialect })
      const { code, out } = await story.mergeq(`pr land ${words} -o ndjson`)
      await story.close()
      const lines = documentsIn(out)
      expect({ code, result: lines.at(-1) }).toMatchObject({
        code: exit,
        result: { outcome, attempts, submitted: true, exit },
      })
      expect(lines.filter(({ type }) => type === 'attempt')).toHaveLength(attempts)
    }
  })
})

const prSha = '4f2a9c1'
/** A failure that was not the pull request's own. */
const hostTrouble = { reason: 'start_test_run_retry_exhausted', prSha }

/** Returns how `pr land 7` ends, the reasons of its attempts, and how often it submitted. */
async function land(flags: string, course: Course, fault?: Parameters<typeof runWithHistory>[1]['fault']) {
  const { code, out, err, operations } = await runWithHistory(
    `pr land 7 --interval 5s -o ndjson ${flags}`,
    fault === undefined ? { pulls: { 7: course } } : { pulls: { 7: course }, fault },
  )
  const lines = documentsIn(out)
  const { outcome, submitted, reason } = lines.at(-1) ?? {}
  const attempts = lines.filter(({ type }) => type === 'attempt').map(({ reason }) => reason)
  const sent = operations.filter(operation => operation === 'submitPullRequest').length
  return { code, outcome, submitted, reason, attempts, sent, err }
}

describe('`pr land` submits again', () => {
  const first = 'It was submitted.'
  const again: Course = [
    [35, 'TESTING', { prSha }],
    [60, 'MERGED', { prSha }],
  ]

  test.each([['FAILED', hostTrouble, 'requests to GitHub failed']])(
    'after %s with %j',
    async (state, more, why) => {
      const course: Course = [[5, 'TESTING', { prSha }], [30, state, more], ...again]
      expect(await land('', course)).toMatchObject({
        code: 0,
        outcome: 'merged',
        submitted: true,
        sent: 2,
        attempts: [first, expect.stringContaining(why)],
      })
    },
  )

  test.each<[string, string, Course, number, string]>([
    ['its own failure', '', [[30, 'FAILED', { prSha }]], 3, 'failed'],
    ['the cancellation of a person', '', [[30, 'CANCELLED', { actor: 'ada', prSha }]], 10, 'cancelled'],
    [
      'a cancellation by the service',
      '',
      [[30, 'CANCELLED', { actor: 'trunk-io[bot]', prSha }]],
      10,
      'cancelled',
    ],
    ['a cancellation that nobody is known for', '', [[30, 'CANCELLED', { prSha }]], 10, 'cancelled'],
    ['a push', '', [[30, 'FAILED', { ...hostTrouble, prSha: 'bbbb' }]], 14, 'stale'],
    ['the last attempt', '--attempts 1', [[30, 'FAILED', hostTrouble]], 3, 'failed'],
  ])('not after %s', async (_, flags, ends, exit, outcome) => {
    const { code, ...landed } = await land(flags, [[5, 'TESTING', { prSha }], ...ends])
    expect({ code, ...landed }).toMatchObject({ code: exit, outcome, attempts: [first], sent: 1 })
    if (exit === 14) expect(landed.reason).toMatch(/expected 4f2a9c1, found bbbb\. Nothing was sent\.$/)
  })

  test('as an outage allows', async () => {
    const course: Course = [
      [5, 'TESTING', { prSha }],
      [30, 'FAILED', hostTrouble],
      [905, 'TESTING'],
      [950, 'MERGED'],
    ]
    const down = (second: number) => (second > 30 && second < 900 ? { status: 503 } : undefined)
    expect(await land('', course, down)).toMatchObject({ code: 0, outcome: 'merged', sent: 2 })
  })
})

test('`pr land` counts a submission that it finds as the first attempt, and ends with 0 after a merge', async () => {
  expect(
    await land('', [
      [-9, 'TESTING'],
      [30, 'MERGED'],
    ]),
  ).toMatchObject({
    code: 0,
    outcome: 'merged',
    submitted: false,
    sent: 0,
    attempts: ['It was in the queue already.'],
  })
  expect(await land('', [[-9, 'MERGED']])).toMatchObject({ code: 0, submitted: false, sent: 0, attempts: [] })
})

test('several land side by side, and a log names each further attempt', async () => {
  const other: Course = [
    [5, 'TESTING'],
    [20, 'MERGED'],
  ]
  const course: Course = [
    [5, 'TESTING'],
    [10, 'FAILED', hostTrouble],
    [15, 'TESTING'],
    [20, 'MERGED'],
  ]
  const { code, out, err } = await runWithHistory('pr land 7 8 --interval 5s', {
    pulls: { 7: course, 8: other },
  })
  expect({ code, out }).toEqual({ code: 0, out: '7\tmerged\tMERGED\t20\n8\tmerged\tMERGED\t20\n' })
  expect(err).toMatch(
    /^#7: attempt 2 of 3\. Its tests did not start because requests to GitHub failed again and again\.$/m,
  )
})
