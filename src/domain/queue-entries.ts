import { get, getArray, getString, isObject, type Json, type JsonObject } from '../json.ts'
import { normalizeState } from './states.ts'

/** A pull request as its queue lists it (service-observed.md section 3.4). */
export interface QueueEntry {
  readonly pr: number
  /** In the spelling of service-api.md; empty where the entry has none. */
  readonly state: string
  /** Counted from 1, in the order of the queue. */
  readonly position: number
  readonly record: JsonObject
}

/** What a queue lists, in its order; an entry without the number of a pull request is left out. */
export const queueEntries = (queue: Json): readonly QueueEntry[] =>
  getArray(queue, 'enqueuedPullRequests').flatMap((record, index) => {
    if (!isObject(record) || typeof record.prNumber !== 'number') return []
    const state = normalizeState(getString(record, 'state') ?? '')
    return [{ pr: record.prNumber, state, position: index + 1, record }]
  })

/** The number at a path; undefined when it is missing or no number. */
export const numberAt = (value: Json | undefined, path: string): number | undefined => {
  const found = get(value, path)
  return typeof found === 'number' ? found : undefined
}

/** The test runs that a queue may have at a time, and what is in them. */
export interface TestSlots {
  /** The pull requests in TESTING: as many as runs, unless several are tested in a batch. */
  readonly testing: readonly QueueEntry[]
  /** Undefined where the queue does not say. */
  readonly concurrency: number | undefined
  readonly isBatching: boolean
}

export const testSlots = (queue: Json): TestSlots => ({
  testing: queueEntries(queue).filter(({ state }) => state === 'TESTING'),
  concurrency: numberAt(queue, 'concurrency'),
  isBatching: get(queue, 'batch') === true,
})
