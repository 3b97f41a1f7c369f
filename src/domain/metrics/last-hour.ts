import type { Repository } from '../../values/repository.ts'
import { isCounted, parseNumber, type Sample } from './exposition.ts'

/** The histograms of a queue: times in seconds, of pull requests in the last hour. */
export type QueueHistogram =
  | ('timeInQueue' | 'waitDuration' | 'testDuration')
  // The time in one state.
  | `timeIn ${string}`

/** The numbers of a queue that have a series of their own (docs/reference/service.md, "Metrics"). */
const numbers = [
  ['mq_depth_current', 'depth'],
  ['mq_queue_depth_current', 'earlierDepth'],
  ['mq_awaiting_mergeability', 'awaitingMergeability'],
  ['mq_testing_slots_active', 'testing'],
  ['mq_pr_restarts_1h_total', 'restarts'],
  ['mq_pr_conclusions_1h_total merged', 'merged'],
  ['mq_pr_conclusions_1h_total failed', 'failed'],
  ['mq_pr_conclusions_1h_total cancelled', 'cancelled'],
] as const

type QueueNumber = (typeof numbers)[number][1]

const numberSeries = new Map<string, QueueNumber>(numbers)

const histogramSeries = new Map<string, QueueHistogram>([
  ['mq_pr_time_in_queue_1h_seconds', 'timeInQueue'],
  ['mq_pr_wait_duration_1h_seconds', 'waitDuration'],
  ['mq_pr_test_duration_1h_seconds', 'testDuration'],
])

const histogramOfState = (family: string, state = ''): QueueHistogram | undefined =>
  family === 'mq_pr_state_duration_1h_seconds' ? `timeIn ${state.toLowerCase()}` : undefined

/** A cumulative bucket: `count` values were at most `bound`. */
export interface Bucket {
  readonly bound: number
  count: number
}

/** The metrics of a queue: the sum over its test runs and the test runs of its bisections. */
export interface QueueMetrics {
  /** `owner/name`; undefined if the series do not say it. */
  readonly repo: string | undefined
  readonly branch: string
  readonly numbers: Partial<Record<QueueNumber, number>>
  bisecting: number
  /**
   * The buckets of each histogram, in seconds and in ascending order. The time in the queue is that of pull
   * requests that merged, if the series distinguish conclusions.
   */
  readonly histograms: Partial<Record<QueueHistogram, Bucket[]>>
}

/** What is known of a queue beside its record; undefined where that is nothing. */
export interface QueueActivity {
  /** The usual time in the queue in the last hour, in milliseconds. */
  readonly usual?: number | undefined
  /** How many pull requests are not ready, which a queue does not list. */
  readonly notReady?: number | undefined
  /** The pull requests under test that share a test run, or are tested alone. */
  readonly batches?: readonly (readonly number[])[] | undefined
}

export interface MetricsSummary {
  readonly queues: readonly QueueMetrics[]
  /** The number of series that belong to no queue or are not known; a histogram is one. */
  readonly otherSeries: number
}

export function summarizeMetrics(samples: Iterable<Sample>): MetricsSummary {
  const queues = new Map<string, QueueMetrics>()
  let otherSeries = 0
  for (const sample of samples) if (!addSample(queues, sample) && isCounted(sample)) otherSeries++
  for (const { numbers, histograms } of queues.values()) {
    const { earlierDepth } = numbers
    if (earlierDepth !== undefined) numbers.depth ??= earlierDepth
    for (const buckets of Object.values(histograms)) buckets?.sort((one, other) => one.bound - other.bound)
  }
  return { queues: [...queues.values()], otherSeries }
}

/**
 * Adds a sample to the sums of its queue; NaN and infinities are ignored. Returns false for a series whose name or
 * `queue_type` is not known, or that does not name its branch.
 */
function addSample(queues: Map<string, QueueMetrics>, { name, labels, value }: Sample): boolean {
  const { repo, branch, queue_type: queueType = 'main', conclusion, le } = labels
  if (branch === undefined || !/^(?:main|bisection)$/.test(queueType)) return false
  const [, family = '', part] = /^(.*)_(bucket|sum|count)$/.exec(name) ?? []
  const number = numberSeries.get(name) ?? numberSeries.get(`${name} ${conclusion}`)
  const histogram = histogramSeries.get(family) ?? histogramOfState(family, labels.state)
  const bound = part === 'bucket' ? parseNumber(le ?? '') : undefined
  if (number === undefined && histogram === undefined) return false

  const key = JSON.stringify([repo, branch])
  const queue = queues.get(key) ?? { repo, branch, numbers: {}, bisecting: 0, histograms: {} }
  queues.set(key, queue)
  if (!Number.isFinite(value)) return true
  if (number !== undefined) {
    queue.numbers[number] = (queue.numbers[number] ?? 0) + value
    if (number === 'depth' && queueType === 'bisection') queue.bisecting += value
  }
  if (histogram !== undefined && bound !== undefined && (conclusion ?? 'merged') === 'merged') {
    const buckets = queue.histograms[histogram] ?? []
    queue.histograms[histogram] = buckets
    const bucket = buckets.find(other => other.bound === bound)
    if (bucket !== undefined) bucket.count += value
    else buckets.push({ bound, count: value })
  }
  return true
}

/** Returns the metrics of a queue. The series do not say the host, and GitHub compares names without case. */
export function findQueue(
  { queues }: MetricsSummary,
  { owner, name }: Pick<Repository, 'owner' | 'name'>,
  branch: string,
): QueueMetrics | undefined {
  const repoName = `${owner}/${name}`.toLowerCase()
  return queues.find(queue => queue.branch === branch && (queue.repo ?? repoName).toLowerCase() === repoName)
}

export interface Quantile {
  readonly value: number
  readonly between: readonly [lower: number, upper: number]
}

/** Returns a quantile as `histogram_quantile` of Prometheus does; undefined for an empty or unbounded histogram. */
export function quantileOf(share: number, buckets: readonly Bucket[]): Quantile | undefined {
  const last = buckets.at(-1)
  if (last?.bound !== Number.POSITIVE_INFINITY || !(last.count > 0)) return undefined
  const rank = share * last.count
  const index = buckets.findIndex(({ count }) => count >= rank)
  const bucket = buckets[index] ?? last
  const { bound: lower, count: countBelow } = buckets[index - 1] ?? { bound: 0, count: 0 }
  if (bucket === last) return { value: lower, between: [lower, last.bound] }
  const fraction = (rank - countBelow) / (bucket.count - countBelow)
  return { value: lower + (bucket.bound - lower) * fraction, between: [lower, bucket.bound] }
}

/** Returns the median time of what merged in the last hour, in milliseconds; undefined if it is above all buckets. */
export function usualTimeInQueue(queue: QueueMetrics | undefined): number | undefined {
  const median = quantileOf(0.5, queue?.histograms.timeInQueue ?? [])
  const isKnown = median !== undefined && median.between[1] !== Number.POSITIVE_INFINITY
  return isKnown ? median.value * 1000 : undefined
}
