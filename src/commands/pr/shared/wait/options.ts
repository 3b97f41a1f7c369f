import { getMergeQueueMetrics } from '../../../../api/operations/metrics.ts'
import {
  getMergeQueueTestingDetails,
  getSubmittedPullRequest,
} from '../../../../api/operations/pull-requests.ts'
import { getQueue } from '../../../../api/operations/queues.ts'
import { getSubmittedPullRequests } from '../../../../api/operations/several-pull-requests.ts'
import { resolveHead } from '../../../../api/reads/head-commit.ts'
import { type Cli, timeOfWait } from '../../../../command/command.ts'
import type { OptionValues } from '../../../../command/inputs.ts'
import type { waitInputs } from '../../../../command/wait-inputs.ts'
import { type PullRequest, urlOfPullRequest } from '../../../../values/pull-request.ts'
import { repositoryKey } from '../../../../values/repository.ts'
import type { CommandLine } from '../../../../values/suggested-command.ts'
import type { WaitOptions } from '../../../../wait/wait-state.ts'

/** What a wait reads. */
export const waitReads = [
  ...[getSubmittedPullRequest, getSubmittedPullRequests, getQueue],
  ...[getMergeQueueTestingDetails, getMergeQueueMetrics],
]

/** Reads the options of a wait for a number of pull requests. */
export async function readWaitOptions(
  { matchHead, ...values }: OptionValues<typeof waitInputs>,
  pullRequestCount: number,
  cli: Cli,
): Promise<WaitOptions> {
  const head = await resolveHead(matchHead, pullRequestCount, cli.client())
  return {
    ...values,
    head,
    waitLimit: timeOfWait(cli).waitLimit,
    stopsOnError: cli.options.stopOnError,
  }
}

/** Returns the command that continues the wait for pull requests; those of several repositories have URLs. */
export function waitCommand(pullRequests: readonly PullRequest[], commandLine: CommandLine): string {
  const [first] = pullRequests
  const isOneRepository = new Set(pullRequests.map(({ repo }) => repositoryKey(repo))).size <= 1
  const references = pullRequests.map(({ pr, repo }) => (isOneRepository ? pr : urlOfPullRequest(repo, pr)))
  return commandLine(['pr', 'wait', ...references], isOneRepository ? first : {}, ['--until'])
}
