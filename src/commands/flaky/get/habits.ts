export const habits = [
  ['flaky', 'show view describe info search find why explain history', 'flaky get'],
  [
    ', flaky',
    'mute unmute quarantine unquarantine skip ignore',
    'Tests are quarantined on their page: mergeq flaky get --web <test>',
  ],
  ['flaky get', '<word>', 'Put a name of several words in quotes: mergeq flaky get "total price"'],
  ['flaky get', '--id --name --test', ''],
] as const
