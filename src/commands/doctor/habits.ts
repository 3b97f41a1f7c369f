import type { Habit } from '../../command/habits.ts'

export const habits: readonly Habit[] = [
  ['doctor', '--fix', 'Nothing is changed. Each failure names its fix.'],
  ['', 'check health ping debug cluster-info', 'doctor'],
]
