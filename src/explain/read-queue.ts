import { callOperation } from '../api/call.ts'
import { readList, readToEnd } from '../api/list.ts'
import type { Infer } from '../api/operations/fields.ts'
import { getMergeQueueMetrics, queueMetricsIn } from '../api/operations/metrics.ts'
import { listPullRequests } from '../api/operations/pull-requests.ts'
import { getQueue } from '../api/operations/queues.ts'
import type { queueExplanationRecord } from '../api/operations/records.ts'
import { readBatches } from '../api/reads/batches.ts'
import { tolerate } from '../api/reads/extra-reads.ts'
import type { ServiceClient } from '../api/service-client.ts'
import { serviceStart } from '../api/service-time.ts'
import { isNotFound, type MergeqError, toMergeqError } from '../base/errors.ts'
import type { JsonObject } from '../base/json.ts'
import { queueEntries } from '../domain/queue-entries.ts'
import type { Queue } from '../values/repository.ts'
import { explanationOfQueue, type QueueExplanation, unreadNotReady } from './explain-queue.ts'
import { nextQueueCommands } from './next-commands.ts'
import { explain, explanationJson } from './read-pull-request.ts'

/** The most pull requests that are not ready of which something is read. */
const maxRead = 20

/** Reads what explains a queue. Throws the error of the queue; what else cannot be read is named in the explanation. */
export async function explainQueueAt(values: Queue, client: ServiceClient): Promise<QueueExplanation> {
  const { response } = await callOperation(client, getQueue, values)
  const [queue = {}] = response.records
  const [head] = queueEntries(queue)
  const reads = [
    head === undefined ? undefined : tolerate(() => explain({ ...values, pr: head.pr }, client, queue)),
    readBatches(queue, values, client, { limits: { maxRetries: 0 }, readsAlone: true }),
    readNotReady(values, client),
    readNotReadyCount(values, client),
  ] as const
  // All reads finish before an error is thrown: otherwise the others would lose their connections and retry.
  await Promise.allSettled(reads)
  const [explained, batches, listed, counted] = await Promise.all(reads)
  const unread = [
    ...unreadPart('head of the queue', explained?.failure?.message),
    ...unreadPart(unreadNotReady, listed.why),
    ...unreadPart('metrics', counted.failure?.message),
  ]
  return explanationOfQueue({
    ...values,
    nameOf: client.nameOf,
    commandFor: nextQueueCommands(client.settings, values),
    queue,
    head: explained?.value,
    batches,
    notReady: listed.records,
    notReadyCount: listed.isComplete ? listed.records.length : counted.value,
    unread,
    now: await serviceStart(client),
  })
}

interface NotReadyList {
  readonly records: readonly JsonObject[]
  readonly isComplete: boolean
  readonly why?: string | undefined
}

/** Lists the pull requests that are not ready; none, without a reason, where the service lacks the operation. */
async function readNotReady(values: Queue, client: ServiceClient): Promise<NotReadyList> {
  const records: JsonObject[] = []
  const { list } = listPullRequests
  if (list === undefined) return { records, isComplete: false }
  const { value: end, failure } = await tolerate(async () => {
    try {
      const wanted = {
        ...values,
        states: ['NOT_READY'],
        limit: maxRead,
        maxPages: undefined,
        pageSize: undefined,
      }
      return await readToEnd(
        readList(client, list(wanted, client.serviceTime.startedAt(), client.nameOf)),
        record => records.push(record),
      )
    } catch (error) {
      if (isNotFound(toMergeqError(error))) return undefined
      throw error
    }
  })
  return {
    records,
    isComplete: end?.complete === true,
    why: failure?.message ?? end?.problem ?? end?.failure?.message,
  }
}

/** Returns how many pull requests of the queue are not ready, as the metrics say; undefined where they do not. */
async function readNotReadyCount(
  place: Queue,
  client: ServiceClient,
): Promise<{ readonly value?: number | undefined; readonly failure?: MergeqError }> {
  return tolerate(async () => {
    const { response } = await callOperation(client, getMergeQueueMetrics, { repo: place.repo })
    return queueMetricsIn(response.bytes, place)?.numbers.awaitingMergeability
  })
}

const unreadPart = (what: string, why: string | undefined): QueueExplanation['unread'] =>
  why === undefined ? [] : [{ what, why }]

/** Returns an explanation as JSON: `queueExplanationRecord`. */
export const queueExplanationJson = (
  explanation: QueueExplanation,
): Infer<typeof queueExplanationRecord> => ({
  ...explanation,
  head: explanation.head === null ? null : explanationJson(explanation.head),
  next: explanation.next.map(({ command, why }) => ({ command, why })),
})
