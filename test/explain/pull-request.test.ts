import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Json, JsonObject } from '../../src/base/json.ts'
import { explanationRows } from '../../src/commands/pr/explain/report.ts'
import { pullRequestStates } from '../../src/domain/states.ts'
import { parseTestRun, testRunOf, testsPullRequest } from '../../src/domain/test-run.ts'
import type { ExplainSources } from '../../src/explain/explain-pull-request.ts'
import { explanationJson } from '../../src/explain/explain-pull-request.ts'
import { readinessFindings } from '../../src/explain/readiness.ts'
import { formatOrdinal } from '../../src/values/format.ts'
import { noon } from '../support/harness.ts'
import { entry, explainSeven, proseOf, queue, record, textOf, uuid } from '../support/pr-explain.ts'

const ready = { requiresImpactedTargets: false, doesBaseBranchMatch: true, gitHubMergeability: 'mergeable' }
const unready = (more: JsonObject) => record('NOT_READY', { readiness: { ...ready, ...more } })
const mergeability = (gitHubMergeability: string) => ({ record: unready({ gitHubMergeability }) })
const run = (more: JsonObject) => parseTestRun('run-1', { testBranch: 'trunk-merge/pr-7/run-1', ...more })
const failedRun = run({
  status: 'failed',
  requiredStatuses: ['build', 'e2e'],
  checkSuites: [
    { checkRuns: [] },
    {
      checkRuns: [
        { name: 'build', status: 'COMPLETED', conclusion: 'SUCCESS' },
        { name: 'e2e', status: 'completed', conclusion: 'failure' },
        { name: 'optional', status: 'COMPLETED', conclusion: 'FAILURE' },
      ],
    },
  ],
})

/** The record of a pull request in a state; `listed` has the queue that lists it, too. */
const at = (state: string, more: JsonObject = {}) => ({ record: record(state, more) })
const listed = (state: string, queueState = 'RUNNING', more: JsonObject = {}, ...ahead: JsonObject[]) => ({
  record: record(state),
  queue: queue(queueState, [...ahead, entry(7, state)], more),
})
const [blocked, checking] = [{ gitHubMergeability: 'not_mergeable' }, { gitHubMergeability: 'in_progress' }]
/** One that is tested, with a check in this state. */
const tested = (state: string) => ({
  ...at('TESTING'),
  run: run({ status: 'in_progress', statusChecks: [{ context: 'deploy', state }] }),
})
/** One whose run began so many minutes ago, and of whose required checks one has not reported. */
const silentFor = (minutes: number, settings: JsonObject = {}) => ({
  ...listed('TESTING', 'RUNNING', settings),
  run: run({
    status: 'in_progress',
    createdAt: new Date(noon - minutes * 60_000).toISOString(),
    requiredStatuses: ['build', 'e2e'],
    checkSuites: [{ checkRuns: [{ name: 'build', status: 'COMPLETED', conclusion: 'SUCCESS' }] }],
  }),
})
const twoTested = [entry(5, 'TESTING'), entry(6, 'TESTING')]
const targetless = { requiresImpactedTargets: true, hasImpactedTargets: false }
const history = [
  { state: 'failure', failureCausingStatuses: [{ name: 'e2e' }], conflictCulprit: { prNumber: 5 } },
]

/** The verdict and the codes of its reasons in order, and what was read. */
type Row = readonly [verdict: string, read: Partial<ExplainSources>]

