export const habits = [
  ['flaky', 'ls top tests failing failed all', 'flaky list'],
  ['', 'test tests flakes', 'flaky list'],
  ['test', 'list ls all', 'flaky list'],
  [
    'flaky list',
    '--with-quarantined --include-quarantined',
    'Quarantined tests are listed, too. To leave them out, use --no-quarantined.',
  ],
  ['flaky list', '--exclude-quarantined --without-quarantined', '--no-quarantined'],
] as const
