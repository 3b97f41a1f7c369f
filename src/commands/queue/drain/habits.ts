import type { Habit } from '../../../command/habits.ts'

export const habits: readonly Habit[] = [['queue update', '--draining --drain', 'queue drain']]
