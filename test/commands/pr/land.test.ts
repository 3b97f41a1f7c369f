import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { MergeqError } from '../../../src/base/errors.ts'
import { type ScenarioName, scenarioNames } from '../../../src/values/scenario-names.ts'
import { noon, openStory } from '../../support/harness.ts'
import { type Course, documentsIn, runWithHistory } from '../../support/pr-wait.ts'

describe('`pr land` in the scenarios of the sandbox', () => {
  const document = readFileSync(new URL('../../../docs/reference/cli.md', import.meta.url), 'utf8')
  const row = /^\| `([\w-]+)` \| `pr land ([^`]+)` \| (\d+) \| `([\w-]+)` \| (\d+) \|$/gm
  const rows = [...document.matchAll(row)].map(
    ([, scenario, words, attempts, outcome, exit]) =>
      [scenario as ScenarioName, words ?? '', Number(attempts), outcome, Number(exit)] as const,
  )

  test('are all in the table of docs/reference/cli.md', () => {
    expect(new Set(rows.map(([scenario]) => scenario))).toEqual(new Set(scenarioNames))
  })

  test.each(rows)('%s: pr land %s', async (scenario, words, attempts, outcome, exit) => {
    for (const dialect of ['both', 'hosted'] as const) {
      const story = await openStory({ scenario, dialect })
      const { code, out } = await story.mergeq(`pr land ${words} -o ndjson`)
      const lines = documentsIn(out)
      expect({ code, result: lines.at(-1) }).toMatchObject({
        code: exit,
        result: { outcome, attempts, submitted: true, exit },
      })
      const last = lines.at(-1)?.pr
      expect(lines.filter(({ type, pr }) => type === 'attempt' && pr === last)).toHaveLength(attempts)
    }
  })
})

const prSha = '4f2a9c1'
/** A failure that was not the pull request's own: it is submitted again after 5 minutes. */
const hostTrouble = { reason: 'start_test_run_retry_exhausted', prSha }
const failed: Course = [
  [5, 'TESTING', { prSha }],
  [30, 'FAILED', hostTrouble],
]

/** Returns how `pr land 7` ends, the reasons of its attempts, and how often it submitted. */
async function land(flags: string, course: Course, fault?: Parameters<typeof runWithHistory>[1]['fault']) {
  const { code, out, err, operations } = await runWithHistory(
    `pr land 7 --interval 5s -o ndjson ${flags}`,
    fault === undefined ? { pulls: { 7: course } } : { pulls: { 7: course }, fault },
  )
  const lines = documentsIn(out)
  const { outcome, state, submitted, wasQueued, reason } = lines.at(-1) ?? {}
  const attempts = lines.filter(({ type }) => type === 'attempt').map(({ reason }) => reason)
  const sent = operations.filter(operation => operation === 'submitPullRequest').length
  return { code, outcome, state, submitted, wasQueued, reason, attempts, sent, err }
}

describe('`pr land` submits again', () => {
  const first = 'It was submitted.'
  const again: Course = [
    [335, 'TESTING', { prSha }],
    [360, 'MERGED', { prSha }],
  ]

  test('after a failure that GitHub caused', async () => {
    expect(await land('', [...failed, ...again])).toMatchObject({
      code: 0,
      outcome: 'merged',
      submitted: true,
      sent: 2,
      attempts: [first, expect.stringContaining('requests to GitHub failed')],
    })
  })

  test.each<[string, string, Course, number, string]>([
    ['its own failure', '', [[30, 'FAILED', { prSha }]], 3, 'failed'],
    ['the cancellation of a person', '', [[30, 'CANCELLED', { actor: 'ada', prSha }]], 10, 'cancelled'],
    ['a push', '', [[30, 'FAILED', { ...hostTrouble, prSha: 'bbbb' }]], 14, 'stale'],
    ['the last attempt', '--attempts 1', [[30, 'FAILED', hostTrouble]], 3, 'failed'],
  ])('not after %s', async (_, flags, ends, exit, outcome) => {
    const { code, ...landed } = await land(flags, [[5, 'TESTING', { prSha }], ...ends])
    expect({ code, ...landed }).toMatchObject({ code: exit, outcome, attempts: [first], sent: 1 })
    if (exit === 14) expect(landed.reason).toMatch(/expected 4f2a9c1, found bbbb\. Nothing was sent\.$/)
  })
})

test('`pr land` counts a submission that it finds as the first attempt, and ends with 0 after a merge', async () => {
  const queued: Course = [
    [-9, 'TESTING'],
    [30, 'MERGED'],
  ]
  expect(await land('', queued)).toMatchObject({
    code: 0,
    outcome: 'merged',
    submitted: false,
    wasQueued: true,
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
    [315, 'TESTING'],
    [320, 'MERGED'],
  ]
  const { code, out, err } = await runWithHistory('pr land 7 8 --interval 5s', {
    pulls: { 7: course, 8: other },
  })
  expect({ code, out }).toEqual({ code: 0, out: '7\tmerged\tMERGED\t320\n8\tmerged\tMERGED\t20\n' })
  expect(err).toMatch(
    /^#7: attempt 2 of 3\. Its tests did not start because requests to GitHub failed again and again\.$/m,
  )
})

describe('`pr land` pauses before it submits again what needs time', () => {
  const reasons = {
    later: { reason: 'github_api_rate_limit_exceeded', prSha },
    look: { reason: 'test_run_timeout', prSha },
    doubt: { reason: 'github_api_merge_already_in_progress', prSha },
  }
  /** What fails so whenever it is submitted: each attempt two seconds after it was. */
  async function landFailing(
    flags: string,
    more: object,
    headers: Readonly<Record<string, string>> = {},
    format = '-o ndjson',
  ) {
    const sendings: number[] = []
    const outcome = await runWithHistory(`pr land 7 --interval 5s ${format} ${flags}`, {
      pulls: { 7: 'FAILED' },
      fault(second, operation) {
        if (operation === 'submitPullRequest') sendings.push(second)
        const last = sendings.at(-1)
        if (operation !== 'getSubmittedPullRequest' || last === undefined) return undefined
        const hasFailed = second >= last + 2
        const record = {
          id: 'e',
          prNumber: 7,
          isCurrentlySubmittedToQueue: !hasFailed,
          ...(hasFailed ? { state: 'failed', ...more } : { state: 'testing' }),
          stateChangedAt: new Date(noon + (hasFailed ? last + 2 : last) * 1_000).toISOString(),
        }
        return { body: JSON.stringify(record), headers }
      },
    })
    const [first = 0] = sendings
    const minutes = sendings.map(second => Math.round((second - first) / 60))
    const result = format === '' ? undefined : documentsIn(outcome.out).at(-1)
    return { ...outcome, sendings, minutes, result }
  }

  test('of 5, 15, then 30 minutes', async () => {
    const { code, minutes, err, result } = await landFailing('--attempts 5 --timeout 3h', reasons.later)
    expect({ code, minutes }).toEqual({ code: 3, minutes: [0, 5, 20, 50, 80] })
    expect(err).toContain('It is not in the queue until attempt 2 of 5, at 2026-01-05T12:05:')
    expect(result).toMatchObject({ attempts: 5, serviceReason: 'github_api_rate_limit_exceeded' })
  })

  test('but not longer than --timeout, and says when to try again', async () => {
    const { code, minutes, seconds, result } = await landFailing('--attempts 5 --timeout 15m', reasons.later)
    expect({ code, minutes }).toEqual({ code: 3, minutes: [0, 5] })
    expect(seconds).toBeLessThan(6 * 60)
    expect(result?.reason).toMatch(
      /^#7 failed after 5m..s\. The rate limit of GitHub stopped the queue\. The time limit is before the next attempt\. Submit it again after 2026-01-05T12:20:..Z$/,
    )
  })

  test('and says so in a log where rows have no reason', async () => {
    const said = /^#7: The time limit is before the next attempt\. Submit it again after .*Z\.$/m
    for (const format of ['table', 'csv', 'markdown', 'json']) {
      const line = `--timeout 3m ${format === 'table' ? '' : `-o ${format}`}`
      const { out, err } = await landFailing(line, reasons.later, {}, '')
      const isRow = format === 'table' || format === 'csv'
      expect([format, said.test(err), out.includes('Submit it again')]).toEqual([format, isRow, !isRow])
    }
  })

  test.each<[string, object, number]>([
    ['', reasons.look, 1],
    ['--resubmit any', reasons.look, 3],
    ['--resubmit any', reasons.doubt, 1],
  ])('with %s %j at once, or not at all', async (flags, more, count) => {
    const { minutes } = await landFailing(flags, more)
    expect(minutes).toHaveLength(count)
    expect(minutes.at(-1)).toBeLessThan(2)
  })

  test.each([
    ['100', [0, 8, 22]],
    ['1000', [0, 6, 12]],
  ])(
    'for a shorter time against a sandbox with the speed %s, but at least a second',
    async (speed, expected) => {
      const headers = { 'x-mergeq-sandbox': '1', 'x-mergeq-sandbox-speed': speed }
      const { sendings } = await landFailing('--attempts 3', reasons.later, headers)
      expect(sendings).toEqual(expected)
    },
  )

  test('for seconds against a fast sandbox, which says its speed', async () => {
    const story = await openStory({ scenario: 'host-trouble', speed: 300 })
    const { code } = await story.mergeq('pr land 9')
    expect({ code, isShort: story.clock.now - noon < 60_000 }).toEqual({ code: 0, isShort: true })
  })
})

describe('`pr land` never submits again', () => {
  const iso = (second: number) => new Date(noon + second * 1_000).toISOString()

  test('what is in the queue again: that counts as the attempt', async () => {
    const course: Course = [
      [5, 'TESTING', { prSha }],
      [30, 'FAILED', { ...hostTrouble, stateChangedAt: iso(28) }],
      [34, 'TESTING', { prSha }],
      [360, 'MERGED', { prSha }],
    ]
    expect(await land('', course)).toMatchObject({
      code: 0,
      sent: 1,
      attempts: ['It was submitted.', 'It was in the queue already.'],
    })
  })

  /** Answers the reading number n after the failure at second 30 with a record. */
  const readingAfter = (bodies: Readonly<Record<number, object>>) => {
    let readings = 0
    return (second: number, operation: string) => {
      if (second < 30 || operation !== 'getSubmittedPullRequest') return undefined
      const body = bodies[++readings]
      return body === undefined
        ? undefined
        : { body: JSON.stringify({ id: 'entry-7', prNumber: 7, prSha, ...body }) }
    }
  }
  const left = { isCurrentlySubmittedToQueue: false }

  test('after readings that contradict each other: the newest counts', async () => {
    const cancelled = { state: 'cancelled', stateChangedAt: iso(31), actor: 'ann', ...left }
    // The reading of the words shows the cancellation, and later readings are behind.
    expect(await land('', failed, readingAfter({ 2: cancelled }))).toMatchObject({ code: 10, sent: 1 })
    // The wait has seen a cancellation, and the record is behind.
    const older = { state: 'failed', stateChangedAt: iso(29), ...left }
    const course: Course = [
      [5, 'TESTING', { prSha }],
      [30, 'CANCELLED', { prSha, actor: 'ann' }],
    ]
    const behind = readingAfter({ 2: older, 3: older })
    expect(await land('--resubmit any', course, behind)).toMatchObject({ code: 10, sent: 1 })
  })

  test('because a reading is behind the failure: what it shows in the queue is no attempt', async () => {
    const behind = { state: 'testing', stateChangedAt: iso(5), isCurrentlySubmittedToQueue: true }
    const course: Course = [
      [5, 'TESTING', { prSha }],
      [30, 'FAILED', { prSha, reason: 'its_tests_failed' }],
    ]
    expect(await land('--resubmit any', course, readingAfter({ 3: behind }))).toMatchObject({
      code: 3,
      outcome: 'failed',
      sent: 1,
      attempts: ['It was submitted.'],
    })
  })

  test('what somebody else submitted with another head, and does not cancel it either', async () => {
    const other = {
      state: 'testing',
      stateChangedAt: iso(31),
      isCurrentlySubmittedToQueue: true,
      prSha: 'bbbb222',
    }
    const operations: string[] = []
    const answer = readingAfter({ 2: other, 3: other, 4: other })
    const fault = (second: number, operation: string) => {
      operations.push(operation)
      return answer(second, operation)
    }
    expect(await land('', failed, fault)).toMatchObject({ code: 14, outcome: 'stale', sent: 1 })
    expect(operations).not.toContain('cancelPullRequest')
  })

  test('with exit code 7: a later attempt that cannot be made ends as the last one did', async () => {
    // The second submission gets no response, and never appears.
    const fault = (second: number, operation: string) =>
      second >= 30 && operation === 'submitPullRequest' ? { status: 503 } : undefined
    expect(await land('--grace 5s --give-up-after 1m', failed, fault)).toMatchObject({
      code: 3,
      outcome: 'failed',
      state: 'FAILED',
      submitted: true,
      reason: expect.stringMatching(/^#7 failed after .*\. Attempt 2: /),
    })
  })

  test('without a pause after a failure of somebody else, too', async () => {
    const course: Course = [
      ...failed,
      // Somebody submits it in the pause.
      [100, 'TESTING', { prSha }],
      [320, 'FAILED', hostTrouble],
      [640, 'MERGED', { prSha }],
    ]
    const sendings: number[] = []
    const landed = await land('', course, (second, operation) => {
      if (operation === 'submitPullRequest') sendings.push(second)
      return undefined
    })
    expect(landed).toMatchObject({ code: 0, outcome: 'merged' })
    expect(sendings).toEqual([0, expect.closeTo(630, -1)])
    expect(landed.err.match(/It is not in the queue until attempt 2 of 3/g)).toHaveLength(2)
  })

  test('with a token that is rejected after the first attempt: that is the result, with exit code 4', async () => {
    for (const rejected of ['submitPullRequest', 'getSubmittedPullRequest']) {
      const fault = (second: number, operation: string) =>
        second > 300 && operation === rejected ? { status: 401 } : undefined
      expect(await land('', failed, fault)).toMatchObject({
        code: 4,
        outcome: 'error',
        submitted: true,
        reason: expect.stringContaining('401'),
      })
    }
  })

  test.each<[string, Course, number | undefined, string, string]>([
    ['between two attempts', failed, 429, '#7 is not in the queue.', 'stays in the queue'],
    [
      'in its second attempt',
      [...failed, [335, 'TESTING', { prSha }]],
      undefined,
      'stays in the queue',
      '#7 is not in the queue.',
    ],
  ])('what is interrupted %s', async (_, course, refusal, expected, wrong) => {
    const controller = new AbortController()
    const { code, err, out } = await runWithHistory('pr land 7 --interval 5s -o ndjson', {
      pulls: { 7: course },
      fault(second, operation) {
        if (second > 360) controller.abort(new MergeqError('interrupted', 'Interrupted by SIGINT.'))
        return second >= 30 && operation === 'submitPullRequest' && refusal ? { status: refusal } : undefined
      },
      setting: { signal: controller.signal },
    })
    expect(code).toBe(130)
    expect(err).toContain(expected)
    expect(err).not.toContain(wrong)
    // An attempt that is tried again is reported once.
    expect(documentsIn(out).filter(({ type }) => type === 'attempt')).toHaveLength(2)
  })
})
