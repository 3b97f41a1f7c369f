// How the life of a pull request that is waited for goes on: each function says what follows from something that happened.
// They do nothing and ask nobody; the loop in pull-requests.ts reads, submits, cancels and reports. The whole table is in
// docs/contributing/waits.md; each `case` and each condition below is a row of it.

import { changeTime } from '../api/service-clock.ts'
import { isPermanent, type MergeqError } from '../base/errors.ts'
import { getString, type JsonObject } from '../base/json.ts'
import { explainState, mayHaveMerged, mergeDoubtTime } from '../domain/reasons/reasons.ts'
import {
  type Milestone,
  outcomeOfRecord,
  stateOf,
  statesUnderTest,
  type WaitOutcome,
} from '../domain/states.ts'
import { isOtherCommit } from '../values/commit.ts'
import {
  assessReading,
  type Evidence,
  hasLeft,
  isDated,
  isRecent,
  isSameRecord,
  minSightings,
  nameOfRecord,
  newestWith,
} from './evidence.ts'
import type { Wait } from './wait.ts'
import {
  type Absence,
  type Attempt,
  absenceOf,
  type DuePullRequest,
  isPaused,
  isPendingAgain,
  type ReadPullRequest,
  type Seen,
  type StateChange,
  type Step,
  type SubmissionTime,
  submittedHead,
  type TrackedPullRequest,
  type WaitEnd,
  type WaitObservation,
} from './wait-state.ts'

/** What the rules depend on. */
export type WaitRules = Pick<Wait, 'options' | 'submitOptions' | 'errors'>

/** What happens to a pull request that is due; `before` is the record from before its submission. */
export type SubmissionEvent =
  // Before a submission. A record that was read then is undefined if it says nothing.
  | { readonly type: 'merged before'; readonly record: JsonObject | undefined }
  | { readonly type: 'not again'; readonly record: JsonObject | undefined; readonly note?: string }
  | { readonly type: 'pause'; readonly pause: NonNullable<DuePullRequest['phase']['pause']> }
  // What came of it. After `isLast`, no reading may settle whether it was made.
  | { readonly type: 'head moved'; readonly head: string | undefined; readonly note: string }
  | {
      readonly type: 'in the queue'
      readonly record: JsonObject | undefined
      readonly before: JsonObject | undefined
    }
  | { readonly type: 'accepted'; readonly sent: SubmissionTime; readonly before: JsonObject | undefined }
  | {
      readonly type: 'unanswered'
      readonly sent: SubmissionTime
      readonly before: JsonObject | undefined
      readonly failure: MergeqError
      readonly isLast: boolean
    }
  | { readonly type: 'refused'; readonly failure: MergeqError }

/** Notes that a submission begins, or that a pull request is in the queue already. */
export function beginAttempt(
  item: DuePullRequest,
  record: JsonObject | undefined,
  isQueued: boolean,
  { submitOptions }: WaitRules,
): DuePullRequest {
  const { attempt } = item
  const keepsHead = submitOptions?.attempts !== undefined
  const found = keepsHead || isQueued ? getString(record, 'prSha') : undefined
  const { head = found, queuedHead = isQueued ? found : undefined } = attempt
  return { ...item, attempt: { ...attempt, number: attempt.number + 1, head, queuedHead, doubt: undefined } }
}

/** Says what follows from a submission, or from what was read before it. */
export function afterSubmission(item: DuePullRequest, event: SubmissionEvent, rules: WaitRules): Step {
  const { attempt } = item
  const unsent: Attempt = { ...attempt, sent: undefined, recordBefore: undefined }
  switch (event.type) {
    case 'merged before': {
      const { record = item.record } = event
      const expected = rules.options.head ?? submittedHead(attempt)
      const isOther = isOtherCommit(getString(record, 'prSha'), expected)
      const isFirstReading = attempt.previous === undefined
      const merged = { ...item, record, seen: { state: 'MERGED' }, attempt: unsent }
      return { item: merged, end: isOther ? { outcome: 'stale' } : { outcome: 'merged', isFirstReading } }
    }
    case 'not again': {
      const { record = item.record, note } = event
      const outcome = outcomeOfRecord(event.record ?? {})
      if (isFailure(outcome))
        return {
          item: { ...item, record, seen: { ...item.seen, state: stateOf(record) } },
          end: { outcome, note },
        }
      const end: WaitEnd = attempt.previous?.end ?? { outcome: 'pending' }
      return { item: { ...item, record }, end: { ...end, note } }
    }
    case 'pause':
      return { item: { ...item, phase: { name: 'due', pause: event.pause } } }
    case 'head moved': {
      const record = { ...item.record, prSha: event.head }
      return {
        item: { ...item, record, seen: {}, attempt: unsent },
        end: { outcome: 'stale', note: event.note },
      }
    }
    case 'in the queue': {
      const seen = { newestChange: changeTime(event.record) }
      return { item: begin(item, { ...unsent, recordBefore: event.before, wasQueued: true }, seen) }
    }
    case 'accepted': {
      const { sent, before: recordBefore } = event
      const wasQueued = isCurrentlyQueued(recordBefore)
      return { item: begin(item, { ...attempt, sent, recordBefore, wasQueued, isMade: true }) }
    }
    case 'unanswered': {
      const { before: recordBefore, failure, isLast } = event
      const sent = { ...event.sent, isUncertain: true }
      const doubt = { failure, mayBeVisible: failure.details.mayBeVisible === true }
      const wasQueued = isCurrentlyQueued(recordBefore)
      const begun = begin(item, { ...attempt, sent, recordBefore, wasQueued, doubt })
      return isLast ? endWait(begun, errorEnd(failure), rules) : { item: begun }
    }
    case 'refused':
      return attempt.previous === undefined
        ? { item, end: errorEnd(event.failure) }
        : endedBefore(item, attempt.previous, attempt.number, event.failure)
  }
}

