import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { explanationJson, explanationProse, explanationView } from '../../src/commands/pr/explain/report.ts'
import {
  type ExplainSources,
  type ExplanationVerdict,
  explainPullRequest,
} from '../../src/domain/explain/explain-pull-request.ts'
import { formatOrdinal } from '../../src/domain/format.ts'
import { pullRequestStates } from '../../src/domain/states.ts'
import { joinCommandLine } from '../../src/domain/suggested-command.ts'
import { parseTestRun, testRunOf, testsPullRequest } from '../../src/domain/test-run.ts'
import type { Json, JsonObject } from '../../src/json.ts'
import { plainText } from '../../src/output/styled-text.ts'
import { noon } from '../support/harness.ts'
import { entry, queue, record, uuid } from '../support/pr-explain.ts'

const nothing: ExplainSources = {
  pr: 7,
  targetBranch: 'main',
  commandLine: joinCommandLine,
  record: undefined,
  queue: undefined,
  run: undefined,
  unread: [],
}
const pageUrl = 'https://github.com/acme/web/pull/7'
const ready = { requiresImpactedTargets: false, doesBaseBranchMatch: true, gitHubMergeability: 'mergeable' }
const unready = (more: JsonObject) => record('NOT_READY', { readiness: { ...ready, ...more } })
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

/**
 * What was read, and what it means: the verdict, the codes of its reasons in order, and the commands to go on
 * with.
 */
type Row = readonly [
  what: string,
  read: Partial<ExplainSources>,
  verdict: ExplanationVerdict,
  codes: readonly string[],
  next: readonly (string | null)[],
  safe: boolean | null,
]

const wait = 'mergeq pr wait 7'
const resume = 'mergeq queue resume'
const submit = 'mergeq pr submit 7'

