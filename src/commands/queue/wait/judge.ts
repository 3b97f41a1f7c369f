import { getArray, type JsonObject } from '../../../base/json.ts'
import { canResume, isKnownState, stateOf } from '../../../domain/states.ts'

/** The conditions that a wait for a queue can have as its goal (docs/reference/cli.md, "Waiting"). */
export const queueConditions = ['idle', 'empty'] as const
export type QueueCondition = (typeof queueConditions)[number]

/** Returns the states in a queue that are not known; `-` for an entry without one. */
export const unknownStates = (queue: JsonObject): readonly string[] =>
  getArray(queue, 'enqueuedPullRequests')
    .map(stateOf)
    .filter(state => !isKnownState(state))
    .map(state => state || '-')

/**
 * Returns `reached` for a queue that meets a condition, `pending` for one that cannot become empty until it is
 * resumed, and undefined for one to wait for.
 */
export function queueOutcome(
  queue: JsonObject,
  condition: QueueCondition,
): 'reached' | 'pending' | undefined {
  const queueState = stateOf(queue)
  const states = getArray(queue, 'enqueuedPullRequests').map(stateOf)
  const isPaused = queueState === 'PAUSED'
  const hasPassed = states.includes('TESTS_PASSED')
  if (condition === 'idle') {
    // An unknown state may mean that something is tested.
    const isBusy = states.includes('TESTING') || unknownStates(queue).length > 0
    return isBusy || (hasPassed && !isPaused) ? undefined : 'reached'
  }
  if (states.length === 0) return 'reached'
  const isHeld = (canResume(queueState) && states.includes('PENDING')) || (isPaused && hasPassed)
  return isHeld ? 'pending' : undefined
}
