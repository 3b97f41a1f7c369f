import type { Habit } from '../../../command/habits.ts'

export const habits: readonly Habit[] = [
  ['queue explain', '<pr>', 'pr explain *'],
  [', pr, queue', 'eta when position', 'pr explain'],
  [', pr', 'why describe diagnose inspect blame', 'pr explain'],
  ['merge', 'why explain', 'pr explain'],
]