const rows: readonly Row[] = [
  ['nothing known', {}, 'never-submitted', ['never-submitted'], [submit], true],
  [
    'never submitted, and there is no queue',
    { queue: null },
    'never-submitted',
    ['no-queue', 'never-submitted'],
    [null, 'mergeq queue create', submit],
    true,
  ],
  [
    'merged, and the queue deleted since',
    { record: record('MERGED'), queue: null },
    'merged',
    ['merged'],
    [],
    false,
  ],
  [
    'not submitted, in a queue with others',
    { queue: queue('RUNNING', [entry(8, 'TESTING')]) },
    'never-submitted',
    ['never-submitted'],
    [submit],
    true,
  ],
  [
    'its record is late, the queue lists it already',
    { queue: queue('RUNNING', [entry(7, 'PENDING')]) },
    'waiting',
    ['pending', 'position'],
    [wait],
    true,
  ],
  ['merged', { record: record('MERGED') }, 'merged', ['merged'], [], false],
  ['merged, in lower case', { record: record('merged') }, 'merged', ['merged'], [], false],
  [
    'merged, while an older reading of the queue lists it',
    { record: record('MERGED'), queue: queue('PAUSED', [entry(7, 'TESTS_PASSED')]) },
    'merged',
    ['merged'],
    [],
    false,
  ],
  ['failed', { record: record('FAILED') }, 'dropped', ['failed'], [null, submit], true],
  [
    'failed, with its run',
    { record: record('FAILED'), run: failedRun },
    'dropped',
    ['failed', 'failing-checks'],
    ['mergeq pr testing run-1', null, submit],
    true,
  ],
  [
    'failed, with its history',
    {
      record: record('FAILED', {
        timeline: [
          { state: 'failure', failureCausingStatuses: [{ name: 'e2e' }], conflictCulprit: { prNumber: 5 } },
        ],
      }),
    },
    'dropped',
    ['failed', 'conflict-culprit', 'failure-causes'],
    [null, submit],
    true,
  ],
  [
    'failed, and still counted as submitted',
    { record: record('FAILED', { isCurrentlySubmittedToQueue: true }) },
    'unknown',
    ['settling'],
    ['mergeq pr get 7 --json', wait],
    null,
  ],
  [
    'failed before, and a newer attempt is listed',
    {
      record: record('FAILED'),
      queue: queue('RUNNING', [entry(7, 'TESTING', { stateChangedAt: '2026-01-05T11:59:00Z' })]),
    },
    'testing',
    ['testing', 'position'],
    [wait],
    true,
  ],
  [
    'failed, while an older reading of the queue lists it',
    { record: record('FAILED'), queue: queue('RUNNING', [entry(7, 'TESTING')]) },
    'dropped',
    ['failed'],
    [null, submit],
    true,
  ],
  ['cancelled', { record: record('CANCELLED') }, 'dropped', ['cancelled'], [submit], true],
  [
    'cancelled, and the service says by whom',
    { record: record('CANCELLED', { reason: 'pr_closed', actor: { login: 'ada' } }) },
    'dropped',
    ['cancelled', 'service-says'],
    [submit],
    true,
  ],
  [
    'held: PENDING_FAILURE is not dropped',
    { record: record('PENDING_FAILURE') },
    'held',
    ['pending-failure'],
    [wait, 'mergeq pr restart 7'],
    true,
  ],
  [
    'held, no longer counted as submitted, but listed',
    {
      record: record('PENDING_FAILURE', { isCurrentlySubmittedToQueue: false }),
      queue: queue('RUNNING', [entry(7, 'PENDING_FAILURE')]),
    },
    'held',
    ['pending-failure', 'position'],
    [wait, 'mergeq pr restart 7'],
    true,
  ],
  [
    'held, with its run and a paused queue',
    { record: record('pending_failure'), run: failedRun, queue: queue('PAUSED') },
    'held',
    ['pending-failure', 'failing-checks', 'queue-paused'],
    [resume, wait, 'mergeq pr testing run-1', 'mergeq pr restart 7'],
    true,
  ],
  ['testing', { record: record('TESTING') }, 'testing', ['testing'], [wait], true],
  [
    'testing, a check still running',
    {
      record: record('TESTING'),
      run: run({ status: 'in_progress', statusChecks: [{ context: 'deploy', state: 'PENDING' }] }),
    },
    'testing',
    ['testing', 'pending-checks'],
    [wait, 'mergeq pr testing run-1'],
    true,
  ],
  [
    'testing in a paused queue: the run goes on',
    { record: record('TESTING'), queue: queue('PAUSED', [entry(7, 'TESTING')]) },
    'testing',
    ['testing', 'queue-paused', 'position'],
    [resume, wait],
    true,
  ],
  [
    'passed, one ahead',
    {
      record: record('TESTS_PASSED'),
      queue: queue('DRAINING', [entry(5, 'TESTING'), entry(7, 'TESTS_PASSED')]),
    },
    'waiting',
    ['tests-passed', 'queue-draining', 'position'],
    [resume, wait],
    true,
  ],
  [
    'passed, in a paused queue',
    { record: record('TESTS_PASSED'), queue: queue('PAUSED', [entry(7, 'TESTS_PASSED')]) },
    'blocked',
    ['queue-paused', 'tests-passed', 'position'],
    [resume, wait],
    true,
  ],
  [
    'pending, the slots taken',
    {
      record: record('PENDING'),
      queue: queue('RUNNING', [entry(5, 'TESTING'), entry(6, 'TESTING'), entry(7, 'PENDING')]),
    },
    'waiting',
    ['pending', 'position', 'no-free-slot'],
    [wait],
    true,
  ],
  [
    'pending, behind one of higher priority',
    {
      record: record('PENDING', { priorityValue: 200, noBatch: true }),
      queue: queue('RUNNING', [
        entry(6, 'PENDING', { priorityValue: 10 }),
        entry(7, 'PENDING', { priorityValue: 200 }),
      ]),
    },
    'waiting',
    ['pending', 'position', 'lower-priority'],
    [wait],
    false,
  ],
  [
    'pending, waiting for a batch',
    {
      record: record('PENDING'),
      queue: queue('RUNNING', [entry(7, 'PENDING')], { batch: true, batchingMinSize: 4 }),
    },
    'waiting',
    ['pending', 'position', 'batching'],
    [wait],
    true,
  ],
  ...(['PAUSED', 'DRAINING', 'SWITCHING_MODES'] as const).map(
    (state): Row => [
      `pending, the queue ${state}`,
      { record: record('PENDING'), queue: queue(state.toLowerCase(), [entry(7, 'PENDING')]) },
      'blocked',
      [`queue-${state.toLowerCase().replace('_', '-')}`, 'pending', 'position'],
      [...(state === 'SWITCHING_MODES' ? [] : [resume]), wait],
      true,
    ],
  ),
  [
    'pending, the queue in a state nobody knows',
    { record: record('PENDING'), queue: queue('constructor', [entry(7, 'PENDING')]) },
    'waiting',
    ['pending', 'queue-state', 'position'],
    [wait],
    true,
  ],
  [
    'not ready: no targets',
    { record: unready({ requiresImpactedTargets: true, hasImpactedTargets: false }) },
    'blocked',
    ['no-impacted-targets', 'not-ready'],
    ['mergeq pr targets 7 --from targets.txt', wait],
    true,
  ],
  [
    'not ready: no targets, the head known, and a time limit',
    {
      record: {
        ...unready({ requiresImpactedTargets: true, hasImpactedTargets: false }),
        prSha: '4f2a9c1',
      },
      queue: queue('RUNNING', [], { notReadyTimeoutHours: 24 }),
    },
    'blocked',
    ['no-impacted-targets', 'not-ready', 'time-limit'],
    ['mergeq pr targets 7 --from targets.txt --sha 4f2a9c1', wait],
    true,
  ],
  [
    'not ready: whether it has targets is unknown; its head would do harm in a shell',
    { record: { ...unready({ requiresImpactedTargets: true }), prSha: '$(reboot)' } },
    'waiting',
    ['not-ready', 'needs-impacted-targets'],
    ['mergeq pr targets 7 --from targets.txt', wait],
    true,
  ],
  [
    'not ready: the record says nothing of it, and the queue is parallel',
    { record: record('NOT_READY'), queue: queue('RUNNING', [], { mode: 'parallel' }) },
    'waiting',
    ['not-ready', 'needs-impacted-targets'],
    ['mergeq pr targets 7 --from targets.txt', wait],
    true,
  ],
  [
    'not ready: another base branch',
    { record: unready({ doesBaseBranchMatch: false }) },
    'blocked',
    ['base-branch', 'not-ready'],
    [null, wait],
    true,
  ],
  [
    'not ready: not mergeable',
    { record: unready({ gitHubMergeability: 'NOT_MERGEABLE' }) },
    'blocked',
    ['not-mergeable', 'not-ready'],
    [null, wait],
    true,
  ],
  ...(
    [
      ['in_progress', 'mergeability-in-progress'],
      ['unspecified', 'mergeability-unknown'],
      ['toString', 'mergeability'],
    ] as const
  ).map(
    ([gitHubMergeability, code]): Row => [
      `not ready: mergeability ${gitHubMergeability}`,
      { record: unready({ gitHubMergeability }) },
      'waiting',
      ['not-ready', code],
      [wait],
      true,
    ],
  ),
  [
    'not ready, and nothing says why',
    { record: record('NOT_READY') },
    'waiting',
    ['not-ready'],
    [wait],
    true,
  ],
  [
    'not ready, and the record says what blocks it',
    {
      record: record('NOT_READY', {
        blockReasons: [{ kind: 'behind_base' }, { kind: 'awaiting_required_check' }, { kind: '__proto__' }],
        waitingFor: [5, { prNumber: 6 }],
      }),
    },
    'blocked',
    ['block-reason', 'block-reason', 'not-ready', 'block-reason', 'waiting-for'],
    [null, wait],
    true,
  ],
  [
    'not ready, and it waits for what passes by itself',
    { record: record('NOT_READY', { blockReasons: [{ kind: 'awaiting_required_check' }] }) },
    'waiting',
    ['not-ready', 'block-reason'],
    [wait],
    true,
  ],
  [
    'pending, but counted as not submitted',
    { record: record('PENDING', { isCurrentlySubmittedToQueue: false }) },
    'unknown',
    ['not-submitted'],
    ['mergeq pr get 7 --json', wait],
    null,
  ],
  [
    'a state that nobody knows',
    { record: record('HOVERING') },
    'unknown',
    ['unknown-state'],
    ['mergeq pr get 7 --json', wait],
    null,
  ],
  [
    'no state, but a readiness that blocks',
    {
      record: {
        isCurrentlySubmittedToQueue: true,
        readiness: { ...ready, gitHubMergeability: 'not_mergeable' },
      },
    },
    'blocked',
    ['not-mergeable', 'no-state'],
    [null, wait],
    null,
  ],
  [
    'no state, and a readiness that is still being found out',
    { record: { readiness: { ...ready, gitHubMergeability: 'in_progress' } } },
    'unknown',
    ['no-state', 'mergeability-in-progress'],
    ['mergeq pr get 7 --json', wait],
    null,
  ],
  [
    'no state, and no longer submitted: its readiness says nothing',
    {
      record: {
        isCurrentlySubmittedToQueue: false,
        readiness: { ...ready, gitHubMergeability: 'not_mergeable' },
      },
    },
    'unknown',
    ['no-state'],
    ['mergeq pr get 7 --json', wait],
    null,
  ],
  [
    'no state in its record, but one in the queue',
    {
      record: { priorityValue: 100, readiness: { ...ready, gitHubMergeability: 'not_mergeable' } },
      queue: queue('RUNNING', [entry(7, 'TESTING')]),
    },
    'testing',
    ['testing', 'position'],
    [wait],
    true,
  ],
  ['no state', { record: {} }, 'unknown', ['no-state'], ['mergeq pr get 7 --json', wait], null],
  [
    'every field null',
    {
      record: { state: null, stateChangedAt: null, readiness: null, timeline: null, prTitle: null },
      queue: { state: null, enqueuedPullRequests: null, concurrency: null },
    },
    'unknown',
    ['no-state'],
    ['mergeq pr get 7 --json', wait],
    null,
  ],
  [
    'a priority that could not be read',
    { record: record('PENDING', { priorityValue: null }) },
    'waiting',
    ['pending'],
    [wait],
    null,
  ],
]

