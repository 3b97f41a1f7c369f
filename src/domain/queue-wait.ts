import { getArray, type JsonObject } from '../json.ts'
import { stateOf } from './states.ts'

/** The conditions that a wait for a queue can have as its goal (docs/reference/cli.md, "Waiting"). */
export const queueConditions = ['idle', 'empty'] as const

export type QueueCondition = (typeof queueConditions)[number]

/** Pull requests in these states stay in a queue until it is resumed. */
const heldStates = new Map([
  ['PAUSED', ['PENDING', 'TESTS_PASSED']],
  ['DRAINING', ['PENDING']],
])

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
  if (condition === 'empty')
    return states.length === 0
      ? 'reached'
      : states.some(state => heldStates.get(queueState)?.includes(state))
        ? 'pending'
        : undefined
  const isBusy = (state: string) =>
    state === 'TESTING' || (state === 'TESTS_PASSED' && queueState !== 'PAUSED')
  return states.some(isBusy) ? undefined : 'reached'
}
