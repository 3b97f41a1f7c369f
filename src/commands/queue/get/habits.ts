import type { Habit } from '../../../command/habits.ts'

export const habits: readonly Habit[] = [
  ['queue', 'show view status info describe inspect state', 'queue get'],
  ['', 'get show view status st info', 'queue get'],
  ['merge', 'status show view get', 'queue get'],
  ['queue get', '--pretty --long -l --wide', ''],
]
