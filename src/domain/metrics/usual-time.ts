import type { Repository } from '../values/repository.ts'
import type { Sample } from './exposition.ts'
import { createBuckets, quantileOf } from './histogram.ts'
import { isOfQueue, toQueueSeries } from './queue-series.ts'

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
  const buckets = createBuckets()
  for (const sample of samples) {
    const series = toQueueSeries(sample)
    if (series?.kind !== 'bucket' || series.histogram !== 'timeInQueue') continue
    if ((series.conclusion ?? 'merged') !== 'merged' || !isOfQueue(series, repo, branch)) continue
    buckets.add(series.bound, sample.value)
  }
  const histogram = { buckets: buckets.toSorted() }
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
