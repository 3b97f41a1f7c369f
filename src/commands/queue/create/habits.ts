export const habits = [
  ['queue', 'add new init', 'queue create'],
  ['queue create', '--name --for --of', '--target-branch'],
] as const
