// How the life of a pull request that is waited for goes on: `advance` says for each event what follows from it. It does
// nothing and asks nobody; the loop in src/wait reads, submits, cancels and reports. The whole table is in
// docs/contributing/waits.md; each `case` below is a row of it.

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
  hasLeft,
  isDated,
  isRecent,
  isSameRecord,
  minSightings,
  nameOfEnd,
  newestWith,
  type ShownEvidence,
} from './evidence.ts'
import {
  type Absence,
  type Attempt,
  absenceOf,
  isPaused,
  isPendingAgain,
  openPhaseOf,
  type Pause,
  type PreviousAttempt,
  type Seen,
  type Sending,
  type StateChange,
  submittedHead,
  type TrackedPullRequest,
  type WaitEnd,
  type WaitObservation,
  type WaitOptions,
} from './wait-state.ts'

/** What happens to a pull request that is waited for. Times are in milliseconds. */
export type WaitEvent =
  // Before a submission. A record that was read then is undefined if it says nothing.
  | { readonly type: 'merged before'; readonly record: JsonObject | undefined }
  | { readonly type: 'not again'; readonly record: JsonObject | undefined; readonly note?: string }
  | { readonly type: 'pause'; readonly pause: Pause }
  | { readonly type: 'attempt'; readonly record: JsonObject | undefined; readonly isQueued: boolean }
  // What came of it; `before` is the record from before it.
  | { readonly type: 'head moved'; readonly head: string | undefined; readonly note: string }
  | {
      readonly type: 'in the queue'
      readonly record: JsonObject | undefined
      readonly before: JsonObject | undefined
    }
  | { readonly type: 'accepted'; readonly sent: Sending; readonly before: JsonObject | undefined }
  | {
      readonly type: 'unanswered'
      readonly sent: Sending
      readonly before: JsonObject | undefined
      readonly failure: MergeqError
      /** Whether no reading may settle it. */
      readonly isLast: boolean
    }
  | { readonly type: 'refused'; readonly failure: MergeqError }
  // What a round brings, and what ends the wait: the time is over, the service gave up or refuses every request.
  | { readonly type: 'reading'; readonly observation: WaitObservation; readonly isFirstRound: boolean }
  | { readonly type: 'outage over'; readonly lasted: number }
  | { readonly type: 'over'; readonly end: WaitEnd }
  // The cancellation of what is at another head, with the error if it is not confirmed.
  | { readonly type: 'cancellation'; readonly failure?: MergeqError | undefined }

/** What a wait is for. */
export interface WaitRules
  extends Pick<WaitOptions, 'until' | 'grace' | 'head' | 'waitLimit' | 'failOnPaused'> {
  /** How often a pull request is submitted, at most; 0 in a wait that submits nothing. */
  readonly attempts: number
  /** Whether the head that was submitted first must not merge as another one: of `pr land`. */
  readonly keepsHead: boolean
  readonly errors: WaitErrors
}

/** The errors of ends, as the caller of the wait tells them. */
export interface WaitErrors {
  notInQueue(tracked: TrackedPullRequest, notFound: MergeqError): MergeqError
  onlyEarlierAttempt(tracked: TrackedPullRequest): MergeqError
  notSubmitted(tracked: TrackedPullRequest): MergeqError
  notInTime(tracked: TrackedPullRequest): MergeqError
  resultUnknown(tracked: TrackedPullRequest, failure: MergeqError): MergeqError
  mayStillBeQueued(tracked: TrackedPullRequest, failure: MergeqError): MergeqError
}

/** How a pull request stands after an event, and what there is to say or to do. */
export interface Step {
  readonly item: TrackedPullRequest
  readonly change?: StateChange | undefined
  /** Whether the service did not find it for the first time, and no command has just submitted it. */
  readonly isNewlyAbsent?: boolean | undefined
  /** Whether its submission must be cancelled: its head moved. */
  readonly mustBeCancelled?: boolean
}

