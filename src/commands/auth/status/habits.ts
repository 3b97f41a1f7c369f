import type { Habit } from '../../../command/habits.ts'

export const habits: readonly Habit[] = [
  [', auth', 'whoami me user', 'auth status'],
  ['auth status', '-t --show-token', 'auth token'],
]
