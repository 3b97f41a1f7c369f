import { numberText, type Sample } from '../../domain/metrics/exposition.ts'
import { type Histogram, histogramOf, histogramsIn } from '../../domain/metrics/histogram.ts'
import { bar, sparkline } from '../../output/charts.ts'
import { formatInteger, type View } from '../../output/view.ts'

/** The labels of a series. */
export type Labels = Readonly<Record<string, string>>

const barWidth = 16
/** What stands where there is nothing to draw. */
const nothing = '·'

/** Labels as a person reads them: `branch=main queue_type=main`. */
export const labelsText = (labels: Labels): string =>
  Object.entries(labels)
    .map(([key, value]) => `${key}=${value}`)
    .join(' ')

/** The labels that every one of several has with the same value. */
export function sharedBy(all: readonly Labels[]): Labels {
  const [first = {}, ...rest] = all
  return rest.length === 0
    ? {}
    : Object.fromEntries(
        Object.entries(first).filter(([key, value]) => rest.every(one => one[key] === value)),
      )
}

/** Labels but those that are said elsewhere. */
export const without = (labels: Labels, shared: Labels): Labels =>
  Object.fromEntries(Object.entries(labels).filter(([key]) => !Object.hasOwn(shared, key)))

/** How many values are in each bucket alone. */
const own = ({ buckets }: Histogram): readonly number[] =>
  buckets.map(({ count }, index) => Math.max(0, count - (buckets[index - 1]?.count ?? 0)))

/** A histogram small: the buckets from the lowest bound on, their bounds, and the mean. */
function histogramText(histogram: Histogram): string {
  const { buckets, sum, count } = histogram
  const bounds = buckets.map(({ bound }) => bound)
  const total = count ?? buckets.at(-1)?.count ?? 0
  if (!(total > 0)) return nothing
  const mean = sum === undefined ? '' : `, mean ${numberText(Math.round((sum / total) * 10) / 10)}`
  return `▕${sparkline(own(histogram))}▏ ${numberText(bounds[0] ?? 0)} to ${numberText(bounds.at(-1) ?? 0)}${mean}`
}

/**
 * The metrics as a person sees them: a bar for each value beside the others of its name, a histogram in one
 * row with the number of what it counted, labels that all share said once.
 */
export function metricsView(samples: readonly Sample[]): View {
  const histograms = histogramsIn(samples)
  const drawn = new Set<string>()
  const most = new Map<string, number>()
  for (const { name, value } of samples)
    if (Number.isFinite(value)) most.set(name, Math.max(most.get(name) ?? 0, value))
  const shared = sharedBy(samples.map(({ labels }) => labels))
  const rows = samples.flatMap(sample => {
    const series = histogramOf(sample)
    const histogram = series === undefined ? undefined : histograms.get(series)
    if (series === undefined || histogram === undefined) {
      const { name, labels, value } = sample
      const picture = bar(value, most.get(name) ?? 0, barWidth) || nothing
      return [[name, labelsText(without(labels, shared)), numberText(value), picture]]
    }
    if (drawn.has(series)) return []
    drawn.add(series)
    const { name, labels, buckets } = histogram
    const total = histogram.count ?? buckets.at(-1)?.count ?? 0
    return [[name, labelsText(without(labels, shared)), numberText(total), histogramText(histogram)]]
  })
  const common = labelsText(shared)
  return {
    heading: common === '' ? [] : [`${formatInteger(rows.length)} series of ${common}`],
    columns: [
      { title: 'NAME', format: 'plain' },
      { title: 'LABELS', format: 'plain' },
      { title: 'VALUE', format: 'number' },
      { title: 'PICTURE', format: 'plain' },
    ],
    rows,
  }
}
