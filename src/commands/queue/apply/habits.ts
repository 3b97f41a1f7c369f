import type { Habit } from '../../../command/habits.ts'

export const habits: readonly Habit[] = [
  ['queue', 'import load restore', 'queue apply'],
  ['queue apply', '--from --filename', '--file'],
]
