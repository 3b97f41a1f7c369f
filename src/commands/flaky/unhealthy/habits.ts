import type { Habit } from '../../../command/habits.ts'

export const habits: readonly Habit[] = [
  [
    'flaky list',
    '--flaky --broken --unhealthy --status',
    'Flaky and broken tests are listed by: mergeq flaky unhealthy',
  ],
]
