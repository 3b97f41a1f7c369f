export const habits = [
  ['queue get', '<pr>', 'pr get *'],
  [', pr, queue', '<pr>', 'pr get *'],
  ['pr', 'timeline history', 'pr get --timeline'],
  ['pr', 'view show info read', 'pr get'],
  [', pr', 'open browse web', 'pr get --web'],
  [
    'pr get',
    '--branch',
    'The branch of the pull request is --head; the one that it is merged into is --target-branch.',
  ],
  ['pr get', '--history --events --log', '--timeline'],
  ['pr get', '--when --time', '--eta'],
  ['pr get', '<word>', '--head *'],
  ['pr get', '--comments -c', 'The comments are on the page of the pull request: mergeq pr get --web <pr>'],
] as const
