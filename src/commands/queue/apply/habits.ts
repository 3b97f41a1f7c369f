export const habits = [
  ['queue', 'import load restore', 'queue apply'],
  ['queue apply', '--from --filename', '--file'],
] as const
