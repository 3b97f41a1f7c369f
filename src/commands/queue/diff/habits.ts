export const habits = [
  ['queue', 'compare', 'queue diff'],
  ['queue diff, queue apply', '<file>', '-f *'],
  [
    'queue diff, queue apply',
    '<word>',
    'To name a file, use -f <file>. To compare with the queue of another branch, use queue diff --with-branch <branch>.',
  ],
  ['queue diff', '--with --against --to --other', '--with-branch'],
  ['queue diff, queue export', '--from', '--target-branch'],
  [
    'diff',
    '<word>',
    'To compare the queues of two branches: mergeq queue diff -b main --with-branch release',
  ],
] as const
