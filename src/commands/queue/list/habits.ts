export const habits = [
  [', queue', 'list ls all ps queues branches', 'queue list'],
  ['merge', 'list ls queues', 'queue list'],
  ['queue list', '--state --status', '--include-state'],
  ['queue get, queue list', '-A --all --all-namespaces --all-repos', 'queue list'],
] as const