/** Says what follows from an event. */
export function advance(item: TrackedPullRequest, event: WaitEvent, rules: WaitRules): Step {
  const { attempt, phase } = item
  const unsent: Attempt = { ...attempt, sent: undefined, recordBefore: undefined }
  switch (event.type) {
    case 'merged before': {
      const { record = item.record } = event
      const isOther = isOtherCommit(getString(record, 'prSha'), rules.head ?? submittedHead(attempt))
      const isFirstReading = attempt.previous === undefined
      const merged = { ...item, record, seen: { state: 'MERGED' }, attempt: unsent }
      return ended(merged, isOther ? { outcome: 'stale' } : { outcome: 'merged', isFirstReading })
    }
    case 'not again': {
      const { record = item.record, note } = event
      const outcome = outcomeOfRecord(event.record ?? {})
      const hasEnded = isFailure(outcome)
      const seen = hasEnded ? { ...item.seen, state: stateOf(record) } : item.seen
      const how: WaitEnd = hasEnded ? { outcome } : (attempt.previous?.end ?? { outcome: 'pending' })
      return ended({ ...item, record, seen }, { ...how, note })
    }
    case 'pause':
      return { item: { ...item, phase: { name: 'due', pause: event.pause } } }
    case 'attempt': {
      const found = rules.keepsHead || event.isQueued ? getString(event.record, 'prSha') : undefined
      const { head = found, queuedHead = event.isQueued ? found : undefined } = attempt
      const next = { ...attempt, number: attempt.number + 1, head, queuedHead, doubt: undefined }
      return { item: { ...item, attempt: next } }
    }
    case 'head moved': {
      const moved = { ...item, record: { ...item.record, prSha: event.head }, seen: {}, attempt: unsent }
      return ended(moved, { outcome: 'stale', note: event.note })
    }
    case 'in the queue': {
      const seen = { newestChange: changeTime(event.record) }
      return begin(item, { ...unsent, recordBefore: event.before }, seen)
    }
    case 'accepted': {
      const { sent, before: recordBefore } = event
      return begin(item, { ...attempt, sent, recordBefore, isMade: true })
    }
    case 'unanswered': {
      const { before: recordBefore, failure, isLast } = event
      const sent = { ...event.sent, isUncertain: true }
      const doubt = { failure, mayBeVisible: failure.details.mayBeVisible === true }
      const begun = begin(item, { ...attempt, sent, recordBefore, doubt })
      return isLast ? end(begun.item, { outcome: 'error', failure }, rules) : begun
    }
    case 'refused': {
      const { previous, number } = attempt
      const how: WaitEnd = { outcome: 'error', failure: event.failure }
      return previous === undefined ? ended(item, how) : endedBefore(item, previous, number, event.failure)
    }
    case 'reading':
      return conclude(item, noteReading(item, event.observation, rules), event, rules)
    case 'outage over': {
      if (!('absence' in phase) || phase.absence === undefined) return { item }
      const absence = { ...phase.absence, since: phase.absence.since + event.lasted }
      return { item: { ...item, phase: { ...phase, absence } } }
    }
    case 'over':
      return end(item, event.end, rules)
    case 'cancellation': {
      if (event.failure === undefined)
        return ended(item, { outcome: 'stale', note: 'Its submission was cancelled.' })
      const failure = rules.errors.mayStillBeQueued(item, event.failure)
      return ended(item, { outcome: 'error', failure })
    }
  }
}

/** Begins to wait for what was submitted, or was in the queue. */
function begin(item: TrackedPullRequest, attempt: Attempt, seen: Seen = {}): Step {
  const wasQueued = attempt.recordBefore?.isCurrentlySubmittedToQueue === true
  return { item: { ...item, phase: { name: 'unread' }, attempt: { ...attempt, wasQueued }, seen } }
}

type ReadingEvent = Extract<WaitEvent, { readonly type: 'reading' }>

/** What a wait knows after a reading, and the outcome that it shows, if it shows one. */
interface Noted extends Step {
  readonly outcome?: WaitOutcome | undefined
}

