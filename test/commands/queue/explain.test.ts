import { expect, test } from 'vitest'
import { getNumber, type JsonObject } from '../../../src/base/json.ts'
import { type Answer, queueEnv as env, noon } from '../../support/harness.ts'
import { type Answers, json, run } from '../../support/named-answers.ts'
import { entry, queue, record } from '../../support/pr-explain.ts'

const ago = (milliseconds: number) => new Date(noon - milliseconds).toISOString()
const hour = 3_600_000

/** Runs `queue explain`; an operation without an answer is missing from the service. */
const explain = (answers: Answers, words = '--json') => run(`queue explain ${words}`, answers, { env })
const notReadyMetrics = (count: number): Answer => ({
  body: `mq_awaiting_mergeability{repo="acme/web",branch="main",queue_type="main"} ${count}\n`,
})

const notReady = { prNumber: 12, state: 'not_ready', readiness: { requiresImpactedTargets: true } }
/** Pull requests under test in a queue that batches. */
const batching = (...prs: readonly number[]) =>
  json(
    queue(
      'RUNNING',
      prs.map(pr => entry(pr, 'TESTING', { stateChangedAt: ago(60_000) })),
      { batch: true },
    ),
  )
const inRunFor3Hours = { stateChangedAt: ago(3 * hour), verifiedByTestRun: 'run-1' }
const inRun = (pr: number, testRunId: string) => record('TESTING', { prNumber: pr, testRunId })
const refused: Answer = { status: 400, body: 'no' }

const cases: Readonly<Record<string, Answers>> = {
  'nothing is queued': { getQueue: json(queue('RUNNING')), listPullRequests: json({ pullRequests: [] }) },
  'one is not ready': {
    getQueue: json(queue('RUNNING')),
    listPullRequests: json({ pullRequests: [notReady] }),
  },
  'one is tested, and one is not ready': {
    getQueue: json(queue('RUNNING', [entry(7, 'TESTING', { stateChangedAt: ago(1_000) })])),
    getSubmittedPullRequest: json(record('TESTING', { prNumber: 7 })),
    listPullRequests: json({ pullRequests: [notReady] }),
  },
  'the queue is paused': {
    getQueue: json(queue('PAUSED', [entry(7, 'PENDING')])),
    getSubmittedPullRequest: json(record('PENDING', { prNumber: 7 })),
    listPullRequests: json({ pullRequests: [] }),
  },
  'a required check has not reported in the run of the head': {
    getQueue: json(queue('RUNNING', [entry(5, 'TESTING', inRunFor3Hours)])),
    getSubmittedPullRequest: json(record('TESTING', { prNumber: 5, ...inRunFor3Hours })),
    getMergeQueueTestingDetails: json({
      status: 'in_progress',
      createdAt: ago(3 * hour),
      requiredStatuses: ['build', 'e2e'],
      checkSuites: [{ checkRuns: [{ name: 'build', status: 'COMPLETED', conclusion: 'SUCCESS' }] }],
      testedPullRequests: [{ prNumber: 5 }],
    }),
  },
  'nothing changed for two hours': {
    getQueue: json(
      queue('RUNNING', [
        entry(5, 'PENDING', { stateChangedAt: ago(2 * hour) }),
        entry(6, 'PENDING', { stateChangedAt: ago(3 * hour) }),
      ]),
    ),
    getSubmittedPullRequest: json(record('PENDING', { prNumber: 5, stateChangedAt: ago(2 * hour) })),
  },
  'a change within the hour': {
    getQueue: json(
      queue('RUNNING', [
        entry(5, 'TESTING', { stateChangedAt: ago(2 * hour) }),
        entry(6, 'PENDING', { stateChangedAt: ago(hour - 1_000) }),
      ]),
    ),
  },
  // The head is read again with its timeline.
  'pull requests of one test run are a batch': {
    getQueue: batching(5, 6, 7),
    getSubmittedPullRequest({ pr }) {
      const number = getNumber(pr, 'number') ?? 0
      return json(inRun(number, number === 7 ? 'two' : 'one'))
    },
  },
  'the service tells of several with one request': {
    getQueue: batching(5, 6),
    getSubmittedPullRequests: json({ pullRequests: [inRun(5, 'one'), inRun(6, 'one')] }),
    getSubmittedPullRequest: json(inRun(5, 'one')),
  },
  'without the list of pull requests': {
    getQueue: json(queue('RUNNING')),
    getMergeQueueMetrics: notReadyMetrics(3),
  },
  'the list of pull requests failed': {
    getQueue: json(queue('RUNNING')),
    getMergeQueueMetrics: notReadyMetrics(3),
    listPullRequests: refused,
  },
  'nothing but the queue can be read': {
    getQueue: json(queue('RUNNING', [entry(5, 'TESTING')])),
    getSubmittedPullRequest: refused,
    listPullRequests: refused,
    getMergeQueueMetrics: refused,
  },
}

test('what is read of a queue has a row for each fact, and what cannot be read is no reason to fail', async () => {
  const pieces: string[] = []
  for (const [title, answers] of Object.entries(cases)) {
    const { code, out, requests } = await explain(answers, '')
    const { notReady, batches, reasons } = JSON.parse((await explain(answers)).out)
    const codes = reasons.map(({ code }: JsonObject) => code)
    const json = JSON.stringify({ notReady, batches, codes })
    pieces.push(`=== ${title}: exit ${code}, ${requests.length} requests\n${out}${json}\n`)
  }
  await expect(pieces.join('\n')).toMatchFileSnapshot('../../golden/queue-explain-rows.txt')
})