const rows: readonly Row[] = [
  ['not-found: not-found, may-appear', {}],
  ['not-found: no-queue, not-found', { queue: null }],
  // Its record is late, the queue lists it already.
  ['waiting: pending, position', { queue: listed('PENDING').queue }],
  // Merged, while an older reading of the queue lists it.
  ['merged: merged', { ...listed('TESTS_PASSED', 'PAUSED'), ...at('MERGED') }],
  ['dropped: failed, conflict-culprit, failure-causes', at('FAILED', { timeline: history })],
  // Failed, and still counted as submitted.
  ['unknown: settling', at('FAILED', { isCurrentlySubmittedToQueue: true })],
  // Failed before, and a newer attempt is listed.
  [
    'testing: testing, position',
    {
      ...at('FAILED'),
      queue: queue('RUNNING', [entry(7, 'TESTING', { stateChangedAt: '2026-01-05T11:59:00Z' })]),
    },
  ],
  // Failed, while an older reading of the queue lists it.
  ['dropped: failed', { ...listed('TESTING'), ...at('FAILED') }],
  // What each word of the service means, and an end without one: test/golden/pr-explain-words.txt.
  ['held: pending-failure', at('PENDING_FAILURE')],
  // Held, no longer counted as submitted, but listed.
  [
    'held: pending-failure, position',
    { ...listed('PENDING_FAILURE'), ...at('PENDING_FAILURE', { isCurrentlySubmittedToQueue: false }) },
  ],
  [
    'held: pending-failure, failing-checks, queue-paused',
    { ...at('pending_failure'), run: failedRun, queue: queue('PAUSED') },
  ],
  ['testing: testing, pending-checks', tested('PENDING')],
  // A required check that never reported: news while the run is young, and the cause when it is old.
  ['testing: testing, missing-checks, position', silentFor(10)],
  ['testing: testing, missing-checks, position', silentFor(59)],
  ['testing: testing, check-not-reported, position', silentFor(61)],
  ['testing: testing, missing-checks, position', silentFor(61, { testingTimeoutMinutes: 300 })],
  ['testing: testing, check-not-reported, position', silentFor(16, { testingTimeoutMinutes: 30 })],
  // A manual approval is missing.
  ['testing: testing, awaiting-approval', tested('WAITING')],
  ['testing: testing, awaiting-approval', tested('REQUESTED')],
  // Testing in a paused queue: the run goes on.
  ['testing: testing, queue-paused, position', listed('TESTING', 'PAUSED')],
  [
    'waiting: tests-passed, queue-draining, position',
    listed('TESTS_PASSED', 'DRAINING', {}, entry(5, 'TESTING')),
  ],
  ['blocked: queue-paused, tests-passed, position', listed('TESTS_PASSED', 'PAUSED')],
  ['waiting: pending, position, no-free-slot', listed('PENDING', 'RUNNING', {}, ...twoTested)],
  // One more could be tested.
  ['waiting: pending, position', listed('PENDING', 'RUNNING', {}, entry(5, 'TESTING'))],
  // As many are under test, but a batch of several is one test run.
  ['waiting: pending, position, batching', listed('PENDING', 'RUNNING', { batch: true }, ...twoTested)],
  [
    'waiting: pending, position, lower-priority',
    {
      ...at('PENDING', { priorityValue: 200, noBatch: true }),
      queue: queue('RUNNING', [
        entry(6, 'PENDING', { priorityValue: 10 }),
        entry(7, 'PENDING', { priorityValue: 200 }),
      ]),
    },
  ],
  ['waiting: pending, position, batching', listed('PENDING', 'RUNNING', { batch: true, batchingMinSize: 4 })],
  ['blocked: queue-draining, pending, position', listed('PENDING', 'draining')],
  ['blocked: queue-switching-modes, pending, position', listed('PENDING', 'switching_modes')],
  // Pending, the queue in a state nobody knows.
  ['waiting: pending, queue-state, position', listed('PENDING', 'constructor')],
  [
    'blocked: no-impacted-targets, not-ready, time-limit',
    {
      record: { ...unready(targetless), prSha: '4f2a9c1d0e8b7a6655443322110ffeeddccbbaa9' },
      queue: queue('RUNNING', [], { notReadyTimeoutHours: 24 }),
    },
  ],
  // Not ready: whether it has targets is unknown; its head would do harm in a shell.
  [
    'waiting: not-ready, needs-impacted-targets',
    { record: { ...unready({ requiresImpactedTargets: true }), prSha: '$(reboot)' } },
  ],
  // Not ready: the record says nothing of it, and the queue is parallel.
  [
    'waiting: not-ready, needs-impacted-targets',
    { ...at('NOT_READY'), queue: queue('RUNNING', [], { mode: 'parallel' }) },
  ],
  // Not ready: another base branch.
  ['blocked: base-branch, not-ready', { record: unready({ doesBaseBranchMatch: false }) }],
  ['blocked: not-mergeable, not-ready', mergeability('NOT_MERGEABLE')],
  ['waiting: not-ready, mergeability-in-progress', mergeability('in_progress')],
  ['waiting: not-ready, mergeability-unknown', mergeability('unspecified')],
  ['waiting: not-ready, mergeability', mergeability('toString')],
  [
    'blocked: block-reason, block-reason, not-ready, block-reason, waiting-for',
    at('NOT_READY', {
      blockReasons: [{ kind: 'behind_base' }, { kind: 'awaiting_required_check' }, { kind: '__proto__' }],
      waitingFor: [5, { prNumber: 6 }],
    }),
  ],
  [
    'waiting: not-ready, block-reason',
    at('NOT_READY', { blockReasons: [{ kind: 'awaiting_required_check' }] }),
  ],
  // Pending, but counted as not submitted.
  ['unknown: not-submitted', at('PENDING', { isCurrentlySubmittedToQueue: false })],
  // A state that nobody knows.
  ['unknown: unknown-state', at('HOVERING')],
  [
    'blocked: not-mergeable, no-state',
    { record: { isCurrentlySubmittedToQueue: true, readiness: { ...ready, ...blocked } } },
  ],
  ['unknown: no-state, mergeability-in-progress', { record: { readiness: { ...ready, ...checking } } }],
  // No state, and no longer submitted: its readiness says nothing.
  [
    'unknown: no-state',
    { record: { isCurrentlySubmittedToQueue: false, readiness: { ...ready, ...blocked } } },
  ],
  // No state in its record, but one in the queue.
  [
    'testing: testing, position',
    { ...listed('TESTING'), record: { priorityValue: 100, readiness: { ...ready, ...blocked } } },
  ],
  [
    'unknown: no-state',
    {
      record: { state: null, stateChangedAt: null, readiness: null, timeline: null, prTitle: null },
      queue: { state: null, enqueuedPullRequests: null, concurrency: null },
    },
  ],
  // A priority that could not be read.
  ['waiting: pending', at('PENDING', { priorityValue: null })],
]

