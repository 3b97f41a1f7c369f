import type { ServiceClient } from '../api/service-client.ts'
import type { WaitTime } from '../api/wait-time.ts'
import { type MergeqError, mostSevere } from '../base/errors.ts'
import { stateOf } from '../domain/states.ts'
import type { Output } from '../host/host.ts'
import { formatAge, pluralize } from '../values/format.ts'
import type { Queue } from '../values/repository.ts'
import { backOff, giveUpLimit, poll } from './poll.ts'
import type { QueueReader, QueueUpdate } from './queue-reader.ts'
import { readEach } from './read-each.ts'
import type { Judgement } from './wait-state.ts'

/** A queue that is watched. */
export interface WatchedQueue {
  readonly place: Queue
  readonly read: QueueReader
  /** Its state after the last reading; undefined before the first. */
  readonly state?: string
}

interface WatchJudgement extends Judgement<WatchedQueue> {
  readonly update?: QueueUpdate
}

/** What shows the readings of the queues. */
export interface QueuesView {
  show(place: Queue, update: QueueUpdate): Promise<void>
  notify(text: string): Promise<void>
  /**
   * Sleeps between two readings, in the place of the clock; rejects when the watch is interrupted. `oldest` returns the age
   * of the oldest reading of a queue, in milliseconds.
   */
  sleep?(milliseconds: number, oldest: () => number): Promise<void>
  /** Called when a queue cannot be read any more. Throws where that ends the watch. */
  lose(queue: WatchedQueue, failure: MergeqError): Promise<void>
}

/**
 * Polls and shows the readings until the time is over, or no queue is left. After the reader of a pipe has closed it, the
 * watch ends without an error. Returns the most severe exit code of the queues that were lost.
 */
export async function pollQueues(
  watched: readonly WatchedQueue[],
  times: { readonly interval: number; readonly limit: WaitTime; readonly giveUpAfter: number },
  view: QueuesView,
  client: ServiceClient,
  out: Pick<Output, 'isClosed'>,
): Promise<number> {
  const { interval, limit, giveUpAfter } = times
  const { host } = client
  const { sleep } = view
  const codes: number[] = []
  const startedAt = limit.elapsed()
  /** When each queue that is still watched was last read. */
  const readAt = new Map(watched.map(({ place }) => [place, startedAt]))
  /** The queues that the last round did not read. */
  let unread: Queue[] = []
  const lastRead = ({ place }: WatchedQueue) => readAt.get(place) ?? startedAt
  const oldest = (places: readonly Queue[] = [...readAt.keys()]) =>
    limit.elapsed() - Math.min(...places.map(place => readAt.get(place) ?? startedAt))

  /** Reads the queues, those first that were read longest ago: a round may be cut. Returns readings in the order of the items. */
  async function readInTurn(items: readonly WatchedQueue[]) {
    const inTurn = [...items].sort((one, other) => lastRead(one) - lastRead(other))
    // The watch repeats a failed reading by itself (docs/reference/network.md, "Retries").
    const readings = await readEach(inTurn, ({ read }) => read(client, { maxRetries: 0 }), limit)
    const byItem = new Map(inTurn.map((item, index) => [item, readings[index]]))
    unread = []
    for (const [{ place }, reading] of byItem)
      if (reading !== undefined && 'value' in reading) readAt.set(place, limit.elapsed())
      else unread.push(place)
    // A failure that cut the round says nothing about the queues that it left out, as long as others are read.
    const seen = new Set<MergeqError>()
    return items.map(item => {
      const reading = byItem.get(item)
      if (unread.length === items.length || reading === undefined || 'value' in reading) return reading
      if (seen.has(reading.failure)) return undefined
      seen.add(reading.failure)
      return reading
    })
  }

  const describeWaiting = (): string => {
    if (watched.length === 1) return 'Still waiting.'
    const age = oldest(unread)
    const since = age < 1_000 ? 'yet' : `for up to ${formatAge(age)}`
    return `Still waiting: ${unread.length} of ${pluralize(readAt.size, 'queue')} were not read ${since}.`
  }

  await poll<WatchedQueue, QueueUpdate, WatchJudgement>({
    items: watched,
    read: readInTurn,
    judge: (item, update) => ({ item: { ...item, state: stateOf(update.queue) }, update }),
    schedule: (_, failures) => (failures === 0 ? interval : backOff(interval, failures, host.random())),
    limit,
    giveUpAfter: giveUpLimit(giveUpAfter, limit, client),
    differInAccess: watched.length > 1,
    host,
    async onChange(judgements: readonly WatchJudgement[]) {
      for (const { item, update, end } of judgements) {
        if (update !== undefined) await view.show(item.place, update)
        // A reading that the end of the watch cuts off says nothing about the queue.
        if (end?.failure === undefined || end.failure.kind === 'timed-out') continue
        readAt.delete(item.place)
        codes.push(end.failure.exit)
        await view.lose(item, end.failure)
      }
      return out.isClosed !== true
    },
    describeWaiting,
    onOutage: view.notify,
    sleep: sleep && (delay => sleep(delay, oldest)),
  })
  return mostSevere(codes)
}
