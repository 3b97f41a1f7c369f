import { maxMetricsSize, maxSamples } from '../../domain/limits.ts'
import { numberText, readSamples, type Sample } from '../../domain/metrics/exposition.ts'
import { repository } from '../../domain/values/types.ts'
import type { JsonObject } from '../../json.ts'
import { defineOperation, param } from '../operation.ts'
import { type DecodedResponse, isWebPage, type ResponseDecoder, webPageError } from '../response.ts'
import { sampleRecord } from './fields.ts'

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

/**
 * Keeps the text byte for byte. Samples are checked here, and created while they are printed: all of them together
 * would take many times the memory of the text.
 */
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

export function decodeMetrics(text: string, bytes: Uint8Array): DecodedResponse {
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
  },
  decoder: expositionDecoder,
  errors: { subject: 'the metrics' },
})
