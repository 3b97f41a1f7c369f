import { incompleteListError, readList, readToEnd } from '../api/list.ts'
import { listPullRequests } from '../api/operations/pull-requests.ts'
import { withTimeline } from '../api/reads/extra-reads.ts'
import type { ServiceClient } from '../api/service-client.ts'
import { isNotFound, toMergeqError } from '../base/errors.ts'
import { getNumber, type JsonObject } from '../base/json.ts'
import { isFailedOrCancelled, stateOf, terminalOutcome } from '../domain/states.ts'
import type { Queue } from '../values/repository.ts'
import { toIso } from '../values/time.ts'
import { earlierDeparture, type QueueChange, type QueueSnapshot } from './queue-changes.ts'

/** The time between two lists of what has left a queue, in milliseconds. */
const listInterval = 5 * 60_000
/** How far a list goes back before the one before it, in milliseconds: an end can show late. */
const overlap = 60_000

/** What a reading of the queue shows. */
interface SeenQueue {
  readonly after: QueueSnapshot
  /** How those left that the queue listed before. */
  readonly departures: readonly QueueChange[]
  /** The states of pull requests that the queue did not list before. */
  readonly unlistedStates: ReadonlyMap<number, string>
  /** The time of the reading by the clock of the service, in milliseconds since 1970. */
  readonly date: number
}

/** Identifies an end of a pull request. */
const keyOf = ({ pr, to, at }: QueueChange): string => `${pr} ${to} ${Date.parse(at)}`

/**
 * Creates a function that reads which pull requests left a queue although no reading of the queue shows it: before the
 * watch, while they were not ready, or between two readings. It reads with the first reading and then every five minutes,
 * and returns each end once.
 *
 * @param since from when on departures are read, as it was typed
 */
export function createDepartureReader(queue: Queue, since: string) {
  /** What was returned, or seen otherwise, with its time. */
  const known = new Map<string, number>()
  let from = since
  let listedAt: number | undefined
  let isMissing = false

  /** Returns the ends of pull requests that are not in the queue. */
  async function readEnds(client: ServiceClient, { entries }: QueueSnapshot): Promise<readonly JsonObject[]> {
    const { list } = listPullRequests
    const records = new Map<number, JsonObject>()
    const take = (record: JsonObject) => {
      const pr = getNumber(record, 'prNumber')
      // One that finished may have been submitted again.
      if (pr !== undefined && !entries.has(pr) && terminalOutcome(stateOf(record)) !== undefined)
        records.set(pr, record)
    }
    const values = {
      ...queue,
      since: from,
      states: [],
      limit: undefined,
      maxPages: undefined,
      pageSize: undefined,
    }
    if (list === undefined) return []
    const end = await readToEnd(
      readList(client, list(values, client.serviceTime.startedAt(), client.nameOf)),
      take,
    )
    if (end.isBroken) throw incompleteListError(end)
    return [...records.values()]
  }

  /** A service without the operation is warned of once; any other error is thrown, because a departure would be lost. */
  return async (
    client: ServiceClient,
    { after, departures, unlistedStates, date }: SeenQueue,
  ): Promise<readonly QueueChange[]> => {
    const { serviceTime, host } = client
    const { clock } = host
    const note = (change: QueueChange) => known.set(keyOf(change), Date.parse(change.at))
    for (const change of departures) note(change)
    if (isMissing || (listedAt !== undefined && clock.monotonic() - listedAt < listInterval)) return []
    const startedListing = clock.monotonic()
    let ends: readonly JsonObject[]
    try {
      ends = await readEnds(client, after)
    } catch (error) {
      const failure = toMergeqError(error)
      if (!isNotFound(failure)) throw failure
      isMissing = true
      await client.logger.warnOnce(`Departures before the start are not known: ${failure.message}`)
      return []
    }
    const found: QueueChange[] = []
    for (const record of ends) {
      const pr = getNumber(record, 'prNumber') ?? 0
      const seen = {
        ...earlierDeparture(pr, record, serviceTime.now()),
        from: unlistedStates.get(pr) ?? null,
      }
      if (known.has(keyOf(seen))) continue
      const complete = isFailedOrCancelled(stateOf(record))
        ? await withTimeline(client, record, { ...queue, pr }, { limits: { maxRetries: 0 } })
        : record
      found.push({ ...earlierDeparture(pr, complete, serviceTime.now()), from: seen.from })
    }
    for (const change of found) note(change)
    listedAt = startedListing
    from = toIso(date - overlap)
    for (const [key, at] of known) if (at < date - 2 * overlap) known.delete(key)
    return found.sort((one, other) => Date.parse(one.at) - Date.parse(other.at))
  }
}
