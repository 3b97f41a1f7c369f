import { get, getArray, getNumber, isObject, type Json, type JsonObject } from '../base/json.ts'
import { pluralize } from '../values/format.ts'
import { stateOf, stateWords } from './states.ts'

/** A pull request in the list of a queue (docs/reference/service.md, "getQueue"). */
export interface QueueEntry {
  readonly pr: number
  readonly state: string
  /** The position in the queue, from 1. */
  readonly position: number
  readonly record: JsonObject
}

/** Returns the entries of a queue in its order, without entries that have no pull request number. */
export const queueEntries = (queue: Json): readonly QueueEntry[] =>
  getArray(queue, 'enqueuedPullRequests').flatMap((record, index) => {
    if (!isObject(record) || typeof record.prNumber !== 'number') return []
    const state = stateOf(record)
    return [{ pr: record.prNumber, state, position: index + 1, record }]
  })

export const positionEntries = (queue: Json): readonly JsonObject[] =>
  getArray(queue, 'enqueuedPullRequests').map((entry, index) =>
    isObject(entry) ? { ...entry, position: index + 1 } : {},
  )

/** In a queue that batches, several of the pull requests under test may share a test run. */
export const testSlots = (queue: Json) => ({
  testing: queueEntries(queue).filter(({ state }) => state === 'TESTING'),
  concurrency: getNumber(queue, 'concurrency'),
  isBatching: get(queue, 'batch') === true,
})

/** Formats the state of a queue and its counts: `running, testing 1 of 2, 5 queued`. */
export function summarizeQueue(queue: Json): string {
  const { testing, concurrency, isBatching } = testSlots(queue)
  const queued = getArray(queue, 'enqueuedPullRequests').length
  const runs = concurrency === undefined ? '' : `up to ${pluralize(concurrency, 'run')}`
  const isOfTotal = concurrency !== undefined && !isBatching && queued > 0
  const limit = isOfTotal || runs === '' ? '' : ` (${isBatching ? 'batches, ' : ''}${runs})`
  const counts =
    queued === 0
      ? 'nothing queued'
      : `testing ${testing.length}${isOfTotal ? ` of ${concurrency}` : ''}, ${queued} queued`
  return `${stateWords(stateOf(queue)) || '-'}, ${counts}${limit}`
}
