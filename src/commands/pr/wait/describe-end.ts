import { formatDuration } from '../../../domain/format.ts'
import type { FailingCheck } from '../../../domain/test-run.ts'
import type { WaitOutcome } from '../../../domain/wait-outcomes.ts'
import type { WaitState } from '../../../domain/wait-state.ts'
import type { MergeqError } from '../../../errors.ts'
import { linkSpan, type Span, signSpan, styled, wordsSpan } from '../../../output/styled-text.ts'

export interface WaitEnd {
  readonly outcome: WaitOutcome
  /** The error that ended the wait, for the outcome `error`. */
  readonly failure?: MergeqError
  /** Whether the wait was ruled out before it began. */
  readonly isSkipped?: boolean
  /** Whether the first reading ended the wait: nothing changed while the command waited. */
  readonly isFirstReading?: boolean
  readonly isPaused?: boolean
  /** The head commit that was expected, and the head commit that the service reports. */
  readonly head?: { readonly expected: string | undefined; readonly found: string | undefined }
}

export interface EndedWait {
  readonly pr: number
  readonly url: string
  readonly state: WaitState
  readonly end: WaitEnd
  /** How long the wait lasted, in milliseconds. */
  readonly elapsed: number
  /** The failing checks of a pull request that failed; undefined if they are not known. */
  readonly failingChecks?: readonly FailingCheck[] | undefined
}

export type Pieces = readonly (string | Span)[]

/** Returns the last known state in its color, or why no state is known. */
function stateOf({ state, missingSince, submission }: WaitState): string | Span {
  if (state !== undefined) return wordsSpan(state)
  if (missingSince === undefined) return 'state unknown'
  return submission === undefined ? 'not submitted' : 'not visible yet'
}

/** Returns the first seven digits of two commits, or more if these are equal. */
export function shortCommits(expected = '', found = ''): readonly [string, string] {
  const length = expected.slice(0, 7) === found.slice(0, 7) ? 64 : 7
  return [expected.slice(0, length), found.slice(0, length)]
}

/** Returns the sentence about the end of a wait: `#7 merged after 6m52s`, `#7 is already merged`. */
export function describeEnd({ pr, url, state, end, elapsed }: EndedWait): Pieces {
  const { outcome, isSkipped = false, isFirstReading = false, isPaused = false, head } = end
  const after = ` after ${formatDuration(elapsed)}`
  const [number, current] = [linkSpan(`#${pr}`, url), stateOf(state)]
  const isKnown = state.state !== undefined
  const pause = isPaused ? ': the queue is paused' : ''
  if (isSkipped) return ['mergeq did not wait for ', number]
  switch (outcome) {
    case 'merged':
      return isFirstReading
        ? [number, ' is already ', styled('merged', 'green')]
        : [number, ' ', styled('merged', 'green'), after]
    case 'reached':
      return isFirstReading
        ? [number, ' has already reached the requested state (', current, ')']
        : [number, ' reached the requested state', after, ' (', current, ')']
    case 'left':
      return isFirstReading
        ? [number, ' has already left the queue (', current, ')']
        : [number, ' left the queue', after, ' (', current, ')']
    case 'failed':
      return isFirstReading
        ? [number, ' has already ', styled('failed', 'red')]
        : [number, ' ', styled('failed', 'red'), after]
    case 'cancelled':
      return isFirstReading ? [number, ' is already cancelled'] : [number, ' was cancelled', after]
    case 'timed-out':
      return isKnown
        ? ['The wait for ', number, ' timed out', after, ', still ', current, pause]
        : ['The wait for ', number, ' timed out', after, ' (', current, ')', pause]
    case 'stale': {
      const [expected, found] = shortCommits(head?.expected, head?.found)
      return ['The head of ', number, ` moved: expected ${expected}, found ${found}`]
    }
    case 'pending':
      return [number, ...(isKnown ? [' is still ', current] : [' has not finished (', current, ')']), pause]
    case 'error':
      return [number, ' could not be checked (', current, ')']
  }
}

export function signOfEnd({ state: { state = '' }, end: { outcome, isSkipped = false } }: EndedWait): Span {
  switch (outcome) {
    case 'merged':
    case 'failed':
    case 'cancelled':
      return signSpan(outcome)
    case 'stale':
      return signSpan('STALE')
    case 'error':
      return signSpan('FAILED')
    default: {
      const sign = signSpan(isSkipped ? 'SKIPPED' : state)
      // A state that is not known has no sign.
      return sign.text === '' ? signSpan('WARN') : sign
    }
  }
}
