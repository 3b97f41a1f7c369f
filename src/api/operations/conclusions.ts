// Operations of the clients alone: what mergeq concludes from one or several responses.
import { summarizeMetrics } from '../../domain/metrics/last-hour.ts'
import type { Operation } from '../operation.ts'
import { getMergeQueueMetrics, queueSummary, readSamplesIn } from './metrics.ts'
import { getPartialPullRequest } from './pull-requests.ts'
import { getQueue } from './queues.ts'
import { explanationRecord, queueExplanationRecord, queueSummaryRecord } from './records.ts'

const { repo, targetBranch, pr } = getPartialPullRequest.params

/** Explains a pull request; the command line and the library read what it takes with `explain`. */
export const explainPullRequest = {
  ...getPartialPullRequest,
  summary: 'Explains why a pull request is not merging and what to do next.',
  params: { repo, targetBranch, pr },
  exclusive: [],
  response: explanationRecord,
} satisfies Operation

/** Explains a queue; the command line and the library read what it takes with `explainQueueAt`. */
export const explainQueue = {
  ...getQueue,
  summary: 'Explains why nothing moves in a queue and what to do.',
  response: queueExplanationRecord,
} satisfies Operation

export const listQueues: Operation<typeof getMergeQueueMetrics.params> = {
  ...getMergeQueueMetrics,
  summary: 'Lists the queues that the metrics name, with their activity in the last hour.',
  response: queueSummaryRecord,
  adaptResponse: ({ bytes }, { repo }) => ({
    bytes,
    records: summarizeMetrics(readSamplesIn(bytes)).queues.map(queue => queueSummary(queue, repo)),
    document: records => records,
  }),
}

export const conclusions = { explainPullRequest, explainQueue, listQueues }
