import type { ColumnSpec } from '../../output/view.ts'

export const pullRequestColumns: readonly ColumnSpec[] = [
  ['PR', 'prNumber', 'pr'],
  ['STATE', 'state', 'state'],
  ['FOR', 'stateChangedAt', 'age', 1],
  ['PRIORITY', 'priorityName', 'plain', 2],
  ['AUTHOR', 'prAuthor', 'plain', 3],
  ['TITLE', 'prTitle', 'text'],
]
