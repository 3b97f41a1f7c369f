export const habits = [
  ['pr', 'close stop', 'pr cancel'],
  [', pr', 'remove rm dequeue unqueue delete kill abort r-', 'pr cancel'],
  ['queue', 'dequeue unqueue kill abort r-', 'pr cancel'],
  ['merge', 'cancel remove dequeue', 'pr cancel'],
  [
    ', queue',
    'empty clear flush',
    'To cancel all and keep the queue: mergeq pr list --state not-ready --state pending --state testing --state tests-passed --state pending-failure | mergeq pr cancel -',
  ],
  ['queue', 'pop leave', 'pr cancel'],
] as const