/** Begins to wait for what was submitted, or was in the queue. */
const begin = (
  { phase: _, ...item }: DuePullRequest,
  attempt: Attempt,
  seen: Seen = {},
): ReadPullRequest => ({
  ...item,
  phase: { name: 'unread' },
  attempt,
  seen,
})

const isCurrentlyQueued = (record: JsonObject | undefined): boolean =>
  record?.isCurrentlySubmittedToQueue === true

/** A reading that shows a state, and what its record is. */
interface Shown {
  readonly evidence: Evidence
  readonly record: JsonObject
  readonly observation: WaitObservation
}

/** What a reading shows, before the rules about it: also the outcome, if it shows one. */
interface Noted extends Step {
  readonly item: ReadPullRequest
  readonly outcome?: WaitOutcome | undefined
}

/** Says what follows from a reading: the first rule that applies. */
export function afterReading(
  before: ReadPullRequest,
  observation: WaitObservation,
  isFirstRound: boolean,
  rules: WaitRules,
): Step {
  const { waited, notFound, queue } = observation
  const { errors, submitOptions } = rules
  const { waitLimit, failOnPaused } = rules.options
  const { item, outcome, isNewlyAbsent, ...noted } = noteReading(before, observation, rules)
  const { attempt, record } = item
  const change = noted.change && { ...noted.change, why: whyPendingAgain(noted.change, record) }
  if (outcome === 'error') {
    const failure =
      notFound === undefined ? errors.onlyEarlierAttempt(item) : errors.notInQueue(item, notFound)
    return { ...endWait(item, errorEnd(failure), rules), change }
  }
  const hasFailed = isFailure(outcome)
  const mayBeMerged = hasFailed && mayHaveMerged(record ?? {}) !== false
  const since = before.phase.name === 'doubtful' ? before.phase.since : waited
  if (mayBeMerged && waitLimit > 0 && waited - since < mergeDoubtTime)
    return { item: { ...item, phase: { name: 'doubtful', since } }, change }
  if (outcome === undefined && !(failOnPaused && isPaused(queue))) return { item, change, isNewlyAbsent }
  const end = { outcome: outcome ?? 'pending', isFirstReading: isFirstRound && attempt.sent === undefined }
  if (hasFailed && !mayBeMerged && attempt.number < (submitOptions?.attempts ?? 0) && waitLimit > 0)
    return {
      item: { ...item, phase: { name: 'due' }, attempt: { ...attempt, previous: { end, record } } },
      change,
    }
  return { ...endWait(item, end, rules), change }
}

/** Notes what a reading shows, by what it is. */
function noteReading(before: ReadPullRequest, observation: WaitObservation, rules: WaitRules): Noted {
  const { record: read, position, queue, age } = observation
  const item = { ...before, queue, age }
  const { attempt, phase, seen } = item
  const { grace, head } = rules.options
  const record = position === undefined ? read : { ...read, isCurrentlySubmittedToQueue: true }
  const evidence = record === undefined ? 'none' : assessReading(item, record, observation, head)
  if (record !== undefined && (evidence === 'before' || evidence === 'undated' || evidence === 'own'))
    return noteState(item, { evidence, record, observation }, rules)
  if (evidence === 'outdated') return { item: { ...item, seen: { ...seen, unchanged: onceMore(seen) } } }
  // That nothing of it is shown says nothing of whether it merged.
  if (phase.name === 'doubtful')
    return {
      item: { ...item, seen: { ...seen, position: undefined, unchanged: onceMore(seen) } },
      outcome: outcomeInDoubt(item),
    }
  if (record === undefined || evidence !== 'open end')
    return noteAbsence(item, { ignored: record }, observation, grace)
  const name = nameOfRecord(record)
  const last = absenceOf(item)?.openEnd
  const openEnd = { name, sightings: last?.name === name ? last.sightings + 1 : 1 }
  const doubt = attempt.doubt && { ...attempt.doubt, mayBeVisible: true }
  const open = { ...item, attempt: { ...attempt, doubt } }
  // An end that may still count is not missing yet.
  const time = isRecent(observation, attempt.sent) ? Number.POSITIVE_INFINITY : grace
  return noteAbsence(open, { ignored: record, openEnd }, observation, time)
}

