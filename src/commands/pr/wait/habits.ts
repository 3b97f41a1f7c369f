export const habits = [
  ['queue wait, queue watch', '<pr>', 'pr wait *'],
  ['pr', 'await watch follow', 'pr wait'],
  ['', 'await', 'pr wait'],
  ['pr get, pr explain, pr testing', '--watch --follow --wait -f', 'pr wait'],
  ['pr wait, pr submit', '--for=merged --for=condition=merged', '--until merged'],
  ['pr wait', '--for -t', '--timeout'],
  ['pr wait', '--max-wait --deadline', '--timeout'],
  ['pr wait', '--state --status', '--until'],
  ['pr explain, pr wait', '--by', 'When it will be merged is only estimated, by: mergeq pr get <pr>'],
] as const
