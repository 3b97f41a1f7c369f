import { cancelPullRequest } from '../../api/operations/pull-requests.ts'
import { defineCommand } from '../../cli/command.ts'
import { yesInput } from '../../cli/common-inputs.ts'
import { pullRequestArguments } from '../../cli/pull-request-arguments.ts'
import { message } from '../../output/view.ts'
import { explainFinished } from './reads.ts'

export const prCancelCommand = defineCommand({
  command: 'pr cancel',
  destructive: true,
  summary: 'Remove pull requests from the queue',
  operation: cancelPullRequest,
  inputs: { pr: pullRequestArguments },
  options: { yes: yesInput },
  explainRejection: (...rejection) => explainFinished(['ok', 'failed', 'cancelled'], ...rejection),
  view: (_, { pr, targetBranch }) => message(`Cancelled #${pr}: removed from the queue for ${targetBranch}.`),
  confirm(runs) {
    if (runs.length < 2 || runs.every(({ yes }) => yes)) return undefined
    return {
      text: `This cancels ${runs.length} pull requests: ${runs.map(({ pr }) => `#${pr}`).join(', ')}. Continue? [y/N]`,
      expectedInput: 'y',
    }
  },
  examples: ['mergeq pr cancel 123', 'mergeq pr cancel 123 124 --yes'],
})
