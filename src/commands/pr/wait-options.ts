import { resolveHead } from '../../api/head-commit.ts'
import { getMergeQueueMetrics } from '../../api/operations/metrics.ts'
import { getMergeQueueTestingDetails, getSubmittedPullRequest } from '../../api/operations/pull-requests.ts'
import { getQueue } from '../../api/operations/queues.ts'
import { getSubmittedPullRequests } from '../../api/operations/several-pull-requests.ts'
import type { CommandLine } from '../../domain/suggested-command.ts'
import { type PullRequest, urlOfPullRequest } from '../../domain/values/pull-request.ts'
import { repositoryKey } from '../../domain/values/repository.ts'
import { headCommit, waitOptions } from '../../domain/wait-options.ts'
import type { WaitOptions } from '../../domain/wait-state.ts'
import { type Cli, timeOfWait } from '../../run/command.ts'
import { flag, type OptionValues, option } from '../../run/inputs.ts'

/** The default of `--timeout` of a wait. */
export const waitTimeLimit = waitOptions.timeout.default

/** What a wait reads. */
export const waitReads = [
  ...[getSubmittedPullRequest, getSubmittedPullRequests, getQueue],
  ...[getMergeQueueTestingDetails, getMergeQueueMetrics],
]

/** The options of a wait (docs/reference/cli.md, "Waiting"), except `--timeout`, which is a global option. */
export const waitInputs = {
  until: waitOptions.until,
  interval: waitOptions.interval,
  grace: { ...waitOptions.grace, advanced: true },
  matchHead: option(headCommit, 'Exit 14 if another commit is or becomes the head of the pull request'),
  giveUpAfter: { ...waitOptions.giveUpAfter, advanced: true },
  failOnPaused: flag('Exit 8 if the queue is paused'),
  noBell: { ...flag('Do not ring the terminal bell when a wait of more than 10s ends'), advanced: true },
}

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
