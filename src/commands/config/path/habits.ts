import type { Habit } from '../../../command/habits.ts'

export const habits: readonly Habit[] = [['config', 'edit open file where', 'config path']]