/** Notes that a reading does not show the pull request: an error after the grace period, of a submission not before three. */
function noteAbsence(
  item: ReadPullRequest,
  { ignored, openEnd }: Pick<Absence, 'ignored' | 'openEnd'>,
  { record, waited }: WaitObservation,
  grace: number,
): Noted {
  const { attempt, phase, seen } = item
  const { since = waited, readings = 0, ignored: last } = absenceOf(item) ?? {}
  const absence = { since, readings: readings + 1, ignored: ignored ?? last, openEnd }
  const newestChange = ignored === undefined ? seen.newestChange : newestWith(item, ignored)
  const isSettled = attempt.sent === undefined || absence.readings >= minSightings
  return {
    item: {
      ...item,
      record,
      phase: { name: 'absent', absence },
      seen: { ...seen, newestChange, position: undefined, unchanged: onceMore(seen) },
    },
    isNewlyAbsent: phase.name === 'unread' && attempt.sent === undefined,
    outcome: waited - since >= grace && isSettled ? 'error' : undefined,
  }
}

/** Notes the state that a reading shows. */
function noteState(item: ReadPullRequest, shown: Shown, rules: WaitRules): Noted {
  const { attempt, seen } = item
  const { record, observation } = shown
  const { position } = observation
  const state = stateOf(record) || undefined
  const unchanged = state === seen.state ? onceMore(seen) : 0
  const at = getString(record, 'stateChangedAt')
  return {
    item: {
      ...item,
      record: observation.record,
      phase: { name: state === undefined ? 'unread' : 'shown' },
      seen: { state, position, unchanged, newestChange: newestWith(item, record) },
      attempt: attemptAfter(attempt, shown),
    },
    change: state === undefined || unchanged > 0 ? undefined : { from: seen.state, to: state, at, position },
    outcome: outcomeOf(attempt, shown, rules),
  }
}

/** What a reading that shows a state says of the submission: whether it was made, and of which head. */
function attemptAfter(attempt: Attempt, { evidence, record, observation }: Shown): Attempt {
  const { sent, recordBefore, doubt } = attempt
  const mayBeIt = doubt?.mayBeVisible === true || !isSameRecord(record, recordBefore)
  const next = {
    ...attempt,
    // What is still shown so long after the submission was in the queue before it.
    wasQueued: attempt.wasQueued === true || (evidence === 'before' && !isRecent(observation, sent)),
    // A replica may still show the earlier attempt when the new one was seen. Without a time, nothing tells them apart.
    recordBefore: changeTime(recordBefore) === undefined ? undefined : recordBefore,
    doubt: doubt && { ...doubt, mayBeVisible: mayBeIt },
  }
  const state = stateOf(record)
  if (state === '') return next
  const isIt = evidence === 'own' && sent !== undefined && state !== 'MERGED' && attempt.wasQueued !== true
  // Without a time it may be older: then `pr land` may end with 14, but never submits another head.
  const isItsHead = evidence === 'own' || !isDated(record, observation)
  const shown = isItsHead ? getString(record, 'prSha') : undefined
  const { head = shown, queuedHead = hasLeft(record) ? undefined : shown } = attempt
  const withHeads = { ...next, head, queuedHead }
  return isIt ? { ...withHeads, isMade: true, doubt: undefined } : withHeads
}

/**
 * The outcome of a reading that shows a state. Another head than the one that is meant is `stale`, whatever the state.
 *
 * In the first 10 seconds after the submission there is none if the record is dated before it, or is that from before it
 * at another head: the head may be older than the one that was checked then. Later such a record counts as any other.
 */
