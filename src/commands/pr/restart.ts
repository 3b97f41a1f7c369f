import { changeSentence } from '../../api/change-sentence.ts'
import { getSubmittedPullRequest, restartTestsOnPullRequest } from '../../api/operations/pull-requests.ts'
import { command } from '../../command/command.ts'
import { pullRequests } from '../../command/pull-request-inputs.ts'
import { forEach, send, show } from '../../command/send.ts'
import { setOf } from '../../command/set-option.ts'
import { yesOption } from '../../command/shared-inputs.ts'
import { explainFinished } from './shared/explain-finished.ts'

export const definition = command({
  name: 'pr restart',
  summary: 'Restart the tests of queued pull requests',
  operation: restartTestsOnPullRequest,
  alsoSends: [getSubmittedPullRequest],
  // It answers the question about a pull request that nobody named.
  options: { pullRequests, yes: yesOption },
  set: setOf(restartTestsOnPullRequest),
  examples: ['mergeq pr restart 123'],
  run: ({ pullRequests }, cli) =>
    forEach(cli, restartTestsOnPullRequest, pullRequests, async pullRequest => {
      const sent = await send(cli, restartTestsOnPullRequest, pullRequest).catch(
        explainFinished(cli, pullRequest, ['ok', 'failed', 'cancelled'], { resubmits: true }),
      )
      return show(sent, `${changeSentence(restartTestsOnPullRequest, pullRequest)}.`)
    }),
})
