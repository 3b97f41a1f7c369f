export const habits = [
  [', pr', 'rerun retest rebuild recheck', 'pr restart'],
  ['merge', 'restart retry rerun', 'pr restart'],
  ['run, ci, checks, jobs', 'rerun restart retry', 'pr restart'],
  [
    ', pr',
    'refresh',
    'The service reads a pull request again by itself. To test it again: mergeq pr restart <pr>',
  ],
] as const
