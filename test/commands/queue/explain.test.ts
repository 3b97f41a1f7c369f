import { expect, test } from 'vitest'
import { type Answer, mergeq, noon, openStory, type Seen } from '../../support/harness.ts'
import { entry, queue, record } from '../../support/pr-explain.ts'

const env = { MERGEQ_REPO: 'acme/web', MERGEQ_TARGET_BRANCH: 'main' }
const json = (body: unknown): Answer => ({ body: JSON.stringify(body) })
const ago = (milliseconds: number) => new Date(noon - milliseconds).toISOString()
const hour = 3_600_000

type Answers = Readonly<Record<string, Answer | ((body: string) => Answer)>>

/** Runs `queue explain`; an operation without an answer is missing from the service. */
const explain = (answers: Answers, words = '--json') =>
  mergeq(`queue explain ${words}`, {
    env,
    answer({ path, body }: Seen) {
      const answer = answers[path.replace(/^\/v1\/|\?.*$/g, '')] ?? { status: 404 }
      return typeof answer === 'function' ? answer(body) : answer
    },
  })
const notReadyMetrics = (count: number): Answer => ({
  body: `mq_awaiting_mergeability{repo="acme/web",branch="main",queue_type="main"} ${count}\n`,
})

test.each(['both', 'hosted'] as const)('each state has its verdict (%s)', async dialect => {
  const scenario = { summary: '', scripts: [{ pr: 12, readyAfter: 86_400 }] }
  const story = await openStory({ dialect, scenario })
  const verdict = async () => JSON.parse((await story.mergeq('queue explain --json')).out)
  expect(await verdict()).toMatchObject({ verdict: 'empty', head: null, notReady: 0, next: [] })
  await story.mergeq('pr submit 12')
  story.clock.now += 1_000
  expect(await verdict()).toMatchObject({ verdict: 'waiting', depth: 0, notReady: 1, head: null })
  await story.mergeq('pr submit 7')
  story.clock.now += 1_000
  expect(await verdict()).toMatchObject({
    verdict: 'moving',
    depth: 1,
    head: { pr: 7, state: 'TESTING' },
    testing: 1,
    notReady: 1,
    notReadyPullRequests: [{ pr: 12, reasons: expect.arrayContaining([expect.anything()]) }],
  })
  await story.mergeq('queue pause')
  expect(await verdict()).toMatchObject({
    verdict: 'paused',
    state: 'PAUSED',
    reasons: expect.arrayContaining([{ code: 'queue-paused', message: expect.any(String) }]),
    next: [{ command: 'mergeq queue resume' }],
  })
})

test('names the required check that never reported in the run of its head', async () => {
  const testRun = {
    status: 'in_progress',
    createdAt: ago(3 * hour),
    requiredStatuses: ['build', 'e2e'],
    checkSuites: [{ checkRuns: [{ name: 'build', status: 'COMPLETED', conclusion: 'SUCCESS' }] }],
    testedPullRequests: [{ prNumber: 5 }],
  }
  const head = { stateChangedAt: ago(3 * hour), verifiedByTestRun: 'run-1' }
  const answers = {
    getQueue: json(queue('RUNNING', [entry(5, 'TESTING', head)])),
    getSubmittedPullRequest: json(record('TESTING', { prNumber: 5, ...head })),
    getMergeQueueTestingDetails: json(testRun),
  }
  const { out } = await explain(answers)
  const explanation = JSON.parse(out)
  expect(explanation.head.testRun).toMatchObject({ pending: [], missing: ['e2e'] })
  const message = 'e2e has not reported for 3h.'
  expect(explanation.head.reasons[1]).toEqual({ code: 'check-not-reported', message })
  expect(explanation.reasons).toContainEqual({
    code: 'check-not-reported',
    message: `In the test run of #5, ${message}`,
  })
  for (const format of ['', '-o csv', '-o markdown', '-o table'])
    expect((await explain(answers, format)).out, format).toContain(message)
})

