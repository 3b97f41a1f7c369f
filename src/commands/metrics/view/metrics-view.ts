import { formatInteger } from '../../../domain/format.ts'
import { numberText, type Sample } from '../../../domain/metrics/exposition.ts'
import { type Histogram, histogramOf, histogramsIn } from '../../../domain/metrics/histogram.ts'
import { bar, sparkline } from '../../../output/charts.ts'
import type { View } from '../../../output/view.ts'

/** The labels of a series. */
export type Labels = Readonly<Record<string, string>>

/** Width of a bar, in columns. */
const barWidth = 16
/** The cell of a value without a picture. */
const emptyPicture = '·'

/** Formats labels for a table: `branch=main queue_type=main`. */
export const formatLabels = (labels: Labels): string =>
  Object.entries(labels)
    .map(([key, value]) => `${key}=${value}`)
    .join(' ')

/** Returns the labels that all series have with the same value; none for a single series. */
export function findSharedLabels(all: readonly Labels[]): Labels {
  const [first = {}, ...rest] = all
  return rest.length === 0
    ? {}
    : Object.fromEntries(
        Object.entries(first).filter(([key, value]) => rest.every(labels => labels[key] === value)),
      )
}

/** Returns labels without the shared labels. */
export const omitLabels = (labels: Labels, sharedLabels: Labels): Labels =>
  Object.fromEntries(Object.entries(labels).filter(([key]) => !Object.hasOwn(sharedLabels, key)))

/** Returns the number of values in each bucket, from the cumulative counts. */
const countPerBucket = ({ buckets }: Histogram): readonly number[] =>
  buckets.map(({ count }, index) => Math.max(0, count - (buckets[index - 1]?.count ?? 0)))

/** Formats a histogram on one line: a bar for each bucket, the lowest and highest bound, and the mean. */
function formatHistogram(histogram: Histogram): string {
  const { buckets, sum, count } = histogram
  const bounds = buckets.map(({ bound }) => bound)
  const total = count ?? buckets.at(-1)?.count ?? 0
  if (!(total > 0)) return emptyPicture
  const mean = sum === undefined ? '' : `, mean ${numberText(Math.round((sum / total) * 10) / 10)}`
  return `▕${sparkline(countPerBucket(histogram))}▏ ${numberText(bounds[0] ?? 0)} to ${numberText(bounds.at(-1) ?? 0)}${mean}`
}

/**
 * Returns the view of metrics for a terminal: a bar for each value, relative to the values of the same name,
 * a row for each histogram with its count, and the shared labels in the heading.
 */
export function metricsView(samples: readonly Sample[]): View {
  const histograms = histogramsIn(samples)
  const drawnHistograms = new Set<string>()
  const maxByName = new Map<string, number>()
  for (const { name, value } of samples)
    if (Number.isFinite(value)) maxByName.set(name, Math.max(maxByName.get(name) ?? 0, value))
  const sharedLabels = findSharedLabels(samples.map(({ labels }) => labels))
  const rows = samples.flatMap(sample => {
    const seriesName = histogramOf(sample)
    const histogram = seriesName === undefined ? undefined : histograms.get(seriesName)
    if (seriesName === undefined || histogram === undefined) {
      const { name, labels, value } = sample
      const picture = bar(value, maxByName.get(name) ?? 0, barWidth) || emptyPicture
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
  return {
    heading: sharedText === '' ? [] : [`${formatInteger(rows.length)} series of ${sharedText}`],
    columns: [
      { title: 'NAME', format: 'plain' },
      { title: 'LABELS', format: 'plain' },
      { title: 'VALUE', format: 'number' },
      { title: 'PICTURE', format: 'plain' },
    ],
    rows,
  }
}
