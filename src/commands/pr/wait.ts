import { getSubmittedPullRequest } from '../../api/operations/pull-requests.ts'
import { getMergeQueueMetrics } from '../../api/operations/queue-metrics.ts'
import { getQueue } from '../../api/operations/queues.ts'
import { getMergeQueueTestingDetails } from '../../api/operations/testing-details.ts'
import { defineCommand } from '../../cli/command.ts'
import { pullRequestArguments } from '../../cli/pull-request-arguments.ts'
import { queueInputs } from '../../cli/queue-inputs.ts'
import { kindOfOutcome } from '../../domain/wait-outcomes.ts'
import { waitInputs, waitOutput, waitRecord } from './wait/wait-inputs.ts'

const waitRequest = {
  command: 'pr wait',
  operation: getSubmittedPullRequest,
  inputs: { ...queueInputs, pr: pullRequestArguments },
}

export const prWaitCommand = defineCommand({
  command: 'pr wait',
  summary: 'Wait for pull requests to merge, fail or be cancelled',
  request: waitRequest,
  inputs: waitInputs,
  operations: [getQueue, getMergeQueueTestingDetails, getMergeQueueMetrics],
  exitKinds: Object.values(kindOfOutcome),
  output: waitOutput,
  fields: waitRecord,
  examples: [
    'mergeq pr wait 123 --timeout 30m',
    'mergeq pr wait 123 --until tests-passed --match-head HEAD',
    'mergeq pr wait 123 124 125 -o ndjson',
  ],
  async dryRun(values, context, invocations) {
    const { readWaitOptions } = await import('./wait/time-limits.ts')
    const { printDryRun } = await import('../../cli/preview.ts')
    readWaitOptions(values, invocations.length, context)
    const [first, ...others] = invocations
    if (first === undefined) return 0
    return others.length === 0
      ? printDryRun(getSubmittedPullRequest, [first], context)
      : printDryRun(getQueue, [{ values: first.values, overrides: [] }], context)
  },
  async run(values, context, invocations) {
    const { readWaitOptions } = await import('./wait/time-limits.ts')
    const { waitForAll } = await import('./wait/wait-for-all.ts')
    const options = readWaitOptions(values, invocations.length, context)
    return waitForAll(
      invocations.map(invocation => ({ invocation })),
      options,
      context,
    )
  },
})
