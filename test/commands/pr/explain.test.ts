import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../../src/base/json.ts'
import { type Answer, queueEnv as env, type Setting } from '../../support/harness.ts'
import { type Answers, json, nameOf, run } from '../../support/named-answers.ts'
import { entry, queue, record, uuid } from '../../support/pr-explain.ts'

const failing: Answer = { status: 500, body: 'no' }
const withoutAnswer = {
  getSubmittedPullRequest: failing,
  getQueue: failing,
  getMergeQueueTestingDetails: failing,
  getMergeQueueMetrics: failing,
}

/** Runs a command line; an operation that has no answer fails with 500. */
async function explain(words: string, answers: Answers, setting: Setting = {}) {
  const outcome = await run(`pr explain ${words}`, { ...withoutAnswer, ...answers }, { env, ...setting })
  const sent = outcome.requests.map(seen => ({ name: nameOf(seen), body: JSON.parse(seen.body || '{}') }))
  return { ...outcome, sent, timelines: sent.filter(({ body }) => body.includeTimeline === true).length }
}
const running = { getQueue: json(queue('RUNNING')) }

test('`pr explain` prints a row for each fact on a pipe', async () => {
  const timeline = [
    { state: 'failure', reason: 'test_run_required_status_failed' },
    { state: 'not_ready', actor: 'grace' },
  ]
  const { out } = await explain('7', {
    getSubmittedPullRequest: json(record('FAILED', { testRunId: uuid, timeline })),
    getMergeQueueTestingDetails: json({ status: 'failed' }),
    getQueue: { status: 400, body: 'no' },
  })
  expect(out.trimEnd().split('\n')).toEqual([
    'verdict\tdropped',
    'state\tFAILED',
    'since\t2026-01-05T11:57:00Z',
    'service reason\ttest_run_required_status_failed',
    'by\tauthor',
    'again\tafter-change',
    'reason\tA required check failed.',
    'reason\tIt was submitted by grace.',
    `test run\t${uuid} (failed)`,
    `next\tmergeq pr testing ${uuid}  (Shows the checks of its test run.)`,
    'next\tRead the log of the check. Fix the cause, or the test if it is flaky.',
    'next\tmergeq pr submit 7  (After a fix; without one it will most likely fail again.)',
    'submit again\tafter a change: read the log of the check. Fix the cause, or the test if it is flaky',
    'unavailable\tqueue: The service rejected the request for the queue for main of acme/web: no.',
    'repo\tgithub.com/acme/web',
    'targetBranch\tmain',
    'url\thttps://github.com/acme/web/pull/7',
  ])
})

test.each([
  ['merged', json(record('MERGED')), 'no: it is already merged'],
  ['not found', { status: 404, body: '{}' }, 'unclear: it is not in the queue. It may be too new to appear'],
  ['queued', json(record('PENDING')), 'yes: it is already in the queue; submitting it again changes nothing'],
])('says of a pull request that is %s whether it can be submitted again', async (_, answer, said) => {
  const { out } = await explain('7', { ...running, getSubmittedPullRequest: answer })
  expect(/^submit again\t(.*)$/m.exec(out)?.[1]).toBe(said)
})

describe('the estimate of `pr explain`', () => {
  const listed = Array.from({ length: 21 }, (_, index) => entry(index === 20 ? 7 : 100 + index, 'PENDING'))
  const metrics = (merged: number) => ({
    body: `mq_pr_conclusions_1h_total{repo="acme/web",branch="main",conclusion="merged"} ${merged}\n`,
  })
  const read = (state: string, merged: number, flags = '--json') =>
    explain(`7 ${flags}`, {
      getSubmittedPullRequest: json(record('PENDING')),
      getQueue: json(queue(state, listed)),
      getMergeQueueMetrics: metrics(merged),
    })

  test('is its place in the queue by the merges of the last hour', async () => {
    const { estimate } = JSON.parse((await read('RUNNING', 12)).out)
    expect(estimate).toEqual({ ahead: 20, mergedLastHour: 12, seconds: 6_300, at: expect.any(String) })
    expect((await read('RUNNING', 12, '-o table')).out.replaceAll(/\s+/g, ' ')).toMatch(
      /Time to merge: 20 ahead; 12 merged in the last hour: about 1h45m \(\d\d:\d\d UTC\)\./,
    )
  })

  test('is no time without merges, and nothing in a queue that does not run', async () => {
    expect(JSON.parse((await read('RUNNING', 0)).out).estimate).toEqual({
      ahead: 20,
      mergedLastHour: 0,
      seconds: null,
      at: null,
    })
    for (const state of ['PAUSED', 'DRAINING', 'SWITCHING_MODES'])
      expect(JSON.parse((await read(state, 12)).out).estimate).toBeNull()
  })
})

