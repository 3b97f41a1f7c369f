import { callOperation } from '../api/call.ts'
import { incompleteListError, readList, readToEnd } from '../api/list.ts'
import { getSubmittedPullRequest, listPullRequests } from '../api/operations/pull-requests.ts'
import { withTimeline } from '../api/reads/extra-reads.ts'
import type { RequestLimits, ServiceClient } from '../api/service-client.ts'
import { isNotFound, isPermanent, toMergeqError } from '../base/errors.ts'
import { getNumber, type JsonObject } from '../base/json.ts'
import { mapConcurrent } from '../base/scheduling.ts'
import type { QueueActivity } from '../domain/metrics/last-hour.ts'
import type { QueueEntry } from '../domain/queue-entries.ts'
import { isFailedOrCancelled, stateOf, terminalOutcome } from '../domain/states.ts'
import type { Queue } from '../values/repository.ts'
import { toIso } from '../values/time.ts'
import {
  departedEntries,
  departureChange,
  type QueueChange,
  type QueueSnapshot,
  queueChanges,
  snapshotOf,
} from './queue-changes.ts'
import { type QueueReading, requestQueue } from './shared-queues.ts'

/** What a reading of a queue shows. */
export interface QueueUpdate {
  readonly queue: JsonObject
  readonly isFirst: boolean
  /** The changes since the previous reading; for the first one, the earlier departures that were asked for. */
  readonly changes: readonly QueueChange[]
  /** What else is known of the queue, where it was asked for. */
  readonly activity?: QueueActivity | undefined
}

export type QueueReader = (client: ServiceClient, limits?: RequestLimits) => Promise<QueueUpdate>

interface ReaderOptions {
  /** From when on earlier departures are read, as it was typed. */
  readonly since?: string | undefined
  /** How many departures are read at a time. */
  readonly atOnce: number
  /** Returns what `ask` returns, or what another one of the client has just read. */
  share?(ask: () => Promise<QueueReading>): Promise<QueueReading | undefined>
}

/** Reads how a pull request left the queue. Its new state is unknown if its record cannot be read. */
async function readDeparture(entry: QueueEntry, queue: Queue, client: ServiceClient): Promise<QueueChange> {
  const at = client.serviceTime.now()
  const params = { ...queue, pr: entry.pr }
  try {
    const { response } = await callOperation(client, getSubmittedPullRequest, params)
    const [record = {}] = response.records
    const complete = await withTimeline(client, record, params, { limits: { maxRetries: 0 } })
    return departureChange(entry, complete, at)
  } catch (error) {
    const failure = toMergeqError(error)
    if (isPermanent(failure)) throw failure
    return departureChange(entry, undefined, at)
  }
}

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
function createDepartureReader(queue: Queue, since: string) {
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

/** Creates a function that reads the queue and compares it with the previous reading. */
export function createQueueReader(values: Queue, options: ReaderOptions): QueueReader {
  const { since, atOnce, share = ask => ask() } = options
  let before: QueueSnapshot | undefined
  /** The states of pull requests that the queue does not list, and that may return. */
  const unlistedStates = new Map<number, string>()
  const readEarlier = since === undefined ? undefined : createDepartureReader(values, since)
  return async (client, limits = {}) => {
    const ask = () => requestQueue(client, values, { limits })
    const { queue, at, date = at } = (await share(ask)) ?? (await ask())
    const after = snapshotOf(queue)
    const last = before ?? after
    const changes = queueChanges(last, after, unlistedStates, client.serviceTime.now())
    const departures: QueueChange[] = []
    const work = (entry: QueueEntry) => readDeparture(entry, values, client)
    for await (const change of mapConcurrent(departedEntries(last, after), atOnce, work))
      departures.push(change)
    const ends = (await readEarlier?.(client, after, departures, unlistedStates, date)) ?? []
    const isFirst = before === undefined
    before = after
    for (const { pr } of ends) if (pr !== null) unlistedStates.delete(pr)
    for (const pr of after.entries.keys()) unlistedStates.delete(pr)
    for (const { pr, from, to } of departures) {
      const state = to ?? from
      if (pr !== null && state !== null && (to === null || to === 'NOT_READY')) unlistedStates.set(pr, state)
    }
    return { queue, isFirst, changes: [...departures, ...ends, ...changes] }
  }
}
