export const habits = [
  ['auth', 'ls', 'auth list'],
  [
    'auth, config, profile, profiles, ',
    'switch use use-context use-profile',
    'To use another profile, add --profile <1> or set MERGEQ_PROFILE=<1>. To list the profiles: mergeq auth list',
  ],
  [
    'auth, config, profile, profiles, ',
    'switch use use-context use-profile set-context current-context get-contexts contexts profile profiles account accounts',
    'To use another profile, add --profile <name> or set MERGEQ_PROFILE. To list the profiles: mergeq auth list',
  ],
] as const
