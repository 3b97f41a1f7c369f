export const habits = [
  ['queue update', '--draining --drain', 'queue drain'],
  ['queue drain', '<text>', 'The service stores no reason. To drain the queue, run: mergeq queue drain'],
] as const
