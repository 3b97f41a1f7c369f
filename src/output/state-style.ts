import { type KnownState, normalizeState, queueStates } from '../domain/states.ts'

/** How a piece of text looks on a terminal with colors. */
export type Style = 'bold' | 'dim' | 'green' | 'red' | 'yellow' | 'blue' | 'magenta'

/** How a state looks on a terminal: its sign and its color, the same in every command. */
export interface StateStyle {
  readonly sign: string
  readonly style: Style
}

const succeeded: StateStyle = { sign: '✓', style: 'green' }
const failed: StateStyle = { sign: '✗', style: 'red' }
const running: StateStyle = { sign: '◐', style: 'yellow' }
const attention: StateStyle = { sign: '!', style: 'yellow' }
const cancelled: StateStyle = { sign: '-', style: 'dim' }

/** The style of each state of a pull request or a queue; a new state must be given one. */
const serviceStates: Readonly<Record<KnownState, StateStyle>> = {
  NOT_READY: { sign: '○', style: 'dim' },
  PENDING: { sign: '●', style: 'blue' },
  TESTING: running,
  TESTS_PASSED: { sign: '●', style: 'green' },
  MERGED: succeeded,
  FAILED: failed,
  CANCELLED: cancelled,
  PENDING_FAILURE: { sign: '!', style: 'magenta' },
  RUNNING: { sign: '●', style: 'green' },
  PAUSED: { sign: '●', style: 'yellow' },
  DRAINING: { sign: '●', style: 'yellow' },
  SWITCHING_MODES: { sign: '●', style: 'yellow' },
}

/** The styles of the states of checks and tests, and of the verdicts of mergeq, in upper case. */
const otherStates: Readonly<Record<string, StateStyle>> = {
  SUCCESS: succeeded,
  HEALTHY: succeeded,
  PASS: succeeded,
  FAILURE: failed,
  ERROR: failed,
  TIMED_OUT: failed,
  BROKEN: failed,
  FAIL: failed,
  DROPPED: failed,
  NEW: failed,
  FLAKY: attention,
  STALE: attention,
  WARN: attention,
  BLOCKED: attention,
  HELD: attention,
  KNOWN: attention,
  QUARANTINED: attention,
  SKIPPED: cancelled,
  IN_PROGRESS: running,
  QUEUED: { sign: '●', style: 'blue' },
  WAITING: { sign: '●', style: 'blue' },
}

const stateStyles: ReadonlyMap<string, StateStyle> = new Map(
  Object.entries({ ...otherStates, ...serviceStates }),
)

/** Returns the sign and color of a state, whatever its case; undefined for any other text. */
export const stateStyle = (state: string): StateStyle | undefined => stateStyles.get(state.toUpperCase())

/**
 * Returns the words of a state for a person: `pending failure`. The states of a queue stay in upper case, and
 * so does a text that is not a known state.
 */
export const stateWords = (state: string): string =>
  stateStyle(state) === undefined
    ? state
    : queueStates.some(name => name === normalizeState(state))
      ? normalizeState(state)
      : state.toLowerCase().replaceAll('_', ' ')
