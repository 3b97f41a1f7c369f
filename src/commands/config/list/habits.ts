import type { Habit } from '../../../command/habits.ts'

export const habits: readonly Habit[] = [['config', 'ls show view all print --list -l', 'config list']]
