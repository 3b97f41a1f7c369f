import { parseNumber, type Sample, seriesText } from './exposition.ts'

/** A cumulative bucket: `count` values were at most `bound`. */
export interface Bucket {
  readonly bound: number
  readonly count: number
}

/** A histogram, with its buckets in ascending order of their bounds. */
export interface Histogram {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly buckets: readonly Bucket[]
  readonly sum: number | undefined
  readonly count: number | undefined
}

const partSuffix = /_(bucket|sum|count)$/

function withoutBound(labels: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const { le: _, ...rest } = labels
  return rest
}

export const histogramOf = ({ name, type, labels }: Sample): string | undefined =>
  type === 'histogram' && partSuffix.test(name)
    ? seriesText(name.replace(partSuffix, ''), withoutBound(labels))
    : undefined

export function histogramsIn(samples: readonly Sample[]): ReadonlyMap<string, Histogram> {
  const histograms = new Map<string, Histogram>()
  const bucketsOf = new Map<string, Bucket[]>()
  for (const sample of samples) {
    const series = histogramOf(sample)
    if (series === undefined) continue
    const { name, labels, value } = sample
    const buckets = bucketsOf.get(series) ?? []
    bucketsOf.set(series, buckets)
    const histogram = histograms.get(series) ?? {
      name: name.replace(partSuffix, ''),
      labels: withoutBound(labels),
      buckets,
      sum: undefined,
      count: undefined,
    }
    const bound = name.endsWith('_bucket') ? parseNumber(labels.le ?? '') : undefined
    if (bound !== undefined) {
      buckets.push({ bound, count: value })
      histograms.set(series, histogram)
    } else if (name.endsWith('_sum')) histograms.set(series, { ...histogram, sum: value })
    else if (name.endsWith('_count')) histograms.set(series, { ...histogram, count: value })
  }
  for (const buckets of bucketsOf.values()) buckets.sort((one, other) => one.bound - other.bound)
  return histograms
}

export const countPerBucket = ({ buckets }: Pick<Histogram, 'buckets'>): readonly number[] =>
  buckets.map(({ count }, index) => Math.max(0, count - (buckets[index - 1]?.count ?? 0)))

export interface Quantile {
  readonly value: number
  readonly between: readonly [lower: number, upper: number]
}

/**
 * Returns the quantile of a histogram for a share from 0 to 1, interpolated within a bucket like
 * `histogram_quantile` of Prometheus. The value is NaN if the histogram is empty or has no `+Inf` bucket,
 * and the highest finite bound if the quantile is in the `+Inf` bucket.
 */
export function quantileOf(share: number, { buckets }: Pick<Histogram, 'buckets'>): Quantile {
  const last = buckets.at(-1)
  const none = { value: Number.NaN, between: [Number.NaN, Number.NaN] } as const
  if (last === undefined || last.bound !== Number.POSITIVE_INFINITY || buckets.length < 2) return none
  const cumulative: Bucket[] = []
  for (const { bound, count } of buckets)
    cumulative.push({ bound, count: Math.max(count, cumulative.at(-1)?.count ?? count) })
  const total = cumulative.at(-1)?.count ?? 0
  if (!(total > 0)) return none
  const rank = share * total
  const index = cumulative.findIndex(({ count }) => count >= rank)
  const [bucket, previous] = [cumulative[index], cumulative[index - 1]]
  if (bucket === undefined || bucket.bound === Number.POSITIVE_INFINITY) {
    const highest = previous?.bound ?? Number.NaN
    return { value: highest, between: [highest, Number.POSITIVE_INFINITY] }
  }
  if (previous === undefined && bucket.bound <= 0)
    return { value: bucket.bound, between: [Number.NEGATIVE_INFINITY, bucket.bound] }
  const [start, countBelow] = [previous?.bound ?? 0, previous?.count ?? 0]
  const fraction = bucket.count > countBelow ? (rank - countBelow) / (bucket.count - countBelow) : 0
  const value = start + (bucket.bound - start) * fraction
  return { value, between: [start, bucket.bound] }
}