describe('the requests of `pr explain`', () => {
  const own = json(record('TESTING', { testRunId: uuid }))

  test('are the record and the queue, then the run that the record names, and the metrics', async () => {
    const { code, out, sent } = await explain('7 --json -b release', {
      getSubmittedPullRequest: own,
      getQueue: json(queue('RUNNING', [entry(7, 'TESTING')])),
      getMergeQueueTestingDetails: json({
        status: 'failed',
        checkSuites: [{ checkRuns: [{ name: 'e2e', conclusion: 'FAILURE' }] }],
      }),
    })
    const place = { repo: { host: 'github.com', owner: 'acme', name: 'web' }, targetBranch: 'release' }
    expect(code).toBe(0)
    expect(sent.map(({ name }) => name).slice(3)).toEqual(['getMergeQueueMetrics'])
    expect(sent.slice(0, 2)).toContainEqual({ name: 'getQueue', body: place })
    const pr = { name: 'getSubmittedPullRequest', body: { ...place, pr: { number: 7 } } }
    expect(sent.slice(0, 2)).toContainEqual(pr)
    expect(sent[2]).toEqual({ name: 'getMergeQueueTestingDetails', body: { ...place, testRunId: uuid } })
    expect(JSON.parse(out)).toMatchObject({
      testRun: { id: uuid, status: 'failed', failing: ['e2e'], pending: [] },
    })
  })

  test.each([
    ['getSubmittedPullRequest', { status: 500 }, 7],
    ['getSubmittedPullRequest', { status: 404, body: '<!doctype html><title>Not Found</title>' }, 5],
    ['getSubmittedPullRequest', { status: 401 }, 4],
    ['getQueue', { status: 401 }, 4],
    ['getMergeQueueTestingDetails', { status: 401 }, 4],
  ] as const)('end the command if %s answers %j: %i', async (operation, answer, exit) => {
    const { code, out, err } = await explain('7 --json --retries 0', {
      ...running,
      getSubmittedPullRequest: own,
      [operation]: answer,
    })
    expect({ code, out }).toEqual({ code: exit, out: '' })
    expect(err).toContain(operation)
  })

  test('have what --set gives for the record alone', async () => {
    const { sent, timelines } = await explain('7 --json --retries 0 --set includeTimeline=true', {
      getSubmittedPullRequest: json(record('TESTING', { timeline: [{ testRun: { id: uuid } }] })),
    })
    expect(timelines).toBe(1)
    expect(sent.at(-1)?.body.testRunId).toBe(uuid)
  })
})

