export const habits = [
  [
    'flaky list',
    '--flaky --broken --unhealthy --status',
    'Flaky and broken tests are listed by: mergeq flaky unhealthy',
  ],
] as const
