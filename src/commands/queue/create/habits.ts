import type { Habit } from '../../../command/habits.ts'

export const habits: readonly Habit[] = [
  ['queue', 'add new init', 'queue create'],
  ['queue create', '--name --for --of', '--target-branch'],
]
