import { getMergeQueueMetrics } from '../../api/operations/metrics.ts'
import { getMergeQueueTestingDetails, getSubmittedPullRequest } from '../../api/operations/pull-requests.ts'
import { getQueue } from '../../api/operations/queues.ts'
import { pullRequestArguments } from '../../cli/common-inputs.ts'
import { defineCommand } from '../../cli/define-command.ts'
import { printDryRun } from '../../cli/dry-run.ts'
import { kindOfOutcome } from '../../domain/states.ts'
import { readWaitOptions, waitInputs, waitRecord } from './wait-options.ts'

export const prWaitCommand = defineCommand({
  command: 'pr wait',
  summary: 'Wait for pull requests to merge, fail or be cancelled',
  operation: getSubmittedPullRequest,
  isComposition: true,
  params: ['repo', 'targetBranch', 'pr'],
  inputs: { pr: pullRequestArguments },
  options: waitInputs,
  operations: [getQueue, getMergeQueueTestingDetails, getMergeQueueMetrics],
  exitKinds: Object.values(kindOfOutcome),
  output: {
    table:
      'the result of each pull request, with failing checks and next commands (on a pipe, one row); changes go to standard error',
    json: 'one result per pull request: {"type":"result","pr","title","url","outcome","state","reason","elapsedSeconds","exit"}, and "failingChecks" if it failed',
    ndjson: 'one line per change, {"type":"change","pr","from","to","at","position"}, then the results',
  },
  fields: waitRecord,
  examples: [
    'mergeq pr wait 123 --timeout 30m',
    'mergeq pr wait 123 --until tests-passed --match-head HEAD',
    'mergeq pr wait 123 124 125 -o ndjson',
  ],
  async dryRun(values, context) {
    const requests = await context.requests()
    await readWaitOptions(values, requests.length, context)
    const [first] = requests
    if (first === undefined || requests.length === 1) return printDryRun(requests, context)
    // Several pull requests are found in their queue.
    return printDryRun([{ ...first, operation: getQueue, overrides: [] }], context)
  },
  async run(values, context) {
    const requests = await context.requests()
    const options = await readWaitOptions(values, requests.length, context)
    const { waitAndReport } = await import('./wait-report.ts')
    const targets = requests.map(request => ({ request, state: {} }))
    return waitAndReport(targets, options, context)
  },
})
