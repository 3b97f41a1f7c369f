import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../src/base/json.ts'
import { findReason } from '../../src/domain/reasons/reasons.ts'
import type { DialectName } from '../../src/sandbox/dialects.ts'
import { rotatedToken, type ScenarioName, scenarioNames } from '../../src/values/scenario-names.ts'
import { createTestService, onQueue } from '../support/sandbox-service.ts'

/** Opens a sandbox, and functions that send requests and let time pass. */
function open(scenario: ScenarioName, dialect: DialectName = 'hosted') {
  const { raw, later } = createTestService({ scenario, dialect })
  const headers = { 'x-api-token': scenario === 'rotated-token' ? rotatedToken : 'sandbox' }
  const send = (operation: string, more: JsonObject): { status: number; body: JsonObject } => {
    const body = JSON.stringify({ ...onQueue, ...more })
    const { status, body: text } = raw({ path: `/v1/${operation}`, headers, body })
    // An outage ends after some requests.
    if (status === 503) return send(operation, more)
    return { status, body: status === 200 && text.startsWith('{') ? JSON.parse(text) : {} }
  }
  const pr = (number: number) => ({ pr: { number } })
  return {
    send,
    later,
    submit: (...numbers: readonly number[]) =>
      numbers.map(number => send('submitPullRequest', pr(number)).status),
    record: (number: number) =>
      send('getSubmittedPullRequest', { ...pr(number), includeTimeline: true }).body,
  }
}

const timelineOf = (record: JsonObject) => record.timeline as readonly JsonObject[]

/** The object of each state, with its members besides `reason` and `actor`; TESTING has the test run instead. */
const objects: Readonly<Record<string, readonly [name: string, members: readonly string[]]>> = {
  NOT_READY: ['notReady', ['noBatch']],
  PENDING: ['pending', ['prerequisitePullRequests']],
  TESTING: ['testRun', ['branch', 'sha', 'status', 'requiredStatuses', 'testedPullRequests']],
  TESTS_PASSED: ['testsPassed', ['testRunId', 'testBranchSha', 'testBranchUrl', 'waitingFor']],
  PENDING_FAILURE: ['pendingFailure', ['eventualFailureReason', 'waitingFor', 'failureCausingStatuses']],
  MERGED: ['merged', []],
  FAILED: ['failure', ['failureCausingStatuses', 'apiFailureMessage']],
  CANCELLED: ['cancellation', []],
}

const hasNoReason = ['TESTING', 'PENDING_FAILURE']

/** What is wrong with the form or the word of an event; empty if nothing is. */
function faultsOf(event: JsonObject): readonly string[] {
  const state = String(event.state).toUpperCase()
  const [name, members] = objects[state] ?? ['', []]
  const part = (event[name] ?? {}) as JsonObject
  const isKnown = findReason(state, String(part.reason)) !== undefined
  const allowed = [...members, ...(hasNoReason.includes(state) ? [] : ['reason', 'actor'])]
  const actor = part.actor as JsonObject | undefined
  return [
    ...Object.keys(event).filter(key => !['timestamp', 'state', name].includes(key)),
    ...Object.keys(part).filter(key => !allowed.includes(key)),
    ...(hasNoReason.includes(state) || isKnown ? [] : [`reason ${part.reason}`]),
    ...(actor === undefined || Object.keys(actor).join() === 'gitHubLogin,trunkUserId' ? [] : ['actor']),
  ].map(fault => `${state}: ${fault}`)
}

describe.each(['both', 'hosted'] as const)('the timelines of %s', dialect => {
  test.each(scenarioNames)('have the words and forms of the service: %s', scenario => {
    const { send, submit, later, record } = open(scenario, dialect)
    const numbers = [1, 2, 3, 4, 201, 202, 203]
    send('updateQueue', { pendingFailureDepth: 1, concurrency: 3 })
    submit(...numbers)
    later(0.5)
    send('cancelPullRequest', { pr: { number: 2 } })
    later(1)
    send('restartTestsOnPullRequest', { pr: { number: 1 } })
    later(120)
    submit(...numbers)
    later(120)
    const events = numbers.flatMap(number => timelineOf(record(number)))
    expect(events.flatMap(faultsOf)).toEqual([])
    expect(events.length).toBeGreaterThan(numbers.length * 2)
  })
})

