import type { ServiceClient } from '../api/service-client.ts'
import type { WaitTime } from '../api/wait-time.ts'
import { type MergeqError, mostSevere } from '../base/errors.ts'
import { stateOf } from '../domain/states.ts'
import type { Output } from '../host/host.ts'
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

/** Times are in milliseconds. */
interface WatchOptions {
  readonly interval: number
  readonly limit: WaitTime
  readonly giveUpAfter: number
}

interface WatchJudgement extends Judgement<WatchedQueue> {
  readonly update?: QueueUpdate
}

/** What shows the readings of the queues. */
export interface QueuesView {
  show(place: Queue, update: QueueUpdate): Promise<void>
  notify(text: string): Promise<void>
  /** Sleeps between two readings, in the place of the clock; rejects when the watch is interrupted. */
  sleep?(milliseconds: number): Promise<void>
  /** Called when a queue cannot be read any more. Throws where that ends the watch. */
  lose(queue: WatchedQueue, failure: MergeqError): Promise<void>
}

/**
 * Polls and shows the readings until the time is over, or no queue is left. After the reader of a pipe has closed it, the
 * watch ends without an error. Returns the most severe exit code of the queues that were lost.
 */
export async function pollQueues(
  watched: readonly WatchedQueue[],
  { interval, limit, giveUpAfter }: WatchOptions,
  view: QueuesView,
  client: ServiceClient,
  out: Pick<Output, 'isClosed'>,
): Promise<number> {
  const { host } = client
  const codes: number[] = []
  await poll<WatchedQueue, QueueUpdate, WatchJudgement>({
    items: watched,
    // The watch repeats a failed reading by itself (docs/reference/network.md, "Retries").
    read: items => readEach(items, ({ read }) => read(client, { maxRetries: 0 }), limit),
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
        codes.push(end.failure.exit)
        await view.lose(item, end.failure)
      }
      return out.isClosed !== true
    },
    onOutage: view.notify,
    sleep: view.sleep,
  })
  return mostSevere(codes)
}