test('explains each state, with what to do and whether to submit again', async () => {
  const pieces = rows.map(([title, read]) => {
    const explanation = explainSeven(read)
    const codes = explanation.reasons.map(({ code }) => code).join(', ')
    expect(`${explanation.verdict}: ${codes}`).toBe(title)
    return `=== ${title}\n${textOf(explanation)}\n`
  })
  await expect(pieces.join('\n')).toMatchFileSnapshot('../golden/pr-explain-states.txt')
})

test('the reasons name who is ahead, a few of many, the required checks that fail, and cut what the service says', () => {
  const messages = (read: Partial<ExplainSources>) =>
    explainSeven(read)
      .reasons.map(({ message }) => message)
      .join(' ')
  const crowd = Array.from({ length: 9 }, (_, index) => entry(20 + index, 'PENDING'))
  const crowded = queue('RUNNING', [entry(5, 'TESTING'), ...crowd, entry(7, 'PENDING')])
  expect(messages({ ...at('PENDING'), queue: crowded })).toMatch(
    /position 11 of 11.* #5 \(testing\), #20 \(pending\), #21 \(pending\), #22 \(pending\), #23 \(pending\) and 5 others/,
  )
  const failing = messages({ ...at('PENDING_FAILURE'), run: failedRun })
  expect(failing).toContain('Failing checks in its test run: e2e.')
  expect(messages(at('x'.repeat(100_000))).length).toBeLessThan(200)
})

