export const habits = [
  ['auth', 'remove rm delete signout', 'auth logout'],
  [
    'auth, config',
    'delete-context remove-profile delete-profile',
    'To remove a profile, remove its token and then its settings: mergeq auth logout --profile <name>',
  ],
  ['auth logout', '--hostname', 'A token is of a profile: mergeq auth logout --profile <name>'],
] as const
