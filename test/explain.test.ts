import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { explanationJson, explanationView } from '../src/commands/pr/explain/explanation-view.ts'
import { explainPullRequest } from '../src/domain/explain/explain-pull-request.ts'
import type { ExplainSources, ExplanationVerdict } from '../src/domain/explain/explanation.ts'
import { parseTestRun, testRunOf, testsPullRequest } from '../src/domain/explain/test-run.ts'
import { pullRequestStates } from '../src/domain/states.ts'
import type { Json, JsonObject } from '../src/json.ts'
import { type Answer, mergeq, noon, openStory, type Seen } from './harness.ts'

const nothing: ExplainSources = {
  pr: 7,
  targetBranch: 'main',
  flags: '',
  record: undefined,
  queue: undefined,
  run: undefined,
  unread: [],
}

const record = (state: string, more: JsonObject = {}): JsonObject => ({
  state,
  stateChangedAt: '2026-01-05T11:57:00Z',
  priorityValue: 100,
  isCurrentlySubmittedToQueue: !/^(MERGED|FAILED|CANCELLED)$/i.test(state),
  prNumber: 7,
  ...more,
})
const entry = (prNumber: number, state: string, more: JsonObject = {}): JsonObject => ({
  prNumber,
  state,
  priorityValue: 100,
  stateChangedAt: '2026-01-05T11:50:00Z',
  ...more,
})
const queue = (state: string, entries: readonly JsonObject[] = [], more: JsonObject = {}): JsonObject => ({
  state,
  concurrency: 2,
  enqueuedPullRequests: entries,
  ...more,
})
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

/** What was read, and what it means: the verdict, the codes of its reasons in order, and the commands to go on with. */
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
    'not ready: whether it has targets is not told; its head would do harm in a shell',
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
    'G3: a state that nobody knows',
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
  ['G4: no state', { record: {} }, 'unknown', ['no-state'], ['mergeq pr get 7 --json', wait], null],
  [
    'G5: every field null',
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
    expect(text).toContain('number 11 of 11')
    expect(text).toContain(
      '#5 (TESTING), #20 (PENDING), #21 (PENDING), #22 (PENDING), #23 (PENDING) and 5 others',
    )
  })
  test('the required checks that fail, and no optional one', () => {
    expect(messages({ record: record('PENDING_FAILURE'), run: failedRun })).toContain(
      'Failing in its test run: e2e.',
    )
  })
  test('how to keep its priority and batching in another submit', () => {
    const held = record('PENDING', { priorityValue: 10, noBatch: true })
    expect(
      explainPullRequest({ ...nothing, flags: ' --repo acme/web', record: held }).submitAgain.why,
    ).toContain('`mergeq pr submit 7 --repo acme/web --priority 10 --no-batch`')
  })
  test('F9: what the service says is cut', () => {
    const text = messages({ record: record('x'.repeat(100_000)) })
    expect(text.length).toBeLessThan(200)
  })
})

const uuid = '6e1d9f0a-52b1-4a6e-9a44-0d7f0c1f2b3c'

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

test('property: whatever is read, there is a verdict, whole and in JSON', () => {
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
          explanationView(judged, noon)
            .rows.flat()
            .every(cell => typeof cell === 'string'),
        ).toBe(true)
        if (one === undefined || two !== undefined) return
        if (one.state === 'PENDING_FAILURE') expect(['held', 'unknown']).toContain(judged.verdict)
      },
    ),
  )
})

const dialects = ['document', 'hosted'] as const