const newest = (record: JsonObject) => {
  const [{ timestamp: _, ...event } = {}] = timelineOf(record)
  return event
}

test('a person, and then a program, cancels in the scenario cancelled', () => {
  const { submit, later, record } = open('cancelled')
  submit(1, 2)
  later(20)
  expect(newest(record(1)).cancellation).toMatchObject({
    reason: 'user_requested',
    actor: { gitHubLogin: 'grace' },
  })
  expect(newest(record(2)).cancellation).toEqual({ reason: 'user_requested' })
})

test('the first attempts fail because of GitHub in turn in host-trouble, the second merge', () => {
  const { submit, later, record } = open('host-trouble')
  const reasons = () => [1, 2, 3].map(number => (newest(record(number)).failure as JsonObject)?.reason)
  submit(1, 2, 3)
  later(60)
  expect(reasons()).toEqual([
    'github_api_rate_limit_exceeded',
    'github_api_repeated_server_errors',
    'start_test_run_retry_exhausted',
  ])
  expect(timelineOf(record(3)).map(({ state }) => state)).toEqual(['failed', 'pending', 'not_ready'])
  submit(1, 2, 3)
  later(60)
  expect([1, 2, 3].map(number => record(number).state)).toEqual(['merged', 'merged', 'merged'])
})

test('half of those that may have merged show it 20 seconds later', () => {
  const { submit, later, record } = open('maybe-merged')
  submit(1, 2)
  later(15)
  const states = () => [1, 2].map(number => record(number).state)
  expect(states()).toEqual(['failed', 'failed'])
  expect(newest(record(1)).failure).toEqual({
    reason: 'github_api_merge_already_in_progress',
    apiFailureMessage: 'Merge already in progress',
  })
  later(20)
  expect(states()).toEqual(['merged', 'failed'])
})

test('a stack is submitted with those below, tested as one, and every second submission is cancelled by a push', () => {
  const { submit, later, record } = open('stack')
  submit(202)
  later(1)
  expect(record(201).state).toBe('testing')
  expect(record(202)).toMatchObject({ prBaseBranch: expect.not.stringMatching(/^main$/) })
  expect(record(202).readiness).toMatchObject({ doesBaseBranchMatch: true })
  later(30)
  expect([201, 202].map(number => record(number).state)).toEqual(['merged', 'merged'])
  submit(203)
  later(30)
  expect(newest(record(203))).toEqual({
    state: 'cancelled',
    cancellation: { reason: 'stacked_pr_member_pushed_to' },
  })
  submit(203)
  later(30)
  expect(record(203).state).toBe('merged')
})

describe('what the hosted service alone answers', () => {
  test('several pull requests at once, 50 at most, and those that were never submitted', () => {
    const { send, submit, later } = open('happy')
    submit(1, 2)
    later(30)
    const prs = (...numbers: readonly number[]) => ({ prs: numbers.map(number => ({ number })) })
    const { body } = send('getSubmittedPullRequests', prs(2, 1, 998))
    expect(body).toMatchObject({ pullRequests: [{ prNumber: 2 }, { prNumber: 1 }], notFound: [998] })
    expect(send('getSubmittedPullRequests', prs(...Array(50).keys())).status).toBe(200)
    expect(send('getSubmittedPullRequests', prs(...Array(51).keys())).status).toBe(400)
  })

  test('the finished test runs, a row for each pull request, newest first', () => {
    const { send, submit, later } = open('batch-failure')
    submit(1, 2, 3, 4)
    later(120)
    const { body } = send('listMergeQueueTestingResults', {})
    const rows = body.testingResults as readonly JsonObject[]
    expect(body.totalItems).toBe(rows.length)
    // Their outcomes are in test/golden/screens/queue-runs.txt.
    const run = { testRunId: expect.any(String), testingDurationMs: expect.any(Number) }
    expect(rows[0]).toMatchObject({ ...run, prNumber: 4, bisection: 'in_bisection' })
    expect(rows.at(-1)).toMatchObject({ ...run, prNumber: 1, bisection: 'entered_bisection' })
    const page = send('listMergeQueueTestingResults', { take: 2, offset: 1 }).body.testingResults
    expect(page).toEqual(rows.slice(1, 3))
    const since = '2025-10-01T00:00:00Z'
    expect(send('listMergeQueueTestingResults', { since }).status).toBe(400)
  })
})
