export const habits = [
  [
    'queue',
    'copy clone duplicate cp',
    'To copy the settings of <1> to <2>, run: mergeq queue export -b <1> --for <2> --file <2>.yaml\nThen run: mergeq queue apply -f <2>.yaml --create',
  ],
  [
    'queue',
    'copy clone duplicate cp',
    'To copy the settings to <1>, run: mergeq queue export --for <1> --file <1>.yaml\nThen run: mergeq queue apply -f <1>.yaml --create',
  ],
  [
    'queue',
    'copy clone duplicate cp',
    'To copy the settings of a queue, name the branch: queue export with --for writes them to a file for it, which queue apply reads.',
  ],
  [
    'queue',
    'rename',
    'A queue has the name of its target branch. To copy its settings to another one: mergeq queue export --for <branch>',
  ],
  ['queue', 'dump backup config settings', 'queue export'],
  ['queue export', '--to', '--for'],
  ['queue export', '--out --output-file', '--file'],
  [
    'queue create',
    '--from --copy --like',
    'To copy the settings of another branch, write them to a file with queue export --for, and apply the file: mergeq queue apply -f <file> --create',
  ],
  ['queue get', '--settings --config', 'queue export'],
] as const