describe('the timeline of a pull request that left', () => {
  const timeline = [
    { state: 'cancelled', timestamp: '2026-01-05T11:57:00Z', reason: 'pr_closed', actor: { login: 'ada' } },
    { state: 'not_ready', timestamp: '2026-01-05T11:40:00Z', actor: 'grace' },
    { state: 'failure', timestamp: '2026-01-05T11:30:00Z', actor: 'ci' },
    { state: 'not_ready', timestamp: '2026-01-05T11:20:00Z', actor: 'linus' },
  ]
  /** Answers with a record, and with another where its timeline is requested. */
  const answers = (state: string, more: JsonObject, whole: Answer): Answers => ({
    ...running,
    getSubmittedPullRequest: ({ includeTimeline }) =>
      includeTimeline === true ? whole : json(record(state, more)),
  })
  const cancelled = answers('CANCELLED', {}, json(record('CANCELLED', { timeline })))

  test('says why it left and who submitted it', async () => {
    const { out } = await explain('7 --json', cancelled)
    expect(JSON.parse(out).reasons.slice(1)).toEqual([
      { code: 'service-says', message: 'It was closed by ada.' },
      { code: 'submitted-by', message: 'It was submitted by grace.' },
    ])
  })

  test('is replaced by the author if the service does not have it', async () => {
    const { out, timelines } = await explain('7 --json', {
      ...answers('MERGED', { prAuthor: 'linus' }, { status: 400 }),
    })
    expect(JSON.parse(out).reasons).toEqual([
      { code: 'merged', message: 'It was merged.' },
      { code: 'author', message: 'Its author is linus.' },
    ])
    expect(timelines).toBe(1)
  })

  test('is not requested again after --set, nor for one that is tested in a run that its record names', async () => {
    expect((await explain('7 --set includeTimeline=true', cancelled)).sent).toHaveLength(2)
    const waiting = await explain('7', { ...running, getSubmittedPullRequest: json(record('NOT_READY')) })
    expect(waiting.sent.map(({ name }) => name).sort()).toEqual(['getQueue', 'getSubmittedPullRequest'])
    const named = json(record('TESTING', { testRunId: uuid }))
    expect((await explain('7', { ...running, getSubmittedPullRequest: named })).timelines).toBe(0)
  })

  test('names the test run of one that is tested, and so the required check that has not reported', async () => {
    const event = { state: 'testing', testRun: { branch: `trunk-merge/pr-7/${uuid}` } }
    const { out } = await explain('7 --json', {
      ...answers('TESTING', {}, json(record('TESTING', { timeline: [event] }))),
      getMergeQueueTestingDetails: json({ status: 'in_progress', requiredStatuses: ['e2e'] }),
    })
    expect(JSON.parse(out).testRun).toMatchObject({ id: uuid, missing: ['e2e'] })
  })

  test('is ignored if it is of a newer submission', async () => {
    const newer = json(record('TESTING', { timeline: [{ state: 'testing', reason: 'started' }] }))
    const { out } = await explain('7 --json', answers('CANCELLED', {}, newer))
    expect(JSON.parse(out)).toMatchObject({ verdict: 'dropped', state: 'CANCELLED' })
    expect(out).not.toContain('started')
  })
})

describe('`pr explain` of several pull requests', () => {
  const answers: Answers = {
    ...running,
    getSubmittedPullRequest: ({ pr }) => {
      const number = (pr as JsonObject).number
      return number === 8 ? { status: 403 } : json(record('MERGED', { prNumber: number, timeline: [{}] }))
    },
  }

  test.each([
    ['--json', /^\{"pr":7,.*\}\n\{"pr":9,.*\}\n$/],
    ['', /^pr\t7\nverdict\tmerged\n(?:.*\n)*pr\t9\nverdict\tmerged\n/],
  ])('prints each in order, and one that fails does not stop the rest: %s', async (flags, printed) => {
    const { code, out, err } = await explain(`7 8 9 ${flags}`, answers)
    expect(code).toBe(4)
    expect(out).toMatch(printed)
    expect(err).toContain('#8')
  })

  test('with --stop-on-error ends after the first that fails', async () => {
    const { code, out } = await explain('7 8 9 -o ndjson --stop-on-error', answers)
    expect({ code, lines: out.trimEnd().split('\n').length }).toEqual({ code: 4, lines: 1 })
  })

  test('ends on a terminal with each command once, and says once why reads failed', async () => {
    const testing = ({ pr }: JsonObject) => ({
      prNumber: (pr as JsonObject).number,
      timeline: [{ testRun: uuid }],
    })
    const getSubmittedPullRequest = (body: JsonObject) => json(record('TESTING', testing(body)))
    const screen = { terminal: true, columns: 200 }
    const { out } = await explain('7 9 --color never', { getSubmittedPullRequest }, screen)
    const unread =
      /The queue and test run could not be read: [\d.:]+ could not process the request \(500\): no/g
    expect(out.match(unread)).toHaveLength(2)
    expect(out).toMatch(
      /\n\nNext\n {2}mergeq pr wait 7 9\n {4}Waits until it merges or leaves the queue\.\n$/,
    )
  })
})
