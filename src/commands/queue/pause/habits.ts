export const habits = [
  [', queue', 'freeze hold halt suspend stop disable lock close cordon', 'queue pause'],
  ['merge', 'pause freeze stop', 'queue pause'],
  ['queue update', '--paused --pause', 'queue pause'],
  [
    'queue pause',
    '--reason --comment --message --body -m',
    'The service stores no reason for a pause, and does not tell who paused it.',
  ],
  [
    'queue pause',
    '<text>',
    'The service stores no reason for a pause. To pause the queue, run: mergeq queue pause',
  ],
  ['', 'treeclosed', 'queue pause'],
  ['', 'treeclosed=<n>', 'A pause is for all priorities: mergeq queue pause'],
] as const
