import { param } from '../api/operation.ts'
import * as operations from '../api/operations/metrics.ts'
import { labelsOf } from '../domain/metrics/exposition.ts'
import { type QueueMetrics, summarizeMetrics } from '../domain/metrics/last-hour.ts'
import { defaultHost, queueKey, type Repository } from '../domain/values/repository.ts'
import { text } from '../domain/values/types.ts'
import { MergeqError } from '../errors.ts'
import type { JsonObject } from '../json.ts'
import { defineMethod, type Method } from './method.ts'
import { queueSummaryRecord } from './records.ts'

const utf8 = new TextDecoder()

/**
 * Returns a test whether a line of a metrics text concerns a branch: true for samples with the label
 * `branch="..."`, comments and empty lines, and for invalid lines, so that the parser of the text reports
 * them.
 */
const isOfBranch =
  (branch: string) =>
  (line: string): boolean =>
    /^[ \t\r]*(?:#|$)/.test(line) || (labelsOf(line) ?? { branch }).branch === branch

/** Returns the lines of a text for which `keep` returns true, each with its bytes and line end unchanged. */
function keepLines(bytes: Uint8Array, keep: (line: string) => boolean): Uint8Array {
  const result = new Uint8Array(bytes.length)
  let length = 0
  for (let start = 0; start < bytes.length; ) {
    const end = bytes.indexOf(0x0a, start)
    const line = bytes.subarray(start, end < 0 ? bytes.length : end + 1)
    if (keep(utf8.decode(line).replace(/\r?\n$/, ''))) {
      result.set(line, length)
      length += line.length
    }
    start += line.length
  }
  return result.subarray(0, length)
}

export const getMergeQueueMetrics = defineMethod(operations.getMergeQueueMetrics, {
  params: {
    ...operations.getMergeQueueMetrics.params,
    branch: param(text('branch'), 'Show the samples of this branch only', {
      setting: 'targetBranch',
      settingFrom: 'option',
    }),
  },
  adaptResponse(response, { branch }) {
    if (branch === undefined) return response
    const bytes = keepLines(response.bytes, isOfBranch(branch))
    return operations.decodeMetrics(utf8.decode(bytes), bytes)
  },
})

/**
 * Returns each queue that metrics name, with its repository and branch.
 *
 * @param place the repository of queues whose repository the metrics do not say; its host is the host of all
 */
export function queuesIn(bytes: Uint8Array, place: Repository | undefined) {
  const queues = summarizeMetrics(operations.readSamplesIn(bytes)).queues.map(metrics => {
    const [, owner, name] = /^(.*)\/(.*)$/.exec(metrics.repo ?? '') ?? []
    const repo =
      owner === undefined || name === undefined ? place : { host: place?.host ?? defaultHost, owner, name }
    if (repo !== undefined) return { values: { repo, targetBranch: metrics.branch }, metrics }
    throw new MergeqError(
      'bad-answer',
      `The metrics name no repository of the queue for ${metrics.branch}.`,
      { hint: 'Name the repository.' },
    )
  })
  // Of some queues, only a part of the metrics says the repository.
  return [...new Map(queues.map(queue => [queueKey(queue.values), queue])).values()]
}

/** Returns a queue as `queueSummaryRecord`; what the metrics do not say is null. */
export function queueSummary({ repo, branch, numbers }: QueueMetrics): JsonObject {
  const { depth = null, testing = null, merged = null, failed = null } = numbers
  return { repo: repo ?? null, branch, depth, testing, merged, failed }
}

/** Lists the queues that the metrics name. */
export const listQueues: Method = {
  ...operations.getMergeQueueMetrics,
  name: 'listQueues',
  summary: 'Lists the queues that the metrics name, with their activity in the last hour.',
  response: queueSummaryRecord,
  adaptResponse: ({ bytes }) => ({
    bytes,
    records: summarizeMetrics(operations.readSamplesIn(bytes)).queues.map(queueSummary),
    document: records => records,
  }),
}
