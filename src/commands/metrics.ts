import { fieldNames, sampleRecord } from '../api/operations/fields.ts'
import { getMergeQueueMetrics, readSamplesIn, samplesIn } from '../api/operations/metrics.ts'
import { defineCommand } from '../cli/command.ts'
import { metricsInputs } from '../cli/common-inputs.ts'
import { flag } from '../cli/inputs.ts'
import { formatDuration, formatInteger, pluralize } from '../domain/format.ts'
import { numberText, type Sample } from '../domain/metrics/exposition.ts'
import {
  type Bucket,
  countPerBucket,
  type Histogram,
  histogramOf,
  histogramsIn,
  type Quantile,
  quantileOf,
} from '../domain/metrics/histogram.ts'
import {
  type MetricsSummary,
  type QueueHistogram,
  type QueueMetrics,
  summarizeMetrics,
} from '../domain/metrics/last-hour.ts'
import { isObject, type JsonObject } from '../json.ts'
import { plainText, type Span, type StyledLine, styled } from '../output/styled-text.ts'
import { linesView, type View } from '../output/view.ts'

/** Block characters, which every terminal font has. */
const eighths = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'] as const
const heights = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'] as const

/**
 * Returns a bar of at most `width` characters for a value between 0 and `max`; an empty string for a value
 * that is not above 0.
 */
export function bar(value: number, max: number, width: number): string {
  if (!(value > 0) || !(max > 0)) return ''
  const parts = value >= max ? width * 8 : Math.max(1, Math.round((value / max) * width * 8))
  return '█'.repeat(Math.floor(parts / 8)) + (eighths[parts % 8] ?? '')
}

/**
 * Returns a sparkline with a character for each value, scaled from 0 or a smaller value to the largest value.
 * A value other than 0 is always visible, and NaN is a gap.
 */
export function sparkline(values: readonly number[]): string {
  const finite = values.filter(Number.isFinite)
  const [min, max] = [Math.min(0, ...finite), Math.max(...finite)]
  return values
    .map(value => {
      if (Number.isNaN(value) || value === min) return value === min && value !== 0 ? heights[1] : heights[0]
      const share = value >= max ? 1 : value <= min ? 0 : (value - min) / (max - min)
      return heights[Math.max(1, Math.round(share * 8))] ?? heights[0]
    })
    .join('')
}

/** The space between two values of a line. */
const gap = '   '

const labeled = (label: string, value: number | undefined): string =>
  `${label} ${value === undefined ? '-' : formatInteger(value)}`

/** The conclusions that have a color if there are any. */
const conclusionStyles = { merged: 'green', failed: 'red' } as const

const joinPieces = (pieces: readonly (string | Span)[]): readonly (string | Span)[] =>
  pieces.flatMap((piece, index) => (index === 0 ? [piece] : [gap, piece]))

/** The numbers of the last hour, then those of now: on one line if it fits, otherwise on two. */
function numberLines({ numbers, bisecting }: QueueMetrics, columns: number): readonly StyledLine[] {
  const { depth, testing, awaitingMergeability = 0 } = numbers
  const lastHour = joinPieces([
    ...(['merged', 'failed'] as const).map(name => {
      const text = labeled(name, numbers[name])
      return (numbers[name] ?? 0) > 0 ? styled(text, conclusionStyles[name]) : text
    }),
    labeled('cancelled', numbers.cancelled),
    labeled('restarts', numbers.restarts),
  ])
  const now = joinPieces([
    labeled('depth', depth) + (bisecting > 0 ? ` (${formatInteger(bisecting)} in bisection)` : ''),
    labeled('testing', testing),
    ...(awaitingMergeability > 0 ? [labeled('not ready', awaitingMergeability)] : []),
  ])
  const line = ['  ', ...lastHour, gap, gap, ...now]
  return plainText(line).length <= columns
    ? [line]
    : [
        ['  ', ...lastHour],
        ['  ', ...now],
      ]
}

/** Formats the bound of a bucket in seconds: `1m`, `2h`, `1m30s`. */
const boundText = (seconds: number): string => formatDuration(seconds * 1000).replace(/(?<=[hm])00[ms]$/, '')

/** Formats a quantile in seconds; of the first and the last bucket, only a bound is known. */
function quantileText({ value, between: [lower, upper] }: Quantile): string {
  if (upper === Number.POSITIVE_INFINITY) return `over ${boundText(value)}`
  return lower === 0 ? `under ${boundText(upper)}` : formatDuration(value * 1000)
}

