import { callOperation } from '../api/call.ts'
import { getSubmittedPullRequest } from '../api/operations/pull-requests.ts'
import { withTimeline } from '../api/reads/extra-reads.ts'
import type { RequestLimits, ServiceClient } from '../api/service-client.ts'
import { isPermanent, toMergeqError } from '../base/errors.ts'
import type { JsonObject } from '../base/json.ts'
import { mapConcurrent } from '../base/scheduling.ts'
import type { QueueActivity } from '../domain/metrics/last-hour.ts'
import type { QueueEntry } from '../domain/queue-entries.ts'
import type { Queue } from '../values/repository.ts'
import type { createDepartureReader } from './earlier-departures.ts'
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

/** Creates a function that reads the queue and compares it with the previous reading. */
export function createQueueReader(values: Queue, options: ReaderOptions): QueueReader {
  const { since, atOnce, share = ask => ask() } = options
  let before: QueueSnapshot | undefined
  /** The states of pull requests that the queue does not list, and that may return. */
  const unlistedStates = new Map<number, string>()
  let readEarlier: ReturnType<typeof createDepartureReader> | undefined
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
    if (since !== undefined)
      readEarlier ??= (await import('./earlier-departures.ts')).createDepartureReader(values, since)
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
