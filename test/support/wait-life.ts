import { MergeqError } from '../../src/base/errors.ts'
import type { JsonObject } from '../../src/base/json.ts'
import type { Milestone, WaitOutcome } from '../../src/domain/states.ts'
import type { PullRequest } from '../../src/values/pull-request.ts'
import { parseRepository } from '../../src/values/repository.ts'
import { assessReading } from '../../src/wait/evidence.ts'
import { advance, type WaitErrors } from '../../src/wait/machine.ts'
import {
  type Absence,
  absenceOf,
  endOf,
  type OpenPhase,
  type Seen,
  type Sending,
  type StateChange,
  type TrackedPullRequest,
  type WaitObservation,
} from '../../src/wait/wait-state.ts'

/** What a wait knows of a pull request, in one record: the phase follows from it. */
export interface WaitState extends Seen {
  readonly submission?: Sending | undefined
  readonly recordBeforeSubmit?: JsonObject | undefined
  readonly missingSince?: number | undefined
  readonly misses?: number
  readonly ignoredRecord?: Absence['ignored']
  readonly openEnd?: Absence['openEnd']
  readonly mayBeVisible?: boolean
}

const place = { repo: parseRepository('acme/web'), targetBranch: 'main', pr: 7 }
const noResponse = new MergeqError('unknown-outcome', 'No response arrived.')
const notFound = () => new MergeqError('not-found', 'It is not there.')
const errors: WaitErrors = {
  notInQueue: notFound,
  onlyEarlierAttempt: notFound,
  notSubmitted: notFound,
  notInTime: notFound,
  resultUnknown: notFound,
  mayStillBeQueued: notFound,
}

function phaseOf({ state, missingSince, misses = 1, ignoredRecord, openEnd }: WaitState): OpenPhase {
  if (missingSince === undefined) return { name: state === undefined ? 'unread' : 'shown' }
  return {
    name: 'absent',
    absence: { since: missingSince, readings: misses, ignored: ignoredRecord, openEnd },
  }
}

/** Returns a pull request of which a wait knows this. */
export const trackedAs = (
  pullRequest: PullRequest,
  known: WaitState,
  documents: Partial<TrackedPullRequest> = {},
): TrackedPullRequest => {
  const { submission, recordBeforeSubmit, mayBeVisible = false } = known
  const { state, position, unchanged, newestChange } = known
  const isUncertain = submission?.isUncertain === true
  return {
    pullRequest,
    phase: phaseOf(known),
    attempt: {
      number: submission === undefined ? 0 : 1,
      sent: submission,
      recordBefore: recordBeforeSubmit,
      wasQueued: recordBeforeSubmit?.isCurrentlySubmittedToQueue === true,
      isMade: submission !== undefined && !isUncertain,
      doubt: isUncertain ? { failure: noResponse, mayBeVisible } : undefined,
    },
    seen: { state, position, newestChange, ...(unchanged !== undefined && { unchanged }) },
    ...documents,
  }
}

interface Judged {
  readonly state: WaitState
  readonly change: StateChange | undefined
  readonly outcome: WaitOutcome | undefined
  readonly isOutdated: boolean
  readonly showsSubmission: boolean
}

/** Says what a reading means for a pull request of which a wait knows this. */
export function judge(
  known: WaitState,
  observation: WaitObservation,
  aim: {
    readonly until: Milestone
    readonly grace: number
    readonly head?: string | undefined
    readonly keptHead?: string | undefined
  },
): Judged {
  const { keptHead, ...options } = aim
  const tracked = trackedAs(place, known)
  const before = { ...tracked, attempt: { ...tracked.attempt, head: keptHead } }
  const rules = { ...options, waitLimit: 3_600_000, failOnPaused: false, attempts: 0, errors }
  const event = { type: 'reading', observation, isFirstRound: false } as const
  const { item, change } = advance(before, event, { ...rules, keepsHead: keptHead !== undefined })
  const { since, readings = 0, ignored, openEnd } = absenceOf(item) ?? {}
  const { sent, recordBefore, doubt, isMade } = item.attempt
  return {
    state: {
      ...item.seen,
      submission: sent,
      recordBeforeSubmit: recordBefore,
      missingSince: since,
      misses: readings,
      ignoredRecord: ignored,
      openEnd,
      mayBeVisible: doubt?.mayBeVisible ?? isMade,
    },
    change,
    outcome: endOf(item)?.outcome,
    isOutdated: assessReading(before, observation).is === 'outdated',
    showsSubmission: isMade,
  }
}
