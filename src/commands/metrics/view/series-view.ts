import { formatInteger } from '../../../domain/format.ts'
import { numberText, type Sample } from '../../../domain/metrics/exposition.ts'
import {
  countPerBucket,
  type Histogram,
  histogramOf,
  histogramsIn,
} from '../../../domain/metrics/histogram.ts'
import { bar, sparkline } from '../../../output/charts.ts'
import { linesView, type View } from '../../../output/view.ts'

/** The labels of a series. */
export type Labels = Readonly<Record<string, string>>

/** Width of a bar, in columns. */
const barWidth = 16

/** Formats labels for a table: `branch=main queue_type=main`. */
export const formatLabels = (labels: Labels): string =>
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

/** Returns labels without the shared labels. */
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
export function seriesView(samples: readonly Sample[], columns: number): View {
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
