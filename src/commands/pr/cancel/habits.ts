import type { Habit } from '../../../command/habits.ts'

export const habits: readonly Habit[] = [
  ['pr', 'close stop', 'pr cancel'],
  [', pr', 'remove rm dequeue unqueue delete kill abort r-', 'pr cancel'],
  ['queue', 'dequeue unqueue kill abort r-', 'pr cancel'],
  ['merge', 'cancel remove dequeue', 'pr cancel'],
  ['run', 'cancel', 'pr cancel'],
  ['queue', 'pop leave', 'pr cancel'],
]
