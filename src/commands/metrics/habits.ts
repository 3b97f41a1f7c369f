export const habits = [
  ['', 'stat stats statistics', 'metrics'],
  ['metrics', '--since --last --window --from --for', 'The service has metrics of the last hour only.'],
  ['metrics', 'show list get', 'metrics'],
] as const