const histogramLabels: readonly (readonly [QueueHistogram, string])[] = [
  ['timeInQueue', 'time in queue'],
  ['waitDuration', 'waiting'],
  ['testDuration', 'testing'],
]
const labelWidth = Math.max(...histogramLabels.map(([, label]) => label.length))

/** A line for a histogram; none for a histogram without observations. */
function histogramLine(label: string, buckets: readonly Bucket[]): readonly string[] {
  const [p50, p95] = [quantileOf(0.5, { buckets }), quantileOf(0.95, { buckets })]
  if (Number.isNaN(p50.value)) return []
  const parts = [
    label.padEnd(labelWidth),
    `p50 ${quantileText(p50)}`,
    `p95 ${quantileText(p95)}`,
    sparkline(countPerBucket({ buckets })).trim(),
  ]
  return [`  ${parts.join(gap)}`]
}

function queueLines(queue: QueueMetrics, columns: number): readonly StyledLine[] {
  const { repo, branch, histograms } = queue
  return [
    [styled([...(repo === undefined ? [] : [repo]), branch].join(' '), 'bold'), ', last hour'],
    ...numberLines(queue, columns),
    ...histogramLabels.flatMap(([name, label]) => histogramLine(label, histograms[name] ?? [])),
  ]
}

/** How much happened in a queue, to find the queues that matter most. */
const activityOf = ({ numbers }: QueueMetrics): number =>
  [numbers.depth, numbers.testing, numbers.merged, numbers.failed, numbers.cancelled].reduce<number>(
    (sum, value) => sum + (value ?? 0),
    0,
  )

/** The largest number of queues in a summary. */
const maxQueues = 20

/** Returns the queues with the most activity, in their order. */
function findBusiest(queues: readonly QueueMetrics[]): readonly QueueMetrics[] {
  const byActivity = queues.toSorted((one, other) => activityOf(other) - activityOf(one))
  const busiest = new Set(byActivity.slice(0, maxQueues))
  return queues.filter(queue => busiest.has(queue))
}

/**
 * Returns the view of metrics for a terminal: a few lines for each queue, then what is not shown.
 *
 * @param branch the only branch whose series were kept; undefined for all branches
 */
function summaryView(
  { queues, otherSeries }: MetricsSummary,
  branch: string | undefined,
  columns: number,
): View {
  const shown = findBusiest(queues)
  const hidden = queues.length - shown.length
  const blocks: (readonly StyledLine[])[] = shown.map(queue => queueLines(queue, columns))
  if (queues.length === 0)
    blocks.push([
      `${otherSeries === 0 ? 'No metrics' : 'No queue metrics'} found${branch === undefined ? '' : ` for branch ${branch}`}. Does the queue exist, and was it active in the last hour?`,
      branch === undefined
        ? 'To look up a queue, run: mergeq queue get'
        : 'To list the queues that have metrics, run: mergeq queue list',
    ])
  if (hidden > 0)
    blocks.push([
      `${pluralize(hidden, 'queue')} with less activity. To list all queues, run: mergeq queue list`,
    ])
  if (otherSeries > 0)
    blocks.push([
      `${formatInteger(otherSeries)} other series. To print all series, run: mergeq metrics --raw`,
    ])
  return linesView(
    blocks.flatMap((lines, index): readonly StyledLine[] => (index === 0 ? lines : ['', ...lines])),
  )
}

type Labels = Readonly<Record<string, string>>

const barWidth = 16

/** Formats labels for a table: `branch=main queue_type=main`. */
const formatLabels = (labels: JsonObject): string =>
  Object.entries(labels)
    .map(([key, value]) => `${key}=${value}`)
    .join(' ')

/** Returns the labels that all series have with the same value; none for a single series. */
function findSharedLabels(all: readonly Labels[]): Labels {
  const [first = {}, ...rest] = all
  return rest.length === 0
    ? {}
    : Object.fromEntries(
        Object.entries(first).filter(([key, value]) => rest.every(labels => labels[key] === value)),
      )
}

const omitLabels = (labels: Labels, sharedLabels: Labels): Labels =>
  Object.fromEntries(Object.entries(labels).filter(([key]) => !Object.hasOwn(sharedLabels, key)))

/** Formats a histogram on one line: a bar for each bucket, the lowest and highest bound, and the mean. */
function formatHistogram(histogram: Histogram): string {
  const { buckets, sum, count } = histogram
  const bounds = buckets.map(({ bound }) => bound)
  const total = count ?? buckets.at(-1)?.count ?? 0
  if (!(total > 0)) return ''
  const mean = sum === undefined ? '' : `, mean ${numberText(Math.round((sum / total) * 10) / 10)}`
  return `[${sparkline(countPerBucket(histogram))}] ${numberText(bounds[0] ?? 0)} to ${numberText(bounds.at(-1) ?? 0)}${mean}`
}

