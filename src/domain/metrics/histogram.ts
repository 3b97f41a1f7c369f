import { numberOf, type Sample, seriesText } from './exposition.ts'

/** One bucket: how many values were at most `bound`, those of the buckets below included. */
export interface Bucket {
  readonly bound: number
  readonly count: number
}

/** One histogram of a text: its buckets by their bounds, the lowest first. */
export interface Histogram {
  readonly name: string
  /** Those of its series, without `le`. */
  readonly labels: Readonly<Record<string, string>>
  readonly buckets: readonly Bucket[]
  readonly sum: number | undefined
  readonly count: number | undefined
}

const ending = /_(bucket|sum|count)$/

/** The labels of a series without `le`, which tells the buckets of one histogram apart. */
function withoutBound(labels: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const { le: _, ...rest } = labels
  return rest
}

/** The histogram that a sample is a part of, as a series; undefined where it is none. */
export const histogramOf = ({ name, type, labels }: Sample): string | undefined =>
  type === 'histogram' && ending.test(name)
    ? seriesText(name.replace(ending, ''), withoutBound(labels))
    : undefined

/** Every histogram among the samples, in the order in which they begin. */
export function histogramsIn(samples: readonly Sample[]): ReadonlyMap<string, Histogram> {
  const found = new Map<string, Histogram>()
  for (const sample of samples) {
    const series = histogramOf(sample)
    if (series === undefined) continue
    const { name, labels, value } = sample
    const before = found.get(series) ?? {
      name: name.replace(ending, ''),
      labels: withoutBound(labels),
      buckets: [],
      sum: undefined,
      count: undefined,
    }
    const bound = name.endsWith('_bucket') ? numberOf(labels.le ?? '') : undefined
    if (bound !== undefined)
      found.set(series, { ...before, buckets: [...before.buckets, { bound, count: value }] })
    else if (name.endsWith('_sum')) found.set(series, { ...before, sum: value })
    else if (name.endsWith('_count')) found.set(series, { ...before, count: value })
  }
  for (const [series, { buckets, ...rest }] of found)
    found.set(series, { ...rest, buckets: buckets.toSorted((one, other) => one.bound - other.bound) })
  return found
}

/** A value between two bounds of a histogram: nothing tells where in a bucket the true one lies. */
export interface Quantile {
  readonly value: number
  readonly between: readonly [least: number, most: number]
}

/**
 * The value below which a share of all that was counted lies, interpolated within its bucket as Prometheus
 * does (`histogram_quantile`). NaN where nothing was counted or no bucket is without bound; in the last
 * bucket, the highest bound.
 */
export function quantileOf(share: number, { buckets }: Pick<Histogram, 'buckets'>): Quantile {
  const last = buckets.at(-1)
  const none = { value: Number.NaN, between: [Number.NaN, Number.NaN] } as const
  if (last === undefined || last.bound !== Number.POSITIVE_INFINITY || buckets.length < 2) return none
  const rising: Bucket[] = []
  for (const { bound, count } of buckets)
    rising.push({ bound, count: Math.max(count, rising.at(-1)?.count ?? count) })
  const total = rising.at(-1)?.count ?? 0
  if (!(total > 0)) return none
  const rank = share * total
  const place = rising.findIndex(({ count }) => count >= rank)
  const [here, before] = [rising[place], rising[place - 1]]
  if (here === undefined || here.bound === Number.POSITIVE_INFINITY) {
    const highest = before?.bound ?? Number.NaN
    return { value: highest, between: [highest, Number.POSITIVE_INFINITY] }
  }
  if (before === undefined && here.bound <= 0)
    return { value: here.bound, between: [Number.NEGATIVE_INFINITY, here.bound] }
  const [start, below] = [before?.bound ?? 0, before?.count ?? 0]
  const within = here.count > below ? (rank - below) / (here.count - below) : 0
  const value = start + (here.bound - start) * within
  return { value, between: [start, here.bound] }
}
