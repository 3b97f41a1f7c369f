export const habits = [
  ['queue check', '--depth', '--max-depth'],
  ['queue check', '--max-age', '--stalled'],
] as const
