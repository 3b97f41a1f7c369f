// A wait for pull requests, which may submit them: what it has, what it knows of each, and what it tells its caller.
import type { SubmissionValues } from '../api/operations/pull-requests.ts'
import type { RequestLimits, ServiceClient } from '../api/service-client.ts'
import { type ReadSeveral, severalReader } from '../api/several-pull-requests.ts'
import type { PullRequest } from '../domain/values/pull-request.ts'
import type { Judgement, StateChange, WaitEnd, WaitOptions, WaitState } from '../domain/wait-state.ts'
import type { WaitTime } from '../domain/wait-time.ts'
import type { MergeqError } from '../errors.ts'
import type { JsonObject } from '../json.ts'
import { limitsOfReading, type Reading } from './poll.ts'
import type { QueueSharing } from './shared-queues.ts'

/** How a wait submits its pull requests. */
export interface Submission {
  readonly params: SubmissionValues
  /**
   * How often a pull request is submitted, at most, after failures that do not count; one that is in the queue counts as
   * submitted. Undefined submits each once, also what is in the queue.
   */
  readonly attempts?: number | undefined
  /** Which failures do not count: those that the pull request did not cause (`safe`), or any. */
  readonly resubmit: 'safe' | 'any'
}

/** A wait for pull requests while it lasts. */
export interface Wait {
  readonly options: WaitOptions
  /** Undefined in a wait that submits nothing. */
  readonly submission?: Submission | undefined
  readonly client: ServiceClient
  readonly time: WaitTime
  /** Of the requests of a poll. */
  readonly limits: RequestLimits
  readonly readSeveral: ReadSeveral
  /** The queues that the service refused to show, by name: they are not read again. */
  readonly unreadableQueues: Set<string>
  /** What came of the last submission of each pull request that was tried. */
  readonly submitted: Map<PullRequest, Reading<Judgement<TrackedPullRequest>>>
  /** The last attempt of each pull request that was reported: what was certainly not made is tried again. */
  readonly reportedAttempts: Map<PullRequest, number>
  /** The pull requests whose failing checks were read. */
  readonly failingReads: Set<PullRequest>
  /** Shares the readings of queues with other waits. */
  readonly sharing?: QueueSharing | undefined
}

/** Starts a wait whose time is that of its client. */
export function startWait(
  options: WaitOptions,
  client: ServiceClient,
  time: WaitTime,
  more: Partial<Pick<Wait, 'submission' | 'sharing'>> = {},
): Wait {
  return {
    ...more,
    options,
    client,
    time,
    limits: limitsOfReading(time),
    readSeveral: severalReader(client),
    unreadableQueues: new Set(),
    submitted: new Map(),
    reportedAttempts: new Map(),
    failingReads: new Set(),
  }
}

/** A pull request that is waited for. */
export interface TrackedPullRequest {
  readonly pullRequest: PullRequest
  readonly state: WaitState
  /** The record of the last reading; undefined if the service did not know the pull request. */
  readonly record?: JsonObject | undefined
  /** The queue, if the last round read it. */
  readonly queue?: JsonObject | undefined
  /** How old the last reading was when it was taken from another wait, in milliseconds. */
  readonly age?: number | undefined
  readonly attempt: Attempt
}

/** What a wait knows of its submissions of a pull request. */
export interface Attempt {
  /** How many there were, with one that was in the queue already. */
  readonly number: number
  /** Whether the next round submits it: until then it is not read. */
  readonly isDue: boolean
  /** When the pause before the next submission ends, in milliseconds since the wait began. */
  readonly notBefore?: number | undefined
  /** Whether this wait submitted it, in any attempt; null if that is not known. */
  readonly submitted: boolean | null
  /** Why it is not known whether the last submission was made. */
  readonly unknown?: MergeqError | undefined
  /** How the last attempt ended that has ended: what counts if a later one cannot be made or read. */
  readonly lastEnd?: WaitEnd | undefined
  /** The record that showed that end. */
  readonly lastRecord?: JsonObject | undefined
  /** The head commit that was submitted, if it is known. */
  readonly head?: string | undefined
}

/** Returns a pull request as a wait finds it, which submits it first or only reads it. */
export const track = (
  pullRequest: PullRequest,
  { isDue }: Pick<Attempt, 'isDue'>,
  state: WaitState = {},
): TrackedPullRequest => ({ pullRequest, state, attempt: { number: 0, isDue, submitted: false } })

/** Whether an attempt has ended, and the next one has not begun: the pull request is not in the queue. */
export const isBetweenAttempts = ({ attempt }: TrackedPullRequest): boolean =>
  attempt.isDue && attempt.lastEnd !== undefined

/** What a caller does with the events of a wait. */
export interface WaitObserver {
  /** `isEnd` is whether the change ends the wait of the pull request. */
  reportChange(tracked: TrackedPullRequest, change: StateChange, isEnd: boolean): Promise<void>
  reportEnd(tracked: TrackedPullRequest, end: WaitEnd): Promise<void>
  /** Reports that a pull request is submitted now, or was in the queue already, if it may be submitted again. */
  reportAttempt(pullRequest: PullRequest, attempt: number, reason: string): Promise<void>
  /** Reports until when a pull request waits before an attempt. */
  reportPause(pullRequest: PullRequest, attempt: number, reason: string, until: string): Promise<void>
  /** Returns the error of a submission that failed, as it is told. */
  explainFailure(failure: MergeqError, pullRequest: PullRequest): Promise<MergeqError>
  /** Reports that no further pull request is submitted after an error. */
  reportUnfinished(submitted: Wait['submitted']): Promise<void>
  /** Reports that an outage of the service begins or is over. */
  reportOutage(text: string, isOver: boolean): Promise<void>
  /** Sleeps between two rounds; rejects when the wait is interrupted. */
  sleep(delay: number, waiting: readonly TrackedPullRequest[]): Promise<void>
  /** Runs the rounds after the first; `waiting` returns the pull requests that the wait still waits for. */
  during(waiting: () => readonly TrackedPullRequest[], rounds: () => Promise<void>): Promise<void>
  /** Returns the error of a wait that a signal ended. */
  interrupted(failure: MergeqError, waiting: readonly TrackedPullRequest[]): Promise<MergeqError>
}
