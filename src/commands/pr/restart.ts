import { getSubmittedPullRequest, restartTestsOnPullRequest } from '../../api/operations/pull-requests.ts'
import { command } from '../../run/command.ts'
import { forEach, send, show } from '../../run/send.ts'
import { pullRequests, setOf } from '../../run/values.ts'
import { explainFinished } from './reads.ts'

export const prRestartCommand = command({
  name: 'pr restart',
  summary: 'Restart the tests of queued pull requests',
  operation: restartTestsOnPullRequest,
  alsoSends: [getSubmittedPullRequest],
  options: { targets: pullRequests, set: setOf(restartTestsOnPullRequest) },
  examples: ['mergeq pr restart 123'],
  run: ({ targets, set }, cli) =>
    forEach(cli, restartTestsOnPullRequest, targets, async target => {
      const sent = await send(cli, restartTestsOnPullRequest, target, set).catch(
        explainFinished(cli, target, set, ['ok', 'failed', 'cancelled']),
      )
      return show(sent, `Requested a restart of the tests of #${target.pr}.`)
    }),
})
