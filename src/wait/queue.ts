import { callOperation } from '../api/call.ts'
import type { BodyOverride } from '../api/operation.ts'
import { getQueue } from '../api/operations/queues.ts'
import type { ServiceClient } from '../api/service-client.ts'
import {
  judgeQueue,
  type QueueCondition,
  type QueueJudgement,
  unknownStates,
  type WaitingQueue,
} from '../domain/queue-wait.ts'
import type { Repository } from '../domain/values/repository.ts'
import type { WaitEnd } from '../domain/wait-state.ts'
import type { WaitTime } from '../domain/wait-time.ts'
import type { JsonObject } from '../json.ts'
import { automaticDelay, backOff, giveUpLimit, limitsOfReading, poll, readingOf } from './poll.ts'

/** Times are in milliseconds. */
interface QueueWait {
  readonly queue: { readonly repo: Repository; readonly targetBranch: string }
  readonly overrides: readonly BodyOverride[]
  readonly until: QueueCondition
  readonly interval: number | 'auto'
  readonly giveUpAfter: number
  readonly time: WaitTime
}

/** What a caller does with the events of a wait for a queue. */
interface QueueWaitObserver {
  /** `isEnd` is whether the change ends the wait. */
  reportChange(queue: JsonObject, isEnd: boolean): Promise<void>
  /** Reports that an outage of the service begins or is over. */
  reportOutage(text: string, isOver: boolean): Promise<void>
  /** Sleeps between two readings; rejects when the wait is interrupted. */
  sleep(delay: number, queue: JsonObject | undefined): Promise<void>
  /** Runs the readings after the first; `queue` returns the last one. */
  during(queue: () => JsonObject | undefined, rounds: () => Promise<void>): Promise<void>
}

/** Reads a queue until a wait is over. Throws only when a signal interrupts the command. */
export async function waitForQueue(
  { queue: place, overrides, until, interval, giveUpAfter, time }: QueueWait,
  client: ServiceClient,
  observer: QueueWaitObserver,
): Promise<WaitEnd & { readonly queue: JsonObject | undefined }> {
  const { host, logger } = client
  let last: QueueJudgement = { item: { unchanged: 0 } }
  const read = async (): Promise<JsonObject> => {
    const options = { overrides, limits: limitsOfReading(time) }
    const { response } = await callOperation(client, getQueue, place, options)
    return response.records[0] ?? {}
  }
  await poll<WaitingQueue, JsonObject, QueueJudgement>({
    items: [last.item],
    read: async () => [await readingOf(read)],
    judge: (item, queue) => judgeQueue(item, queue, until),
    schedule: ({ unchanged }, failures) =>
      interval === 'auto' ? backOff(automaticDelay({ unchanged }), failures, host.random()) : interval,
    limit: time,
    giveUpAfter: giveUpLimit(giveUpAfter, time, client),
    host,
    async onChange([judgement = last]: readonly QueueJudgement[]) {
      last = judgement
      const { queue } = last.item
      if (queue === undefined || last.isChanged !== true) return true
      await observer.reportChange(queue, last.end !== undefined)
      if (until === 'idle')
        for (const state of unknownStates(queue))
          await logger.warnOnce(`Unknown state ${state}; a queue with it does not count as idle.`)
      return true
    },
    onOutage: (text, isOver) => observer.reportOutage(text, isOver),
    sleep: delay => observer.sleep(delay, last.item.queue),
    during: rounds => observer.during(() => last.item.queue, rounds),
  })
  return { outcome: 'pending', ...last.end, queue: last.item.queue }
}
