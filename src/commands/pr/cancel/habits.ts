export const habits = [
  ['pr', 'close stop', 'pr cancel'],
  [', pr', 'remove rm dequeue unqueue delete kill abort r-', 'pr cancel'],
  ['queue', 'dequeue unqueue kill abort r-', 'pr cancel'],
  ['merge', 'cancel remove dequeue', 'pr cancel'],
  ['run', 'cancel', 'pr cancel'],
  ['queue', 'pop leave', 'pr cancel'],
] as const
