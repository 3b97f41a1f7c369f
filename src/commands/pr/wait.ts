import { extendOperation } from '../../api/operation.ts'
import { getMergeQueueMetrics } from '../../api/operations/metrics.ts'
import { getMergeQueueTestingDetails, getSubmittedPullRequest } from '../../api/operations/pull-requests.ts'
import { getQueue } from '../../api/operations/queues.ts'
import type { ServiceRequest } from '../../api/resolve.ts'
import type { Cli } from '../../cli/cli.ts'
import { command } from '../../cli/command.ts'
import { pullRequestArguments } from '../../cli/common-inputs.ts'
import { printRequests } from '../../cli/dry-run.ts'
import { requestsOf } from '../../cli/requests.ts'
import { kindOfOutcome } from '../../domain/states.ts'
import type { RequestedPullRequest } from '../../domain/values/pull-request.ts'
import { queueName } from '../../domain/values/repository.ts'
import type { WaitOptions } from '../../domain/wait-state.ts'
import { readWaitOptions, waitInputs, waitRecord, waitTimeLimit } from './wait-options.ts'

const { repo, targetBranch, pr } = getSubmittedPullRequest.params

/** Prints the request that a wait sends first: for the queue where it tells of several pull requests. */
function printFirstReading(
  requests: readonly ServiceRequest<RequestedPullRequest>[],
  { failOnPaused }: WaitOptions,
  cli: Cli,
): Promise<number> {
  const [first] = requests
  if (first === undefined) return printRequests(cli, getQueue, [])
  const { repo, targetBranch } = first.values
  const inQueue = requests.filter(({ values }) => queueName(values) === queueName(first.values))
  return inQueue.length > 1 || failOnPaused
    ? printRequests(cli, getQueue, [{ repo, targetBranch }])
    : printRequests(cli, getSubmittedPullRequest, [first.values], first.overrides)
}

export const prWaitCommand = command({
  name: 'pr wait',
  summary: 'Wait for pull requests to merge, fail or be cancelled',
  alsoSends: [getSubmittedPullRequest, getQueue, getMergeQueueTestingDetails, getMergeQueueMetrics],
  options: {
    requests: requestsOf(extendOperation(getSubmittedPullRequest, { params: { repo, targetBranch, pr } }), {
      pr: pullRequestArguments,
    }),
    ...waitInputs,
  },
  timeLimit: () => waitTimeLimit,
  exits: [...Object.values(kindOfOutcome), 'unknown-outcome'],
  prints: {
    table:
      'the result of each pull request, with failing checks and next commands (on a pipe, one row; in Markdown, with reason, URL and failing checks); changes go to standard error',
    json: 'one result per pull request: {"type":"result","pr","title","url","outcome","state","reason","elapsedSeconds","exit"}, and "failingChecks" if it failed',
    ndjson: 'one line per change, {"type":"change","pr","from","to","at","position"}, then the results',
  },
  fields: waitRecord,
  examples: [
    'mergeq pr wait 123 --timeout 30m',
    'mergeq pr wait 123 --until tests-passed --match-head HEAD',
    'mergeq pr wait 123 124 125 -o ndjson',
  ],
  async run({ requests, ...values }, cli) {
    const options = await readWaitOptions(values, requests.length, cli)
    if (cli.options.dryRun) return printFirstReading(requests, options, cli)
    const { waitAndReport } = await import('./wait-report.ts')
    const targets = requests.map(request => ({ request, state: {} }))
    return waitAndReport(targets, options, cli)
  },
})
