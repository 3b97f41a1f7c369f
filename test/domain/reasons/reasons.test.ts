import { describe, expect, test } from 'vitest'
import type { Json, JsonObject } from '../../../src/base/json.ts'
import { reasonTable } from '../../../src/domain/reasons/reason-table.ts'
import {
  explainState,
  findReason,
  isSubmittedAgain,
  pauseBeforeAgain,
} from '../../../src/domain/reasons/reasons.ts'
import { parseTestRun, testRunOf } from '../../../src/domain/test-run.ts'
import { actorOfEvent, eventsOfAttempt, reasonOfEvent, stateOfEvent } from '../../../src/domain/timeline.ts'
import { record, uuid } from '../../support/pr-explain.ts'

test('each word of an end has advice; every meaning is a sentence', () => {
  const all = Object.entries(reasonTable).flatMap(([state, words]) =>
    Object.entries(words).map(([word, reason]) => ({ state, word, ...reason })),
  )
  for (const { meaning, advice = '.' } of all) {
    expect(meaning).toMatch(/^[A-Z].*\.$/)
    expect(advice).toMatch(/\.$/)
  }
  const silent = all.filter(({ state, advice }) => /FAILED|CANCELLED/.test(state) && advice === undefined)
  expect(silent).toEqual([])
})

test('a word counts in its own state only, in any case', () => {
  expect(findReason('FAILED', 'TEST_RUN_TIMEOUT')?.again).toBe('look')
  expect(findReason('CANCELLED', 'test_run_timeout')).toBeUndefined()
  expect(findReason('FAILED', 'constructor')).toBeUndefined()
  expect(findReason('__proto__', 'toString')).toBeUndefined()
})

// What an end without a word means, and what each word means for a new submission: test/golden/pr-explain-words.txt.

describe('an event', () => {
  test.each<[string, Json, string | undefined]>([
    ['a login', { login: 'ada' }, 'ada'],
    ['nobody', null, undefined],
    ['an empty object', {}, undefined],
  ])('has as its actor %s', (_, actor, login) => {
    expect(actorOfEvent({ actor })?.login).toBe(login)
    expect(actorOfEvent({ cancellation: { actor } })?.login).toBe(login)
  })

  test.each<[JsonObject, string, string | undefined]>([
    [{ state: 'failed', failure: { reason: 'x' } }, 'FAILED', 'x'],
    [{ state: 'failure', reason: 'x' }, 'FAILED', 'x'],
    [{ failure: { reason: 'x' } }, 'FAILED', 'x'],
    [{ cancellation: { reason: 'x' } }, 'CANCELLED', 'x'],
    [{ pendingFailure: {} }, 'PENDING_FAILURE', undefined],
    [{ testsPassed: { reason: 'x' } }, 'TESTS_PASSED', 'x'],
    [{ state: 'TESTING', merged: { reason: null } }, 'TESTING', undefined],
    [{ reason: 'x' }, '', 'x'],
  ])('%j has a state and a reason at its top or one level down', (event, state, reason) => {
    expect({ state: stateOfEvent(event), reason: reasonOfEvent(event) }).toEqual({ state, reason })
  })
})

describe('an attempt', () => {
  const older = [
    { state: 'failed', failure: { reason: 'test_run_required_status_failed' } },
    { state: 'testing', testRun: { branch: `trunk-merge/pr-7/${uuid}` } },
    { state: 'not_ready', notReady: { reason: 'user_requested' } },
  ]

  test('reaches back to the newest NOT_READY event, with it', () => {
    const timeline = [{ state: 'pending' }, { notReady: { reason: 'api_requested' } }, ...older]
    expect(eventsOfAttempt({ timeline })).toEqual(timeline.slice(0, 2))
    expect(testRunOf({ state: 'PENDING', timeline })).toBeUndefined()
    expect(testRunOf({ state: 'FAILED', timeline: older })).toBe(uuid)
    const restarted = ['not_ready', 'testing', 'not_ready'].map(state => ({ state }))
    expect(eventsOfAttempt({ timeline: restarted })).toEqual([{ state: 'not_ready' }])
  })

  test('does not reach behind its start where the end of an older one is missing', () => {
    const timeline = [{ state: 'pending' }, { state: 'not_ready' }, ...older.slice(1)]
    expect(eventsOfAttempt({ timeline })).toEqual(timeline.slice(0, 2))
    expect(testRunOf({ state: 'PENDING', timeline })).toBeUndefined()
  })

  test('ends before the end of an older one where its start is missing', () => {
    expect(eventsOfAttempt({ timeline: [{ state: 'pending' }, ...older] })).toEqual([{ state: 'pending' }])
  })

  test('of another state says nothing of this one', () => {
    const timeline = [{ state: 'not_ready', notReady: { reason: 'user_requested' } }, ...older]
    expect(explainState(record('CANCELLED', { timeline })).words.serviceReason).toBeNull()
    expect(explainState(record('FAILED', { timeline })).words.serviceReason).toBeNull()
  })
})

describe('what is submitted again without a person', () => {
  const ended = (state: string, reason?: string) =>
    record(state, reason === undefined ? {} : { timeline: [{ state, reason }] })
  const cancelledRun = parseTestRun('r', { status: 'cancelled' })

  test.each([
    ['FAILED', 'github_api_rate_limit_exceeded', 'safe', true],
    ['FAILED', 'test_run_timeout', 'safe', false],
    ['FAILED', 'test_run_timeout', 'any', true],
    ['FAILED', 'test_run_required_status_failed', 'any', true],
    ['FAILED', 'github_api_merge_already_in_progress', 'any', false],
    ['CANCELLED', 'pr_pushed_to', 'any', false],
    ['CANCELLED', 'stacked_pr_member_merged', 'any', false],
    ['CANCELLED', 'user_requested', 'any', false],
    ['CANCELLED', 'it_was_cancelled', 'any', false],
    ['CANCELLED', undefined, 'safe', false],
    ['FAILED', undefined, 'safe', false],
  ] as const)('%s with %s and %s: %s', (state, reason, resubmit, expected) => {
    expect(isSubmittedAgain(ended(state, reason), undefined, resubmit)).toBe(expected)
  })

  test('is a failure without a known word whose tests did not finish', () => {
    expect(isSubmittedAgain(ended('FAILED', 'cosmic_ray'), cancelledRun, 'safe')).toBe(true)
    expect(isSubmittedAgain(ended('FAILED'), cancelledRun, 'safe')).toBe(true)
    expect(isSubmittedAgain(ended('FAILED', 'test_run_timeout'), cancelledRun, 'safe')).toBe(false)
  })

  test('waits 5, 15, then 30 minutes where the service asks for a pause', () => {
    const minutes = (reason: string, ended_: number) =>
      pauseBeforeAgain(explainState(ended('FAILED', reason)), ended_) / 60_000
    const pauses = [1, 2, 3, 4].map(number => minutes('github_api_rate_limit_exceeded', number))
    expect(pauses).toEqual([5, 15, 30, 30])
    expect(minutes('cosmic_ray', 1)).toBe(0)
  })
})
