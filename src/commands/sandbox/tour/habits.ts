import type { Habit } from '../../../command/habits.ts'

export const habits: readonly Habit[] = [
  [', sandbox', 'demo try tour play tutorial learn playground', 'sandbox tour'],
]
