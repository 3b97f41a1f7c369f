export const habits = [
  ['pr', 'checks runs ci jobs test tests log logs', 'pr testing'],
  ['', 'checks ci jobs', 'pr testing'],
  ['merge', 'logs checks', 'pr testing'],
  ['run', 'view show', 'pr testing'],
  ['ci, checks, jobs', 'status view show list ls', 'pr testing'],
  [
    'run',
    'cancel',
    'Runs are not cancelled by their number. To see those of a pull request: mergeq pr testing <pr>',
  ],
  [
    'pr testing',
    '--log --log-failed --failed --job -j',
    'The logs are on the page of each check, which pr testing shows.',
  ],
] as const
