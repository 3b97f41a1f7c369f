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
 * Reads which pull requests left a queue although no reading of the queue shows it: before the watch, while they were not
 * ready, or between two readings. It reads with the first reading and then every five minutes, and returns each end once.
 */
export class DepartureReader {
  private readonly queue: Queue
  /** The ends that were returned, or seen otherwise, with their times. */
  private readonly known = new Map<string, number>()
  private from: string
  private listedAt = Number.NEGATIVE_INFINITY
  private isMissing = false

  /** Departures are read from `since` on, as it was typed. */
  constructor(queue: Queue, since: string) {
    this.queue = queue
    this.from = since
  }

  /**
   * `departures` are those that the queue itself showed, `unlistedStates` the states of pull requests that it did not list
   * before, and `date` the time of its reading by the clock of the service. A service without the operation is warned of
   * once; any other error is thrown, because a departure would be lost.
   */
  async read(
    client: ServiceClient,
    after: QueueSnapshot,
    departures: readonly QueueChange[],
    unlistedStates: ReadonlyMap<number, string>,
    date: number,
  ): Promise<readonly QueueChange[]> {
    this.note(departures)
    const startedAt = client.host.clock.monotonic()
    if (this.isMissing || startedAt - this.listedAt < listInterval) return []
    const found: QueueChange[] = []
    try {
      for (const [pr, record] of await this.listEnds(client, after)) {
        const entry = { pr, state: unlistedStates.get(pr) ?? '', record }
        const now = client.serviceTime.now()
        if (this.known.has(keyOf(departureChange(entry, record, now)))) continue
        const complete = isFailedOrCancelled(stateOf(record))
          ? await withTimeline(client, record, { ...this.queue, pr }, { limits: { maxRetries: 0 } })
          : record
        found.push(departureChange(entry, complete, now))
      }
    } catch (error) {
      const failure = toMergeqError(error)
      if (!isNotFound(failure)) throw failure
      this.isMissing = true
      await client.logger.warnOnce(`Departures before the start are not known: ${failure.message}`)
      return []
    }
    this.note(found)
    this.listedAt = startedAt
    this.from = toIso(date - overlap)
    for (const [key, at] of this.known) if (at < date - 2 * overlap) this.known.delete(key)
    return found.sort((one, other) => Date.parse(one.at) - Date.parse(other.at))
  }

  private note(changes: readonly QueueChange[]): void {
    for (const change of changes) this.known.set(keyOf(change), Date.parse(change.at))
  }

  /** Returns the ends of pull requests that are not in the queue: one that finished may have been submitted again. */
  private async listEnds(
    client: ServiceClient,
    { entries }: QueueSnapshot,
  ): Promise<ReadonlyMap<number, JsonObject>> {
    const records = new Map<number, JsonObject>()
    const { list } = listPullRequests
    if (list === undefined) return records
    const unlimited = { limit: undefined, maxPages: undefined, pageSize: undefined }
    const values = { ...this.queue, since: this.from, states: [], ...unlimited }
    const pages = readList(client, list(values, client.serviceTime.startedAt(), client.nameOf))
    const end = await readToEnd(pages, record => {
      const pr = getNumber(record, 'prNumber')
      if (pr !== undefined && !entries.has(pr) && terminalOutcome(stateOf(record)) !== undefined)
        records.set(pr, record)
    })
    if (end.isBroken) throw incompleteListError(end)
    return records
  }
}