/** Notes what a reading shows, by what it is (wait-evidence.ts). */
function noteReading(before: TrackedPullRequest, observation: WaitObservation, rules: WaitRules): Noted {
  const { queue, age } = observation
  const item = { ...before, queue, age }
  const { attempt, phase, seen } = item
  const evidence = assessReading(item, observation, rules.head)
  switch (evidence.is) {
    case 'outdated':
      return { item: { ...item, seen: { ...seen, unchanged: onceMore(seen) } } }
    case 'none': {
      const absent = noteAbsence(item, {}, observation, rules.grace)
      // That it is not found says nothing of whether it merged.
      const { record } = item
      return phase.name === 'doubtful'
        ? { item: { ...absent.item, record }, outcome: outcomeInDoubt(item) }
        : absent
    }
    case 'earlier':
      return noteAbsence(item, { ignored: evidence.record }, observation, rules.grace)
    case 'open end': {
      const { record: ignored } = evidence
      const name = nameOfEnd(ignored)
      const last = absenceOf(item)?.openEnd
      const openEnd = { name, sightings: last?.name === name ? last.sightings + 1 : 1 }
      const doubt = attempt.doubt && { ...attempt.doubt, mayBeVisible: true }
      const open = { ...item, attempt: { ...attempt, doubt } }
      // An end that may still count is not missing yet.
      const grace = isRecent(observation, attempt.sent) ? Number.POSITIVE_INFINITY : rules.grace
      return noteAbsence(open, { ignored, openEnd }, observation, grace)
    }
    case 'before':
    case 'undated':
    case 'own':
      return noteState(item, evidence, observation, rules)
  }
}

/** Notes that a reading does not show the pull request: an error after the grace period, of a submission not before three. */
function noteAbsence(
  item: TrackedPullRequest,
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
      phase: phase.name === 'doubtful' ? { ...phase, absence } : { name: 'absent', absence },
      seen: { ...seen, newestChange, position: undefined, unchanged: onceMore(seen) },
    },
    isNewlyAbsent: phase.name === 'unread' && attempt.sent === undefined,
    outcome: waited - since >= grace && isSettled ? 'error' : undefined,
  }
}

/** Notes the state that a reading shows. */
function noteState(
  item: TrackedPullRequest,
  evidence: ShownEvidence,
  observation: WaitObservation,
  rules: WaitRules,
): Noted {
  const { attempt, seen } = item
  const { record } = evidence
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
      attempt: attemptAfter(attempt, evidence, observation),
    },
    change: state === undefined || unchanged > 0 ? undefined : { from: seen.state, to: state, at, position },
    outcome: outcomeOf(attempt, evidence, observation, rules),
  }
}

/** What a reading that shows a state says of the submission: whether it was made, and of which head. */
function attemptAfter(
  attempt: Attempt,
  { is, record }: ShownEvidence,
  observation: WaitObservation,
): Attempt {
  const { sent, recordBefore, doubt } = attempt
  const mayBeIt = doubt?.mayBeVisible === true || !isSameRecord(record, recordBefore)
  const next = {
    ...attempt,
    // What is still shown so long after the submission was in the queue before it.
    wasQueued: attempt.wasQueued === true || (is === 'before' && !isRecent(observation, sent)),
    // A replica may still show the earlier attempt when the new one was seen. Without a time, nothing tells them apart.
    recordBefore: changeTime(recordBefore) === undefined ? undefined : recordBefore,
    doubt: doubt && { ...doubt, mayBeVisible: mayBeIt },
  }
  const state = stateOf(record)
  if (state === '') return next
  const isIt = is === 'own' && sent !== undefined && state !== 'MERGED' && attempt.wasQueued !== true
  // Without a time it may be older: then `pr land` may end with 14, but never submits another head.
  const isItsHead = is === 'own' || !isDated(record, observation)
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
  { is, record }: ShownEvidence,
  observation: WaitObservation,
  { until, head, keepsHead }: WaitRules,
): WaitOutcome | undefined {
  const { sent, recordBefore } = attempt
  const kept = keepsHead && stateOf(record) === 'MERGED' ? submittedHead(attempt) : undefined
  const hasOtherHead = isOtherCommit(getString(record, 'prSha'), head ?? kept)
  const isFromBefore = is === 'before' || (hasOtherHead && isSameRecord(record, recordBefore))
  if (isFromBefore && isRecent(observation, sent)) return undefined
  return hasOtherHead ? 'stale' : outcomeOfState(record, until)
}

