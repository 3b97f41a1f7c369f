import type { ErrorKind, MergeqError } from '../errors.ts'
import { getString, type JsonObject } from '../json.ts'
import { normalizeState, pullRequestStates, settledOutcome, statesUnderTest } from './states.ts'

/** How far a wait may be told to go: at least this far (CLI.md section 5). */
export const milestones = ['merged', 'tests-passed', 'testing', 'left'] as const
export type Milestone = (typeof milestones)[number]

/** How a wait for one pull request can end. */
export type Outcome =
  | 'merged'
  | 'reached'
  | 'left'
  | 'failed'
  | 'cancelled'
  | 'timed-out'
  | 'stale'
  | 'pending'
  | 'error'

/** What each outcome means for the exit code; an `error` has that of its failure. */
export const kindOfOutcome: Readonly<Record<Exclude<Outcome, 'error'>, ErrorKind>> = {
  merged: 'ok',
  reached: 'ok',
  left: 'ok',
  failed: 'failed',
  cancelled: 'cancelled',
  'timed-out': 'timed-out',
  stale: 'stale',
  pending: 'pending',
}

/** What is asked of a wait. */
export interface WaitGoal {
  readonly until: Milestone
  /** For so many milliseconds, not found means not there yet. */
  readonly grace: number
  /** The commit that the head must stay at, perhaps shortened. */
  readonly head?: string | undefined
}

/** What one reading found. */
export interface WaitObservation {
  /** Its own record, or its entry in the queue; undefined where the service knows nothing of it. */
  readonly record: JsonObject | undefined
  /** Its place in the queue, from 1, where the queue lists it: then it is submitted. */
  readonly position?: number | undefined
  /** The moment of the reading, in milliseconds since 1970. */
  readonly at: number
  /** When it was asked for. */
  readonly askedAt?: number | undefined
  /** The moment of the answer by the service's clock, in milliseconds since 1970, to the second. */
  readonly date?: number | undefined
}

/** When a submission was sent, by our clock, in milliseconds since 1970: not before `from`, and not after `to`. */
export interface Submission {
  readonly from: number
  readonly to: number
}

/** What a wait knows of a pull request from one reading to the next. */
export interface WaitState {
  /** The submission whose outcome is waited for. */
  readonly submission?: Submission | undefined
  /** The record that was read before the submission, until the pull request's own record shows anything else. */
  readonly before?: JsonObject | undefined
  /** The end that was read last and is older than the submission, as far as its date settles that. */
  readonly earlier?: JsonObject | undefined
  readonly state?: string | undefined
  readonly position?: number | undefined
  /** Whether the last reading found the state of the one before. */
  readonly isStill?: boolean
  /** Since when it has not been found, in milliseconds since 1970. */
  readonly missingSince?: number | undefined
}

/** A change of state, as a wait reports it. */
export interface StateChange {
  readonly from: string | undefined
  readonly to: string
  /** When it changed, as the service says it. */
  readonly at: string | undefined
  readonly position: number | undefined
}

/** What a reading means. */
export interface WaitTransition {
  readonly state: WaitState
  readonly change?: StateChange
  /** How the wait ended, where it has: an `error` is a pull request that is still not found. */
  readonly outcome?: Outcome
}

const stateOf = (record: JsonObject): string | undefined => {
  const state = getString(record, 'state')
  return state === undefined || state === '' ? undefined : normalizeState(state)
}

/** Whether a state is one of service-api.md section 2.3; any other is shown as it is and waited out. */
export const isKnownState = (state: string): boolean => pullRequestStates.some(known => known === state)

const hasLeft = (record: JsonObject): boolean =>
  settledOutcome(record) !== 'pending' || record.isCurrentlySubmittedToQueue === false

/** Whether this is the record that stood there before the submission: the previous attempt (service-observed.md section 7). */
const isPrevious = (record: JsonObject, before: JsonObject | undefined): boolean =>
  before !== undefined &&
  hasLeft(record) &&
  stateOf(record) === stateOf(before) &&
  ['id', 'stateChangedAt'].every(key => getString(record, key) === getString(before, key))

/** For so many milliseconds after a submission, a reading may not show it yet. */
const longestDelay = 10_000

/**
 * Whether a record's state is older or newer than the submission: by its `stateChangedAt` and the service's clock, to
 * the second; undefined where that does not settle it.
 */
