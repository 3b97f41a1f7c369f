import { getString, type JsonObject } from '../json.ts'

/** The states of a pull request (service-api.md section 2.3). */
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

/** The states of a queue (service-api.md section 2.4). */
export const queueStates = ['RUNNING', 'PAUSED', 'DRAINING', 'SWITCHING_MODES'] as const

const known: readonly string[] = [...pullRequestStates, ...queueStates]

/** A state word in the spelling of service-api.md, whatever its case; an unknown word as it is. */
export const normalizeState = (state: string): string => {
  const upper = state.toUpperCase()
  return known.includes(upper) ? upper : state
}

/** The states of a pull request whose tests run, have passed, or have failed without a culprit yet. */
export const statesUnderTest: readonly string[] = ['TESTING', 'TESTS_PASSED', 'PENDING_FAILURE']

/** Whether a state word, in whatever case, is one of `underTest`. */
export const isUnderTest = (state: string): boolean => statesUnderTest.includes(normalizeState(state))

/** The record with its own `state` in the spelling of service-api.md; everything else as it came. */
export function withNormalizedState(record: JsonObject): JsonObject {
  const state = getString(record, 'state')
  return state === undefined ? record : { ...record, state: normalizeState(state) }
}

/** How a pull request's record can stand: the kinds of `standing`. */
export const outcomes = ['ok', 'failed', 'cancelled', 'pending'] as const

/** How a state, in the spelling of service-api.md, ends a pull request; undefined for every state that is no end. */
export function terminalOutcome(state: string): 'ok' | 'failed' | 'cancelled' | undefined {
  switch (state) {
    case 'MERGED':
      return 'ok'
    case 'FAILED':
      return 'failed'
    case 'CANCELLED':
      return 'cancelled'
    default:
      return undefined
  }
}

/** Whether a state, in the spelling of service-api.md, is an end without a merge. */
export const isFailedOrCancelled = (state: string): boolean =>
  /^(failed|cancelled)$/.test(terminalOutcome(state) ?? '')

/**
 * How a pull request's record stands (CLI.md section 5): it has settled on MERGED, or on FAILED or CANCELLED once
 * the record also says that it is no longer submitted; a record without that flag counts as saying so.
 */
export function settledOutcome(record: JsonObject): (typeof outcomes)[number] {
  const state = normalizeState(getString(record, 'state') ?? '')
  if (isFailedOrCancelled(state) && record.isCurrentlySubmittedToQueue === true) return 'pending'
  return terminalOutcome(state) ?? 'pending'
}
