import type { Habit } from '../../../command/habits.ts'

export const habits: readonly Habit[] = [['queue', 'stats statistics summary trends', 'queue report']]
