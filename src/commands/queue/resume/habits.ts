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
] as const
