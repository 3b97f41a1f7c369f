import type { Habit } from '../../../command/habits.ts'

export const habits: readonly Habit[] = [['config', 'get-value --get', 'config get']]
