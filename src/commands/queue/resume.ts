import { defineStateCommand } from './set-state.ts'

export const queueResumeCommand = defineStateCommand('resume', 'RUNNING', 'Resume testing and merging')
