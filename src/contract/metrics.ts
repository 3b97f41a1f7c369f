import { usage } from '../failure.ts'
import { table } from '../view/shapes.ts'
import { isOfBranch, keepLines } from './branch-lines.ts'
import { endpoint } from './endpoint.ts'
import { numberText, type Sample, samplesOf } from './exposition.ts'
import type { Field } from './field.ts'
import { maxListAnswer } from './limits.ts'
import { metricsPicture } from './metrics-picture.ts'
import { isWebPage, type Reading, type Reply, webPage } from './reply.ts'
import type { Repository } from './words.ts'

/** The text of the format, kept byte for byte; its samples are read for every format but the text itself. */
const exposition: Reading = {
  expects: 'text',
  maxBytes: maxListAnswer,
  read({ text, bytes }) {
    if (isWebPage(text)) throw webPage()
    return replyOf(text, bytes)
  },
}

function replyOf(text: string, bytes: Uint8Array): Reply {
  const records = samplesOf(text).map(({ value, ...sample }) => ({
    ...sample,
    value: Number.isFinite(value) ? value : numberText(value),
  }))
  return { records, document: found => found, bytes }
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

export const metrics = endpoint({
  command: 'metrics',
  route: 'GET /getMergeQueueMetrics',
  summary: 'Print the metrics of merge queues in the Prometheus text format',
  changes: false,
  fields: { repo: repositoryOrAll, branch: typedBranch },
  reply: exposition,
  narrow(reply, { branch }) {
    if (branch === undefined) return reply
    const bytes = keepLines(reply.bytes, isOfBranch(branch))
    return replyOf(utf8.decode(bytes), bytes)
  },
  view: ({ records, bytes }) => ({
    ...table(
      records.map(({ labels, ...sample }) => ({
        ...sample,
        labels: Object.entries(labels ?? {})
          .map(([key, value]) => `${key}=${value}`)
          .join(' '),
      })),
      [
        ['NAME', 'name'],
        ['LABELS', 'labels'],
        ['VALUE', 'value', 'number'],
      ],
    ),
    drawn: () => metricsPicture(samplesIn(bytes)),
    raw: bytes,
  }),
  examples: [
    'mergeq metrics',
    'mergeq metrics --target-branch main',
    'mergeq metrics --repo acme/web --json',
    'mergeq metrics > mergeq.prom',
  ],
})
