import type { Input } from '../../cli/inputs.ts'
import { metricsView } from '../../commands/metrics/view.ts'
import { maxListAnswer } from '../../domain/limits.ts'
import { isOfBranch, keepLines } from '../../domain/metrics/branch-lines.ts'
import { numberText, parseSamples, readSamples, type Sample } from '../../domain/metrics/exposition.ts'
import type { Repository } from '../../domain/values/repository.ts'
import { usageError } from '../../errors.ts'
import type { JsonObject } from '../../json.ts'
import { type DecodedResponse, isWebPage, type ResponseDecoder, webPageError } from '../decode.ts'
import { defineOperation } from '../operation.ts'

const recordOf = ({ value, ...sample }: Sample): JsonObject => ({
  ...sample,
  value: Number.isFinite(value) ? value : numberText(value),
})

/** Samples that are made and printed at once. */
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
 * The text of the format, kept byte for byte. Its samples are all checked before any is printed, and made when they are
 * printed: together they would take many times the memory of the text.
 */
const exposition: ResponseDecoder = {
  expects: 'text',
  maxBytes: maxListAnswer,
  read({ text, bytes }) {
    if (isWebPage(text)) throw webPageError()
    return replyOf(text, bytes)
  },
  passOn: {
    formats: 'text',
    begin({ text }) {
      if (isWebPage(text)) throw webPageError()
      checkSamples(text.slice(0, text.lastIndexOf('\n') + 1))
      return new Uint8Array(0)
    },
  },
}

/** Throws where a sample cannot be read. */
function checkSamples(text: string): void {
  for (const _ of readSamples(text));
}

function replyOf(text: string, bytes: Uint8Array): DecodedResponse {
  checkSamples(text)
  return {
    get records() {
      return [...batchesOf(text)].flat()
    },
    batches: () => batchesOf(text),
    document: found => found,
    bytes,
  }
}

const utf8 = new TextDecoder()

/** The samples of an answer as it came. */
export const samplesIn = (bytes: Uint8Array): readonly Sample[] => parseSamples(utf8.decode(bytes))

/** One repository if a flag or the environment names one, else all of the organization (CLI.md section 3). */
const repositoryOrAll: Input<Repository | undefined> = {
  definitions: [
    { syntax: '--all-repos', summary: 'All repositories of the organization (the default without --repo)' },
  ],
  setting: 'repo',
  location: 'query',
  read(args, context) {
    if (!args.has('--all-repos')) return context.explicit('repo')
    if (args.has('--repo'))
      throw usageError('--all-repos and --repo contradict each other.', 'Leave one of them out.')
    return undefined
  },
  encode: repo =>
    repo === undefined ? undefined : { repo: `${repo.owner}/${repo.name}`, repoHost: repo.host },
}

/** The branch that --target-branch names; without it all branches are shown. */
const typedBranch: Input<string | undefined> = {
  definitions: [],
  setting: 'targetBranch',
  read: async (args, context) => (args.has('--target-branch') ? context.require('targetBranch') : undefined),
}

const columns = [
  { title: 'NAME', format: 'plain' },
  { title: 'LABELS', format: 'plain' },
  { title: 'VALUE', format: 'number' },
] as const

export const getMergeQueueMetrics = defineOperation({
  command: 'metrics',
  route: 'GET /getMergeQueueMetrics',
  summary: 'Print the metrics of merge queues in the Prometheus text format',
  effect: false,
  inputs: { repo: repositoryOrAll, branch: typedBranch },
  decoder: exposition,
  narrow: ({ branch }) =>
    branch === undefined
      ? undefined
      : ({ bytes: whole }) => {
          const bytes = keepLines(whole, isOfBranch(branch))
          return replyOf(utf8.decode(bytes), bytes)
        },
  view: reply => ({
    columns,
    get rows() {
      return reply.records.map(({ name, labels, value }) => [
        name,
        Object.entries(labels ?? {})
          .map(([key, value]) => `${key}=${value}`)
          .join(' '),
        value,
      ])
    },
    terminalView: () => metricsView(samplesIn(reply.bytes)),
    raw: reply.bytes,
  }),
  examples: [
    'mergeq metrics',
    'mergeq metrics --target-branch main',
    'mergeq metrics --repo acme/web --json',
    'mergeq metrics > mergeq.prom',
  ],
})