test('the id of the test run stands in the record or its history, newest first', () => {
  const branch = `trunk-merge/pr-7/${uuid}`
  expect(testRunOf({ verifiedByTestRun: uuid })).toBe(uuid)
  expect(testRunOf({ timeline: [{ testRun: { branch } }, { testRun: 'old' }] })).toBe(uuid)
  expect(testRunOf({ timeline: [{ state: 'merged' }, { testsPassed: { testRunId: uuid } }] })).toBe(uuid)
  expect(testRunOf({ testRun: { branch: `${branch}-bisection-1` } })).toBe(`${uuid}-bisection-1`)
  expect(testRunOf({ verifiedByTestRun: null, timeline: [null, 3, {}] })).toBeUndefined()
  expect(testRunOf({ testRun: 'two words', testRunId: 7 })).toBeUndefined()
})

test('a run that tests others says nothing of this one', () => {
  expect(testsPullRequest({ testedPullRequests: [{ prNumber: 8 }] }, 7)).toBe(false)
  expect(testsPullRequest({ testedPullRequests: [{ prNumber: 8 }, { prNumber: 7 }] }, 7)).toBe(true)
  expect(testsPullRequest({ testedPullRequests: [{ prNumber: 8 }], dependentPrs: [7] }, 7)).toBe(true)
  expect(testsPullRequest({}, 7)).toBe(true)
})

test('property: any records give a complete verdict that JSON can hold', () => {
  const keysOfRecords =
    'state readiness timeline prNumber concurrency blockReasons waitingFor checkSuites enqueuedPullRequests ' +
    'priorityValue stateChangedAt testRun statusChecks checkRuns actor'
  const words = fc.constantFrom(
    ...pullRequestStates,
    'paused',
    '__proto__',
    'constructor',
    ...keysOfRecords.split(' '),
  )
  const json = fc.letrec<{ value: Json }>(tie => ({
    value: fc.oneof(
      { depthSize: 'small' },
      fc.constantFrom<Json>(null, true, false, 7, -1, 1e21),
      words,
      fc.string(),
      fc.array(tie('value')),
      fc.dictionary(words, tie('value'), { noNullPrototype: false }),
    ),
  })).value
  const object = fc.dictionary(words, json)
  const optional = fc.option(object, { nil: undefined })
  const keys = Object.keys(explanationJson(explainSeven({}))).sort()
  fc.assert(
    fc.property(optional, optional, object, (one, two, three) => {
      const read = { record: one, queue: two, run: parseTestRun('r', three) }
      const judged = explainSeven(read)
      expect(Object.keys(explanationJson(judged)).sort()).toEqual(keys)
      expect(judged.reasons.length).toBeGreaterThan(0)
      expect(JSON.stringify(explanationJson(judged))).not.toContain('undefined')
      const cells = explanationRows(judged).flatMap(row => Object.values(row))
      expect(cells.every(cell => typeof cell === 'string')).toBe(true)
      const prose = proseOf(judged)
      expect(prose[0]).toContain('#7')
      expect(prose.join('\n')).not.toMatch(/undefined|null/)
      for (const { command } of judged.next) if (command !== null) expect(prose.join('\n')).toContain(command)
      if (one === undefined || two !== undefined) return
      if (one.state === 'PENDING_FAILURE') expect(['held', 'unknown']).toContain(judged.verdict)
    }),
  )
})

test('a position is an ordinal number', () => {
  expect([1, 2, 3, 4, 11, 12, 13, 21, 112].map(formatOrdinal).join(' ')).toBe(
    '1st 2nd 3rd 4th 11th 12th 13th 21st 112th',
  )
})

test('missing targets of a stack are those of any of its pull requests', () => {
  const messages = (more: JsonObject, base = 'fix-cart') => {
    const readiness = { doesBaseBranchMatch: true, requiresImpactedTargets: true, ...more }
    return readinessFindings({ prBaseBranch: base, readiness }, {}, 'main').map(({ message }) => message)
  }
  expect(messages({ hasImpactedTargets: false })).toEqual([
    'The queue is waiting for the impacted targets of a pull request of its stack.',
  ])
  expect(messages({})).toEqual([expect.stringContaining('of each pull request of its stack')])
  expect(messages({ hasImpactedTargets: false }, 'main')).toEqual([expect.not.stringContaining('stack')])
})
