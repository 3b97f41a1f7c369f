import type { Repository } from '../values/repository.ts'
import { parseNumber, type Sample, seriesText } from './exposition.ts'
import { type Bucket, histogramOf, quantileOf } from './histogram.ts'

/** The numbers of a queue that have a series of their own (docs/reference/service.md, "Metrics"). */
type QueueNumber = 'depth' | 'awaitingMergeability' | 'testing' | 'restarts' | Conclusion

type Conclusion = 'merged' | 'failed' | 'cancelled'

/** The histograms of a queue: times in seconds, of pull requests in the last hour. */
export type QueueHistogram = 'timeInQueue' | 'waitDuration' | 'testDuration'

type QueueSeries = QueueLabels & (NumberSeries | BucketSeries | { readonly kind: 'rest' })

interface QueueLabels {
  /** `owner/name`; undefined if the series does not say it. */
  readonly repo: string | undefined
  readonly branch: string
  readonly isBisection: boolean
}

interface NumberSeries {
  readonly kind: 'number'
  readonly number: QueueNumber
  /** Whether the series has the earlier name of a series that replaced it. */
  readonly isEarlierName: boolean
}

interface BucketSeries {
  readonly kind: 'bucket'
  readonly histogram: QueueHistogram
  /** Undefined for a histogram that does not distinguish conclusions. */
  readonly conclusion: Conclusion | undefined
  /** The upper bound in seconds. */
  readonly bound: number
}

const numbers: Readonly<Record<string, Exclude<QueueNumber, Conclusion>>> = {
  mq_depth_current: 'depth',
  mq_queue_depth_current: 'depth',
  mq_awaiting_mergeability: 'awaitingMergeability',
  mq_testing_slots_active: 'testing',
  mq_pr_restarts_1h_total: 'restarts',
}
const earlierName = 'mq_queue_depth_current'
const conclusionsName = 'mq_pr_conclusions_1h_total'

const histograms: Readonly<Record<string, QueueHistogram>> = {
  mq_pr_time_in_queue_1h_seconds: 'timeInQueue',
  mq_pr_wait_duration_1h_seconds: 'waitDuration',
  mq_pr_test_duration_1h_seconds: 'testDuration',
}

const own = <T>(record: Readonly<Record<string, T>>, key: string): T | undefined =>
  Object.hasOwn(record, key) ? record[key] : undefined

const conclusionOf = (text: string | undefined): Conclusion | undefined =>
  text === 'merged' || text === 'failed' || text === 'cancelled' ? text : undefined

/**
 * Returns the place of a sample among the metrics of its queue; `rest` for the sum and the count of a
 * histogram. Undefined for a series whose name, `queue_type` or `conclusion` is not known, or that does not
 * name its branch.
 */
function toQueueSeries({ name, labels }: Sample): QueueSeries | undefined {
  const { repo, branch, queue_type: queueType = 'main', conclusion: text, le } = labels
  if (branch === undefined || (queueType !== 'main' && queueType !== 'bisection')) return undefined
  const queue = { repo, branch, isBisection: queueType === 'bisection' }
  const conclusion = conclusionOf(text)
  if (text !== undefined && conclusion === undefined) return undefined
  const number = name === conclusionsName ? conclusion : own(numbers, name)
  if (number !== undefined) return { ...queue, kind: 'number', number, isEarlierName: name === earlierName }
  const end = name.lastIndexOf('_')
  const histogram = own(histograms, name.slice(0, end))
  if (histogram === undefined) return undefined
  const part = name.slice(end)
  if (part === '_sum' || part === '_count') return { ...queue, kind: 'rest' }
  if (part !== '_bucket') return undefined
  const bound = parseNumber(le ?? '')
  return bound === undefined ? undefined : { ...queue, kind: 'bucket', histogram, conclusion, bound }
}

/**
 * Whether a series is of a queue. The series do not say the host of the repository, and its name is compared
 * without case, as GitHub does.
 */
const isOfQueue = (
  series: QueueSeries,
  { owner, name }: Pick<Repository, 'owner' | 'name'>,
  branch: string,
): boolean =>
  series.branch === branch &&
  (series.repo === undefined || series.repo.toLowerCase() === `${owner}/${name}`.toLowerCase())

/** The metrics of a queue: the sum over its test runs and the test runs of its bisections. */
export interface QueueMetrics {
  readonly repo: string | undefined
  readonly branch: string
  readonly numbers: Readonly<Partial<Record<QueueNumber, number>>>
  readonly bisecting: number
  /**
   * The buckets of each histogram, in seconds. The time in the queue is that of pull requests that merged, if
   * the series distinguish conclusions.
   */
  readonly histograms: Readonly<Partial<Record<QueueHistogram, readonly Bucket[]>>>
}

export interface MetricsSummary {
  readonly queues: readonly QueueMetrics[]
  /** The number of series that belong to no queue or are not known; a histogram is one. */
  readonly otherSeries: number
}

/** The sum of several histograms: the count of each bound. */
type BucketCounts = Map<number, number>

/** Adds a count to the bucket of a bound; NaN and infinite counts are ignored. */
function addToBucket(counts: BucketCounts, bound: number, count: number): void {
  if (Number.isFinite(count)) counts.set(bound, (counts.get(bound) ?? 0) + count)
}

