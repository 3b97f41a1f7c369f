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
import { columns } from '../../../../output/view.ts'
import type { WaitOptions } from '../../../../wait/wait-state.ts'

export const waitColumns = columns('pr', 'outcome', 'state', 'elapsedSeconds')

/** What a wait reads. */
export const waitReads = [
  getSubmittedPullRequest,
  getSubmittedPullRequests,
  getQueue,
  getMergeQueueTestingDetails,
  getMergeQueueMetrics,
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
