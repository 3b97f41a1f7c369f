export const habits = [
  ['queue explain', '<pr>', 'pr explain *'],
  [', pr, queue', 'eta when position', 'pr explain'],
  [', pr', 'why describe diagnose inspect blame', 'pr explain'],
  ['merge', 'why explain', 'pr explain'],
] as const