const toBuckets = (counts: BucketCounts): readonly Bucket[] =>
  [...counts].map(([bound, count]) => ({ bound, count })).toSorted((one, other) => one.bound - other.bound)

interface Collector {
  readonly repo: string | undefined
  readonly branch: string
  readonly numbers: Partial<Record<QueueNumber, number>>
  earlierDepth: number | undefined
  bisecting: number
  readonly histograms: Map<QueueHistogram, BucketCounts>
}

const toQueueMetrics = ({ earlierDepth, numbers, histograms, ...queue }: Collector): QueueMetrics => ({
  ...queue,
  numbers:
    numbers.depth === undefined && earlierDepth !== undefined ? { ...numbers, depth: earlierDepth } : numbers,
  histograms: Object.fromEntries([...histograms].map(([name, counts]) => [name, toBuckets(counts)])),
})

export function summarizeMetrics(samples: Iterable<Sample>): MetricsSummary {
  const collectors = new Map<string, Collector>()
  const otherSeries = new Set<string>()
  for (const sample of samples) {
    const series = toQueueSeries(sample)
    if (series === undefined) {
      otherSeries.add(histogramOf(sample) ?? seriesText(sample.name, sample.labels))
      continue
    }
    const { repo, branch } = series
    const key = `${repo?.length ?? ''}:${repo ?? ''}${branch}`
    const collector: Collector = collectors.get(key) ?? {
      repo,
      branch,
      numbers: {},
      earlierDepth: undefined,
      bisecting: 0,
      histograms: new Map(),
    }
    collectors.set(key, collector)
    const { value } = sample
    if (series.kind === 'bucket') {
      if ((series.conclusion ?? 'merged') !== 'merged') continue
      const counts: BucketCounts = collector.histograms.get(series.histogram) ?? new Map()
      collector.histograms.set(series.histogram, counts)
      addToBucket(counts, series.bound, value)
    } else if (series.kind === 'number' && Number.isFinite(value)) {
      const { number, isBisection, isEarlierName } = series
      if (isEarlierName) collector.earlierDepth = (collector.earlierDepth ?? 0) + value
      else collector.numbers[number] = (collector.numbers[number] ?? 0) + value
      if (number === 'depth' && isBisection && !isEarlierName) collector.bisecting += value
    }
  }
  return { queues: [...collectors.values()].map(toQueueMetrics), otherSeries: otherSeries.size }
}

/** How long the pull requests that merged in the last hour were in the queue. Times are in milliseconds. */
export interface UsualTimeInQueue {
  /** The time that half of the pull requests did not exceed, interpolated within its bucket. */
  readonly median: number
  /**
   * The time that 19 of 20 pull requests did not exceed, interpolated likewise. Undefined if fewer than 20
   * pull requests merged, or if the time is above the highest bucket.
   */
  readonly p95: number | undefined
  /** The number of pull requests that merged, at least 1. */
  readonly count: number
}

/** The number of pull requests below which "19 of 20" says nothing. */
const minCountOfP95 = 20

/**
 * Returns the usual time in a queue, from the metrics of its last hour. Counts pull requests that merged, or
 * all that left the queue if the metrics do not distinguish them. Undefined if there are none, or if more
 * than half of them took longer than the highest bucket.
 */
export function usualTimeInQueue(
  samples: Iterable<Sample>,
  repo: Pick<Repository, 'owner' | 'name'>,
  branch: string,
): UsualTimeInQueue | undefined {
  const counts: BucketCounts = new Map()
  for (const sample of samples) {
    const series = toQueueSeries(sample)
    if (series?.kind !== 'bucket' || series.histogram !== 'timeInQueue') continue
    if ((series.conclusion ?? 'merged') !== 'merged' || !isOfQueue(series, repo, branch)) continue
    addToBucket(counts, series.bound, sample.value)
  }
  const histogram = { buckets: toBuckets(counts) }
  const [median, p95] = [quantileOf(0.5, histogram), quantileOf(0.95, histogram)]
  const count = histogram.buckets.at(-1)?.count ?? 0
  if (Number.isNaN(median.value) || median.between[1] === Number.POSITIVE_INFINITY) return undefined
  const hasP95 = count >= minCountOfP95 && p95.between[1] !== Number.POSITIVE_INFINITY
  return { median: median.value * 1000, p95: hasP95 ? p95.value * 1000 : undefined, count }
}

const minute = 60_000

/** Formats a time to the minute, rounded down: `under 1m`, `14m`, `1h05m`. */
function formatMinutes(milliseconds: number): string {
  const minutes = Math.floor(milliseconds / minute)
  if (minutes < 1) return 'under 1m'
  return minutes < 60
    ? `${minutes}m`
    : `${Math.floor(minutes / 60)}h${String(minutes % 60).padStart(2, '0')}m`
}

export const usualTimeText = ({ median }: UsualTimeInQueue): string => `usually ${formatMinutes(median)}`

export function usualRangeText(usual: UsualTimeInQueue): string {
  if (usual.p95 === undefined) return usualTimeText(usual)
  // Rounded up, so that 19 of 20 are within the time that is shown.
  const limit = Math.max(1, Math.ceil(usual.p95 / minute)) * minute
  return `${usualTimeText(usual)}, 19 of 20 within ${formatMinutes(limit)}`
}
