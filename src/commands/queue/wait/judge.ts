import { getArray, type JsonObject } from '../../../base/json.ts'
import { summarizeQueue } from '../../../domain/queue-entries.ts'
import { canResume, isKnownState, stateOf } from '../../../domain/states.ts'
import type { Judgement } from '../../../wait/wait-state.ts'

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
function queueOutcome(queue: JsonObject, condition: QueueCondition): 'reached' | 'pending' | undefined {
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

/** A queue that is waited for, as it stands after the last reading. */
export interface WaitingQueue {
  /** Undefined before the first reading. */
  readonly queue?: JsonObject
  /** How many readings in a row showed nothing new. */
  readonly unchanged: number
}

export interface QueueJudgement extends Judgement<WaitingQueue> {
  /** Whether the queue differs from the last reading. */
  readonly isChanged?: boolean
}

/** Says what a reading means for the wait for a queue. */
export function judgeQueue(
  { queue: before, unchanged }: WaitingQueue,
  queue: JsonObject,
  condition: QueueCondition,
): QueueJudgement {
  const isUnchanged = before !== undefined && summarizeQueue(before) === summarizeQueue(queue)
  const outcome = queueOutcome(queue, condition)
  return {
    item: { queue, unchanged: isUnchanged ? unchanged + 1 : 0 },
    isChanged: !isUnchanged,
    end: outcome === undefined ? undefined : { outcome },
  }
}