test('a queue in which nothing changed for an hour is stalled, and its head says why', async () => {
  const entries = [
    entry(5, 'PENDING', { stateChangedAt: ago(2 * hour) }),
    entry(6, 'PENDING', { stateChangedAt: ago(3 * hour) }),
  ]
  const { code, out } = await explain({
    getQueue: json(queue('RUNNING', entries)),
    getSubmittedPullRequest: json(record('PENDING', { prNumber: 5, stateChangedAt: ago(2 * hour) })),
  })
  expect(code).toBe(0)
  expect(JSON.parse(out)).toMatchObject({
    verdict: 'stalled',
    head: { pr: 5, verdict: 'waiting' },
    notReady: null,
    reasons: [
      { code: 'stalled', message: 'No queued pull request changed its state for 2h.' },
      { code: 'nothing-tested', message: 'No test runs are in progress.' },
    ],
    next: [{ command: 'mergeq pr wait 5', why: '#5: Waits until it merges or leaves the queue.' }],
  })
})

test('a change within the hour means that it moves', async () => {
  const entries = [
    entry(5, 'TESTING', { stateChangedAt: ago(2 * hour) }),
    entry(6, 'PENDING', { stateChangedAt: ago(hour - 1_000) }),
  ]
  const { out } = await explain({ getQueue: json(queue('RUNNING', entries)) })
  expect(JSON.parse(out)).toMatchObject({ verdict: 'moving' })
})

test('pull requests of one test run are a batch', async () => {
  const entries = [5, 6, 7].map(pr => entry(pr, 'TESTING', { stateChangedAt: ago(60_000) }))
  const runs = ['one', 'one', 'two']
  const { out, requests } = await explain({
    getQueue: json(queue('RUNNING', entries, { batch: true })),
    getSubmittedPullRequest(body) {
      const { number } = JSON.parse(body).pr
      return json(record('TESTING', { prNumber: number, testRunId: runs[number - 5] }))
    },
  })
  expect(JSON.parse(out).batches).toEqual([
    { testRunId: 'one', pullRequests: [5, 6] },
    { testRunId: 'two', pullRequests: [7] },
  ])
  // The head is read again with its timeline.
  expect(requests.length).toBe(11)
})

test('the pull requests under test are read with one request, if the service tells of several', async () => {
  const entries = [5, 6].map(pr => entry(pr, 'TESTING', { stateChangedAt: ago(60_000) }))
  const records = [5, 6].map(pr => record('TESTING', { prNumber: pr, testRunId: 'one' }))
  const { out, requests } = await explain({
    getQueue: json(queue('RUNNING', entries, { batch: true })),
    getSubmittedPullRequests: json({ pullRequests: records }),
    getSubmittedPullRequest: json(records[0] ?? {}),
  })
  expect(JSON.parse(out).batches).toEqual([{ testRunId: 'one', pullRequests: [5, 6] }])
  const ofOne = requests.filter(({ path }) => path.endsWith('/getSubmittedPullRequest'))
  expect(ofOne.map(({ body }) => JSON.parse(body).pr.number)).toEqual([5, 5])
})

test('without the list of pull requests, the metrics say how many are not ready, and no step lists them', async () => {
  const answers = { getQueue: json(queue('RUNNING')), getMergeQueueMetrics: notReadyMetrics(3) }
  const { out } = await explain(answers)
  expect(JSON.parse(out)).toMatchObject({
    verdict: 'waiting',
    notReady: 3,
    notReadyPullRequests: [],
    reasons: [{ code: 'empty' }, { code: 'not-ready' }],
    next: [],
    unread: [],
  })
  const { out: rows } = await explain(answers, '')
  expect(rows.split('\n').slice(0, 3)).toEqual(['verdict\twaiting', 'state\tRUNNING', 'depth\t0'])
})

test('where the list of pull requests failed, the next step lists them', async () => {
  const { out } = await explain({
    getQueue: json(queue('RUNNING')),
    getMergeQueueMetrics: notReadyMetrics(3),
    listPullRequests: { status: 400, body: 'no' },
  })
  expect(JSON.parse(out)).toMatchObject({
    notReady: 3,
    next: [{ command: 'mergeq pr list --state not-ready' }],
    unread: [{ what: 'pull requests that are not ready' }],
  })
})

test('what cannot be read is named, and is no reason to fail', async () => {
  const { code, out } = await explain({
    getQueue: json(queue('RUNNING', [entry(5, 'TESTING')])),
    getSubmittedPullRequest: { status: 400, body: 'no' },
    listPullRequests: { status: 400, body: 'no' },
    getMergeQueueMetrics: { status: 400, body: 'no' },
  })
  expect(code).toBe(0)
  expect(JSON.parse(out)).toMatchObject({
    head: null,
    notReady: null,
    unread: [
      { what: 'head of the queue' },
      { what: 'pull requests that are not ready' },
      { what: 'metrics' },
    ],
  })
})
