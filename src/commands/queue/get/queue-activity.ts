import { callIfAvailable } from '../../../api/extra-reads.ts'
import { getMergeQueueMetrics, samplesIn } from '../../../api/operations/metrics.ts'
import { type ServiceClient, withMaxRetries, withoutMessages } from '../../../api/service-client.ts'
import type { queueInputs } from '../../../cli/common-inputs.ts'
import type { InputValues } from '../../../cli/inputs.ts'

export type QueueName = InputValues<typeof queueInputs>

export interface QueueActivity {
  /** The usual time in the queue, in the words of `usualRangeText`; undefined if nothing merged. */
  readonly usualText: string | undefined
  /** How many pull requests wait to become ready; undefined if the metrics do not say. */
  readonly notReady: number | undefined
}

/** The time limit of the request, in milliseconds. */
const timeLimit = 1_000

/**
 * Reads the metrics of a queue with a single request of at most a second, and with none after a 404. Never
 * rejects: undefined if the metrics cannot be read.
 */
export async function readQueueActivity(
  client: ServiceClient,
  { repo, targetBranch }: QueueName,
): Promise<QueueActivity | undefined> {
  try {
    const limits = { ...withMaxRetries(client, 0), timeout: () => timeLimit }
    const params = { repo, branch: targetBranch }
    const { result } = await callIfAvailable(withoutMessages(client), getMergeQueueMetrics, params, {
      limits,
    })
    if (result === undefined) return undefined
    const samples = samplesIn(result.response.bytes)
    const { summarizeMetrics, usualRangeText, usualTimeInQueue } = await import(
      '../../../domain/metrics/last-hour.ts'
    )
    const name = `${repo.owner}/${repo.name}`.toLowerCase()
    const queue = summarizeMetrics(samples).queues.find(
      queue => queue.branch === targetBranch && (queue.repo ?? name).toLowerCase() === name,
    )
    const usual = usualTimeInQueue(samples, repo, targetBranch)
    return {
      usualText: usual && usualRangeText(usual),
      notReady: queue?.numbers.awaitingMergeability,
    }
  } catch {
    return undefined
  }
}