test.each(rows)('judged: %s', (_, read, verdict, codes, next, safe) => {
  const judged = explainPullRequest({ ...nothing, ...read })
  expect({
    verdict: judged.verdict,
    codes: judged.reasons.map(({ code }) => code),
    next: judged.next.map(({ command }) => command),
    safe: judged.submitAgain.safe,
  }).toEqual({ verdict, codes, next, safe })
})

describe('what a reason names', () => {
  const messages = (read: Partial<ExplainSources>) =>
    explainPullRequest({ ...nothing, ...read })
      .reasons.map(({ message }) => message)
      .join(' ')

  test('who is ahead, in their states, a few of many', () => {
    const crowd = Array.from({ length: 9 }, (_, index) => entry(20 + index, 'PENDING'))
    const text = messages({
      record: record('PENDING'),
      queue: queue('RUNNING', [entry(5, 'TESTING'), ...crowd, entry(7, 'PENDING')]),
    })
    expect(text).toContain('position 11 of 11')
    expect(text).toContain(
      '#5 (TESTING), #20 (PENDING), #21 (PENDING), #22 (PENDING), #23 (PENDING) and 5 others',
    )
  })
  test('the required checks that fail, and no optional one', () => {
    expect(messages({ record: record('PENDING_FAILURE'), run: failedRun })).toContain(
      'Failing checks in its test run: e2e.',
    )
  })
  test('how to keep its priority and batching in another submit', () => {
    const held = record('PENDING', { priorityValue: 10, noBatch: true })
    expect(
      explainPullRequest({
        ...nothing,
        commandLine: words => joinCommandLine([...words, '--repo', 'acme/web']),
        record: held,
      }).submitAgain.why,
    ).toContain('`mergeq pr submit 7 --repo acme/web --priority 10 --no-batch`')
  })
  test('the message of the service is cut', () => {
    const text = messages({ record: record('x'.repeat(100_000)) })
    expect(text.length).toBeLessThan(200)
  })
})

