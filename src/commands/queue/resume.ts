import { defineStateCommand } from './state/update-state.ts'

/** `mergeq queue resume`: sets the state RUNNING. */
export const queueResumeCommand = defineStateCommand('resume', 'RUNNING', 'Resume testing and merging')
