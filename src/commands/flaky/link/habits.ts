import type { Habit } from '../../../command/habits.ts'

export const habits: readonly Habit[] = [[', flaky', 'ticket create-ticket', 'flaky link']]