/** Says what follows from what a reading shows: the first rule that applies. */
function conclude(
  before: TrackedPullRequest,
  { item, outcome, isNewlyAbsent, ...noted }: Noted,
  { observation: { waited, notFound, queue }, isFirstRound }: ReadingEvent,
  rules: WaitRules,
): Step {
  const { attempt, record } = item
  const { errors, waitLimit, failOnPaused } = rules
  const change = noted.change && { ...noted.change, why: whyPendingAgain(noted.change, record) }
  if (outcome === 'error') {
    const failure =
      notFound === undefined ? errors.onlyEarlierAttempt(item) : errors.notInQueue(item, notFound)
    return { ...end(item, { outcome, failure }, rules), change }
  }
  const hasFailed = isFailure(outcome)
  const mayBeMerged = hasFailed && mayHaveMerged(record ?? {}) !== false
  const since = before.phase.name === 'doubtful' ? before.phase.since : waited
  if (mayBeMerged && waitLimit > 0 && waited - since < mergeDoubtTime)
    return { item: { ...item, phase: { name: 'doubtful', since, absence: absenceOf(item) } }, change }
  if (outcome === undefined && !(failOnPaused && isPaused(queue))) return { item, change, isNewlyAbsent }
  const isFirstReading = isFirstRound && attempt.sent === undefined
  const how = { outcome: outcome ?? 'pending', isFirstReading }
  if (hasFailed && !mayBeMerged && attempt.number < rules.attempts && waitLimit > 0) {
    const previous = { end: how, record }
    return { item: { ...item, phase: { name: 'due' }, attempt: { ...attempt, previous } }, change }
  }
  return { ...end(item, how, rules), change }
}

/** Ends the wait for a pull request: as it was told, unless a rule about its submissions applies; the first one does. */
function end(item: TrackedPullRequest, told: WaitEnd, { errors }: WaitRules): Step {
  const { attempt } = item
  const { previous, doubt } = attempt
  const how = endInDoubt(item, told)
  const { outcome, failure } = how
  const isDue = openPhaseOf(item).name === 'due'
  if (doubt !== undefined) {
    // It did not appear within the grace period, and no reading showed anything else.
    const isNotMade = failure?.kind === 'not-found' && !doubt.mayBeVisible
    if (isNotMade) {
      const notMade: WaitEnd = { outcome: 'error', failure: errors.notSubmitted(item) }
      if (previous !== undefined) return endedBefore(item, previous, attempt.number, notMade.failure)
      return ended({ ...item, attempt: { ...attempt, doubt: undefined } }, notMade)
    }
    const isOpen = ['timed-out', 'pending', 'error'].includes(outcome)
    return ended(item, isOpen ? { outcome: 'error', failure: doubt.failure } : how)
  }
  const isUnmade = isDue && (failure === undefined ? outcome === 'timed-out' : !isPermanent(failure))
  if (previous !== undefined && isUnmade) return endedBefore(item, previous, attempt.number + 1, failure)
  if (isDue && outcome === 'pending') return ended(item, { ...how, isSkipped: true })
  if (isDue && outcome === 'timed-out')
    return ended(item, { outcome: 'error', failure: errors.notInTime(item) })
  if (isDue || !attempt.isMade) return ended(item, how)
  // The exit code 7 would mean that nothing was changed.
  if (failure?.kind === 'unavailable')
    return ended(item, { outcome: 'timed-out', failure: errors.resultUnknown(item, failure) })
  const isOurs = attempt.sent !== undefined && attempt.wasQueued !== true
  const isQueued = outcomeOfRecord(item.record ?? {}) === 'pending'
  return { ...ended(item, how), mustBeCancelled: outcome === 'stale' && isOurs && isQueued }
}

const ended = (item: TrackedPullRequest, how: WaitEnd): Step => ({
  item: { ...item, phase: { name: 'ended', end: how, from: openPhaseOf(item) } },
})

/** Ends as the attempt before did, with what became of the one of this number, which was not made. */
function endedBefore(
  item: TrackedPullRequest,
  { end: how, record }: PreviousAttempt,
  number: number,
  failure: MergeqError | undefined,
): Step {
  const note = failure && `Attempt ${number}: ${failure.message}`
  const last = { ...item, record, seen: { ...item.seen, state: stateOf(record) || undefined } }
  return ended(last, { ...how, note })
}

/** A wait that ends while a failed or cancelled pull request may have merged ends as its record says. */
function endInDoubt(item: TrackedPullRequest, told: WaitEnd): WaitEnd {
  const { outcome, failure } = told
  const isUndecided = outcome === 'timed-out' || outcome === 'pending'
  const isUnread = failure !== undefined && !isPermanent(failure)
  if (openPhaseOf(item).name !== 'doubtful' || !(isUndecided || isUnread)) return told
  return { outcome: outcomeInDoubt(item) }
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
  const { words, sentence } = explainState(record)
  return words.serviceReason === null || words.serviceReason === 'merge_item_now_ready'
    ? undefined
    : (sentence ?? undefined)
}
