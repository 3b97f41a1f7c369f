import { callOperation } from '../../../api/call.ts'
import { getMergeQueueMetrics, samplesIn } from '../../../api/operations/queue-metrics.ts'
import { type ServiceClient, type ServiceLogger, withMaxRetries } from '../../../api/service-client.ts'
import type { InputValues } from '../../../cli/inputs.ts'
import type { queueInputs } from '../../../cli/queue-inputs.ts'
import { isOfQueue, toQueueSeries } from '../../../domain/metrics/queue-series.ts'
import { type UsualTimeInQueue, usualTimeInQueue } from '../../../domain/metrics/usual-time.ts'

/** A queue: its repository and its target branch. */
export type QueueName = InputValues<typeof queueInputs>

/** What the metrics of a queue add to its record. */
export interface QueueActivity {
  readonly usual: UsualTimeInQueue | undefined
  /** How many pull requests wait to become ready; undefined if the metrics do not say. */
  readonly notReady: number | undefined
}

/** The time limit of the request, in milliseconds. */
const timeLimit = 1_000

/**
 * Reads the metrics of a queue with a single request of at most a second. Never rejects: undefined if the
 * metrics cannot be read.
 */
export async function readQueueActivity(
  client: ServiceClient,
  { repo, targetBranch }: QueueName,
): Promise<QueueActivity | undefined> {
  const logger: ServiceLogger = {
    debug: text => client.logger.debug(text),
    info: async () => undefined,
    warn: async () => undefined,
    infoOnce: async () => undefined,
    warnOnce: async () => undefined,
    withSpinner: (_, work) => work(),
  }
  try {
    const limits = { ...withMaxRetries(client, 0), timeout: () => timeLimit }
    const params = { repo, branch: targetBranch }
    const { response } = await callOperation({ ...client, logger }, getMergeQueueMetrics, params, { limits })
    const samples = samplesIn(response.bytes)
    let notReady: number | undefined
    for (const sample of samples) {
      const series = toQueueSeries(sample)
      if (series?.kind !== 'number' || series.number !== 'awaitingMergeability') continue
      if (isOfQueue(series, repo, targetBranch) && Number.isFinite(sample.value))
        notReady = (notReady ?? 0) + sample.value
    }
    return { usual: usualTimeInQueue(samples, repo, targetBranch), notReady }
  } catch {
    return undefined
  }
}
