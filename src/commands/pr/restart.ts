import { getSubmittedPullRequest, restartTestsOnPullRequest } from '../../api/operations/pull-requests.ts'
import { call, forEach, show } from '../../cli/calls.ts'
import { command } from '../../cli/command.ts'
import { pullRequestArguments } from '../../cli/common-inputs.ts'
import { requestsOf } from '../../cli/requests.ts'
import { explainFinished } from './reads.ts'

export const prRestartCommand = command({
  name: 'pr restart',
  summary: 'Restart the tests of queued pull requests',
  operation: restartTestsOnPullRequest,
  alsoSends: [getSubmittedPullRequest],
  options: { requests: requestsOf(restartTestsOnPullRequest, { pr: pullRequestArguments }) },
  examples: ['mergeq pr restart 123'],
  run: ({ requests }, cli) =>
    forEach(cli, requests, async request => {
      const sent = await call(cli, request).catch(
        explainFinished(cli, request, ['ok', 'failed', 'cancelled']),
      )
      return show(sent, `Requested a restart of the tests of #${request.values.pr}.`)
    }),
})