test.each([
  ['the record', { verifiedByTestRun: uuid }, uuid],
  [
    'its history, newest first',
    { timeline: [{ testRun: { branch: `trunk-merge/pr-7/${uuid}` } }, { testRun: 'old' }] },
    uuid,
  ],
  ['a run that passed', { timeline: [{ state: 'merged' }, { testsPassed: { testRunId: uuid } }] }, uuid],
  ['a bisection', { testRun: { branch: `trunk-merge/pr-9/${uuid}-bisection-1` } }, `${uuid}-bisection-1`],
  ['nothing', { verifiedByTestRun: null, timeline: [null, 3, {}] }, undefined],
  ['no id', { testRun: 'two words', testRunId: 7 }, undefined],
] satisfies readonly (readonly [string, JsonObject, string | undefined])[])(
  'the test run is known from %s',
  (_, known, id) => {
    expect(testRunOf(known)).toBe(id)
  },
)

test('a run that tests others says nothing of this one', () => {
  expect(testsPullRequest({ testedPullRequests: [{ prNumber: 8 }] }, 7)).toBe(false)
  expect(testsPullRequest({ testedPullRequests: [{ prNumber: 8 }, { prNumber: 7 }] }, 7)).toBe(true)
  expect(testsPullRequest({ testedPullRequests: [{ prNumber: 8 }], dependentPrs: [7] }, 7)).toBe(true)
  expect(testsPullRequest({}, 7)).toBe(true)
})

