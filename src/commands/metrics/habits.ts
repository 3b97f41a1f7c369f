import type { Habit } from '../../command/habits.ts'

export const habits: readonly Habit[] = [
  ['', 'stat stats statistics', 'metrics'],
  ['metrics', '--since --last --window --from --for', 'The service has metrics of the last hour only.'],
  ['metrics', 'show list get', 'metrics'],
]
