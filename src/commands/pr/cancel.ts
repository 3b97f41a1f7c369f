import { cancelPullRequest, getSubmittedPullRequest } from '../../api/operations/pull-requests.ts'
import { runRequests } from '../../cli/calls.ts'
import { command } from '../../cli/command.ts'
import { pullRequestArguments, yesInput } from '../../cli/common-inputs.ts'
import { confirm } from '../../cli/confirm.ts'
import { requestsOf } from '../../cli/requests.ts'
import { explainFinished } from './reads.ts'

export const prCancelCommand = command({
  name: 'pr cancel',
  summary: 'Remove pull requests from the queue',
  operation: cancelPullRequest,
  alsoSends: [getSubmittedPullRequest],
  destructive: true,
  options: { requests: requestsOf(cancelPullRequest, { pr: pullRequestArguments }), yes: yesInput },
  examples: ['mergeq pr cancel 123', 'mergeq pr cancel 123 124 --yes'],
  async run({ requests, yes }, cli) {
    const numbers = requests.map(({ values }) => `#${values.pr}`)
    const statement = `This cancels ${numbers.length} pull requests: ${numbers.join(', ')}.`
    if (numbers.length > 1 && !yes)
      await confirm({ statement, question: 'Continue?', expectedInput: 'y' }, cli)
    return runRequests(cli, requests, {
      explain: explainFinished(cli, ['ok', 'failed', 'cancelled']),
      present: ({ values: { pr, targetBranch } }) => ({
        sentence: `Cancelled #${pr}: removed from the queue for ${targetBranch}.`,
      }),
    })
  },
})
