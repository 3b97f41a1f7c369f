// A wait for pull requests, which may submit them: what it has, and what it tells its caller.
import type { SubmissionValues } from '../api/operations/pull-requests.ts'
import { type ReadSeveral, severalReader } from '../api/reads/several-pull-requests.ts'
import type { RequestLimits, ServiceClient } from '../api/service-client.ts'
import type { WaitTime } from '../api/wait-time.ts'
import type { MergeqError } from '../base/errors.ts'
import type { PullRequest } from '../values/pull-request.ts'
import { limitsOfReading } from './poll.ts'
import type { SharedQueues } from './shared-queues.ts'
import { createWaitErrors, type WaitErrors } from './wait-errors.ts'
import type { StateChange, SubmissionTime, TrackedPullRequest, WaitEnd, WaitOptions } from './wait-state.ts'

/** How a wait submits its pull requests. */
export interface SubmitOptions {
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
  readonly submitOptions?: SubmitOptions | undefined
  readonly errors: WaitErrors
  readonly client: ServiceClient
  readonly time: WaitTime
  /** Of the requests of a poll. */
  readonly limits: RequestLimits
  readonly readSeveral: ReadSeveral
  /** The queues that the service refused to show, by name: they are not read again. */
  readonly unreadableQueues: Set<string>
  /** When the last submission of each pull request that was tried was sent, or why it was not. */
  readonly tried: Map<
    PullRequest,
    { readonly sent?: SubmissionTime | undefined; readonly failure?: MergeqError | undefined }
  >
  /** The pull requests whose failing checks were read. */
  readonly failingReads: Set<PullRequest>
  /** What the waits of the same client read. */
  readonly sharing?: SharedQueues | undefined
}

/** Starts a wait whose time is that of its client. */
export function startWait(
  options: WaitOptions,
  client: ServiceClient,
  time: WaitTime,
  more: Partial<Pick<Wait, 'submitOptions' | 'sharing'>> = {},
): Wait {
  return {
    ...more,
    options,
    errors: createWaitErrors(client, options),
    client,
    time,
    limits: limitsOfReading(time),
    readSeveral: severalReader(client),
    unreadableQueues: new Set(),
    tried: new Map(),
    failingReads: new Set(),
  }
}

/** What a caller does with the events of a wait. */
export interface WaitObserver {
  /** `isEnd` is whether the change ends the wait of the pull request. */
  reportChange(tracked: TrackedPullRequest, change: StateChange, isEnd: boolean): Promise<void>
  reportEnd(tracked: TrackedPullRequest, end: WaitEnd): Promise<void>
  /** Reports that a pull request is submitted now, or was in the queue already, if it may be submitted again. */
  reportAttempt(pullRequest: PullRequest, attempt: number, reason: string): Promise<void>
  /** Reports until when a pull request waits before an attempt, in a sentence. */
  reportPause(text: string): Promise<void>
  /** Returns the error of a submission that failed, as it is told; the error itself by default. */
  explainFailure?(failure: MergeqError, pullRequest: PullRequest): Promise<MergeqError>
  /** Reports that no further pull request is submitted after an error. */
  reportUnfinished?(tried: Wait['tried']): Promise<void>
  /** Reports that an outage of the service begins or is over. */
  reportOutage(text: string, isOver: boolean): Promise<void>
  /** Sleeps between two rounds, in the place of the clock; rejects when the wait is interrupted. */
  sleep?(delay: number, waiting: readonly TrackedPullRequest[]): Promise<void>
  /** Runs the rounds after the first; `waiting` returns the pull requests that the wait still waits for. */
  during?(waiting: () => readonly TrackedPullRequest[], rounds: () => Promise<void>): Promise<void>
  /** Returns the error of a wait that a signal ended, as it is told; the error itself by default. */
  interrupted?(failure: MergeqError, waiting: readonly TrackedPullRequest[]): Promise<MergeqError>
}
