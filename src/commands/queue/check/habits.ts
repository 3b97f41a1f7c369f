import type { Habit } from '../../../command/habits.ts'

export const habits: readonly Habit[] = [
  ['queue check', '--depth', '--max-depth'],
  ['queue check', '--max-age', '--stalled'],
]
