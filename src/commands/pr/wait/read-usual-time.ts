import { callOperation } from '../../../api/call.ts'
import { getMergeQueueMetrics, readSamplesIn } from '../../../api/operations/metrics.ts'
import { withMaxRetries, withoutMessages } from '../../../api/service-client.ts'
import type { CommandContext } from '../../../cli/context.ts'
import { type UsualTimeInQueue, usualTimeInQueue } from '../../../domain/metrics/last-hour.ts'
import type { Repository } from '../../../domain/values/repository.ts'

/** The time for the metrics, in milliseconds: they are an extra of the live line. */
const timeLimit = 3_000

/**
 * Reads the usual time in a queue from the metrics of its last hour, with a single request. Undefined if
 * there are none or if the request fails; never rejects.
 */
export async function readUsualTime(
  { repo, targetBranch }: { readonly repo: Repository; readonly targetBranch: string },
  context: Pick<CommandContext, 'client'>,
): Promise<UsualTimeInQueue | undefined> {
  try {
    const client = context.client()
    const limits = { ...withMaxRetries(client, 0), timeout: (usual: number) => Math.min(usual, timeLimit) }
    const params = { repo, branch: undefined }
    const { response } = await callOperation(withoutMessages(client), getMergeQueueMetrics, params, {
      limits,
    })
    return response.bytes && usualTimeInQueue(readSamplesIn(response.bytes), repo, targetBranch)
  } catch {
    return undefined
  }
}
