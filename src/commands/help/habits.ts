import type { Habit } from '../../command/habits.ts'

export const habits: readonly Habit[] = [
  ['', 'man docs documentation usage', 'help'],
  ['', 'exit-codes environment formatting states', 'help *'],
]
