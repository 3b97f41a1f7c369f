import { getArray, type JsonObject } from '../json.ts'
import { canResume, stateOf } from './states.ts'

/** The conditions that a wait for a queue can have as its goal (docs/reference/cli.md, "Waiting"). */
export const queueConditions = ['idle', 'empty'] as const
export type QueueCondition = (typeof queueConditions)[number]

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
  if (condition === 'idle')
    return states.includes('TESTING') || (hasPassed && !isPaused) ? undefined : 'reached'
  if (states.length === 0) return 'reached'
  const isHeld = (canResume(queueState) && states.includes('PENDING')) || (isPaused && hasPassed)
  return isHeld ? 'pending' : undefined
}