describe.each(dialects)('the story of a pull request, %s', dialect => {
  const tell = async (scenario: string, lines: readonly string[], after: number) => {
    const story = await openStory({ dialect, scenario })
    for (const line of lines) expect((await story.mergeq(line)).code, line).toBe(0)
    story.clock.now += after
    const explained = await story.mergeq('pr explain 7 --json')
    expect(explained.code).toBe(0)
    const document = JSON.parse(explained.out)
    // What it tells people to type is a command line of this program.
    for (const { command } of document.next)
      if (command !== null && !command.includes('targets.txt'))
        expect((await story.mergeq(command.replace('mergeq ', ''))).code, command).not.toBe(2)
    await story.close()
    return document
  }

  test.each([
    ['never submitted', 'happy', [], 0, 'never-submitted', null],
    ['tested', 'happy', ['pr submit 7'], 1_000, 'testing', 'TESTING'],
    ['merged', 'happy', ['pr submit 7'], 60_000, 'merged', 'MERGED'],
    ['waits for a slot', 'happy', ['pr submit 6 7'], 1_000, 'waiting', 'PENDING'],
    ['held', 'flaky', ['pr submit 7'], 2_560, 'held', 'PENDING_FAILURE'],
    ['dropped', 'cancelled', ['pr submit 7'], 60_000, 'dropped', 'CANCELLED'],
    ['paused', 'paused', ['pr submit 7'], 1_000, 'blocked', 'PENDING'],
    [
      'without targets',
      'happy',
      ['queue update --mode parallel', 'pr submit 7'],
      1_000,
      dialect === 'hosted' ? 'blocked' : 'waiting',
      'NOT_READY',
    ],
  ] as const)('%s', async (_, scenario, lines, after, verdict, state) => {
    expect(await tell(scenario, lines, after)).toMatchObject({ verdict, state, pr: 7, unread: [] })
  })

  test('a pull request that failed may be mended and submitted again', async () => {
    const story = await openStory({ dialect, scenario: 'failure' })
    await story.mergeq('pr submit 9')
    story.clock.now += 60_000
    const { out } = await story.mergeq('pr explain 9')
    await story.close()
    expect(out).toMatch(/^verdict\tdropped\nstate\tFAILED\n/)
    expect(out).toMatch(/^next\tmergeq pr submit 9 {2}\(.*mended/m)
    expect(out).toMatch(/^submit again\tsafe: /m)
  })

  test('on a terminal it can be read at a glance', async () => {
    const story = await openStory({ dialect, scenario: 'paused' })
    await story.mergeq('pr submit 7')
    story.clock.now += 180_300
    const { code, out } = await story.mergeq('pr explain 7 --color never', { terminal: true, columns: 64 })
    await story.close()
    expect(code).toBe(0)
    await expect(out).toMatchFileSnapshot(`golden/${dialect}/pr-explain.txt`)
    for (const line of out.split('\n').slice(1)) expect(line.length).toBeLessThanOrEqual(64)
  })
})

describe('what could not be read', () => {
  const at = { MERGEQ_REPO: 'acme/web', MERGEQ_TARGET_BRANCH: 'main' }
  const answers =
    (by: Readonly<Record<string, Answer>>) =>
    ({ path }: Seen): Answer =>
      by[path.slice('/v1/'.length)] ?? { status: 500, body: 'no' }
  const own = { body: JSON.stringify(record('TESTING', { testRunId: uuid })) }
  const line = 'pr explain 7 --json --retries 0'

  test('a queue and a run that could not be read are named, and the verdict stands', async () => {
    const { code, out } = await mergeq(line, { env: at, answer: answers({ getSubmittedPullRequest: own }) })
    const { verdict, queue: seen, testRun, unread } = JSON.parse(out)
    expect({ code, verdict, seen, testRun }).toEqual({
      code: 0,
      verdict: 'testing',
      seen: null,
      testRun: null,
    })
    expect(unread).toEqual([
      { what: 'queue', why: expect.stringMatching(/^getQueue: .*500/) },
      { what: 'test run', why: expect.stringMatching(/^getMergeQueueTestingDetails: .*500/) },
    ])
  })

  test('the requests: the record and the queue, then the run that the record names', async () => {
    const { code, out, requests } = await mergeq(line, {
      env: at,
      answer: answers({
        getSubmittedPullRequest: own,
        getQueue: { body: JSON.stringify(queue('RUNNING', [entry(7, 'TESTING')])) },
        getMergeQueueTestingDetails: {
          body: JSON.stringify({
            status: 'failed',
            checkSuites: [{ checkRuns: [{ name: 'e2e', conclusion: 'FAILURE' }] }],
          }),
        },
      }),
    })
    const place = { repo: { host: 'github.com', owner: 'acme', name: 'web' }, targetBranch: 'main' }
    expect(code).toBe(0)
    expect(
      requests
        .map(({ path, body }) => [path, JSON.parse(body)])
        .sort(([one = ''], [two = '']) => (one < two ? -1 : 1)),
    ).toEqual([
      ['/v1/getMergeQueueTestingDetails', { ...place, testRunId: uuid }],
      ['/v1/getQueue', place],
      ['/v1/getSubmittedPullRequest', { ...place, pr: { number: 7 } }],
    ])
    expect(requests.at(-1)?.path).toBe('/v1/getMergeQueueTestingDetails')
    expect(JSON.parse(out)).toMatchObject({
      testRun: { id: uuid, status: 'failed', failing: ['e2e'], pending: [] },
    })
  })

  test('a record that cannot be read is the failure of the command', async () => {
    const { code, out, err } = await mergeq(line, {
      env: at,
      answer: answers({ getQueue: { body: JSON.stringify(queue('RUNNING')) } }),
    })
    expect({ code, out }).toEqual({ code: 7, out: '' })
    expect(err).toContain('getSubmittedPullRequest')
  })

  test.each(['getSubmittedPullRequest', 'getQueue', 'getMergeQueueTestingDetails'])(
    'C1: 401 to %s ends with 4',
    async refused => {
      const good = { getSubmittedPullRequest: own, getQueue: { body: JSON.stringify(queue('RUNNING')) } }
      const { code, out } = await mergeq(line, {
        env: at,
        answer: answers({ ...good, [refused]: { status: 401 } }),
      })
      expect({ code, out }).toEqual({ code: 4, out: '' })
    },
  )

  test('C15: a web page for a record is no word about the pull request', async () => {
    const page = { status: 404, body: '<!doctype html><title>Not Found</title>' }
    expect((await mergeq(line, { env: at, answer: answers({ getSubmittedPullRequest: page }) })).code).toBe(5)
  })

  test('what was typed to name the queue is in the commands to go on with', async () => {
    const { out } = await mergeq("pr explain https://github.com/acme/api/pull/7 -b 'release 1' --json", {
      answer: answers({ getSubmittedPullRequest: { status: 404 }, getQueue: { status: 404 } }),
    })
    expect(JSON.parse(out).next.at(-1).command).toBe(
      "mergeq pr submit 7 --repo github.com/acme/api --target-branch 'release 1'",
    )
  })

  test('F1: nothing in a title or a check reaches the terminal but its text', async () => {
    const hostile = '\u001b[2J\u001b]0;x\u0007a\nb\u202e'
    const { out } = await mergeq('pr explain 7 --color never', {
      env: at,
      terminal: true,
      answer: answers({
        getSubmittedPullRequest: {
          body: JSON.stringify(record('TESTING', { prTitle: hostile, waitingFor: hostile })),
        },
      }),
    })
    expect(out.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\u202e]/u)
    expect(out).toContain('a b')
  })

  test('--set asks for more, of the record alone', async () => {
    const { requests } = await mergeq(`${line} --set includeTimeline=true`, {
      env: at,
      answer: answers({
        getSubmittedPullRequest: {
          body: JSON.stringify(record('TESTING', { timeline: [{ testRun: { id: uuid } }] })),
        },
      }),
    })
    const asking = requests.filter(({ body }) => JSON.parse(body).includeTimeline === true)
    expect(asking.map(({ path }) => path)).toEqual(['/v1/getSubmittedPullRequest'])
    expect(JSON.parse(requests.at(-1)?.body ?? '').testRunId).toBe(uuid)
  })

  test('--dry-run shows the first request and sends nothing', async () => {
    const { code, out, requests } = await mergeq('pr explain 7 --dry-run', { env: at, answer: () => ({}) })
    expect({ code, requests }).toEqual({ code: 0, requests: [] })
    expect(JSON.parse(out).operation).toBe('getSubmittedPullRequest')
  })
})
