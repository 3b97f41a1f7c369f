import { normalizeState } from './states.ts'

const messageByState: ReadonlyMap<string, string> = new Map([
  ['PAUSED', 'The queue is paused: no tests start and nothing merges.'],
  ['DRAINING', 'The queue is draining: running tests finish and merge, but no new tests start.'],
  ['SWITCHING_MODES', 'The queue is switching modes: no tests start until the switch is complete.'],
])

/** Returns what a state of a queue, in any case, means; undefined for RUNNING and for an unknown state. */
export const queueStateMessage = (state: string): string | undefined =>
  messageByState.get(normalizeState(state))

export const canResume = (state: string): boolean => ['PAUSED', 'DRAINING'].includes(normalizeState(state))
