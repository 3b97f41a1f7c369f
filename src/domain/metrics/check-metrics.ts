import { MergeqError } from '../../errors.ts'
import { numberText, type Sample, seriesText } from './exposition.ts'
import type { Aggregation, Comparison, Expression, Selector } from './expression.ts'
import { type Histogram, histogramsIn, quantileOf } from './histogram.ts'

/** What was found of one series, or of one value made of several. */
export interface MetricCheckResult {
  readonly expression: Expression
  /** As a query writes it: `sum(mq_depth_current{branch="main"})`. */
  readonly series: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
  readonly holds: boolean
  /** The bounds of the bucket that a quantile was interpolated in. */
  readonly between?: readonly [least: number, most: number]
}

const compare: Readonly<Record<Comparison, (value: number, bound: number) => boolean>> = {
  '<': (value, bound) => value < bound,
  '<=': (value, bound) => value <= bound,
  '>': (value, bound) => value > bound,
  '>=': (value, bound) => value >= bound,
  '==': (value, bound) => value === bound,
  '!=': (value, bound) => value !== bound,
}

/** NaN is left out by `min` and `max` where there is anything else, as in Prometheus. */
const fold: Readonly<Record<Aggregation, (values: readonly number[]) => number>> = {
  sum: values => values.reduce((sum, value) => sum + value, 0),
  avg: values => values.reduce((sum, value) => sum + value, 0) / values.length,
  min: values => counted(values).reduce((least, value) => Math.min(least, value)),
  max: values => counted(values).reduce((most, value) => Math.max(most, value)),
}

const counted = (values: readonly number[]): readonly number[] => {
  const numbers = values.filter(value => !Number.isNaN(value))
  return numbers.length === 0 ? [Number.NaN] : numbers
}

/** The value of a label; one that is not there is empty. */
const labelOf = (labels: Readonly<Record<string, string>>, label: string): string =>
  Object.hasOwn(labels, label) ? (labels[label] ?? '') : ''

const matches =
  ({ name, matchers }: Selector) =>
  (one: Pick<Sample, 'name' | 'labels'>): boolean =>
    one.name === name && matchers.every(({ label, matches }) => matches(labelOf(one.labels, label)))

/**
 * What holds of an expression, for each value that it is about. A series that is not there is a `not-found`
 * failure with the nearest that are: it may mean zero, or that there is no such queue (service-observed.md
 * section 4).
 */
export function checkMetrics(
  expression: Expression,
  samples: readonly Sample[],
): readonly MetricCheckResult[] {
  const { series, comparison, bound } = expression
  const verdict = (
    value: number,
    found: Omit<MetricCheckResult, 'expression' | 'value' | 'holds'>,
  ): MetricCheckResult => ({
    expression,
    value,
    holds: compare[comparison](value, bound),
    ...found,
  })
  if (series.over === 'quantile') {
    const { share = 0 } = series
    const asked = { ...series, name: series.name.replace(/_bucket$/, '') }
    const all = [...histogramsIn(samples).values()]
    const found = all.filter(matches(asked))
    if (found.length === 0) throw absent(asked, all, samples)
    return found.map(histogram => {
      const { value, between } = quantileOf(share, histogram)
      const text = `quantile(${share}, ${seriesText(histogram.name, histogram.labels)})`
      return verdict(value, {
        series: text,
        labels: histogram.labels,
        ...(Number.isNaN(value) ? {} : { between }),
      })
    })
  }
  const found = samples.filter(matches(series))
  if (found.length === 0) throw absent(series, samples, samples)
  if (series.over === 'each')
    return found.map(({ name, labels, value }) =>
      verdict(value, { series: seriesText(name, labels), labels }),
    )
  const asked = series.matchers.map(({ text }) => text).join(',')
  const inside = asked === '' ? series.name : `${series.name}{${asked}}`
  return [
    verdict(fold[series.over](found.map(({ value }) => value)), {
      series: `${series.over}(${inside})`,
      labels: {},
    }),
  ]
}

/** A verdict in one line: what it is, and whether that holds. */
export function describeCheck({ series, value, holds, between, expression }: MetricCheckResult): string {
  const { comparison, bound } = expression
  const why = Number.isNaN(value) && between === undefined ? ', because nothing was counted' : ''
  const [least, most] = between ?? []
  const how =
    least === undefined || most === undefined
      ? ''
      : most === Number.POSITIVE_INFINITY
        ? ` (above the highest bound, ${numberText(least)})`
        : ` (interpolated between ${numberText(least)} and ${numberText(most)})`
  const isQuantile = expression.series.over === 'quantile'
  return `${series} is ${numberText(value)}${how}${isQuantile ? why : ''}, ${holds ? 'which is' : 'not'} ${comparison} ${numberText(bound)}`
}

/** How many names, or label sets, are shown of those that are there. */
const mostShown = 5

function absent(
  { name, matchers }: Selector,
  candidates: readonly (Pick<Sample, 'name' | 'labels'> | Histogram)[],
  samples: readonly Sample[],
): MergeqError {
  const same = candidates.filter(one => one.name === name)
  const missing = `There is no series ${name}${matchers.length === 0 ? '' : `{${matchers.map(({ text }) => text).join(',')}}`}.`
  if (same.length > 0) {
    const shown = same.slice(0, mostShown).map(one => seriesText(one.name, one.labels))
    const more = same.length - shown.length
    return new MergeqError('not-found', missing, {
      hint: `Those of that name are:\n${shown.join('\n')}${more > 0 ? `\nand ${more} more` : ''}`,
    })
  }
  if (candidates === samples && [...histogramsIn(samples).values()].some(one => one.name === name))
    return new MergeqError('not-found', missing, {
      hint: `${name} is a histogram: ask for quantile(0.95, ${name}), ${name}_sum or ${name}_count.`,
    })
  if (samples.some(one => one.name === name))
    return new MergeqError('not-found', `${name} is no histogram.`, {
      hint: `Leave quantile out, or ask for one of ${suggestNames(name, candidates).join(', ') || 'none: there is no histogram'}.`,
    })
  const near = suggestNames(name, candidates)
  return new MergeqError('not-found', missing, {
    hint:
      near.length === 0
        ? 'There are none at all: is there a queue, and has it been used in the last hour?'
        : `The nearest are ${near.join(', ')}. A queue that does not exist, or has done nothing, may have no series.`,
  })
}

/** A longer name is nobody's slip. */
const longestName = 200

/** The names that are nearest to one: by the words that they share, then by how many characters differ. */
export function suggestNames(name: string, all: readonly { readonly name: string }[]): readonly string[] {
  const words = new Set(name.toLowerCase().split('_'))
  const shared = (other: string) =>
    other
      .split('_')
      .filter(word => words.has(word))
      .join('').length
  return [...new Set(all.map(one => one.name))]
    .filter(other => other.length <= longestName)
    .map(other => ({ other, far: distance(name, other) - 2 * shared(other) }))
    .toSorted((one, two) => one.far - two.far)
    .slice(0, mostShown)
    .map(({ other }) => other)
}

/** How many characters must be changed, added or taken away to make one name of another. */
function distance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index)
  for (const [index, char] of [...one].entries()) {
    const next = [index + 1]
    for (const [place, against] of [...other].entries())
      next.push(
        Math.min(
          (row[place] ?? 0) + (char === against ? 0 : 1),
          (row[place + 1] ?? 0) + 1,
          (next[place] ?? 0) + 1,
        ),
      )
    row = next
  }
  return row.at(-1) ?? 0
}
