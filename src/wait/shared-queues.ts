import { callOperation } from '../api/call.ts'
import { getQueue } from '../api/operations/queues.ts'
import type { ServiceClient } from '../api/service-client.ts'
import type { WaitTime } from '../api/wait-time.ts'
import { toMergeqError } from '../base/errors.ts'
import type { JsonObject } from '../base/json.ts'
import type { Queue } from '../values/repository.ts'
import { maxTimerDelay } from '../values/time.ts'
import type { Reading } from './poll.ts'

/** A queue as it was read; times are in milliseconds since 1970. */
export interface QueueReading {
  readonly queue: JsonObject
  /** When the request was sent, and when the response came, by the local clock. */
  readonly askedAt: number
  readonly at: number
  /** The time of the response by the clock of the service. */
  readonly date: number | undefined
  /** How old a reading of another wait is, in milliseconds. */
  readonly age?: number
}

/** What a wait or a watch has of the others of its client. */
export interface QueueSharing {
  /** Whether another one reads a queue, by its name, as well. */
  isShared(name: string): boolean
  /**
   * Returns what another one read, or reads now, of a queue, if it was asked for at or after `since` and is new to this
   * one; otherwise what `ask` returns. Undefined if the time of this one is over before.
   */
  read(name: string, since: number, ask: () => Promise<QueueReading>): Promise<QueueReading | undefined>
}

/** Requests a queue. */
export async function requestQueue(
  client: ServiceClient,
  { repo, targetBranch }: Queue,
  options: Parameters<typeof callOperation>[3],
): Promise<QueueReading> {
  const { clock } = client.host
  const askedAt = clock.now()
  const { response, date } = await callOperation(client, getQueue, { repo, targetBranch }, options)
  return { queue: response.records[0] ?? {}, at: clock.now(), askedAt, date }
}

/** A reading of one wait or watch that others may take. */
interface SharedReading {
  readonly sharing: QueueSharing
  /** In milliseconds since 1970. */
  readonly askedAt: number
  /** Undefined if the wait that asked has ended before the response. */
  readonly reading: Promise<Reading<QueueReading> | undefined>
}

interface SharedQueue {
  readonly waits: Set<QueueSharing>
  last?: SharedReading | undefined
}

/** The queues of all waits and watches of a client: what one of them reads, the others need not ask for. */
export interface SharedQueues {
  /** Begins the sharing of a wait or a watch with some queues, by their names; `leave` ends it. */
  join(names: readonly string[], client: ServiceClient, time: WaitTime): QueueSharing & { leave(): void }
}

/** Creates what the waits of a client share. */
export function createSharedQueues(): SharedQueues {
  const queues = new Map<string, SharedQueue>()
  const queueOf = (name: string): SharedQueue => {
    const queue = queues.get(name) ?? { waits: new Set() }
    queues.set(name, queue)
    return queue
  }
  return {
    join(names, { host: { clock, interrupted } }, time) {
      const taken = new Map<string, SharedReading>()

      /** Resolves to what another wait reads; rejects when this one is interrupted, or its time is over. */
      const follow = async (reading: SharedReading['reading']) => {
        const arrived = new AbortController()
        const signal = AbortSignal.any([interrupted, arrived.signal])
        const limit = clock.sleep(Math.min(time.left(), maxTimerDelay), signal).then(
          () => 'over' as const,
          error => {
            if (arrived.signal.aborted) return 'over' as const
            throw error
          },
        )
        try {
          return await Promise.race([reading, limit])
        } finally {
          arrived.abort()
        }
      }

      const sharing: QueueSharing = {
        isShared: name => (queues.get(name)?.waits.size ?? 0) > 1,
        async read(name, since, ask) {
          const queue = queueOf(name)
          for (;;) {
            const { last } = queue
            const isOthers = last !== undefined && last.sharing !== sharing && last !== taken.get(name)
            if (!isOthers || last.askedAt < since) break
            const reading = await follow(last.reading)
            if (reading === 'over') return undefined
            if (reading === undefined) continue
            taken.set(name, last)
            if ('failure' in reading) throw reading.failure
            return { ...reading.value, age: Math.max(0, clock.now() - last.askedAt) }
          }
          const asked = ask()
          const own: SharedReading = {
            sharing,
            askedAt: clock.now(),
            reading: asked.then(
              value => ({ value }),
              error => {
                if (queue.last === own) queue.last = undefined
                const failure = toMergeqError(error)
                const hasEnded = failure.kind === 'interrupted' || !time.hasTime()
                return hasEnded ? undefined : { failure }
              },
            ),
          }
          queue.last = own
          return asked
        },
      }
      for (const name of names) queueOf(name).waits.add(sharing)
      return {
        ...sharing,
        leave() {
          for (const name of names) {
            const queue = queueOf(name)
            queue.waits.delete(sharing)
            if (queue.waits.size === 0) queues.delete(name)
          }
        },
      }
    },
  }
}
