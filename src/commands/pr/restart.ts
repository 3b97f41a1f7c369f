import { restartTestsOnPullRequest } from '../../api/operations/pull-requests.ts'
import { defineOperationCommand } from '../../cli/command.ts'
import { pullRequestArguments } from '../../cli/pull-request-arguments.ts'
import { queueInputs } from '../../cli/queue-inputs.ts'
import { message } from '../../output/view.ts'
import { explainFinished } from './state/explain-finished.ts'

export const prRestartCommand = defineOperationCommand({
  command: 'pr restart',
  summary: 'Restart the tests of queued pull requests',
  operation: restartTestsOnPullRequest,
  inputs: { ...queueInputs, pr: pullRequestArguments },
  explainRejection: explainFinished(['ok', 'failed', 'cancelled']),
  view: (_, { pr }) => message(`Restarted the tests of #${pr}.`),
  examples: ['mergeq pr restart 123'],
})
