import { getMergeQueueMetrics, readSamplesIn, sampleBatches } from '../api/operations/metrics.ts'
import { getQueue } from '../api/operations/queues.ts'
import { isObject, type JsonObject } from '../base/json.ts'
import { type Cli, command, drawsResults } from '../command/command.ts'
import { printRequests } from '../command/dry-run.ts'
import { flag } from '../command/inputs.ts'
import { paramsOf } from '../command/param-inputs.ts'
import { read } from '../command/send.ts'
import { namedQueues, readQueues, reportUnread } from '../command/several-queues.ts'
import { repositoryOrAll } from '../command/shared-inputs.ts'
import { isCounted, numberText, type Sample } from '../domain/metrics/exposition.ts'
import {
  type Bucket,
  type MetricsSummary,
  type Quantile,
  type QueueHistogram,
  type QueueMetrics,
  quantileOf,
  summarizeMetrics,
} from '../domain/metrics/last-hour.ts'
import { pullRequestStates, stateWords } from '../domain/states.ts'
import { type Span, type StyledLine, styled } from '../output/styled-text.ts'
import { columns, rawText, type Table } from '../output/view.ts'
import { formatDuration, formatEstimate, formatInteger, pluralize, shorten } from '../values/format.ts'
import type { Repository } from '../values/repository.ts'
import { queueMetricsText } from './metrics/queue-text.ts'

const heights = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'] as const

/** Scaled from 0 to the fullest bucket; only an empty bucket has no height. */
function sparkline(buckets: readonly Bucket[]): string {
  const counts = buckets.map(({ count }, index) => Math.max(0, count - (buckets[index - 1]?.count ?? 0)))
  const max = counts.reduce((most, count) => Math.max(most, count), 0)
  const heightOf = (count: number) => (count === 0 ? 0 : Math.max(1, Math.round((count / max) * 8)))
  return counts.map(count => heights[heightOf(count)]).join('')
}

const gap = '   '

const labeled = (label: string, value: number | undefined): string =>
  `${label} ${value === undefined ? '-' : formatInteger(value)}`

const conclusionStyles = { merged: 'green', failed: 'red' } as const

const joinPieces = (pieces: readonly (string | Span)[]): readonly (string | Span)[] =>
  pieces.flatMap((piece, index) => (index === 0 ? [piece] : [gap, piece]))

const histogramLabels: readonly (readonly [QueueHistogram, string])[] = [
  ['timeInQueue', 'time in queue'],
  ['waitDuration', 'waiting'],
  ['testDuration', 'testing'],
]

type Row = readonly [label: string, pieces: readonly (string | Span)[]]

function numberRows({ numbers, bisecting }: QueueMetrics): readonly Row[] {
  const { depth, testing, awaitingMergeability = 0 } = numbers
  const lastHour = [
    ...(['merged', 'failed'] as const).map(name => {
      const text = labeled(name, numbers[name])
      return (numbers[name] ?? 0) > 0 ? styled(text, conclusionStyles[name]) : text
    }),
    labeled('cancelled', numbers.cancelled),
    labeled('restarts', numbers.restarts),
  ]
  const now = [
    labeled('depth', depth) + (bisecting > 0 ? ` (${formatInteger(bisecting)} in bisection)` : ''),
    labeled('testing', testing),
    ...(awaitingMergeability > 0 ? [labeled('not ready', awaitingMergeability)] : []),
  ]
  return [
    ['last hour', lastHour],
    ['now', now],
  ]
}

/** Formats the bound of a bucket in seconds: `1m`, `2h`, `1m30s`. */
const boundText = (seconds: number): string => formatDuration(seconds * 1000).replace(/(?<=[hm])00[ms]$/, '')

/** Formats a quantile in seconds; of the first and the last bucket, only a bound is known. */
function quantileText({ value, between: [lower, upper] }: Quantile): string {
  if (upper === Number.POSITIVE_INFINITY) return `over ${boundText(value)}`
  return lower === 0 ? `under ${boundText(upper)}` : formatEstimate(value * 1000)
}

