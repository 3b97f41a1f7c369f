import type { BodyOverride } from '../api/operation.ts'
import type { RequestLimits, ServiceClient } from '../api/service-client.ts'
import { type ReadSeveral, severalReader } from '../api/several-pull-requests.ts'
import type { PullRequest } from '../domain/values/pull-request.ts'
import type { WaitEnd, WaitOptions, WaitState } from '../domain/wait-state.ts'
import type { WaitTime } from '../domain/wait-time.ts'
import type { MergeqError } from '../errors.ts'
import type { JsonObject } from '../json.ts'
import { limitsOfReading } from './poll.ts'

/** A wait for pull requests while it lasts. */
export interface Wait {
  readonly options: WaitOptions
  readonly client: ServiceClient
  readonly time: WaitTime
  /** Of the requests of a poll. */
  readonly limits: RequestLimits
  readonly readSeveral: ReadSeveral
  /** The queues that the service refused to show, by name: they are not read again. */
  readonly unreadableQueues: Set<string>
  /** The pull requests whose failing checks were read. */
  readonly failingReads: Set<WaitTarget['request']>
  /** Shares the readings of queues with other waits. */
  readonly sharing?: QueueSharing | undefined
}

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

/** What a wait has of the other waits of its client. */
export interface QueueSharing {
  /** Whether another wait reads a queue, by its name, as well. */
  isShared(name: string): boolean
  /**
   * Returns what another wait read, or reads now, of a queue, if it was asked for at or after `since` and is new to this
   * one; otherwise what `ask` returns. Undefined if the time of this wait is over before.
   */
  read(name: string, since: number, ask: () => Promise<QueueReading>): Promise<QueueReading | undefined>
}

/** Starts a wait whose time is that of its client. */
export function startWait(
  options: WaitOptions,
  client: ServiceClient,
  time: WaitTime,
  sharing?: QueueSharing,
): Wait {
  const limits = limitsOfReading(time)
  const readSeveral = severalReader(client)
  const [unreadableQueues, failingReads] = [new Set<string>(), new Set<WaitTarget['request']>()]
  return { options, client, time, limits, readSeveral, unreadableQueues, failingReads, sharing }
}

/** What a wait that submits pull requests knows of the submissions of one. */
export interface Attempt {
  /** How many there were for this wait, with one that was in the queue already. */
  readonly number: number
  /** Whether the next round submits the pull request. */
  readonly isDue: boolean
  /** When the pause before the next submission ends, in milliseconds since the wait began. */
  readonly notBefore?: number | undefined
  /** Whether this wait submitted it, in any attempt; null if that is not known. */
  readonly submitted: boolean | null
  /** Why it is not known whether the last submission was made. */
  readonly unknown?: MergeqError | undefined
  /** How the last attempt ended that has ended: what counts if a later one cannot be made or read. */
  readonly lastEnd?: WaitEnd | undefined
  /** The head commit that was submitted, if it is known. */
  readonly head?: string | undefined
}

/** A pull request that is waited for. */
export interface WaitTarget {
  readonly request: {
    readonly values: PullRequest
    readonly overrides: readonly BodyOverride[]
  }
  readonly state: WaitState
  /** The record of the last reading; undefined if the service did not know the pull request. */
  readonly record?: JsonObject | undefined
  /** The queue, if the last round read it. */
  readonly queue?: JsonObject | undefined
  /** How old the last reading was when it was taken from another wait, in milliseconds. */
  readonly age?: number | undefined
  readonly attempt?: Attempt | undefined
}
