import { restartTestsOnPullRequest } from '../../api/operations/pull-requests.ts'
import { pullRequestArguments } from '../../cli/common-inputs.ts'
import { defineCommand } from '../../cli/define-command.ts'
import { explainFinished } from './reads.ts'

export const prRestartCommand = defineCommand({
  command: 'pr restart',
  summary: 'Restart the tests of queued pull requests',
  operation: restartTestsOnPullRequest,
  inputs: { pr: pullRequestArguments },
  explainRejection: (...rejection) => explainFinished(['ok', 'failed', 'cancelled'], ...rejection),
  present: (_, { pr }) => ({ sentence: `Requested a restart of the tests of #${pr}.` }),
  examples: ['mergeq pr restart 123'],
})
