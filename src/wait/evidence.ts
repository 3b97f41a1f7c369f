// What a reading says of a pull request that is waited for: of this attempt, of an earlier one, or nothing.
//
// An ended pull request can be submitted again, and the service keeps its `id` (docs/reference/service.md, "Earlier
// attempts"). Until the new attempt is visible, a reading still shows the record of the earlier one: finished, with an old
// `stateChangedAt`. A wait must not report that as its outcome. A merge is what was wanted, whenever it was.

import { changedSince, changedWhen, changeTime, isOutdated, sentSeconds } from '../api/service-clock.ts'
import { getString, type JsonObject } from '../base/json.ts'
import { outcomeOfRecord, stateOf } from '../domain/states.ts'
import { isOtherCommit } from '../values/commit.ts'
import { absenceOf, type Sending, type TrackedPullRequest, type WaitObservation } from './wait-state.ts'

/**
 * What a reading is, by the record in it:
 *
 * - `none`: there is no record, the service does not know the pull request
 * - `outdated`: older than a record that this wait has read since it found the pull request
 * - `earlier`: of an earlier attempt. It has left the queue, and it is the record from before the submission, or dated
 *   before it; or it is in the queue at another head, dated before it, and the pull request was never found; or it is older
 *   than one that was read, and the pull request was never found
 * - `open end`: it has left the queue, and may be of this attempt or of an earlier one
 * - `before`: in the queue, and dated before the submission
 * - `undated`: in the queue, and nothing tells whether since the submission
 * - `own`: of this attempt
 */
type Evidence =
  | { readonly is: 'none' | 'outdated' }
  | { readonly is: 'earlier' | 'open end'; readonly record: JsonObject }
  | ShownEvidence

/** The record says how the pull request stands in this attempt. */
export interface ShownEvidence {
  readonly is: 'before' | 'undated' | 'own'
  readonly record: JsonObject
}

/** For this many milliseconds after a submission a record may not show it yet. */
const maxVisibilityDelay = 10_000

/** How many readings in a row must show an end that may be older than the submission, or show nothing at all. */
export const minSightings = 3

type Known = Pick<TrackedPullRequest, 'phase' | 'attempt' | 'seen'>

/** `head` is the commit that the head must not move away from. */
export function assessReading(known: Known, observation: WaitObservation, head?: string): Evidence {
  const { attempt, phase, seen } = known
  const { record: read, position } = observation
  const record = position === undefined ? read : { ...read, isCurrentlySubmittedToQueue: true }
  if (record === undefined) return { is: 'none' }
  const counts = stateOf(record) === 'MERGED' && attempt.sent !== undefined
  const isOlder = !counts && isOutdated(record, newestBefore(known))
  // What was in the queue when the wait began is not missing because of an older record.
  const wasFound = seen.state !== undefined || (attempt.sent === undefined && phase.name === 'unread')
  if (isOlder && wasFound) return { is: 'outdated' }
  const is = isOlder ? 'earlier' : assessRecord(record, observation, known, head)
  return is === 'earlier' || is === 'open end' ? { is, record } : { is, record }
}

/** Says what a record is that is not older than another one, in the order of the rules. */
function assessRecord(
  record: JsonObject,
  observation: WaitObservation,
  known: Known,
  head: string | undefined,
): 'own' | 'undated' | 'before' | 'open end' | 'earlier' {
  const { sent, recordBefore } = known.attempt
  const { at, askedAt = at, date } = observation
  const isBeforeRecord = isSameRecord(record, recordBefore)
  if (stateOf(record) === 'MERGED') return 'own'
  if (hasLeft(record) && isBeforeRecord) return 'earlier'
  if (sent === undefined) return 'own'
  const seconds = sentSeconds({ from: sent.from, to: sent.from }, { askedAt, at, date })
  const when = changedWhen(record, seconds)
  if (!hasLeft(record)) {
    // Its head was checked when it was submitted: what was not seen in the queue is not visible yet.
    const isNew = known.attempt.wasQueued !== true && known.seen.state === undefined
    const isOfAnother = isNew && isOtherCommit(getString(record, 'prSha'), head)
    if (when === 'before') return isOfAnother ? 'earlier' : 'before'
    return isDated(record, observation) && !isBeforeRecord ? 'own' : 'undated'
  }
  if (when === 'before') return 'earlier'
  if (when === 'after') return 'own'
  // It is of the second in which the sending began, or nothing tells when it is of: it must be read several times.
  const { openEnd } = absenceOf(known) ?? {}
  const isRepeated = openEnd?.name === nameOfEnd(record) && openEnd.sightings >= minSightings - 1
  // An end that may be from before that second cannot show that the submission was made.
  const canShow = changedSince(record, seconds) || (!isRecent(observation, sent) && sent.isUncertain !== true)
  return isRepeated && canShow ? 'own' : 'open end'
}

export const hasLeft = (record: JsonObject): boolean =>
  outcomeOfRecord(record) !== 'pending' || record.isCurrentlySubmittedToQueue === false

/** Whether a record is that from before a submission. */
export const isSameRecord = (record: JsonObject, recordBefore: JsonObject | undefined): boolean =>
  recordBefore !== undefined &&
  stateOf(record) === stateOf(recordBefore) &&
  ['id', 'stateChangedAt'].every(key => getString(record, key) === getString(recordBefore, key))

/** Whether a reading is so soon after a submission that it may not show it yet. */
export const isRecent = ({ at }: Pick<WaitObservation, 'at'>, sent: Sending | undefined): boolean =>
  sent !== undefined && at < sent.to + maxVisibilityDelay

/** Whether the clocks of a record and of the service are known, so that they can be compared with the sending. */
export const isDated = (record: JsonObject, { date }: Pick<WaitObservation, 'date'>): boolean =>
  changeTime(record) !== undefined && date !== undefined

/** Tells ends apart that may be of an earlier attempt. */
export const nameOfEnd = (record: JsonObject): string =>
  ['id', 'state', 'stateChangedAt'].map(key => getString(record, key)).join(' ')

/** The newest change that a wait knows of before a reading, and with the record of one. */
const newestBefore = ({ attempt, seen }: Known): number =>
  Math.max(seen.newestChange ?? -Infinity, changeTime(attempt.recordBefore) ?? -Infinity)

export const newestWith = (known: Known, record: JsonObject): number =>
  Math.max(newestBefore(known), changeTime(record) ?? -Infinity)
