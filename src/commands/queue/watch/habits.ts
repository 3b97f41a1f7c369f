export const habits = [
  [', queue', 'monitor top live watch follow logs events tail', 'queue watch'],
  ['merge', 'watch follow', 'queue watch'],
  ['run', 'watch follow', 'queue watch'],
  ['queue get', '--for', 'queue watch --for'],
  ['queue get, queue list, pr list', '--watch --follow --wait -w', 'queue watch'],
  ['queue watch, queue wait, pr wait, pr submit, pr land', '--refresh --every --poll', '--interval <n>s'],
  ['queue watch, queue wait, pr wait', '-n=<n>', '--interval <n>s'],
] as const
