export const habits = [
  ['auth', 'ls', 'auth list'],
  [
    'auth, config, ',
    'switch use use-context use-profile set-context current-context get-contexts contexts profile profiles account accounts',
    'To use another profile, add --profile <name> or set MERGEQ_PROFILE. To list the profiles: mergeq auth list',
  ],
] as const
