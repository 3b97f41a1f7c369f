import type { ErrorKind } from '../base/errors.ts'
import { getString, type Json, type JsonObject } from '../base/json.ts'
import { shorten } from '../values/format.ts'

/** The known states of a pull request (docs/reference/service.md, "Pull request states"). */
export const pullRequestStates = [
  'NOT_READY',
  'PENDING',
  'TESTING',
  'TESTS_PASSED',
  'MERGED',
  'FAILED',
  'CANCELLED',
  'PENDING_FAILURE',
] as const

/** The known states of a queue (docs/reference/service.md, "Queue states"). */
export const queueStates = ['RUNNING', 'PAUSED', 'DRAINING', 'SWITCHING_MODES'] as const

const knownStates: readonly string[] = [...pullRequestStates, ...queueStates]

/** A text that is no known state is returned unchanged. */
export const normalizeState = (state: string): string => {
  const upper = state.toUpperCase()
  return knownStates.includes(upper) ? upper : state
}

export const isSameState = (one: string, other: string): boolean => one.toUpperCase() === other.toUpperCase()

const maxStateWords = 200

/** Returns the words of a state for a person: `pending failure`. A text that is no known state is only cut. */
export function stateWords(state: string): string {
  const known = normalizeState(state)
  return knownStates.includes(known)
    ? known.toLowerCase().replaceAll('_', ' ')
    : shorten(state, maxStateWords)
}

/** Returns how a known state is typed: `pending-failure`. */
export const stateOption = (state: string): string => state.toLowerCase().replaceAll('_', '-')

/** The normalized `state` of a record of a pull request or a queue; empty without one. */
export const stateOf = (record: Json | undefined): string => normalizeState(getString(record, 'state') ?? '')

export const isKnownState = (state: string): boolean => pullRequestStates.some(known => known === state)

/** The tests are running, have passed, or have failed for a cause not yet known. */
export const statesUnderTest: readonly string[] = ['TESTING', 'TESTS_PASSED', 'PENDING_FAILURE']

/** The states of pull requests that a queue lists. */
export const queuedStates: readonly string[] = ['PENDING', ...statesUnderTest]

export const isUnderTest = (state: string): boolean => statesUnderTest.includes(normalizeState(state))

/** Normalizes the `state` of a record; a record with nothing to change is returned itself. */
export function withNormalizedState(record: JsonObject): JsonObject {
  const state = getString(record, 'state')
  const normalized = normalizeState(state ?? '')
  return state === undefined || state === normalized ? record : { ...record, state: normalized }
}

export const outcomes = ['ok', 'failed', 'cancelled', 'pending'] as const

const terminalOutcomes: ReadonlyMap<string, 'ok' | 'failed' | 'cancelled'> = new Map([
  ['MERGED', 'ok'],
  ['FAILED', 'failed'],
  ['CANCELLED', 'cancelled'],
])

export const terminalOutcome = (state: string) => terminalOutcomes.get(state)

export const isFailedOrCancelled = (state: string): boolean => ['FAILED', 'CANCELLED'].includes(state)

/**
 * Returns the outcome of a pull request's record (docs/reference/cli.md, "Waiting"). FAILED and CANCELLED are
 * final only when `isCurrentlySubmittedToQueue` is not true; a record without that key counts as not
 * submitted.
 */
export function outcomeOfRecord(record: JsonObject): (typeof outcomes)[number] {
  const state = stateOf(record)
  if (isFailedOrCancelled(state) && record.isCurrentlySubmittedToQueue === true) return 'pending'
  return terminalOutcome(state) ?? 'pending'
}

/** What a 404 for a pull request leaves open. */
export const newSubmissionNote = 'it can take up to 90s to appear'

const messageByState: ReadonlyMap<string, string> = new Map([
  ['PAUSED', 'The queue is paused: no tests start and nothing merges.'],
  ['DRAINING', 'The queue is draining: running tests finish and merge, but no new tests start.'],
  ['SWITCHING_MODES', 'The queue is switching modes: no tests start until the switch is complete.'],
])

/** Returns what a state of a queue, in any case, means; undefined for RUNNING and for an unknown state. */
export const queueStateMessage = (state: string): string | undefined =>
  messageByState.get(normalizeState(state))

export const canResume = (state: string): boolean => ['PAUSED', 'DRAINING'].includes(normalizeState(state))

/** The milestones that a wait can have as its goal (docs/reference/cli.md, "Waiting"); a later state reaches them, too. */
export const milestones = ['merged', 'tests-passed', 'testing', 'left'] as const

export type Milestone = (typeof milestones)[number]

export const waitOutcomes = [
  'merged',
  'reached',
  'left',
  'failed',
  'cancelled',
  'timed-out',
  'stale',
  'pending',
  'error',
] as const

export type WaitOutcome = (typeof waitOutcomes)[number]

/** The exit code kind of each outcome. An `error` has the kind of the error that caused it. */
export const kindOfOutcome: Readonly<Record<Exclude<WaitOutcome, 'error'>, ErrorKind>> = {
  merged: 'ok',
  reached: 'ok',
  left: 'ok',
  failed: 'failed',
  cancelled: 'cancelled',
  'timed-out': 'timed-out',
  stale: 'stale',
  pending: 'pending',
}
