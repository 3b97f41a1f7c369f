import { incompleteListError, readList, readToEnd } from '../api/list.ts'
import { listPullRequests } from '../api/operations/pull-requests.ts'
import { withTimeline } from '../api/reads/extra-reads.ts'
import type { ServiceClient } from '../api/service-client.ts'
import { isNotFound, toMergeqError } from '../base/errors.ts'
import { getNumber, type JsonObject } from '../base/json.ts'
import { isFailedOrCancelled, stateOf, terminalOutcome } from '../domain/states.ts'
import type { Queue } from '../values/repository.ts'
import { toIso } from '../values/time.ts'
import { departureChange, type QueueChange, type QueueSnapshot } from './queue-changes.ts'

/** The time between two lists of what has left a queue, in milliseconds. */
const listInterval = 5 * 60_000
/** How far a list goes back before the one before it, in milliseconds: an end can show late. */
const overlap = 60_000

/** Identifies an end of a pull request. */
const keyOf = ({ pr, to, at }: QueueChange): string => `${pr} ${to} ${Date.parse(at)}`

/**
 * Returns the function that reads which pull requests left a queue although no reading of the queue shows it: before the
 * watch, from `since` on, as it was typed, while they were not ready, or between two readings. It reads with the first reading
 * and then every five minutes, and returns each end once. Its `departures` are those that the queue itself showed,
 * `unlistedStates` the states of pull requests that it did not list before, and `date` the time of its reading by the clock
 * of the service. A service without the operation is warned of once; any other error is thrown, because a departure would be
 * lost.
 */
export function createDepartureReader(queue: Queue, since: string) {
  /** The ends that were returned, or seen otherwise, with their times. */
  const known = new Map<string, number>()
  let from = since
  let listedAt = Number.NEGATIVE_INFINITY
  let isMissing = false
  const note = (changes: readonly QueueChange[]) => {
    for (const change of changes) known.set(keyOf(change), Date.parse(change.at))
  }
  return async (
    client: ServiceClient,
    after: QueueSnapshot,
    departures: readonly QueueChange[],
    unlistedStates: ReadonlyMap<number, string>,
    date: number,
  ): Promise<readonly QueueChange[]> => {
    note(departures)
    const startedAt = client.host.clock.monotonic()
    if (isMissing || startedAt - listedAt < listInterval) return []
    const found: QueueChange[] = []
    try {
      for (const [pr, record] of await listEnds(queue, from, client, after)) {
        const entry = { pr, state: unlistedStates.get(pr) ?? '', record }
        const now = client.serviceTime.now()
        if (known.has(keyOf(departureChange(entry, record, now)))) continue
        const complete = isFailedOrCancelled(stateOf(record))
          ? await withTimeline(client, record, { ...queue, pr }, { limits: { maxRetries: 0 } })
          : record
        found.push(departureChange(entry, complete, now))
      }
    } catch (error) {
      const failure = toMergeqError(error)
      if (!isNotFound(failure)) throw failure
      isMissing = true
      await client.logger.warnOnce(`Departures before the start are not known: ${failure.message}`)
      return []
    }
    note(found)
    listedAt = startedAt
    from = toIso(date - overlap)
    for (const [key, at] of known) if (at < date - 2 * overlap) known.delete(key)
    return found.sort((one, other) => Date.parse(one.at) - Date.parse(other.at))
  }
}

/** Returns the ends of pull requests that are not in the queue: one that finished may have been submitted again. */
async function listEnds(
  queue: Queue,
  since: string,
  client: ServiceClient,
  { entries }: QueueSnapshot,
): Promise<ReadonlyMap<number, JsonObject>> {
  const records = new Map<number, JsonObject>()
  const values = { ...queue, since, states: [] }
  const list = listPullRequests.list(values, client.serviceTime.startedAt(), client.nameOf)
  const end = await readToEnd(readList(client, list), record => {
    const pr = getNumber(record, 'prNumber')
    if (pr !== undefined && !entries.has(pr) && terminalOutcome(stateOf(record)) !== undefined)
      records.set(pr, record)
  })
  if (end.isBroken) throw incompleteListError(end)
  return records
}
