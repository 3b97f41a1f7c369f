import { defineStateCommand } from './state/update-state.ts'

/** `mergeq queue pause`: sets the state PAUSED. */
export const queuePauseCommand = defineStateCommand(
  'pause',
  'PAUSED',
  'Pause testing and merging; let running tests finish',
)
