import type { JsonObject } from '../../base/json.ts'
import { type QueueActivity, type QueueMetrics, usualTimeInQueue } from '../../domain/metrics/last-hour.ts'
import { testSlots } from '../../domain/queue-entries.ts'
import type { Queue } from '../../values/repository.ts'
import { callOperation } from '../call.ts'
import { getMergeQueueMetrics, queueMetricsIn } from '../operations/metrics.ts'
import { type ServiceClient, withoutMessages } from '../service-client.ts'

/** How long what a person is told in addition may take, in milliseconds. */
const extraTime = 1_000

/** Reads the metrics of the last hour once, in at most `timeLimit` milliseconds. Never rejects. */
export async function readQueueMetrics(
  client: ServiceClient,
  place: Queue,
  timeLimit = extraTime,
): Promise<{ readonly queue: QueueMetrics | undefined } | undefined> {
  const limits = { maxRetries: 0, timeout: () => timeLimit }
  try {
    const values = { repo: place.repo }
    const { response } = await callOperation(withoutMessages(client), getMergeQueueMetrics, values, {
      limits,
    })
    return { queue: queueMetricsIn(response.bytes, place) }
  } catch {
    return undefined
  }
}

/** Reads what the metrics say of a queue. Never rejects: nothing is known if they cannot be read. */
export async function readActivity(
  client: ServiceClient,
  place: Queue,
  timeLimit?: number,
): Promise<QueueActivity> {
  const read = await readQueueMetrics(client, place, timeLimit)
  return { usual: usualTimeInQueue(read?.queue), notReady: read?.queue?.numbers.awaitingMergeability }
}

/** Reads which pull requests are tested together, with one request. Never rejects: undefined if that is not known. */
export async function readTestedTogether(
  queue: JsonObject,
  client: ServiceClient,
  place: Queue,
): Promise<QueueActivity['batches']> {
  const { isBatching, testing } = testSlots(queue)
  if (!isBatching || testing.length < 2) return undefined
  const { readBatches } = await import('./batches.ts')
  const options = { limits: { maxRetries: 0, timeout: () => extraTime }, readsAlone: false }
  try {
    const batches = await readBatches(queue, place, withoutMessages(client), options)
    return batches.map(({ pullRequests }) => pullRequests)
  } catch {
    return undefined
  }
}
