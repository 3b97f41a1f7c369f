import { cancelPullRequest, getSubmittedPullRequest } from '../../api/operations/pull-requests.ts'
import { runRequests } from '../../cli/calls.ts'
import type { Cli } from '../../cli/cli.ts'
import { command } from '../../cli/command.ts'
import { pullRequestArguments, yesInput } from '../../cli/common-inputs.ts'
import { canPrompt, confirm, listPullRequests } from '../../cli/confirm.ts'
import { requestsOf } from '../../cli/requests.ts'
import { mapConcurrent, maxConcurrent } from '../../domain/map-concurrent.ts'
import type { RequestedPullRequest } from '../../domain/values/pull-request.ts'
import type { JsonObject } from '../../json.ts'
import { explainFinished, readRecordOnce } from './reads.ts'

/** Returns the lines of the prompt, with the titles of the first pull requests as far as they can be read. */
async function readTitles(
  pullRequests: readonly RequestedPullRequest[],
  cli: Cli,
): Promise<readonly string[]> {
  const read = ({ repo, targetBranch, pr }: RequestedPullRequest) =>
    readRecordOnce({ repo, targetBranch, pr }, cli).catch(() => undefined)
  const records: (JsonObject | undefined)[] = []
  for await (const record of mapConcurrent(pullRequests.slice(0, 10), maxConcurrent, read))
    records.push(record)
  return listPullRequests(pullRequests.map(({ pr }, index) => ({ pr, record: records[index] })))
}

export const prCancelCommand = command({
  name: 'pr cancel',
  summary: 'Remove pull requests from the queue',
  operation: cancelPullRequest,
  alsoSends: [getSubmittedPullRequest],
  destructive: true,
  options: { requests: requestsOf(cancelPullRequest, { pr: pullRequestArguments }), yes: yesInput },
  examples: ['mergeq pr cancel 123', 'mergeq pr cancel 123 124 --yes'],
  async run({ requests, yes }, cli) {
    const pullRequests = requests.map(({ values }) => values)
    if (pullRequests.length > 1 && !yes) {
      const statement = `This cancels ${pullRequests.length} pull requests:`
      const list = canPrompt(cli) && !cli.options.dryRun ? await readTitles(pullRequests, cli) : []
      await confirm({ statement, list, question: 'Continue?', expectedInput: 'y' }, cli)
    }
    return runRequests(cli, requests, {
      explain: explainFinished(cli, ['ok', 'failed', 'cancelled']),
      present: ({ values: { pr, targetBranch } }) => ({
        sentence: `Cancelled #${pr}: removed from the queue for ${targetBranch}.`,
      }),
    })
  },
})
