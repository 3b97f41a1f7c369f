import { callOperation } from '../api/call.ts'
import { getQueue } from '../api/operations/queues.ts'
import type { ServiceClient } from '../api/service-client.ts'
import type { WaitTime } from '../api/wait-time.ts'
import { toMergeqError } from '../base/errors.ts'
import type { JsonObject } from '../base/json.ts'
import type { Queue } from '../values/repository.ts'
import { maxTimerDelay } from '../values/time.ts'
import type { Reading } from './read-each.ts'

/** A queue as it was read; times are in milliseconds since 1970. */
export interface QueueReading {
  readonly queue: JsonObject
  /** When the request was sent, and when the response came, by the local clock. */
  readonly askedAt: number
  readonly at: number
  /** The time of the response by the clock of the service. */
  readonly date: number | undefined
  /** How old a reading is that was there already, in milliseconds. */
  readonly age?: number
}

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

interface SharedReading {
  readonly askedAt: number
  /** Undefined if the one that asked ended before the response. */
  readonly reading: Promise<Reading<QueueReading> | undefined>
}

/** The queues that the waits and watches of a client read: what one of them reads, the others need not ask for. */
export class SharedQueues {
  private readonly users = new Map<string, number>()
  private readonly readings = new Map<string, SharedReading>()

  /** Notes that a wait or a watch begins to read a queue, by its name, or does so no more. */
  note(name: string, change: 1 | -1): void {
    const count = (this.users.get(name) ?? 0) + change
    this.users.set(name, count)
    if (count > 0) return
    this.users.delete(name)
    this.readings.delete(name)
  }

  /** Whether several read a queue. */
  isShared(name: string): boolean {
    return (this.users.get(name) ?? 0) > 1
  }

  /**
   * Returns what was read, or is read now, of a queue, if it was asked for at or after `since`; otherwise what `ask` returns.
   * Undefined if the time is over before another one has its response.
   */
  async read(
    name: string,
    since: number,
    ask: () => Promise<QueueReading>,
    client: ServiceClient,
    time: WaitTime,
  ): Promise<QueueReading | undefined> {
    const { clock, interrupted } = client.host
    const last = this.readings.get(name)
    if (last === undefined || last.askedAt < since) return this.ask(name, ask, clock.now(), time)
    const arrived = new AbortController()
    const signal = AbortSignal.any([interrupted, arrived.signal])
    const limit = clock.sleep(Math.min(time.left(), maxTimerDelay), signal).then(() => undefined)
    const reading = await Promise.race([last.reading, limit]).finally(() => {
      limit.catch(() => undefined)
      arrived.abort()
    })
    if (reading === undefined) return time.hasTime() ? this.read(name, since, ask, client, time) : undefined
    if ('failure' in reading) throw reading.failure
    return { ...reading.value, age: Math.max(0, clock.now() - last.askedAt) }
  }

  private ask(
    name: string,
    ask: () => Promise<QueueReading>,
    askedAt: number,
    time: WaitTime,
  ): Promise<QueueReading> {
    const asked = ask()
    const reading = asked.then(
      value => ({ value }),
      error => {
        if (this.readings.get(name) === shared) this.readings.delete(name)
        const failure = toMergeqError(error)
        return failure.kind === 'interrupted' || !time.hasTime() ? undefined : { failure }
      },
    )
    const shared: SharedReading = { askedAt, reading }
    this.readings.set(name, shared)
    return asked
  }
}