function ageOf(
  record: JsonObject,
  { at, askedAt = at, date }: WaitObservation,
  { from, to }: Submission,
): 'older' | 'newer' | undefined {
  if (date === undefined) return undefined
  const second = Math.floor(Date.parse(getString(record, 'stateChangedAt') ?? '') / 1_000)
  if (second < Math.floor((from + date - at) / 1_000)) return 'older'
  return second > Math.floor((to + date + 999 - askedAt) / 1_000) ? 'newer' : undefined
}

const isOtherCommit = (head: string, sha: string): boolean => {
  const [one, other] = [head.toLowerCase(), sha.toLowerCase()]
  return !one.startsWith(other) && !other.startsWith(one)
}

const reachedIn: Readonly<Record<Milestone, readonly string[]>> = {
  merged: [],
  'tests-passed': ['TESTS_PASSED'],
  testing: statesUnderTest,
  left: [],
}

function outcomeOf(record: JsonObject, until: Milestone): Outcome | undefined {
  if (until === 'left') return hasLeft(record) ? 'left' : undefined
  const stands = settledOutcome(record)
  if (stands === 'ok') return until === 'merged' ? 'merged' : 'reached'
  if (stands !== 'pending') return stands
  return reachedIn[until].includes(stateOf(record) ?? '') ? 'reached' : undefined
}

/**
 * What a reading means for a wait: what it knows from now on, whether the state changed, and whether the wait is over
 * (CLI.md section 5). A finished record that stood there before the submission, or is dated before it, counts as not
 * found.
 */
export function advance(
  previous: WaitState,
  sight: WaitObservation,
  { until, grace, head }: WaitGoal,
): WaitTransition {
  const { position, at } = sight
  const record =
    position === undefined ? sight.record : { ...sight.record, isCurrentlySubmittedToQueue: true }
  const { before, submission } = previous
  const age = submission && record && ageOf(record, sight, submission)
  const isRecent = submission !== undefined && at < submission.to + longestDelay
  const isEarlier =
    submission !== undefined &&
    record !== undefined &&
    hasLeft(record) &&
    (age === 'older' || (age === undefined && isRecent))
  if (record === undefined || isEarlier || isPrevious(record, before)) {
    const { missingSince = at } = previous
    return {
      state: {
        ...previous,
        ...(isEarlier && { earlier: record }),
        missingSince,
        position: undefined,
        isStill: false,
      },
      ...(at - missingSince >= grace && { outcome: 'error' }),
    }
  }
  const sha = getString(record, 'prSha') ?? ''
  const state = stateOf(record)
  const reached = outcomeOf(record, until)
  // What was under test before may be an earlier attempt, as long as a reading may not show the submission yet.
  const isEarly = reached === 'reached' && age === 'older' && isRecent
  const isStale = head !== undefined && sha !== '' && isOtherCommit(head, sha)
  const outcome = isStale ? 'stale' : isEarly ? undefined : reached
  // A queue may list the new attempt while the record of its own is still that of the one before.
  const isAhead = position !== undefined && getString(before, 'stateChangedAt') !== undefined
  return {
    state: {
      ...(submission && { submission }),
      ...(isAhead && { before }),
      state,
      position,
      isStill: state === previous.state,
    },
    ...(state === undefined || state === previous.state
      ? {}
      : { change: { from: previous.state, to: state, at: getString(record, 'stateChangedAt'), position } }),
    ...(outcome && { outcome }),
  }
}

const paces = new Map([
  ['NOT_READY', 60_000],
  ['PENDING', 30_000],
])
const quickest = 10_000
/** The longest pause between two readings, in milliseconds, unless a longer one was typed. */
export const maxPollDelay = 5 * 60_000

/** After so many failed readings in a row a wait or a watch gives up, unless told otherwise. */
export const defaultMaxErrors = 10

/** Milliseconds that these failures ask for until the next reading, within reason; 0 where none does. */
export const requestedDelay = (failures: readonly MergeqError[]): number =>
  Math.min(maxPollDelay, Math.max(0, ...failures.map(({ details }) => (details.retryAfter ?? 0) * 1_000)))

/**
 * Milliseconds until the next reading: 10 s while it is tested or not there yet, 30 s pending, 60 s not ready, doubled
 * for each failed reading in a row up to 5 minutes, a tenth more or less by `random` (from 0 to 1).
 */
export function pollDelay({ state = '' }: Pick<WaitState, 'state'>, errors: number, random: number): number {
  const doubled = Math.min(maxPollDelay, (paces.get(state) ?? quickest) * 2 ** Math.min(errors, 10))
  return Math.min(maxPollDelay, Math.round(doubled * (0.9 + 0.2 * random)))
}
