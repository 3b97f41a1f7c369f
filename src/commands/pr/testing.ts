import { getSubmittedPullRequest } from '../../api/operations/pull-requests.ts'
import { defineCommand } from '../../cli/command.ts'
import { testingRequest } from './test-run/testing-request.ts'

export const prTestingCommand = defineCommand({
  ...testingRequest,
  request: testingRequest,
  operations: [getSubmittedPullRequest],
  inputs: {},
  async run(_, context, invocations) {
    const { printTestRun } = await import('./test-run/print-test-run.ts')
    return printTestRun(invocations, context)
  },
})
