// What a reading says of a pull request that is waited for: of this attempt, of an earlier one, or nothing.
//
// An ended pull request can be submitted again, and the service keeps its `id` (docs/reference/service.md, "Earlier
// attempts"). Until the new attempt is visible, a reading still shows the record of the earlier one: finished, with an old
// `stateChangedAt`. A wait must not report that as its outcome. A merge is what was wanted, whenever it was.

import { changedSince, changedWhen, changeTime, isOutdated, sentSeconds } from '../api/service-clock.ts'
import { getString, type JsonObject } from '../base/json.ts'
import { outcomeOfRecord, stateOf } from '../domain/states.ts'
import { isOtherCommit } from '../values/commit.ts'
import { absenceOf, type ReadPullRequest, type SubmissionTime, type WaitObservation } from './wait-state.ts'

/** What a record in a reading is; a reading without a record is `none`. */
export type Evidence =
  /** Older than a record that this wait has read since it found the pull request. */
  | 'outdated'
  /** Of an earlier attempt. */
  | 'earlier'
  /** It has left the queue, and may be of this attempt or of an earlier one. */
  | 'open end'
  /** In the queue, and dated before the submission. */
  | 'before'
  /** In the queue, and nothing tells whether since the submission. */
  | 'undated'
  /** Of this attempt. */
  | 'own'

/** For this many milliseconds after a submission a record may not show it yet. */
const maxVisibilityDelay = 10_000

/** How many readings in a row must show an end that may be older than the submission, or show nothing at all. */
export const minSightings = 3

/** Says what the record of a reading is, in the order of the rules; `head` is the commit that the head must not move away from. */
export function assessReading(
  known: ReadPullRequest,
  record: JsonObject,
  observation: WaitObservation,
  head?: string,
): Evidence {
  const { attempt, phase, seen } = known
  const { sent, recordBefore } = attempt
  const { at, askedAt = at, date } = observation
  const isMerged = stateOf(record) === 'MERGED'
  if (isMerged && sent !== undefined) return 'own'
  if (isOutdated(record, newestWith(known))) {
    // What was in the queue when the wait began is not missing because of an older record.
    const wasFound = seen.state !== undefined || (sent === undefined && phase.name === 'unread')
    return wasFound ? 'outdated' : 'earlier'
  }
  const isBeforeRecord = isSameRecord(record, recordBefore)
  if (isMerged) return 'own'
  if (hasLeft(record) && isBeforeRecord) return 'earlier'
  if (sent === undefined) return 'own'
  const seconds = sentSeconds({ from: sent.from, to: sent.from }, { askedAt, at, date })
  const when = changedWhen(record, seconds)
  if (!hasLeft(record)) {
    // Its head was checked when it was submitted: what was not seen in the queue is not visible yet.
    const isNew = attempt.wasQueued !== true && seen.state === undefined
    const isOfAnother = isNew && isOtherCommit(getString(record, 'prSha'), head)
    if (when === 'before') return isOfAnother ? 'earlier' : 'before'
    return isDated(record, observation) && !isBeforeRecord ? 'own' : 'undated'
  }
  if (when === 'before') return 'earlier'
  if (when === 'after') return 'own'
  // It is of the second in which the sending began, or nothing tells when it is of: it must be read several times.
  const { openEnd } = absenceOf(known) ?? {}
  const isRepeated = openEnd?.name === nameOfRecord(record) && openEnd.sightings >= minSightings - 1
  // An end that may be from before that second cannot show that the submission was made.
  const canShow = changedSince(record, seconds) || (!isRecent(observation, sent) && sent.isUncertain !== true)
  return isRepeated && canShow ? 'own' : 'open end'
}

export const hasLeft = (record: JsonObject): boolean =>
  outcomeOfRecord(record) !== 'pending' || record.isCurrentlySubmittedToQueue === false

/** Tells the records of a pull request apart. */
export const nameOfRecord = (record: JsonObject): string =>
  [getString(record, 'id'), stateOf(record), getString(record, 'stateChangedAt')].join(' ')

/** Whether a record is that from before a submission. */
export const isSameRecord = (record: JsonObject, recordBefore: JsonObject | undefined): boolean =>
  recordBefore !== undefined && nameOfRecord(record) === nameOfRecord(recordBefore)

/** Whether a reading is so soon after a submission that it may not show it yet. */
export const isRecent = ({ at }: Pick<WaitObservation, 'at'>, sent: SubmissionTime | undefined): boolean =>
  sent !== undefined && at < sent.to + maxVisibilityDelay

/** Whether the clocks of a record and of the service are known, so that they can be compared with the sending. */
export const isDated = (record: JsonObject, { date }: Pick<WaitObservation, 'date'>): boolean =>
  changeTime(record) !== undefined && date !== undefined

/** The newest change that a wait knows of, with that of a record. */
export const newestWith = ({ attempt, seen }: ReadPullRequest, record?: JsonObject): number =>
  Math.max(
    seen.newestChange ?? -Infinity,
    changeTime(attempt.recordBefore) ?? -Infinity,
    changeTime(record) ?? -Infinity,
  )
