import { defineStateCommand } from './state/update-state.ts'

/** `mergeq queue pause`: sets the state PAUSED. */
export const queuePauseCommand = defineStateCommand(
  'pause',
  'PAUSED',
  'Stop testing and merging; what is being tested finishes',
)
