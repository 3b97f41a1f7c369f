import type { JsonObject } from '../../../base/json.ts'
import { formatDuration, formatInteger, formatRate } from '../../../values/format.ts'
import type { RangeNumbers } from './numbers.ts'

type Reading = readonly [value: number | null, of: number]

type Row = readonly [measure: string, label: string, unit: string, ofUnit: string, ...Reading]

/** Returns the numbers of a range in groups, each with its label for a person and what it is a part of. */
function measuresOf(numbers: RangeNumbers) {
  const { pullRequests, attempts, outcomes, runs, bisections, testingTime, notMerged, minutes } = numbers
  const groups: Readonly<Record<string, readonly Row[]>> = {
    'Pull requests': [
      ...Object.entries(pullRequests).map(
        ([name, { count, of }]): Row => [`pull-requests-${name}`, name, 'PRs', 'PRs', count, of],
      ),
      [
        'attempts-per-merged',
        'attempts per merge',
        'attempts',
        'merged PRs',
        attempts.perMerged,
        attempts.merged,
      ],
    ],
    'Test runs': [
      ...Object.entries(outcomes).map(
        ([name, { count, of }]): Row => [`runs-${name}`, name, 'test runs', 'test runs', count, of],
      ),
      ['batches-split', 'batches split', 'test runs', 'test runs', bisections.batchesSplit, runs],
      ['runs-in-bisection', 'in bisections', 'test runs', 'test runs', bisections.runs, runs],
    ],
    Time: [
      ['testing-time-p50', 'p50', 'ms', 'timed runs', testingTime.p50Ms, testingTime.runs],
      ['testing-time-p90', 'p90', 'ms', 'timed runs', testingTime.p90Ms, testingTime.runs],
      ['testing-time-max', 'max', 'ms', 'timed runs', testingTime.maxMs, testingTime.runs],
      ...Object.entries(notMerged).map(
        ([name, spent]): Row => [
          `minutes-${name}`,
          `in ${name} runs`,
          'minutes',
          'minutes',
          spent.minutes,
          minutes,
        ],
      ),
    ],
  }
  return Object.entries(groups).flatMap(([group, rows]) =>
    rows.map(([measure, label, unit, ofUnit, value, of]) => ({
      group,
      measure,
      label,
      unit,
      ofUnit,
      value,
      of,
    })),
  )
}

/** Returns the numbers of a range as rows, each beside that of the range before. */
export function measures(main: RangeNumbers, earlier: RangeNumbers | undefined) {
  const before = earlier === undefined ? [] : measuresOf(earlier)
  return measuresOf(main).map((measure, index) => ({
    ...measure,
    before: before[index]?.value ?? null,
    beforeOf: before[index]?.of ?? null,
  }))
}

type Measure = ReturnType<typeof measures>[number]

const rounded = (value: number): number => Math.round(value * 100) / 100
const roundedOrNull = (value: number | null) => (value === null ? null : rounded(value))

/** Returns a row for scripts: exact numbers are compared, and rounded where they are written. */
export const writtenMeasure = ({
  group: _,
  label: __,
  value,
  of,
  before,
  beforeOf,
  ...names
}: Measure): JsonObject => ({
  ...names,
  value: roundedOrNull(value),
  of: rounded(of),
  before: roundedOrNull(before),
  beforeOf: roundedOrNull(beforeOf),
})

/** How much higher a number is than before: ` (+4)`; empty where it is not. */
function difference(now: number, before: number | undefined, format: (number: number) => string): string {
  const change = before === undefined ? 0 : now - before
  return change === 0 ? '' : ` (${change > 0 ? '+' : '-'}${format(Math.abs(change))})`
}

/**
 * Returns a number as a person reads it: a part as `78%, 31 of 40`, any other as `12m10s over 61`, with the
 * difference to that of the range before.
 */
function describe(unit: string, ofUnit: string, [value, of]: Reading, [before, beforeOf]: Reading): string {
  if (value === null) return '-'
  if (unit !== ofUnit) {
    const format = unit === 'ms' ? formatDuration : (number: number) => formatInteger(rounded(number))
    return `${format(value)}${difference(value, before ?? undefined, format)} over ${formatInteger(of)}`
  }
  // A few minutes are no number of minutes.
  const isShort = unit === 'minutes' && of > 0 && of < 10
  const format = (number: number) =>
    isShort ? formatDuration(Math.round(number * 60) * 1_000) : formatInteger(Math.round(number))
  const counted = `${format(value)} of ${format(of)}`
  if (of === 0) return counted
  const percent = (part: number, all: number) => Math.round((part / all) * 100)
  const earlier = before === null || beforeOf === 0 ? undefined : percent(before, beforeOf)
  return `${formatRate(value / of)}${difference(percent(value, of), earlier, String)}, ${counted}`
}

/** Returns the rows that a person reads: those that are not zero in both ranges, the first of a group with its name. */
export function shownMeasures(all: readonly Measure[]): readonly JsonObject[] {
  const shown = all.filter(({ value, before }) => Boolean(value) || Boolean(before))
  return shown.map(({ group, label, value, of, unit, ofUnit, before, beforeOf }, index) => {
    const now: Reading = [value, of]
    const earlier: Reading = [before, beforeOf ?? 0]
    return {
      group: shown[index - 1]?.group === group ? '' : group,
      label,
      shown: describe(unit, ofUnit, now, earlier),
      shownBefore: describe(unit, ofUnit, earlier, [null, 0]),
      ofUnit,
    }
  })
}
