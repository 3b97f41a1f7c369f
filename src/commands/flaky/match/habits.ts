import type { Habit } from '../../../command/habits.ts'

export const habits: readonly Habit[] = [
  [
    'flaky, flakytests',
    'upload validate',
    "The service's own uploader uploads reports. To compare one with the known tests: mergeq flaky match <file>",
  ],
]
