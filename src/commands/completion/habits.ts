import type { Habit } from '../../command/habits.ts'

export const habits: readonly Habit[] = [
  ['completion', '--shell -s', ''],
  ['', 'autocomplete complete', 'completion'],
]
