import { outline } from '../../api/operations/fields.ts'
import { getSubmittedPullRequest } from '../../api/operations/pull-requests.ts'
import { getQueue } from '../../api/operations/queues.ts'
import { type Cli, command } from '../../command/command.ts'
import { printRequests } from '../../command/dry-run.ts'
import { pullRequests } from '../../command/pull-request-inputs.ts'
import { setOf } from '../../command/set-option.ts'
import { waitInputs, waitTimeLimit } from '../../command/wait-inputs.ts'
import { kindOfOutcome } from '../../domain/states.ts'
import type { PullRequest } from '../../values/pull-request.ts'
import { queueName } from '../../values/repository.ts'
import { changeRecord, waitResultRecord } from '../../wait/records.ts'
import type { WaitOptions } from '../../wait/wait-state.ts'
import { readWaitOptions, waitColumns, waitReads } from './shared/wait/options.ts'

/** Prints the request that a wait sends first: for the queue where it tells of several pull requests. */
function printFirstReading(
  [first, ...others]: readonly PullRequest[],
  { failOnPaused }: WaitOptions,
  cli: Cli,
): Promise<number> {
  if (first === undefined) return printRequests(cli, getSubmittedPullRequest, [])
  const { repo, targetBranch } = first
  const isOfSeveral = others.some(other => queueName(other) === queueName(first))
  return isOfSeveral || failOnPaused
    ? printRequests(cli, getQueue, [{ repo, targetBranch }])
    : printRequests(cli, getSubmittedPullRequest, [first])
}

export const definition = command({
  name: 'pr wait',
  summary: 'Wait for pull requests to merge, fail or be cancelled',
  alsoSends: waitReads,
  options: {
    pullRequests,
    ...waitInputs,
  },
  set: setOf(getSubmittedPullRequest),
  timeLimit: () => waitTimeLimit,
  exits: [...Object.values(kindOfOutcome), 'unknown-outcome'],
  prints: {
    table:
      'the result of each pull request, with failing checks and next commands (on a pipe, one row; in Markdown, with reason, URL and failing checks); changes go to standard error',
    json: `one result per pull request: ${outline(waitResultRecord)}, and "failingChecks" if it failed`,
    ndjson: `one line per change, ${outline(changeRecord)}, then the results`,
    documents: [waitResultRecord],
    records: [waitResultRecord, changeRecord],
    columns: waitColumns,
  },
  examples: [
    'mergeq pr wait 123 --timeout 30m',
    'mergeq pr wait 123 --until tests-passed --match-head HEAD',
    'mergeq pr wait 123 124 125 -o ndjson',
  ],
  async run({ pullRequests, ...values }, cli) {
    const options = await readWaitOptions(values, pullRequests.length, cli)
    if (cli.options.dryRun) return printFirstReading(pullRequests, options, cli)
    const { waitAndReport } = await import('./shared/wait/report.ts')
    return waitAndReport(pullRequests, options, cli)
  },
})
