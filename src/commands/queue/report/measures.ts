import type { JsonObject } from '../../../base/json.ts'
import { formatDuration, formatInteger, formatRate } from '../../../values/format.ts'
import type { Part, RangeNumbers } from './numbers.ts'

/** A number of a report, the number that it is a part of, and both in the range before. */
export interface Measure {
  readonly [key: string]: string | number | null
  readonly measure: string
  /** What a person reads: a group of measures, and the measure. */
  readonly group: string
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

const leftAs = (name: keyof RangeNumbers['pullRequests']): Definition => [
  `pull-requests-${name}`,
  name,
  'PRs',
  'PRs',
  ({ pullRequests }) => part(pullRequests[name]),
]

const endedAs = (name: keyof RangeNumbers['outcomes']): Definition => [
  `runs-${name}`,
  name,
  'test runs',
  'test runs',
  ({ outcomes }) => part(outcomes[name]),
]

const bisected = (measure: string, label: string, name: keyof RangeNumbers['bisections']): Definition => [
  measure,
  label,
  'test runs',
  'test runs',
  ({ bisections, runs }) => [bisections[name], runs],
]

const time = (name: string, key: 'p50Ms' | 'p90Ms' | 'maxMs'): Definition => [
  `testing-time-${name}`,
  name,
  'ms',
  'timed runs',
  ({ testingTime }) => [testingTime[key], testingTime.runs],
]

const spentOn = (name: keyof RangeNumbers['notMerged']): Definition => [
  `minutes-${name}`,
  `in ${name} runs`,
  'minutes',
  'minutes',
  ({ notMerged, minutes }) => [notMerged[name].minutes, minutes],
]

const groups: Readonly<Record<string, readonly Definition[]>> = {
  'Pull requests': [
    leftAs('merged'),
    leftAs('failed'),
    leftAs('cancelled'),
    leftAs('queued'),
    [
      'attempts-per-merged',
      'attempts per merge',
      'attempts',
      'merged PRs',
      ({ attempts: { perMerged, merged } }) => [perMerged, merged],
    ],
  ],
  'Test runs': [
    endedAs('passed'),
    endedAs('failed'),
    endedAs('interrupted'),
    endedAs('cancelled'),
    endedAs('other'),
    bisected('batches-split', 'batches split', 'batchesSplit'),
    bisected('runs-in-bisection', 'in bisections', 'runs'),
  ],
  Time: [
    time('p50', 'p50Ms'),
    time('p90', 'p90Ms'),
    time('max', 'maxMs'),
    spentOn('failed'),
    spentOn('interrupted'),
    spentOn('cancelled'),
  ],
}

/** Returns the numbers of a range as rows, each beside that of the range before. */
export const measures = (main: RangeNumbers, earlier: RangeNumbers | undefined): readonly Measure[] =>
  Object.entries(groups).flatMap(([group, definitions]) =>
    definitions.map(([measure, label, unit, ofUnit, read]) => {
      const [value, of] = read(main)
      const [before, beforeOf] = earlier === undefined ? [null, null] : read(earlier)
      return { measure, group, label, value, unit, of, ofUnit, before, beforeOf }
    }),
  )

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
