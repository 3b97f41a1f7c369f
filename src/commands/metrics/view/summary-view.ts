import { formatDuration, formatInteger, pluralize } from '../../../domain/format.ts'
import { type Bucket, countPerBucket, type Quantile, quantileOf } from '../../../domain/metrics/histogram.ts'
import type { QueueHistogram } from '../../../domain/metrics/queue-series.ts'
import type { MetricsSummary, QueueMetrics } from '../../../domain/metrics/summary.ts'
import { sparkline } from '../../../output/charts.ts'
import { plainText, type Span, type StyledLine, styled } from '../../../output/styled-text.ts'
import { linesView, type View } from '../../../output/view.ts'

/** How a summary is shown. */
export interface SummaryOptions {
  /** The width of the terminal. */
  readonly columns: number
  /** The largest number of queues that are shown: those with the most activity. */
  readonly maxQueues: number
  /** The only branch whose series were kept; undefined for all branches. */
  readonly branch?: string | undefined
  /** Returns the last depths of a queue, NaN where it was not known, for a watch. */
  depthHistory?(queue: QueueMetrics): readonly number[]
}

/** The space between two values of a line. */
const gap = '   '

/** Returns a number with its label, such as `merged 60`. */
const labeled = (label: string, value: number | undefined): string =>
  `${label} ${value === undefined ? '-' : formatInteger(value)}`

/** The conclusions that have a color if there are any. */
const conclusionStyles = { merged: 'green', failed: 'red' } as const

/** Returns the pieces of a line, joined by gaps. */
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

/** Draws the last depths: an empty queue is a low line, and a gap means that the depth was not known. */
const drawHistory = (history: readonly number[]): string =>
  [...sparkline(history)].map((char, index) => (history[index] === 0 ? '_' : char)).join('')

function queueLines(queue: QueueMetrics, { columns, depthHistory }: SummaryOptions): readonly StyledLine[] {
  const { repo, branch, histograms } = queue
  const history = depthHistory?.(queue) ?? []
  return [
    [styled([...(repo === undefined ? [] : [repo]), branch].join(' '), 'bold'), ', last hour'],
    ...numberLines(queue, columns),
    ...histogramLabels.flatMap(([name, label]) => histogramLine(label, histograms[name] ?? [])),
    ...(history.length < 2 ? [] : [`  ${'depth'.padEnd(labelWidth)}${gap}${drawHistory(history)}`]),
  ]
}

/** How much happened in a queue, to find the queues that matter most. */
const activityOf = ({ numbers }: QueueMetrics): number =>
  [numbers.depth, numbers.testing, numbers.merged, numbers.failed, numbers.cancelled].reduce<number>(
    (sum, value) => sum + (value ?? 0),
    0,
  )

/** Returns the queues with the most activity, in their order. */
function findBusiest(queues: readonly QueueMetrics[], max: number): readonly QueueMetrics[] {
  if (queues.length <= max) return queues
  const busiest = new Set(queues.toSorted((one, other) => activityOf(other) - activityOf(one)).slice(0, max))
  return queues.filter(queue => busiest.has(queue))
}

/** The lines that replace a summary without queues. */
const emptyLines = (otherSeries: number, branch: string | undefined): readonly string[] => [
  `${otherSeries === 0 ? 'No metrics' : 'No queue metrics'} found${branch === undefined ? '' : ` for branch ${branch}`}. Does the queue exist, and was it active in the last hour?`,
  branch === undefined
    ? 'To look up a queue, run: mergeq queue get'
    : 'To list the queues that have metrics, run: mergeq queue list',
]

/** Returns the view of metrics for a terminal: a few lines for each queue, then what is not shown. */
export function summaryView({ queues, otherSeries }: MetricsSummary, options: SummaryOptions): View {
  const shown = findBusiest(queues, options.maxQueues)
  const hidden = queues.length - shown.length
  const blocks = [
    ...(queues.length === 0 ? [emptyLines(otherSeries, options.branch)] : []),
    ...shown.map(queue => queueLines(queue, options)),
    ...(hidden > 0
      ? [[`${pluralize(hidden, 'queue')} with less activity. To list all queues, run: mergeq queue list`]]
      : []),
    ...(otherSeries > 0
      ? [[`${formatInteger(otherSeries)} other series. To print all series, run: mergeq metrics --raw`]]
      : []),
  ]
  return linesView(
    blocks.flatMap((lines, index): readonly StyledLine[] => (index === 0 ? lines : ['', ...lines])),
  )
}
