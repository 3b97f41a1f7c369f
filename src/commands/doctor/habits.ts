export const habits = [
  ['doctor', '--fix', 'Nothing is changed. Each failure names its fix.'],
  ['', 'check health ping debug cluster-info', 'doctor'],
] as const
