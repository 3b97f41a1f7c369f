import { at, isObject, type Json, type JsonObject, listAt, textAt } from '../json.ts'
import { spelled } from './states.ts'

/** A pull request as its queue lists it (service-observed.md section 3.4). */
export interface Entry {
  readonly pr: number
  /** In the spelling of service-api.md; empty where the entry has none. */
  readonly state: string
  /** Counted from 1, in the order of the queue. */
  readonly position: number
  readonly record: JsonObject
}

/** What a queue lists, in its order; an entry without the number of a pull request is left out. */
export const entriesOf = (queue: Json): readonly Entry[] =>
  listAt(queue, 'enqueuedPullRequests').flatMap((record, index) => {
    if (!isObject(record) || typeof record.prNumber !== 'number') return []
    const state = spelled(textAt(record, 'state') ?? '')
    return [{ pr: record.prNumber, state, position: index + 1, record }]
  })

/** The number at a path; undefined when it is missing or no number. */
export const numberAt = (value: Json | undefined, path: string): number | undefined => {
  const found = at(value, path)
  return typeof found === 'number' ? found : undefined
}

/** The test runs that a queue may have at a time, and what is in them. */
export interface Slots {
  /** The pull requests in TESTING: as many as runs, unless several are tested in a batch. */
  readonly testing: readonly Entry[]
  /** Undefined where the queue does not say. */
  readonly concurrency: number | undefined
  readonly isBatching: boolean
}

export const slotsOf = (queue: Json): Slots => ({
  testing: entriesOf(queue).filter(({ state }) => state === 'TESTING'),
  concurrency: numberAt(queue, 'concurrency'),
  isBatching: at(queue, 'batch') === true,
})
