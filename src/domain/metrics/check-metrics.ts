import { MergeqError } from '../../errors.ts'
import { numberText, type Sample, seriesText } from './exposition.ts'
import type { Aggregation, Comparison, Expression, Selector } from './expression.ts'
import { type Histogram, histogramsIn, quantileOf } from './histogram.ts'

export interface MetricCheckResult {
  readonly expression: Expression
  /** The checked series in the syntax of queries: `sum(mq_depth_current{branch="main"})`. */
  readonly series: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
  readonly holds: boolean
  readonly between?: readonly [lower: number, upper: number]
}

const compare: Readonly<Record<Comparison, (value: number, bound: number) => boolean>> = {
  '<': (value, bound) => value < bound,
  '<=': (value, bound) => value <= bound,
  '>': (value, bound) => value > bound,
  '>=': (value, bound) => value >= bound,
  '==': (value, bound) => value === bound,
  '!=': (value, bound) => value !== bound,
}

/** The aggregations. As in Prometheus, `min` and `max` ignore NaN unless all values are NaN. */
const aggregate: Readonly<Record<Aggregation, (values: readonly number[]) => number>> = {
  sum: values => values.reduce((sum, value) => sum + value, 0),
  avg: values => values.reduce((sum, value) => sum + value, 0) / values.length,
  min: values => withoutNaN(values).reduce((min, value) => Math.min(min, value)),
  max: values => withoutNaN(values).reduce((max, value) => Math.max(max, value)),
}

const withoutNaN = (values: readonly number[]): readonly number[] => {
  const numbers = values.filter(value => !Number.isNaN(value))
  return numbers.length === 0 ? [Number.NaN] : numbers
}

const labelValue = (labels: Readonly<Record<string, string>>, label: string): string =>
  Object.hasOwn(labels, label) ? (labels[label] ?? '') : ''

const matches =
  ({ name, matchers }: Selector) =>
  (series: Pick<Sample, 'name' | 'labels'>): boolean =>
    series.name === name && matchers.every(({ label, matches }) => matches(labelValue(series.labels, label)))

/**
 * Checks every value that an expression selects. Throws a `not-found` error, which suggests similar names, if
 * it selects no series: the service omits series of unknown queues and some that are zero
 * (docs/reference/service.md, "Metrics").
 */
export function checkMetrics(
  expression: Expression,
  samples: readonly Sample[],
): readonly MetricCheckResult[] {
  const { series, comparison, bound } = expression
  const createResult = (
    value: number,
    details: Omit<MetricCheckResult, 'expression' | 'value' | 'holds'>,
  ): MetricCheckResult => ({
    expression,
    value,
    holds: compare[comparison](value, bound),
    ...details,
  })
  if (series.over === 'quantile') {
    const { share = 0 } = series
    const selector = { ...series, name: series.name.replace(/_bucket$/, '') }
    const histograms = [...histogramsIn(samples).values()]
    const selected = histograms.filter(matches(selector))
    if (selected.length === 0) throw notFoundError(selector, histograms, samples)
    return selected.map(histogram => {
      const { value, between } = quantileOf(share, histogram)
      const text = `quantile(${share}, ${seriesText(histogram.name, histogram.labels)})`
      return createResult(value, {
        series: text,
        labels: histogram.labels,
        ...(Number.isNaN(value) ? {} : { between }),
      })
    })
  }
  const selected = samples.filter(matches(series))
  if (selected.length === 0) throw notFoundError(series, samples, samples)
  if (series.over === 'each')
    return selected.map(({ name, labels, value }) =>
      createResult(value, { series: seriesText(name, labels), labels }),
    )
  const matchers = series.matchers.map(({ text }) => text).join(',')
  const selectorText = matchers === '' ? series.name : `${series.name}{${matchers}}`
  return [
    createResult(aggregate[series.over](selected.map(({ value }) => value)), {
      series: `${series.over}(${selectorText})`,
      labels: {},
    }),
  ]
}

export function describeCheck({ series, value, holds, between, expression }: MetricCheckResult): string {
  const { comparison, bound } = expression
  const nanReason = Number.isNaN(value) && between === undefined ? ' (no observations)' : ''
  const [lower, upper] = between ?? []
  const interpolation =
    lower === undefined || upper === undefined
      ? ''
      : upper === Number.POSITIVE_INFINITY
        ? ` (above the highest bucket, ${numberText(lower)})`
        : ` (interpolated between ${numberText(lower)} and ${numberText(upper)})`
  const isQuantile = expression.series.over === 'quantile'
  return `${series} is ${numberText(value)}${interpolation}${isQuantile ? nanReason : ''}, ${holds ? 'which is' : 'not'} ${comparison} ${numberText(bound)}`
}

const maxSuggestions = 5

function notFoundError(
  { name, matchers }: Selector,
  candidates: readonly (Pick<Sample, 'name' | 'labels'> | Histogram)[],
  samples: readonly Sample[],
): MergeqError {
  const sameName = candidates.filter(candidate => candidate.name === name)
  const missing = `Series not found: ${name}${matchers.length === 0 ? '' : `{${matchers.map(({ text }) => text).join(',')}}`}.`
  if (sameName.length > 0) {
    const shown = sameName.slice(0, maxSuggestions).map(({ name, labels }) => seriesText(name, labels))
    const more = sameName.length - shown.length
    return new MergeqError('not-found', missing, {
      hint: `Series with this name:\n${shown.join('\n')}${more > 0 ? `\nand ${more} more` : ''}`,
    })
  }
  if (
    candidates === samples &&
    [...histogramsIn(samples).values()].some(candidate => candidate.name === name)
  )
    return new MergeqError('not-found', missing, {
      hint: `${name} is a histogram: use quantile(0.95, ${name}), ${name}_sum or ${name}_count.`,
    })
  if (samples.some(candidate => candidate.name === name))
    return new MergeqError('not-found', `${name} is not a histogram.`, {
      hint:
        candidates.length === 0
          ? 'Remove quantile: there are no histograms.'
          : `Remove quantile, or use one of: ${suggestNames(name, candidates).join(', ')}.`,
    })
  const suggestions = suggestNames(name, candidates)
  return new MergeqError('not-found', missing, {
    hint:
      suggestions.length === 0
        ? 'No metrics found. Does the queue exist, and was it active in the last hour?'
        : `Did you mean ${suggestions.join(', ')}? A queue that does not exist or was not active may have no series.`,
  })
}

/** Longer names are not suggested: comparing them costs time, and they are not misspellings. */
const maxNameLength = 200

/** Up to five names that share words with a name, of which few characters differ. */
export function suggestNames(
  name: string,
  candidates: readonly { readonly name: string }[],
): readonly string[] {
  const words = new Set(name.toLowerCase().split('_'))
  const sharedLength = (other: string) =>
    other
      .split('_')
      .filter(word => words.has(word))
      .join('').length
  return [...new Set(candidates.map(candidate => candidate.name))]
    .filter(other => other.length <= maxNameLength)
    .map(other => ({ other, score: editDistance(name, other) - 2 * sharedLength(other) }))
    .toSorted((one, other) => one.score - other.score)
    .slice(0, maxSuggestions)
    .map(({ other }) => other)
}

function editDistance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index)
  for (const [index, char] of [...one].entries()) {
    const next = [index + 1]
    for (const [column, otherChar] of [...other].entries())
      next.push(
        Math.min(
          (row[column] ?? 0) + (char === otherChar ? 0 : 1),
          (row[column + 1] ?? 0) + 1,
          (next[column] ?? 0) + 1,
        ),
      )
    row = next
  }
  return row.at(-1) ?? 0
}
