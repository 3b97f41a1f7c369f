import { usage } from '../../errors.ts'
import type { JsonObject } from '../../json.ts'
import { isOfBranch, keepLines } from '../../domain/metrics/branch-lines.ts'
import { endpoint } from '../operation.ts'
import { numberText, readSamples, type Sample, samplesOf } from '../../domain/metrics/exposition.ts'
import type { Field } from '../../cli/inputs.ts'
import { maxListAnswer } from '../../domain/limits.ts'
import { metricsPicture } from '../../commands/metrics/view.ts'
import { isWebPage, type Reading, type Reply, webPage } from '../decode.ts'
import type { Repository } from '../../domain/values/parsers.ts'

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
const exposition: Reading = {
  expects: 'text',
  maxBytes: maxListAnswer,
  read({ text, bytes }) {
    if (isWebPage(text)) throw webPage()
    return replyOf(text, bytes)
  },
  passOn: {
    formats: 'text',
    begin({ text }) {
      if (isWebPage(text)) throw webPage()
      checkSamples(text.slice(0, text.lastIndexOf('\n') + 1))
      return new Uint8Array(0)
    },
  },
}

/** Throws where a sample cannot be read. */
function checkSamples(text: string): void {
  for (const _ of readSamples(text));
}

function replyOf(text: string, bytes: Uint8Array): Reply {
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
export const samplesIn = (bytes: Uint8Array): readonly Sample[] => samplesOf(utf8.decode(bytes))

/** One repository if a flag or the environment names one, else all of the organization (CLI.md section 3). */
const repositoryOrAll: Field<Repository | undefined> = {
  words: [
    { spell: '--all-repos', summary: 'All repositories of the organization (the default without --repo)' },
  ],
  setting: 'repo',
  at: 'query',
  read(given, context) {
    if (!given.has('--all-repos')) return context.told('repo')
    if (given.has('--repo'))
      throw usage('--all-repos and --repo contradict each other.', 'Leave one of them out.')
    return undefined
  },
  wire: repo =>
    repo === undefined ? undefined : { repo: `${repo.owner}/${repo.name}`, repoHost: repo.host },
}

/** The branch that --target-branch names; without it all branches are shown. */
const typedBranch: Field<string | undefined> = {
  words: [],
  setting: 'targetBranch',
  read: async (given, context) => (given.has('--target-branch') ? context.need('targetBranch') : undefined),
}

const columns = [
  { title: 'NAME', manner: 'plain' },
  { title: 'LABELS', manner: 'plain' },
  { title: 'VALUE', manner: 'number' },
] as const

export const metrics = endpoint({
  command: 'metrics',
  route: 'GET /getMergeQueueMetrics',
  summary: 'Print the metrics of merge queues in the Prometheus text format',
  changes: false,
  fields: { repo: repositoryOrAll, branch: typedBranch },
  reply: exposition,
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
    drawn: () => metricsPicture(samplesIn(reply.bytes)),
    raw: reply.bytes,
  }),
  examples: [
    'mergeq metrics',
    'mergeq metrics --target-branch main',
    'mergeq metrics --repo acme/web --json',
    'mergeq metrics > mergeq.prom',
  ],
})
