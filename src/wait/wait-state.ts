// What a wait knows of a pull request, and what it is told and tells. What follows from an event is in machine.ts.

import type { SendingTime } from '../api/service-clock.ts'
import type { MergeqError } from '../base/errors.ts'
import { getString, type JsonObject } from '../base/json.ts'
import { type Milestone, statesUnderTest, type WaitOutcome } from '../domain/states.ts'
import type { PullRequest } from '../values/pull-request.ts'

/** The options of a wait for pull requests; times are in milliseconds. */
export interface WaitOptions {
  readonly until: Milestone
  /** For this long a pull request that is not found counts as not visible yet. */
  readonly grace: number
  /** The commit, full or abbreviated, that the head must not move away from. */
  readonly head?: string | undefined
  readonly interval: number | 'auto'
  /** How long the readings of a pull request may fail without interruption. */
  readonly giveUpAfter: number
  readonly failOnPaused: boolean
  /** The time limit of the whole wait; 0 reads every pull request once. */
  readonly waitLimit: number
  readonly stopsOnError: boolean
}

/** A pull request that is waited for, and where it is in its life. Times are in milliseconds since the wait began. */
export type TrackedPullRequest = DuePullRequest | ReadPullRequest

/** The next round submits it, but not before the end of a pause. It is not read. */
export interface DuePullRequest extends Tracked {
  readonly phase: { readonly name: 'due'; readonly pause?: Pause }
}

/** The next round reads it. */
export interface ReadPullRequest extends Tracked {
  readonly phase: /** No reading has said anything of it: since the wait began, or since it was submitted. */
    | { readonly name: 'unread' }
    /** The readings do not show it, or show only what is or may be an earlier attempt. */
    | { readonly name: 'absent'; readonly absence: Absence }
    /** A reading has shown it in the queue. */
    | { readonly name: 'shown' }
    /** Readings show since a time that it failed or was cancelled, and may have merged all the same. */
    | { readonly name: 'doubtful'; readonly since: number }
}

interface Tracked {
  readonly pullRequest: PullRequest
  readonly attempt: Attempt
  readonly seen: Seen
  /** The record of the last reading that says something; undefined if the service did not know the pull request. */
  readonly record?: JsonObject | undefined
  /** The queue, if the last round read it. */
  readonly queue?: JsonObject | undefined
  /** How old the last reading was when it was taken from another wait, in milliseconds. */
  readonly age?: number | undefined
}

/** A pause before a pull request is submitted again. */
interface Pause {
  readonly until: number
  /** The failure that it is for, by `nameOfRecord`. */
  readonly after: string
}

/** The readings in a row that did not show a pull request. */
export interface Absence {
  /** In milliseconds since the wait began; an outage does not count. */
  readonly since: number
  readonly readings: number
  /** The last record that does not count, because it is or may be of an earlier attempt. */
  readonly ignored?: JsonObject | undefined
  /** The end that may be of this attempt or of an earlier one, and how many readings in a row showed it. */
  readonly openEnd?: { readonly name: string; readonly sightings: number } | undefined
}

/** What a wait knows of its last submission of a pull request, and of those before. */
export interface Attempt {
  /** How many there were, with one that was in the queue already. */
  readonly number: number
  /** When the last one was sent; undefined if this one was in the queue already, or is not of this wait. */
  readonly sent?: SubmissionTime | undefined
  /**
   * The record that was read before it was sent. One without a `stateChangedAt` is forgotten when a reading shows another
   * record.
   */
  readonly recordBefore?: JsonObject | undefined
  /** Whether it was in the queue before: then it is not of this wait, and is not cancelled. */
  readonly wasQueued?: boolean
  /** Why it is not known whether the last one was made, and whether a reading has shown what may be it. */
  readonly doubt?: { readonly failure: MergeqError; readonly mayBeVisible: boolean } | undefined
  /** Whether it is known that this wait has submitted it, in any attempt. */
  readonly isMade: boolean
  /** The only head commit that is ever submitted again, if it is known. */
  readonly head?: string | undefined
  /** The head commit that the queue showed first. */
  readonly queuedHead?: string | undefined
  /** How the attempt before ended, and the record that showed it: what counts if this one cannot be made or read. */
  readonly previous?: { readonly end: WaitEnd; readonly record: JsonObject | undefined } | undefined
}

/** When a submission was sent; it is uncertain if no response says that it was made. */
export interface SubmissionTime extends SendingTime {
  readonly isUncertain?: boolean
}

/** What the readings of an attempt have shown of a pull request. */
export interface Seen {
  readonly state?: string | undefined
  readonly position?: number | undefined
  /** How many readings in a row brought nothing new. */
  readonly unchanged?: number
  /** The newest `stateChangedAt` of the records so far, in milliseconds since 1970. */
  readonly newestChange?: number | undefined
}

