import { callOperation } from '../../../api/call.ts'
import { getQueue } from '../../../api/operations/queues.ts'
import type { ServiceClient } from '../../../api/service-client.ts'
import type { WaitTime } from '../../../api/wait-time.ts'
import type { JsonObject } from '../../../base/json.ts'
import { summarizeQueue } from '../../../domain/queue-entries.ts'
import type { Queue } from '../../../values/repository.ts'
import { automaticDelay, backOff, giveUpLimit, limitsOfReading, poll } from '../../../wait/poll.ts'
import { readEach } from '../../../wait/read-each.ts'
import type { Judgement, WaitEnd } from '../../../wait/wait-state.ts'
import { type QueueCondition, queueOutcome, unknownStates } from './judge.ts'

/** Times are in milliseconds. */
interface QueueWait {
  readonly queues: readonly Queue[]
  readonly until: QueueCondition
  readonly interval: number | 'auto'
  readonly giveUpAfter: number
  readonly time: WaitTime
}

/** How the wait for one of the queues stands, or has ended. */
export interface QueueProgress {
  readonly place: Queue
  /** Undefined before the first reading. */
  readonly queue?: JsonObject | undefined
  /** How many readings in a row showed nothing new. */
  readonly unchanged: number
  /** Undefined while the wait goes on. */
  readonly end?: WaitEnd | undefined
  /** How long the wait has lasted, in milliseconds. */
  readonly elapsed: number
}

/** What a caller does with the events of a wait for queues. `all` is how each queue stands. */
interface QueueWaitObserver {
  reportChange(progress: QueueProgress): Promise<void>
  /** Reports that an outage of the service begins or is over. */
  reportOutage(text: string, isOver: boolean): Promise<void>
  /** Sleeps between two readings; rejects when the wait is interrupted. */
  sleep(delay: number, all: readonly QueueProgress[]): Promise<void>
  /** Runs the readings after the first; `all` returns how the queues stand. */
  during(all: () => readonly QueueProgress[], rounds: () => Promise<void>): Promise<void>
}

/** The time between two readings for each queue, with the interval `auto`, in milliseconds. */
const timePerQueue = 250

/**
 * Reads queues until the wait for each is over. Returns how each ended, in their order. Throws only when a signal
 * interrupts the command.
 */
export async function waitForQueues(
  { queues, until, interval, giveUpAfter, time }: QueueWait,
  client: ServiceClient,
  observer: QueueWaitObserver,
): Promise<readonly (QueueProgress & { readonly end: WaitEnd })[]> {
  const { host, logger } = client
  const items: readonly QueueProgress[] = queues.map(place => ({ place, unchanged: 0, elapsed: 0 }))
  const progress = new Map(items.map(item => [item.place, item]))
  const all = () => [...progress.values()]
  const read = async ({ place }: QueueProgress): Promise<JsonObject> => {
    const options = { limits: limitsOfReading(time) }
    const { response } = await callOperation(client, getQueue, place, options)
    return response.records[0] ?? {}
  }
  await poll<QueueProgress, JsonObject, Judgement<QueueProgress>>({
    items,
    read: items => readEach(items, read, time),
    judge({ place, queue: before, unchanged }, queue) {
      const isUnchanged = before !== undefined && summarizeQueue(before) === summarizeQueue(queue)
      const outcome = queueOutcome(queue, until)
      return {
        item: { place, queue, unchanged: isUnchanged ? unchanged + 1 : 0, elapsed: time.elapsed() },
        end: outcome && { outcome },
      }
    },
    schedule: ({ unchanged }, failures) =>
      interval === 'auto'
        ? Math.max(
            backOff(automaticDelay({ unchanged }), failures, host.random()),
            queues.length * timePerQueue,
          )
        : interval,
    limit: time,
    giveUpAfter: giveUpLimit(giveUpAfter, time, client),
    differInAccess: queues.length > 1,
    host,
    async onChange(judgements) {
      for (const { item, end } of judgements) {
        const { place, queue, unchanged } = item
        const isChanged = progress.get(place)?.queue !== queue && unchanged === 0
        const next = { ...item, end, elapsed: time.elapsed() }
        progress.set(place, next)
        if (queue === undefined || !isChanged) continue
        await observer.reportChange(next)
        if (until === 'idle')
          for (const state of unknownStates(queue))
            await logger.warnOnce(`Unknown state ${state}; a queue with it does not count as idle.`)
      }
      return true
    },
    onOutage: (text, isOver) => observer.reportOutage(text, isOver),
    sleep: delay => observer.sleep(delay, all()),
    during: rounds => observer.during(all, rounds),
  })
  return all().map(each => ({ ...each, end: each.end ?? { outcome: 'pending' } }))
}