test('property: any records give a complete verdict that JSON can hold', () => {
  const words = fc.constantFrom(
    ...pullRequestStates,
    'paused',
    '__proto__',
    'constructor',
    ...[
      'state',
      'readiness',
      'timeline',
      'prNumber',
      'concurrency',
      'blockReasons',
      'waitingFor',
      'checkSuites',
    ],
    ...[
      'enqueuedPullRequests',
      'priorityValue',
      'stateChangedAt',
      'testRun',
      'statusChecks',
      'checkRuns',
      'actor',
    ],
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
  const keys = Object.keys(explanationJson(explainPullRequest(nothing))).sort()
  fc.assert(
    fc.property(
      fc.option(object, { nil: undefined }),
      fc.option(object, { nil: undefined }),
      object,
      (one, two, three) => {
        const judged = explainPullRequest({
          ...nothing,
          record: one,
          queue: two,
          run: parseTestRun('r', three),
        })
        expect(Object.keys(explanationJson(judged)).sort()).toEqual(keys)
        expect(judged.reasons.length).toBeGreaterThan(0)
        expect(JSON.stringify(explanationJson(judged))).not.toContain('undefined')
        expect(
          explanationView(judged, pageUrl, noon)
            .rows.flat()
            .every(cell => typeof cell === 'string'),
        ).toBe(true)
        const prose = explanationProse(judged, pageUrl, noon).map(plainText)
        expect(prose[0]).toContain('#7')
        expect(prose.join('\n')).not.toMatch(/undefined|null/)
        for (const { command } of judged.next)
          if (command !== null && !command.startsWith('mergeq pr testing'))
            expect(prose.join('\n')).toContain(command)
        if (one === undefined || two !== undefined) return
        if (one.state === 'PENDING_FAILURE') expect(['held', 'unknown']).toContain(judged.verdict)
      },
    ),
  )
})

describe('the prose for a terminal', () => {
  const proseOf = (sources: Partial<ExplainSources>) =>
    explanationProse(explainPullRequest({ ...nothing, ...sources }), pageUrl, noon).map(plainText)
  const page = 'https://github.com/acme/web/actions/runs/1'
  const tested = run({
    status: 'failed',
    checkSuites: [{ checkRuns: [{ name: 'test', conclusion: 'FAILURE', url: page }] }],
    testedPullRequests: [{ prNumber: 7 }],
    dependentPrs: [5, 6],
  })

  test('of a failure names the failing check, its page, and what to do', () => {
    expect(proseOf({ record: record('FAILED', { prTitle: 'Fix cart' }), run: tested })).toEqual([
      '✗ #7 failed 3m ago: Fix cart',
      `  The check "test" failed: ${page}`,
      '  It was tested alone, on top of main with #5, #6.',
      '  Its tests failed; its own change caused the failure. It was removed from the queue.',
      'Next',
      '  Fix the failure, then push.',
      '  mergeq pr submit 7  Submits it again after the fix.',
      '  Submitting it again without a fix will most likely fail again.',
    ])
  })

  test('of a queued pull request names its position, and what is unread', () => {
    expect(
      proseOf({
        record: record('TESTING'),
        queue: queue('RUNNING', [entry(5, 'TESTING'), entry(7, 'TESTING')]),
        run: run({ testedPullRequests: [{ prNumber: 7 }, { prNumber: 8 }] }),
        unread: [{ what: 'test run', why: 'It timed out.' }],
      }),
    ).toEqual([
      '◐ #7 testing for 3m, 2nd of 2 in the queue',
      '  It is being tested in a batch with #8, on top of main.',
      '  The test run could not be read: It timed out.',
      'Next',
      '  mergeq pr wait 7         Waits until it merges or leaves the queue.',
      '  mergeq pr testing run-1  Shows the checks of its test run.',
    ])
  })

  test.each(['CANCELLED', 'MERGED'])('of %s names no failing check', state => {
    expect(proseOf({ record: record(state), run: tested }).join('\n')).not.toContain('failed')
  })

  test('of a pull request that was never submitted says so first', () => {
    expect(proseOf({})[0]).toBe('#7 was never submitted to the queue for main')
    expect(proseOf({ record: record('SOMETHING_NEW') })[0]).toMatch(/^#7 SOMETHING_NEW for 3m/)
  })

  test.each([
    [1, '1st'],
    [2, '2nd'],
    [3, '3rd'],
    [4, '4th'],
    [11, '11th'],
    [12, '12th'],
    [13, '13th'],
    [21, '21st'],
    [112, '112th'],
  ])('the ordinal number of %i is %s', (position, text) => {
    expect(formatOrdinal(position)).toBe(text)
  })
})
