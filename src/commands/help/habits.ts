export const habits = [
  ['', 'man docs documentation usage', 'help'],
  ['', 'exit-codes environment formatting states', 'help *'],
] as const