/** Returns a pull request as a wait finds it: to be submitted, or sent by another command of the same client, or neither. */
export const track = (
  pullRequest: PullRequest,
  { isDue, sent }: { readonly isDue: boolean; readonly sent?: SubmissionTime | undefined },
): TrackedPullRequest => {
  const tracked = { pullRequest, attempt: { number: 0, isMade: false, sent }, seen: {} }
  return isDue ? { ...tracked, phase: { name: 'due' } } : { ...tracked, phase: { name: 'unread' } }
}

export const isDue = (tracked: TrackedPullRequest): tracked is DuePullRequest => tracked.phase.name === 'due'

/** Since when, and how often, the readings have not shown a pull request; undefined if the last one did, or there is none. */
export const absenceOf = ({ phase }: Pick<TrackedPullRequest, 'phase'>): Absence | undefined =>
  phase.name === 'absent' ? phase.absence : undefined

/** Whether an attempt has ended, and the next one has not begun: the pull request is not in the queue. */
export const isBetweenAttempts = (tracked: TrackedPullRequest): boolean =>
  isDue(tracked) && tracked.attempt.previous !== undefined

/** Whether a pull request waits for the end of a pause before it is submitted again. */
export const isInPause = (tracked: TrackedPullRequest): boolean =>
  isDue(tracked) && tracked.phase.pause !== undefined

/** Whether this wait submitted a pull request, in any attempt; null if that is not known. */
export const wasSubmitted = ({ isMade, doubt }: Attempt): boolean | null =>
  isMade || (doubt === undefined ? false : null)

/**
 * The head commit that was submitted, if it is known: the one that the queue showed first. The record of a pull request
 * that is not in the queue may not follow its head.
 */
export const submittedHead = ({ head, queuedHead = head }: Attempt): string | undefined => queuedHead

/** Returns what is known of a pull request without a state: nothing was read, or it was not found. */
export function missingState(tracked: Pick<TrackedPullRequest, 'phase' | 'attempt'>): string {
  if (absenceOf(tracked) === undefined) return 'not checked yet'
  return tracked.attempt.sent === undefined ? 'not found in the queue' : 'just submitted'
}

/** One reading of a pull request; without a record, the service did not find the pull request. */
export interface WaitObservation {
  readonly record: JsonObject | undefined
  /** The position in the queue, from 1. A pull request with a position counts as submitted. */
  readonly position?: number | undefined
  /** When the response arrived, by the local clock, in milliseconds since 1970. */
  readonly at: number
  /** How long the wait had lasted then, in milliseconds; unlike `at`, it never jumps. */
  readonly waited: number
  /** When the request was sent, by the local clock, in milliseconds since 1970; `at` if undefined. */
  readonly askedAt?: number | undefined
  /** When the service responded, by its own clock, in milliseconds since 1970, to the second. */
  readonly date?: number | undefined
  /** The error that says that the service does not know the pull request. */
  readonly notFound?: MergeqError | undefined
  /** The queue, if it was read in the same round. */
  readonly queue?: JsonObject | undefined
  /** How old the reading was when it was taken from another wait, in milliseconds. */
  readonly age?: number | undefined
}

/** A change between two readings; `from` is undefined at the first, `at` is the time that the service gives. */
export interface StateChange {
  readonly from: string | undefined
  readonly to: string
  readonly at: string | undefined
  readonly position: number | undefined
  /** Why it waits again, in a sentence, if the service says it. */
  readonly why?: string | undefined
}

/** Whether a pull request that was tested waits again. */
export const isPendingAgain = (from: string | undefined, to: string): boolean =>
  to === 'PENDING' && statesUnderTest.includes(from ?? '')

/** `#7 PENDING -> TESTING, position 1` */
export const describeWaitChange = (pr: number, { from, to, position, why }: StateChange): string =>
  [
    `#${pr} ${from === undefined ? '' : `${from} -> `}${to}`,
    position === undefined ? '' : `, position ${position}`,
    why === undefined ? '' : `. ${why}`,
  ].join('')

/** How a wait ended. */
export interface WaitEnd {
  readonly outcome: WaitOutcome
  /** The error that ended the wait, for the outcome `error`. */
  readonly failure?: MergeqError | undefined
  /** Whether the wait was ruled out before it began. */
  readonly isSkipped?: boolean
  /** Whether the first reading ended the wait: nothing changed while it lasted. */
  readonly isFirstReading?: boolean
  /** What follows the sentence about the end. */
  readonly note?: string | undefined
}

/** How an item stands after a reading, and the end of its wait, if it is over. */
export interface Judgement<T> {
  readonly item: T
  readonly end?: WaitEnd | undefined
}

/** How a pull request stands after something happened, and what there is to say or to do. */
export interface Step extends Judgement<TrackedPullRequest> {
  readonly change?: StateChange | undefined
  /** Whether the service did not find it for the first time, and no command has just submitted it. */
  readonly isNewlyAbsent?: boolean | undefined
  /** Whether its submission must be cancelled: its head moved. */
  readonly mustBeCancelled?: boolean
}

export const isPaused = (queue: JsonObject | undefined): boolean => getString(queue, 'state') === 'PAUSED'
