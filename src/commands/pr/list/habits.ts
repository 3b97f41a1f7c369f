export const habits = [
  ['pr', 'mine', 'pr list --author @me'],
  ['pr', 'ls all', 'pr list'],
  [
    'pr cancel',
    '--all',
    'To choose pull requests, list them: mergeq pr list --author ada | mergeq pr cancel -',
  ],
  [
    'pr restart',
    '--failed',
    'To submit the failed ones again: mergeq pr list --state failed | mergeq pr submit -',
  ],
  ['pr list', '--mine --me --my', '--author @me'],
  ['pr list', '--assignee --user -A -a', '--author'],
  ['pr list', '--search --label --title -S -l', 'To search, read the rows: mergeq pr list | grep <word>'],
  ['pr list', '--merged --failed --cancelled --pending --testing', '--state *'],
  ['pr list', '--all', '--limit 1000'],
  ['pr list', '--head -H', 'To find the pull request of a branch: mergeq pr get --head <branch>'],
] as const
