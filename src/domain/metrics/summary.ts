import { type Sample, seriesText } from './exposition.ts'
import { type Bucket, type BucketCollection, createBuckets, histogramOf } from './histogram.ts'
import { type QueueHistogram, type QueueNumber, toQueueSeries } from './queue-series.ts'

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

interface Collector {
  readonly repo: string | undefined
  readonly branch: string
  readonly numbers: Partial<Record<QueueNumber, number>>
  earlierDepth: number | undefined
  bisecting: number
  readonly histograms: Map<QueueHistogram, BucketCollection>
}

const createCollector = (repo: string | undefined, branch: string): Collector => ({
  repo,
  branch,
  numbers: {},
  earlierDepth: undefined,
  bisecting: 0,
  histograms: new Map(),
})

const toQueueMetrics = ({
  repo,
  branch,
  numbers,
  earlierDepth,
  bisecting,
  histograms,
}: Collector): QueueMetrics => ({
  repo,
  branch,
  numbers:
    numbers.depth === undefined && earlierDepth !== undefined ? { ...numbers, depth: earlierDepth } : numbers,
  bisecting,
  histograms: Object.fromEntries([...histograms].map(([name, buckets]) => [name, buckets.toSorted()])),
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
    const collector = collectors.get(key) ?? createCollector(repo, branch)
    collectors.set(key, collector)
    const { value } = sample
    if (series.kind === 'bucket') {
      if ((series.conclusion ?? 'merged') !== 'merged') continue
      const buckets = collector.histograms.get(series.histogram) ?? createBuckets()
      collector.histograms.set(series.histogram, buckets)
      buckets.add(series.bound, value)
    } else if (series.kind === 'number' && Number.isFinite(value)) {
      const { number, isBisection, isEarlierName } = series
      if (isEarlierName) collector.earlierDepth = (collector.earlierDepth ?? 0) + value
      else collector.numbers[number] = (collector.numbers[number] ?? 0) + value
      if (number === 'depth' && isBisection && !isEarlierName) collector.bisecting += value
    }
  }
  return { queues: [...collectors.values()].map(toQueueMetrics), otherSeries: otherSeries.size }
}
