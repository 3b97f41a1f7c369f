import type { Habit } from '../../../command/habits.ts'

export const habits: readonly Habit[] = [['queue', 'why diagnose stuck blocked stalled', 'queue explain']]
