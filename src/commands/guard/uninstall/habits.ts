import type { Habit } from '../../../command/habits.ts'

export const habits: readonly Habit[] = [['guard', 'disable off remove rm --uninstall', 'guard uninstall']]