/** The states whose time another histogram has. */
const statesTold = new Map<string, QueueHistogram>([
  ['pending', 'waitDuration'],
  ['testing', 'testDuration'],
])

const maxStateLength = 20

/** Returns the states with a histogram, those that are known first, in the order in which they follow each other. */
function stateLabels({ histograms }: QueueMetrics): readonly (readonly [QueueHistogram, string])[] {
  const states = Object.keys(histograms).flatMap(name => /^timeIn (.+)$/.exec(name)?.[1] ?? [])
  const known = pullRequestStates.map(state => state.toLowerCase()).filter(state => states.includes(state))
  return [...new Set([...known, ...states])].flatMap(state => {
    const other = statesTold.get(state)
    return other !== undefined && histograms[other] !== undefined
      ? []
      : [[`timeIn ${state}`, `in ${shorten(stateWords(state), maxStateLength)}`] as const]
  })
}

const histogramsOf = (queue: QueueMetrics) => [...histogramLabels, ...stateLabels(queue)]

function histogramRows(queue: QueueMetrics): readonly (readonly [label: string, cells: readonly string[]])[] {
  const rows = histogramsOf(queue).flatMap(([name, label]) => {
    const buckets = queue.histograms[name] ?? []
    const quantiles = [0.5, 0.95].flatMap(share => quantileOf(share, buckets) ?? [])
    return quantiles.length < 2 ? [] : [{ label, buckets, texts: quantiles.map(quantileText) }]
  })
  const width = Math.max(...rows.flatMap(({ texts }) => texts.map(text => text.length)))
  return rows.map(({ label, buckets, texts }) => {
    const [p50, p95] = texts.map(text => text.padStart(width))
    // A bar alone says nothing.
    const bars = sparkline(buckets).trim()
    return [label, [`p50 ${p50}`, `p95 ${p95}`, ...(bars.length > 1 ? [bars] : [])]]
  })
}

function queueLines(queue: QueueMetrics): readonly StyledLine[] {
  const { repo, branch } = queue
  const width = Math.max(...histogramsOf(queue).map(([, label]) => label.length))
  const rows: readonly Row[] = [...numberRows(queue), ...histogramRows(queue)]
  return [
    [styled([...(repo === undefined ? [] : [repo]), branch].join(' '), 'bold')],
    ...rows.map(([label, pieces]) => [`  ${label.padEnd(width)}${gap}`, ...joinPieces(pieces)]),
  ]
}

const maxQueues = 20

function explainLines(queues: readonly QueueMetrics[]): readonly string[] {
  const times = queues.flatMap(histogramRows)
  const bars = times.filter(([, cells]) => cells.length > 2)
  return [
    'depth: queued pull requests; restarts: tests that began again.',
    ...(times.length > 0 ? ['p50, p95: half, and 95 of 100 pull requests took no longer (estimated).'] : []),
    ...(bars.length > 0 ? ['Bars: how many pull requests took how long, the shortest first.'] : []),
    'The service keeps the last hour only.',
  ]
}

/** `branch` is the only branch whose series were kept; undefined for all branches. */
function summaryLines(
  { queues, otherSeries }: MetricsSummary,
  branch: string | undefined,
): readonly StyledLine[] {
  const hidden = Math.max(0, queues.length - maxQueues)
  const blocks: (readonly StyledLine[])[] = queues.slice(0, maxQueues).map(queueLines)
  if (queues.length === 0)
    blocks.push([
      `${otherSeries === 0 ? 'No metrics' : 'No queue metrics'} found${branch === undefined ? '' : ` for branch ${branch}`}. Does the queue exist, and was it active in the last hour?`,
      branch === undefined
        ? 'To look up a queue, use queue get.'
        : 'To list the queues that have metrics, use queue list.',
    ])
  if (hidden > 0) blocks.push([`${pluralize(hidden, 'other queue')}. To list all queues, use queue list.`])
  if (otherSeries > 0)
    blocks.push([`${formatInteger(otherSeries)} other series. To print all series, add --raw.`])
  if (queues.length > 0)
    blocks.push(explainLines(queues.slice(0, maxQueues)).map(text => [styled(text, 'dim')]))
  return blocks.flatMap((lines, index): readonly StyledLine[] => (index === 0 ? lines : ['', ...lines]))
}

