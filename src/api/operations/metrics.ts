import { MergeqError } from '../../base/errors.ts'
import type { JsonObject } from '../../base/json.ts'
import { labelsOf, numberText, readSamples, type Sample } from '../../domain/metrics/exposition.ts'
import { findQueue, type QueueMetrics, summarizeMetrics } from '../../domain/metrics/last-hour.ts'
import { maxSamples } from '../../values/limits.ts'
import {
  defaultHost,
  type Queue,
  queueKey,
  queueName,
  type Repository,
  repositoryName,
} from '../../values/repository.ts'
import { repository, text } from '../../values/types.ts'
import { maxMetricsSize } from '../limits.ts'
import { defineOperation } from '../operation.ts'
import { param } from '../params.ts'
import {
  type DecodedResponse,
  isWebPage,
  type ResponseDecoder,
  recordDecoder,
  webPageError,
} from '../response.ts'
import { type Infer, sampleRecord } from './fields.ts'
import type { queueSummaryRecord } from './records.ts'

const recordOf = ({ value, ...sample }: Sample): JsonObject => ({
  ...sample,
  value: Number.isFinite(value) ? value : numberText(value),
})

const batchSize = 1_000

function* batchesOf(text: string): Generator<readonly JsonObject[]> {
  let batch: JsonObject[] = []
  for (const sample of readSamples(text)) {
    batch.push(recordOf(sample))
    if (batch.length < batchSize) continue
    yield batch
    batch = []
  }
  if (batch.length > 0) yield batch
}

/** Keeps the text byte for byte. Samples are created while they are printed: all together would take much memory. */
const expositionDecoder: ResponseDecoder = {
  expects: 'text',
  maxBytes: maxMetricsSize,
  read({ text, bytes }) {
    if (isWebPage(text)) throw webPageError()
    return decodeMetrics(text, bytes)
  },
}

/** Checks as many samples as are parsed: a longer text can still be passed on. */
function checkSamples(text: string): void {
  let count = 0
  for (const _ of readSamples(text)) if (++count === maxSamples) return
}

function decodeMetrics(text: string, bytes: Uint8Array): DecodedResponse {
  checkSamples(text)
  return {
    get records() {
      return [...batchesOf(text)].flat()
    },
    document: records => records,
    bytes,
  }
}

const utf8 = new TextDecoder()

/** Yields the samples in the body of a response as records, in batches: all at once would take much memory. */
export const sampleBatches = (bytes: Uint8Array): Iterable<readonly JsonObject[]> =>
  batchesOf(utf8.decode(bytes))

/** Yields the samples in the body of a response. Throws a `bad-answer` error when a sample cannot be read. */
export const readSamplesIn = (bytes: Uint8Array): Iterable<Sample> => readSamples(utf8.decode(bytes))

/** Whether a line concerns a branch, or is no sample: the parser of the text reports invalid lines. */
const isOfBranch =
  (branch: string) =>
  (line: string): boolean =>
    /^[ \t\r]*(?:#|$)/.test(line) || (labelsOf(line) ?? { branch }).branch === branch

/** Returns the lines of a text for which `keep` returns true, each with its bytes and line end unchanged. */
function keepLines(bytes: Uint8Array, keep: (line: string) => boolean): Uint8Array {
  const lines = Buffer.from(bytes)
    .toString('latin1')
    .split(/(?<=\n)/)
  const textOf = (line: string) => utf8.decode(Buffer.from(line, 'latin1')).replace(/\r?\n$/, '')
  return Buffer.from(lines.filter(line => keep(textOf(line))).join(''), 'latin1')
}

export const getMergeQueueMetrics = defineOperation({
  route: 'GET /getMergeQueueMetrics',
  summary: 'Reads the metrics of merge queues.',
  response: sampleRecord,
  params: {
    // Without a repository, the service responds with all of the organization
    // (docs/reference/cli.md, "CI jobs and git").
    repo: param(repository, 'Repository', {
      location: 'query',
      setting: 'repo',
      settingFrom: 'option-or-environment',
      encode: repo =>
        repo === undefined ? undefined : { repo: `${repo.owner}/${repo.name}`, repoHost: repo.host },
    }),
    branch: param(text('branch'), 'Show the samples of this branch only', {
      setting: 'targetBranch',
      settingFrom: 'option',
    }),
  },
  adaptResponse(response, { branch }) {
    if (branch === undefined) return response
    const bytes = keepLines(response.bytes, isOfBranch(branch))
    return decodeMetrics(utf8.decode(bytes), bytes)
  },
  decoder: expositionDecoder,
  errors: { subject: 'the metrics' },
})

/** Returns what the metrics in a response say of a queue; undefined if they do not name it. */
export const queueMetricsIn = (bytes: Uint8Array, { repo, targetBranch }: Queue): QueueMetrics | undefined =>
  findQueue(summarizeMetrics(readSamplesIn(bytes)), repo, targetBranch)

/** Returns each queue that metrics name; `place` has the repository where they do not say it, and the host of all. */
export function queuesIn(bytes: Uint8Array, place: Repository | undefined) {
  const queues = summarizeMetrics(readSamplesIn(bytes)).queues.map(metrics => {
    const [, owner, name] = /^(.*)\/(.*)$/.exec(metrics.repo ?? '') ?? []
    const repo =
      owner === undefined || name === undefined ? place : { host: place?.host ?? defaultHost, owner, name }
    if (repo === undefined) {
      const message = `The metrics name no repository of the queue for ${metrics.branch}.`
      throw new MergeqError('bad-answer', message, { hint: 'Name the repository.' })
    }
    const queue = { repo, targetBranch: metrics.branch }
    return { name: queueName(queue), queue, metrics }
  })
  // Of some queues, only a part of the metrics says the repository.
  return [...new Map(queues.map(named => [queueKey(named.queue), named])).values()]
}

/** Returns a queue as `queueSummaryRecord`, with null for what the metrics do not say; `place` is that of `queuesIn`. */
export function queueSummary(
  { repo, branch, numbers }: Pick<QueueMetrics, 'repo' | 'branch' | 'numbers'>,
  place: Repository | undefined,
): Infer<typeof queueSummaryRecord> {
  const { depth = null, testing = null, merged = null, failed = null } = numbers
  const { awaitingMergeability: notReady = null } = numbers
  const ofPlace = place === undefined ? null : repositoryName(place)
  const name = repo === undefined ? ofPlace : `${place?.host ?? defaultHost}/${repo}`
  return { repo: name, branch, depth, testing, merged, failed, notReady }
}

export const getServiceStatus = defineOperation({
  route: 'GET /status',
  summary: 'Reads the health of the service; needs no token.',
  isHostedOnly: true,
  isPublic: true,
  params: {},
  decoder: recordDecoder(status => status),
  errors: { subject: 'the status of the service' },
})

export const metricsOperations = { getMergeQueueMetrics, status: getServiceStatus }
