import { defineStateCommand } from './set-state.ts'

export const queuePauseCommand = defineStateCommand(
  'pause',
  'PAUSED',
  'Pause testing and merging; let running tests finish',
)
