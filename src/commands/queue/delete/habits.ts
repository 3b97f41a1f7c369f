export const habits = [
  [', queue', 'empty clear flush', 'To cancel all and delete the queue: mergeq queue delete --cancel-all'],
  ['queue', 'remove rm destroy drop', 'queue delete'],
] as const
