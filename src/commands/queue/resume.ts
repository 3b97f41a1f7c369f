import { defineStateCommand } from './state/update-state.ts'

export const queueResumeCommand = defineStateCommand('resume', 'RUNNING', 'Resume testing and merging')