function outcomeOf(
  attempt: Attempt,
  { evidence, record, observation }: Shown,
  { options: { until, head }, submitOptions }: WaitRules,
): WaitOutcome | undefined {
  const { sent, recordBefore } = attempt
  const keepsHead = submitOptions?.attempts !== undefined && stateOf(record) === 'MERGED'
  const expected = head ?? (keepsHead ? submittedHead(attempt) : undefined)
  const hasOtherHead = isOtherCommit(getString(record, 'prSha'), expected)
  const isFromBefore = evidence === 'before' || (hasOtherHead && isSameRecord(record, recordBefore))
  if (isFromBefore && isRecent(observation, sent)) return undefined
  return hasOtherHead ? 'stale' : outcomeOfState(record, until)
}

/** An outage is no part of the time in which a pull request may be missing. */
export function afterOutage(item: TrackedPullRequest, lasted: number): TrackedPullRequest {
  const { phase } = item
  if (phase.name !== 'absent') return item
  return { ...item, phase: { ...phase, absence: { ...phase.absence, since: phase.absence.since + lasted } } }
}

/** Says how the wait for a pull request ends that was to end so: by the first rule that applies. */
export function endWait(item: TrackedPullRequest, told: WaitEnd, { errors }: WaitRules): Step {
  const { attempt, phase, record } = item
  const { previous, doubt } = attempt
  const { outcome, failure } = told
  const isUndecided = outcome === 'timed-out' || outcome === 'pending'
  const mayPass = failure !== undefined && !isPermanent(failure)
  if (phase.name === 'doubtful' && (isUndecided || mayPass))
    return { item, end: { outcome: outcomeInDoubt(item) } }
  if (doubt !== undefined && failure?.kind === 'not-found' && !doubt.mayBeVisible) {
    const notMade = errors.notSubmitted(item)
    return previous === undefined
      ? { item: { ...item, attempt: { ...attempt, doubt: undefined } }, end: errorEnd(notMade) }
      : endedBefore(item, previous, attempt.number, notMade)
  }
  if (doubt !== undefined)
    return { item, end: isUndecided || outcome === 'error' ? errorEnd(doubt.failure) : told }
  if (phase.name === 'due') {
    if (previous !== undefined && (mayPass || isUndecided))
      return endedBefore(item, previous, attempt.number + 1, failure)
    if (outcome === 'pending') return { item, end: { ...told, isSkipped: true } }
    return { item, end: outcome === 'timed-out' ? errorEnd(errors.notInTime(item)) : told }
  }
  if (!attempt.isMade) return { item, end: told }
  // The exit code 7 would mean that nothing was changed.
  if (failure?.kind === 'unavailable')
    return { item, end: { outcome: 'timed-out', failure: errors.resultUnknown(item, failure) } }
  const isOurs = attempt.sent !== undefined && attempt.wasQueued !== true
  const isQueued = outcomeOfRecord(record ?? {}) === 'pending'
  return { item, end: told, mustBeCancelled: outcome === 'stale' && isOurs && isQueued }
}

const errorEnd = (failure: MergeqError): WaitEnd => ({ outcome: 'error', failure })

/** Ends as the attempt before did, with what became of the one of this number, which was not made. */
function endedBefore(
  item: TrackedPullRequest,
  { end, record }: NonNullable<Attempt['previous']>,
  number: number,
  failure: MergeqError | undefined,
): Step {
  const seen = { ...item.seen, state: stateOf(record) || undefined }
  return {
    item: { ...item, record, seen },
    end: { ...end, note: failure && `Attempt ${number}: ${failure.message}` },
  }
}

const outcomeInDoubt = ({ record }: TrackedPullRequest): WaitOutcome =>
  stateOf(record) === 'FAILED' ? 'failed' : 'cancelled'

const isFailure = (outcome: string | undefined): outcome is 'failed' | 'cancelled' =>
  outcome === 'failed' || outcome === 'cancelled'

const onceMore = ({ unchanged = -1 }: Seen): number => unchanged + 1

const reachedIn: Readonly<Record<Milestone, readonly string[]>> = {
  merged: [],
  'tests-passed': ['TESTS_PASSED'],
  testing: statesUnderTest,
  left: [],
}

function outcomeOfState(record: JsonObject, until: Milestone): WaitOutcome | undefined {
  if (until === 'left') return hasLeft(record) ? 'left' : undefined
  const ended = outcomeOfRecord(record)
  if (ended === 'ok') return until === 'merged' ? 'merged' : 'reached'
  if (ended !== 'pending') return ended
  return reachedIn[until].includes(stateOf(record)) ? 'reached' : undefined
}

/** Returns why a pull request waits again, if the service says it. */
function whyPendingAgain({ from, to }: StateChange, record: JsonObject | undefined): string | undefined {
  if (!isPendingAgain(from, to) || record === undefined) return undefined
  const { sentence, known } = explainState(record)
  return known?.isUsual === true ? undefined : (sentence ?? undefined)
}