/** Formats labels for a table: `branch=main queue_type=main`. */
const formatLabels = (labels: JsonObject): string =>
  Object.entries(labels)
    .map(([key, value]) => `${key}=${value}`)
    .join(' ')

/** Returns all series as a table for a person. A histogram is one row: its count. */
function seriesTable(samples: readonly Sample[]): Table {
  return {
    columns: columns('series', ['value', { format: 'number' }]),
    rows: samples.map(({ name, labels, value }) => ({
      series: `${name} ${formatLabels(labels)}`.trim(),
      value: numberText(value),
    })),
  }
}

const sampleColumns = columns(
  'name',
  ['labels', { show: ({ labels }) => (isObject(labels) ? formatLabels(labels) : '') }],
  ['value', { format: 'number' }],
)

async function printSamples(bytes: Uint8Array, { printer, host }: Cli): Promise<void> {
  // Nothing is printed of a text with too many samples.
  for (const _ of readSamplesIn(bytes));
  const list = printer.list()
  const add = (records: readonly JsonObject[]) => list.add({ records, columns: sampleColumns })
  try {
    for (const records of sampleBatches(bytes)) {
      await add(records)
      await new Promise(setImmediate)
      host.interrupted.throwIfAborted()
    }
    // The header of a table without rows.
    await add([])
  } finally {
    await list.end()
  }
}

async function readQueueMetrics(bytes: Uint8Array, repo: Repository | undefined, cli: Cli) {
  const { results, failures } = await readQueues(await namedQueues(bytes, repo, cli), cli)
  const readings = results.map(({ item, queue, now }) => {
    const { repo, targetBranch: branch } = item.queue
    return { repo: `${repo.owner}/${repo.name}`, branch, queue, now }
  })
  return { bytes: new TextEncoder().encode(queueMetricsText(readings)), failures }
}

export const definition = command({
  name: 'metrics',
  summary: 'Show merge queue metrics (Prometheus text format on a pipe)',
  operation: getMergeQueueMetrics,
  alsoSends: [getQueue],
  exits: ['incomplete'],
  options: {
    ...paramsOf(getMergeQueueMetrics),
    repo: repositoryOrAll(getMergeQueueMetrics.params.repo),
    raw: flag('Show every series on a terminal instead of a summary'),
    queues: flag('Also read each queue: its state, its pull requests and their ages are not in the metrics'),
  },
  // A record is a sample.
  prints: { columns: sampleColumns },
  examples: [
    'mergeq metrics',
    'mergeq metrics --target-branch main',
    'mergeq metrics --raw',
    'mergeq metrics --repo acme/web --json',
    'mergeq metrics > mergeq.prom',
    'mergeq metrics --queues > queues.prom',
  ],
  async run({ repo, branch, raw, queues }, cli) {
    const { options, printer } = cli
    const values = { repo, branch }
    if (options.dryRun) return printRequests(cli, getMergeQueueMetrics, [values])
    const { response } = await read(cli, getMergeQueueMetrics, values)
    const { bytes, failures } = queues
      ? await readQueueMetrics(response.bytes, repo, cli)
      : { bytes: response.bytes, failures: [] }
    if (drawsResults(cli)) {
      const series = raw || queues ? [...readSamplesIn(bytes)].filter(isCounted) : []
      const screen = () =>
        series.length > 0
          ? seriesTable(series)
          : {
              heading: summaryLines(summarizeMetrics(readSamplesIn(bytes)), branch),
            }
      await printer.print({ records: [], columns: [], screen })
    } else if (options.format.name === 'table' && options.fields.length === 0)
      await printer.print(rawText(bytes))
    else await printSamples(bytes, cli)
    return reportUnread(failures, cli)
  },
})
