import type { Habit } from '../../../command/habits.ts'

export const habits: readonly Habit[] = [
  [', queue', 'empty clear flush', 'To cancel all and delete the queue: mergeq queue delete --cancel-all'],
  ['queue', 'remove rm destroy drop', 'queue delete'],
]
