export const habits = [
  ['config', 'add put --add --set', 'config set'],
  ['', 'repo remote', 'The repository is chosen by -R, MERGEQ_REPO or: mergeq config set repo <owner/name>'],
  ['', 'set', 'config set'],
  [
    'config *',
    '--global --local --system',
    'Settings are stored for one user, in a profile: --profile <name>',
  ],
] as const
