import type { JsonObject } from '../../../base/json.ts'
import { formatDuration, formatInteger, formatRate } from '../../../values/format.ts'
import type { Part, RangeNumbers } from './numbers.ts'

/** A number of a report, the number that it is a part of, and both in the range before. */
export interface Measure {
  readonly [key: string]: string | number | null
  readonly measure: string
  /** What a person reads. */
  readonly label: string
  readonly value: number | null
  readonly unit: string
  readonly of: number
  readonly ofUnit: string
  readonly before: number | null
  readonly beforeOf: number | null
}

type Reading = readonly [value: number | null, of: number]

type Definition = readonly [
  measure: string,
  label: string,
  unit: string,
  ofUnit: string,
  read: (numbers: RangeNumbers) => Reading,
]

const part = ({ count, of }: Part): Reading => [count, of]
const rounded = (value: number): number => Math.round(value * 100) / 100
const roundedOrNull = (value: number | null) => (value === null ? null : rounded(value))

const leftAs = (name: keyof RangeNumbers['pullRequests'], label: string): Definition => [
  `pull-requests-${name}`,
  `Pull requests ${label}`,
  'PRs',
  'PRs',
  ({ pullRequests }) => part(pullRequests[name]),
]

const endedAs = (name: keyof RangeNumbers['outcomes'], label = `Test runs ${name}`): Definition => [
  `runs-${name}`,
  label,
  'test runs',
  'test runs',
  ({ outcomes }) => part(outcomes[name]),
]

const time = (name: string, key: 'p50Ms' | 'p90Ms' | 'maxMs'): Definition => [
  `testing-time-${name}`,
  `Testing time ${name}`,
  'ms',
  'timed runs',
  ({ testingTime }) => [testingTime[key], testingTime.runs],
]

const spentOn = (name: keyof RangeNumbers['notMerged']): Definition => [
  `minutes-${name}`,
  `Minutes ${name}`,
  'minutes',
  'minutes',
  ({ notMerged, minutes }) => [notMerged[name].minutes, minutes],
]

const definitions: readonly Definition[] = [
  leftAs('merged', 'merged'),
  leftAs('failed', 'failed'),
  leftAs('cancelled', 'cancelled'),
  leftAs('queued', 'queued'),
  [
    'attempts-per-merged',
    'Attempts per merged PR',
    'attempts',
    'merged PRs',
    ({ attempts: { perMerged, merged } }) => [perMerged, merged],
  ],
  endedAs('passed'),
  endedAs('failed'),
  endedAs('interrupted'),
  endedAs('cancelled'),
  endedAs('other', 'Other test runs'),
  time('p50', 'p50Ms'),
  time('p90', 'p90Ms'),
  time('max', 'maxMs'),
  spentOn('failed'),
  spentOn('interrupted'),
  spentOn('cancelled'),
  [
    'batches-split',
    'Batches split',
    'test runs',
    'test runs',
    ({ bisections, runs }) => [bisections.batchesSplit, runs],
  ],
  [
    'runs-in-bisection',
    'Runs in bisections',
    'test runs',
    'test runs',
    ({ bisections, runs }) => [bisections.runs, runs],
  ],
]

/** Returns the numbers of a range as rows, each beside that of the range before. */
export const measures = (main: RangeNumbers, earlier: RangeNumbers | undefined): readonly Measure[] =>
  definitions.map(([measure, label, unit, ofUnit, read]) => {
    const [value, of] = read(main)
    const [before, beforeOf] = earlier === undefined ? [null, null] : read(earlier)
    return { measure, label, value, unit, of, ofUnit, before, beforeOf }
  })

/** Returns a row for scripts: exact numbers are compared, and rounded where they are written. */
export const writtenMeasure = ({ label: _, value, of, before, beforeOf, ...names }: Measure): JsonObject => ({
  ...names,
  value: roundedOrNull(value),
  of: rounded(of),
  before: roundedOrNull(before),
  beforeOf: roundedOrNull(beforeOf),
})

/** Returns a number as a person reads it: a part as `31 of 40 (78%)`, any other as `12m10s over 61`. */
function describe(value: number | null, of: number | null, unit: string, ofUnit: string): string {
  if (value === null || of === null) return '-'
  if (unit === ofUnit) {
    const share = of === 0 ? '' : ` (${formatRate(value / of)})`
    // A few minutes are no number of minutes.
    const isShort = unit === 'minutes' && of > 0 && of < 10
    const format = (number: number) =>
      isShort ? formatDuration(Math.round(number * 60) * 1_000) : formatInteger(Math.round(number))
    return `${format(value)} of ${format(of)}${share}`
  }
  return `${unit === 'ms' ? formatDuration(value) : formatInteger(rounded(value))} over ${formatInteger(of)}`
}

/** Returns a row as a person reads it. */
export const shownMeasure = ({ label, value, of, unit, ofUnit, before, beforeOf }: Measure): JsonObject => ({
  label,
  shown: describe(value, of, unit, ofUnit),
  shownBefore: describe(before, beforeOf, unit, ofUnit),
  ofUnit,
})
