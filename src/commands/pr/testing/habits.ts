export const habits = [
  ['pr', 'checks runs ci jobs test tests log logs', 'pr testing'],
  ['', 'checks ci jobs', 'pr testing'],
  ['merge', 'logs checks', 'pr testing'],
  ['run', 'view show', 'pr testing'],
  [
    'pr testing',
    '--log --log-failed --failed --job -j',
    'The logs are on the page of each check, which pr testing shows.',
  ],
] as const
