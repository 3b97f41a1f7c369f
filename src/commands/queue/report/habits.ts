export const habits = [
  ['queue', 'stats statistics summary trends', 'queue report'],
  ['', 'report', 'queue report'],
] as const
