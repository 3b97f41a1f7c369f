export const habits = [
  ['queue', 'show view status info describe inspect state', 'queue get'],
  ['', 'get show view status st info', 'queue get'],
  ['merge', 'status show view get', 'queue get'],
  ['queue get', '--pretty --long -l --wide', ''],
  ['', 'train', 'queue get'],
] as const
