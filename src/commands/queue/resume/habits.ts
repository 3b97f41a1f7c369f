export const habits = [
  ['queue', 'start continue enable', 'queue resume'],
  [', queue', 'unpause unfreeze unlock uncordon', 'queue resume'],
  ['merge', 'resume unpause unfreeze start', 'queue resume'],
  ['queue update', '--running --no-paused --resume', 'queue resume'],
  [
    'queue pause, queue drain',
    '--for --until --duration',
    'A pause or drain has no end. To end it, run: mergeq queue resume',
  ],
  ['queue resume', '<text>', 'The service stores no reason. To end the pause, run: mergeq queue resume'],
  ['', 'treeopen', 'queue resume'],
] as const