/** A row of the view: a series, or a histogram with its count. */
type SeriesRow = readonly [name: string, labels: string, value: string, picture: string]

/** The width that a table needs for the names, the values, and labels of at least this width. */
const minLabelWidth = 24

/** Whether a table of the rows fits without its pictures: names and values are never cut. */
function fitsTable(rows: readonly SeriesRow[], columns: number): boolean {
  const widest = (index: 0 | 2) => rows.reduce((max, row) => Math.max(max, row[index].length), 5)
  return widest(0) + widest(2) + minLabelWidth + 4 <= columns
}

/** Returns the rows as lines, for a narrow terminal: the labels are below the name. */
const rowLines = (rows: readonly SeriesRow[]): readonly string[] =>
  rows.flatMap(([name, labels, value]) => [`${name}  ${value}`, ...(labels === '' ? [] : [`  ${labels}`])])

/**
 * Returns the view of all series for a terminal: a bar for each value, relative to the values of the same
 * name, a row for each histogram with its count, and the shared labels in the heading.
 */
function seriesView(samples: readonly Sample[], columns: number): View {
  const histograms = histogramsIn(samples)
  const drawnHistograms = new Set<string>()
  const maxByName = new Map<string, number>()
  for (const { name, value } of samples)
    if (Number.isFinite(value)) maxByName.set(name, Math.max(maxByName.get(name) ?? 0, value))
  const sharedLabels = findSharedLabels(samples.map(({ labels }) => labels))
  const rows = samples.flatMap((sample): readonly SeriesRow[] => {
    const seriesName = histogramOf(sample)
    const histogram = seriesName === undefined ? undefined : histograms.get(seriesName)
    if (seriesName === undefined || histogram === undefined) {
      const { name, labels, value } = sample
      const picture = bar(value, maxByName.get(name) ?? 0, barWidth)
      return [[name, formatLabels(omitLabels(labels, sharedLabels)), numberText(value), picture]]
    }
    if (drawnHistograms.has(seriesName)) return []
    drawnHistograms.add(seriesName)
    const { name, labels, buckets } = histogram
    const total = histogram.count ?? buckets.at(-1)?.count ?? 0
    return [
      [name, formatLabels(omitLabels(labels, sharedLabels)), numberText(total), formatHistogram(histogram)],
    ]
  })
  const sharedText = formatLabels(sharedLabels)
  const heading = sharedText === '' ? [] : [`${formatInteger(rows.length)} series of ${sharedText}`]
  if (!fitsTable(rows, columns)) return linesView([...heading, ...rowLines(rows)])
  return {
    heading,
    columns: [
      { title: 'NAME', format: 'id' },
      { title: 'LABELS', format: 'prose' },
      { title: 'VALUE', format: 'number' },
      { title: 'PICTURE', format: 'id', priority: 1 },
    ],
    rows,
  }
}

const columns = [
  { title: 'NAME', format: 'plain' },
  { title: 'LABELS', format: 'plain' },
  { title: 'VALUE', format: 'number' },
] as const

export const metricsCommand = defineCommand({
  command: 'metrics',
  summary: 'Show merge queue metrics (Prometheus text format on a pipe)',
  operation: getMergeQueueMetrics,
  inputs: metricsInputs,
  options: { raw: flag({ name: 'raw', summary: 'Show every series on a terminal instead of a summary' }) },
  // A record is a sample.
  fields: {
    names: fieldNames(sampleRecord),
    columns: [
      ['NAME', 'name'],
      ['LABELS', 'labels'],
      ['VALUE', 'value', 'number'],
    ],
  },
  examples: [
    'mergeq metrics',
    'mergeq metrics --target-branch main',
    'mergeq metrics --raw',
    'mergeq metrics --repo acme/web --json',
    'mergeq metrics > mergeq.prom',
  ],
  view: (response, { branch, raw }, { context }) => ({
    columns,
    get rows() {
      return response.records.map(({ name, labels, value }) => [
        name,
        isObject(labels) ? formatLabels(labels) : '',
        value,
      ])
    },
    terminalView() {
      const { columns: width } = context.host.out
      const samples = raw ? samplesIn(response.bytes) : []
      return samples.length > 0
        ? seriesView(samples, width)
        : summaryView(summarizeMetrics(readSamplesIn(response.bytes)), branch, width)
    },
    raw: response.bytes,
  }),
})
