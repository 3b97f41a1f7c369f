import { getSubmittedPullRequest } from '../../api/operations/pull-requests.ts'
import { getQueue } from '../../api/operations/queues.ts'
import { command } from '../../command/command.ts'
import { guardPush, maxWait } from './shared/push.ts'

export const guardCheckCommand = command({
  name: 'guard check',
  summary: 'Check the current branch, without a push',
  alsoSends: [getSubmittedPullRequest, getQueue],
  exits: ['check-failed'],
  settings: 'optional',
  tokenTime: maxWait,
  prints: 'nothing; messages go to standard error',
  examples: ['mergeq guard check'],
  run: (_, cli) => guardPush(undefined, true, cli),
})
