import { defineStateCommand } from './set-state.ts'

export const queueDrainCommand = defineStateCommand(
  'drain',
  'DRAINING',
  'Start no new tests; let running tests finish and merge what passes',
)
