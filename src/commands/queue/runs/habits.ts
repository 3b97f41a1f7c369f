export const habits = [
  [', queue', 'history results log', 'queue runs'],
  ['run', 'list ls', 'queue runs'],
  ['', 'run runs', 'queue runs'],
  ['queue export', '--since', 'queue runs --since'],
  ['queue runs', '--failed --passed --cancelled', '--outcome *'],
  ['queue runs', '--state --status --result', '--outcome'],
] as const
