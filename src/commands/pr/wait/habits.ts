export const habits = [
  ['queue wait', '<pr>', 'pr wait *'],
  ['pr', 'await watch follow', 'pr wait'],
  ['', 'await', 'pr wait'],
  ['pr get, pr explain, pr testing', '--watch --follow --wait', 'pr wait'],
  ['pr wait, pr submit', '--for=merged --for=condition=merged', '--until merged'],
  ['pr wait', '--for -t', '--timeout'],
  ['pr wait', '--max-wait --deadline', '--timeout'],
  ['pr wait', '--state --status', '--until'],
] as const
