import type { MergeqError } from '../errors.ts'
import { getString, type JsonObject } from '../json.ts'
import { changedSince, changedWhen, type SendingTime, sentSeconds } from './service-clock.ts'
import { type Milestone, outcomeOfRecord, stateOf, statesUnderTest, type WaitOutcome } from './states.ts'

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

/** What a wait remembers of a pull request from one reading to the next; empty at the beginning. */
export interface WaitState {
  /** When it was sent; it is uncertain if no response says that it was made. */
  readonly submission?: (SendingTime & { readonly isUncertain?: boolean }) | undefined
  /**
   * The record that was read before the submission. One without a `stateChangedAt` is forgotten when a reading shows
   * another record.
   */
  readonly recordBeforeSubmit?: JsonObject | undefined
  /** The last record that was ignored, because it may show an earlier attempt. */
  readonly ignoredRecord?: JsonObject | undefined
  /** The end that may be of the submission or of an earlier attempt, and how many readings in a row showed it. */
  readonly openEnd?: { readonly name: string; readonly sightings: number } | undefined
  /** How many readings in a row have not shown the submission. */
  readonly misses?: number
  /** Whether a reading has shown what may be the submission. */
  readonly mayBeVisible?: boolean
  readonly state?: string | undefined
  readonly position?: number | undefined
  /** How many polls in a row brought nothing new. */
  readonly unchanged?: number
  /** The newest `stateChangedAt` of the records so far, in milliseconds since 1970. */
  readonly newestChange?: number | undefined
  /** Since when the pull request has not been found, in milliseconds since the wait began. */
  readonly missingSince?: number | undefined
  /** Since when readings have shown an end after which it may have merged, in milliseconds since the wait began. */
  readonly mayBeMergedSince?: number | undefined
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

export interface PullRequestJudgement {
  readonly state: WaitState
  readonly change?: StateChange
  /** Whether the reading shows that the submission was made. */
  readonly showsSubmission?: boolean
  /** Whether the head of the record counts as the one that was submitted. */
  readonly hasHead?: boolean
  /** Whether the record is older than one that was read before, so that it says nothing. */
  readonly isOutdated?: boolean
  /** The outcome, if the wait is over; `error` means that the pull request is still not found. */
  readonly outcome?: WaitOutcome
}

const hasLeft = (record: JsonObject): boolean =>
  outcomeOfRecord(record) !== 'pending' || record.isCurrentlySubmittedToQueue === false

// Earlier attempts (docs/reference/service.md, "Earlier attempts"): an ended pull request can be submitted
// again, and the service keeps its `id`. Until the new attempt is visible, a read still shows the record of
// the earlier attempt: finished, with an old `stateChangedAt`. A wait must not report that as its outcome, so
// it ignores an ended record that equals the record from before the submission, or whose `stateChangedAt` is
// older than the second in which the sending began. One of that second must be read `minSightings` times, and so must
// a 404; one without a conclusive time also needs `maxVisibilityDelay`. A merge is what was wanted, whenever it was.

const equals = (record: JsonObject, recordBeforeSubmit: JsonObject | undefined): boolean =>
  recordBeforeSubmit !== undefined &&
  stateOf(record) === stateOf(recordBeforeSubmit) &&
  ['id', 'stateChangedAt'].every(key => getString(record, key) === getString(recordBeforeSubmit, key))

/** For this many milliseconds after a submission a record may not show it yet. */
const maxVisibilityDelay = 10_000

/** How many readings in a row must show an end that may be older than the submission. */
const minSightings = 3

/**
 * What a record says of a submission: `shown` is of it, `other` is of an earlier attempt, `open` may be of either.
 * An `open` record of a pull request that has not left shows its state, and nothing else; so does one that is dated
 * `before` the submission.
 */
function assessRecord(
  record: JsonObject,
  observation: WaitObservation,
  { submission, recordBeforeSubmit, openEnd }: WaitState,
): 'shown' | 'open' | 'before' | 'other' {
  const { at, askedAt = at, date } = observation
  if (stateOf(record) === 'MERGED') return 'shown'
  if (hasLeft(record) && equals(record, recordBeforeSubmit)) return 'other'
  if (submission === undefined) return 'shown'
  const { from } = submission
  const seconds = sentSeconds({ from, to: from }, { askedAt, at, date })
  const when = changedWhen(record, seconds)
  if (!hasLeft(record)) {
    if (when === 'before') return 'before'
    return isDated(record, date) && !equals(record, recordBeforeSubmit) ? 'shown' : 'open'
  }
  if (when === 'before') return 'other'
  if (when === 'after') return 'shown'
  const isRepeated = openEnd?.name === nameOfEnd(record) && openEnd.sightings >= minSightings - 1
  if (changedSince(record, seconds)) return isRepeated ? 'shown' : 'open'
  // An end that may be from before the second of the sending cannot show that the submission was made.
  const isCertain = !isRecent(observation, submission) && submission.isUncertain !== true
  return isRepeated && isCertain ? 'shown' : 'open'
}

/** Whether a reading is so soon after a submission that it may not show it yet. */
const isRecent = ({ at }: WaitObservation, submission: SendingTime | undefined): boolean =>
  submission !== undefined && at < submission.to + maxVisibilityDelay

/** Whether the clocks of a record and of the service are known, so that they can be compared with the sending. */
const isDated = (record: JsonObject, date: number | undefined): boolean =>
  changeTime(record) !== undefined && date !== undefined

const nameOfEnd = (record: JsonObject): string =>
  ['id', 'state', 'stateChangedAt'].map(key => getString(record, key)).join(' ')

/** Whether two commits differ. Either may be abbreviated; a commit that is not known counts as the same. */
export function isOtherCommit(one = '', other = ''): boolean {
  const [first, second] = [one.toLowerCase(), other.toLowerCase()]
  return !first.startsWith(second) && !second.startsWith(first)
}

const reachedIn: Readonly<Record<Milestone, readonly string[]>> = {
  merged: [],
  'tests-passed': ['TESTS_PASSED'],
  testing: statesUnderTest,
  left: [],
}

function outcomeOf(record: JsonObject, until: Milestone): WaitOutcome | undefined {
  if (until === 'left') return hasLeft(record) ? 'left' : undefined
  const ended = outcomeOfRecord(record)
  if (ended === 'ok') return until === 'merged' ? 'merged' : 'reached'
  if (ended !== 'pending') return ended
  return reachedIn[until].includes(stateOf(record)) ? 'reached' : undefined
}

/**
 * Says what a reading means for the wait for a pull request: what is known of it now, whether its state changed, and
 * the outcome, if the wait is over (docs/reference/cli.md, "Waiting"). A record of an attempt that ended before the
 * submission counts as not found. `keptHead` is the commit that was submitted, which must not merge at another.
 */
export function judgePullRequest(
  lastState: WaitState,
  observation: WaitObservation,
  {
    until,
    grace,
    head,
    keptHead,
  }: Pick<WaitOptions, 'until' | 'grace' | 'head'> & { readonly keptHead?: string | undefined },
): PullRequestJudgement {
  const { record: observed, position, waited } = observation
  const { recordBeforeSubmit, submission, mayBeVisible } = lastState
  const record = position === undefined ? observed : { ...observed, isCurrentlySubmittedToQueue: true }
  if (record === undefined) return missing({ ...lastState, openEnd: undefined }, waited, grace)
  const isMerged = stateOf(record) === 'MERGED'
  const newestBefore = newestOf(lastState.newestChange, changeTime(recordBeforeSubmit))
  const newestChange = newestOf(newestBefore, changeTime(record))
  const countsWhenever = isMerged && submission !== undefined
  const isOlder = !countsWhenever && isOutdated(record, { newestChange: newestBefore })
  // What was in the queue when the wait began is not missing because of an older record.
  const wasFound =
    lastState.state !== undefined || (submission === undefined && lastState.missingSince === undefined)
  if (isOlder && wasFound)
    return { state: { ...lastState, unchanged: unchangedAfter(lastState) }, isOutdated: true }
  const evidence = assessRecord(record, observation, lastState)
  const isOld = isOlder || evidence === 'other'
  if (isOld || (evidence === 'open' && hasLeft(record))) {
    const name = nameOfEnd(record)
    const sightings = lastState.openEnd?.name === name ? lastState.openEnd.sightings + 1 : 1
    const more = isOld ? { openEnd: undefined } : { openEnd: { name, sightings }, mayBeVisible: true }
    // An end that may still count is not missing yet.
    const limit = !isOld && isRecent(observation, submission) ? Number.POSITIVE_INFINITY : grace
    return missing({ ...lastState, newestChange, ignoredRecord: record, ...more }, waited, limit)
  }
  const state = stateOf(record) || undefined
  const unchanged = state === lastState.state ? unchangedAfter(lastState) : 0
  const isBefore = evidence === 'before'
  const mayBeOld = isRecent(observation, submission)
  const hasOtherHead = isOtherCommit(getString(record, 'prSha'), isMerged ? (head ?? keptHead) : head)
  // The head of a record from before the submission may be older than the one that was checked then.
  const isDoubtful = isBefore || (hasOtherHead && equals(record, recordBeforeSubmit))
  const outcome = isDoubtful && mayBeOld ? undefined : hasOtherHead ? 'stale' : outcomeOf(record, until)
  // What is still shown so long after the submission was in the queue before it.
  const known = isBefore && !mayBeOld ? record : recordBeforeSubmit
  // A replica may still show the earlier attempt when the new one was seen. Without a time, nothing tells them apart.
  const keepsRecord = changeTime(known) !== undefined
  return {
    state: {
      ...(submission && {
        submission,
        mayBeVisible: mayBeVisible === true || !equals(record, recordBeforeSubmit),
      }),
      ...(keepsRecord && { recordBeforeSubmit: known }),
      state,
      position,
      unchanged,
      newestChange,
    },
    showsSubmission: submission !== undefined && !isMerged && evidence === 'shown',
    // Without a time it may be older: then `pr land` may end with 14, but never submits another head.
    hasHead: evidence === 'shown' || !isDated(record, observation.date),
    ...(state === undefined || unchanged > 0
      ? {}
      : { change: { from: lastState.state, to: state, at: getString(record, 'stateChangedAt'), position } }),
    ...(outcome && { outcome }),
  }
}

/** Returns the `stateChangedAt` of a record in milliseconds since 1970. */
function changeTime(record: JsonObject | undefined): number | undefined {
  const time = Date.parse(getString(record, 'stateChangedAt') ?? '')
  return Number.isNaN(time) ? undefined : time
}

/** Whether a record is older than one that a wait has read before. */
export const isOutdated = (
  record: JsonObject | undefined,
  { newestChange = -Infinity }: WaitState,
): boolean => (changeTime(record) ?? Infinity) < newestChange

/** What a wait knows of a pull request that it found in the queue and does not submit: what is older says nothing. */
export const stateInQueue = (
  record: JsonObject | undefined,
  recordBeforeSubmit: JsonObject | undefined,
): WaitState => ({
  recordBeforeSubmit,
  newestChange: changeTime(record),
})

const newestOf = (...times: readonly (number | undefined)[]): number | undefined =>
  times.reduce((newest, time) => (time === undefined || (newest ?? time) > time ? newest : time), undefined)

const unchangedAfter = ({ unchanged = -1 }: WaitState): number => unchanged + 1

/**
 * Returns the transition for a pull request that was not found; an error after the grace period, and after a submission
 * not before `minSightings` readings.
 */
function missing(lastState: WaitState, waited: number, grace: number): PullRequestJudgement {
  const { missingSince = waited, misses = 0, submission } = lastState
  const isSettled = submission === undefined || misses + 1 >= minSightings
  return {
    state: {
      ...lastState,
      missingSince,
      misses: misses + 1,
      position: undefined,
      unchanged: unchangedAfter(lastState),
    },
    ...(waited - missingSince >= grace && isSettled && { outcome: 'error' }),
  }
}

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
  readonly note?: string
}

/** What a reading means for an item: how the item stands now, and the end of its wait, if it is over. */
export interface Judgement<T> {
  readonly item: T
  readonly end?: WaitEnd | undefined
}

export const isPaused = (queue: JsonObject | undefined): boolean => getString(queue, 'state') === 'PAUSED'

/** Returns what is known of a pull request without a state: nothing was read, or it was not found. */
export function missingState({ missingSince, submission }: WaitState): string {
  if (missingSince === undefined) return 'not checked yet'
  return submission === undefined ? 'not found in the queue' : 'just submitted'
}
