import type { WaitOutcome, WaitState } from '../../../domain/wait-state.ts'
import type { MergeqError } from '../../../errors.ts'

/** How the wait for a pull request ended. */
export interface WaitEnd {
  readonly outcome: WaitOutcome
  /** The error that ended the wait, for the outcome `error`. */
  readonly failure?: MergeqError
  /** Whether the wait was ruled out before it began. */
  readonly isSkipped?: boolean
  /** Whether the first reading ended the wait: nothing changed while the command waited. */
  readonly isFirstReading?: boolean
  /** The head commit that was expected, and the head commit that the service reports. */
  readonly head?: { readonly expected: string | undefined; readonly found: string | undefined }
}

/** Formats seconds in up to two units, as in `20s`, `6m52s` and `3h04m`. */
function formatElapsed(seconds: number): string {
  const [minutes, hours] = [Math.floor(seconds / 60), Math.floor(seconds / 3_600)]
  const padded = (number: number) => String(number).padStart(2, '0')
  if (hours > 0) return `${hours}h${padded(minutes % 60)}m`
  return minutes > 0 ? `${minutes}m${padded(seconds % 60)}s` : `${seconds}s`
}

/** Returns the last known state, or why no state is known. */
function stateText({ state, missingSince, submission }: WaitState): string {
  if (state !== undefined) return state
  if (missingSince === undefined) return 'state unknown'
  return submission === undefined ? 'not submitted' : 'not visible yet'
}

/** Returns the first seven digits of two commits, or more if these are equal. */
function shortCommits(expected = '', found = ''): readonly [string, string] {
  const length = expected.slice(0, 7) === found.slice(0, 7) ? 64 : 7
  return [expected.slice(0, length), found.slice(0, length)]
}

/** Returns the sentence about the end of a wait: `#7 merged after 6m52s.`, `#7 is already merged.` */
export function describeEnd(
  pr: number,
  state: WaitState,
  { outcome, isSkipped = false, isFirstReading = false, head }: WaitEnd,
  elapsedSeconds: number,
): string {
  const after = `after ${formatElapsed(elapsedSeconds)}`
  const current = stateText(state)
  if (isSkipped) return `mergeq did not wait for #${pr}.`
  switch (outcome) {
    case 'merged':
      return isFirstReading ? `#${pr} is already merged.` : `#${pr} merged ${after}.`
    case 'reached':
      return isFirstReading
        ? `#${pr} has already reached the requested state (${current}).`
        : `#${pr} reached the requested state ${after} (${current}).`
    case 'left':
      return isFirstReading
        ? `#${pr} has already left the queue (${current}).`
        : `#${pr} left the queue ${after} (${current}).`
    case 'failed':
      return isFirstReading ? `#${pr} has already failed.` : `#${pr} failed ${after}.`
    case 'cancelled':
      return isFirstReading ? `#${pr} is already cancelled.` : `#${pr} was cancelled ${after}.`
    case 'timed-out':
      return state.state === undefined
        ? `The wait for #${pr} timed out ${after} (${current}).`
        : `The wait for #${pr} timed out ${after}, still ${current}.`
    case 'stale': {
      const [expected, found] = shortCommits(head?.expected, head?.found)
      return `The head of #${pr} moved: expected ${expected}, found ${found}.`
    }
    case 'pending':
      return state.state === undefined
        ? `#${pr} has not finished (${current}).`
        : `#${pr} is still ${current}.`
    case 'error':
      return `#${pr} could not be checked (${current}).`
  }
}
