import type { Habit } from '../../../command/habits.ts'

export const habits: readonly Habit[] = [['guard', 'status --check', 'guard check']]
