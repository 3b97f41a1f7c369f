import { Chalk, type ChalkInstance } from 'chalk'
import type { KnownState } from '../domain/states.ts'

type Color = 'green' | 'red' | 'yellow' | 'cyan' | 'plain'

/** The color of each state of a pull request or a queue; a new state must be given one. */
const serviceStates: Readonly<Record<KnownState, Color>> = {
  NOT_READY: 'plain',
  PENDING: 'cyan',
  TESTING: 'cyan',
  TESTS_PASSED: 'cyan',
  MERGED: 'green',
  FAILED: 'red',
  CANCELLED: 'yellow',
  PENDING_FAILURE: 'yellow',
  RUNNING: 'green',
  PAUSED: 'yellow',
  DRAINING: 'yellow',
  SWITCHING_MODES: 'yellow',
}

/** The colors of the states of checks and tests, and of the verdicts of mergeq, in upper case. */
const otherStates: Readonly<Record<string, Color>> = {
  SUCCESS: 'green',
  HEALTHY: 'green',
  PASS: 'green',
  FAILURE: 'red',
  ERROR: 'red',
  TIMED_OUT: 'red',
  BROKEN: 'red',
  FAIL: 'red',
  DROPPED: 'red',
  NEW: 'red',
  FLAKY: 'yellow',
  STALE: 'yellow',
  WARN: 'yellow',
  BLOCKED: 'yellow',
  HELD: 'yellow',
  KNOWN: 'yellow',
  QUARANTINED: 'yellow',
  IN_PROGRESS: 'cyan',
  QUEUED: 'cyan',
  WAITING: 'cyan',
}

const colors: ReadonlyMap<string, Color> = new Map(Object.entries({ ...otherStates, ...serviceStates }))

/** Returns an instance of chalk that colors text, or leaves it unchanged. */
export const createChalk = (color: boolean): ChalkInstance => new Chalk({ level: color ? 1 : 0 })

/** Returns a state, whatever its case, in its color; any other text unchanged. */
export function colorizeState(text: string, color: boolean): string {
  const name = colors.get(text.toUpperCase()) ?? 'plain'
  return name === 'plain' ? text : createChalk(color)[name](text)
}
