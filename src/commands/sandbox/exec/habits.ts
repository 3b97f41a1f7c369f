import type { Habit } from '../../../command/habits.ts'

export const habits: readonly Habit[] = [['sandbox', 'run', 'sandbox exec']]
