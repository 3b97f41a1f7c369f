import type { Habit } from '../../../command/habits.ts'

export const habits: readonly Habit[] = [['config', 'delete remove rm clear reset --unset', 'config unset']]
