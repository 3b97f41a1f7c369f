import type { Habit } from '../../../command/habits.ts'

export const habits: readonly Habit[] = [
  ['guard', 'enable on add setup --install', 'guard install'],
  ['', 'hook hooks', 'guard'],
]
