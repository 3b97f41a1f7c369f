import { cancelPullRequest } from '../../api/operations/pull-requests.ts'
import { pullRequestArguments, yesInput } from '../../cli/common-inputs.ts'
import { confirm } from '../../cli/confirm.ts'
import { defineCommand } from '../../cli/define-command.ts'
import { explainFinished } from './reads.ts'

export const prCancelCommand = defineCommand({
  command: 'pr cancel',
  destructive: true,
  summary: 'Remove pull requests from the queue',
  operation: cancelPullRequest,
  inputs: { pr: pullRequestArguments },
  options: { yes: yesInput },
  explainRejection: (...rejection) => explainFinished(['ok', 'failed', 'cancelled'], ...rejection),
  present: (_, { pr, targetBranch }) => ({
    sentence: `Cancelled #${pr}: removed from the queue for ${targetBranch}.`,
  }),
  examples: ['mergeq pr cancel 123', 'mergeq pr cancel 123 124 --yes'],
  async run({ yes }, context) {
    const requests = await context.requests()
    const numbers = requests.map(({ values }) => `#${values.pr}`)
    const text = `This cancels ${numbers.length} pull requests: ${numbers.join(', ')}. Continue? [y/N]`
    if (numbers.length > 1 && !yes) await confirm('pr cancel', { text, expectedInput: 'y' }, context)
    return context.send(requests)
  },
})
