import { formatDuration, formatInteger, formatRate } from '../../domain/format.ts'
import type { Part, RangeNumbers } from '../../domain/queue-report.ts'
import type { JsonObject } from '../../json.ts'

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
const rounded = (value: number | null): number | null =>
  value === null ? null : Math.round(value * 100) / 100

const leftAs = (name: keyof RangeNumbers['pullRequests'], label: string): Definition => [
  `pull-requests-${name}`,
  `Pull requests ${label}`,
  'pull requests',
  'pull requests',
  ({ pullRequests }) => part(pullRequests[name]),
]

const endedAs = (name: keyof RangeNumbers['outcomes']): Definition => [
  `runs-${name}`,
  `Test runs ${name === 'other' ? 'with another outcome' : name}`,
  'test runs',
  'test runs',
  ({ outcomes }) => part(outcomes[name]),
]

const time = (name: string, key: 'p50Ms' | 'p90Ms' | 'maxMs'): Definition => [
  `testing-time-${name}`,
  `Testing time, ${name}`,
  'ms',
  'timed test runs',
  ({ testingTime }) => [testingTime[key], testingTime.runs],
]

const spentOn = (name: keyof RangeNumbers['notMerged']): readonly Definition[] => [
  [
    `minutes-${name}`,
    `Minutes of runs ${name}`,
    'minutes',
    'minutes of all runs',
    ({ notMerged, minutes }) => [rounded(notMerged[name].minutes), rounded(minutes) ?? 0],
  ],
]

const definitions: readonly Definition[] = [
  leftAs('merged', 'merged'),
  leftAs('failed', 'failed'),
  leftAs('cancelled', 'cancelled'),
  leftAs('queued', 'still queued'),
  [
    'attempts-per-merged',
    'Attempts for each merged one',
    'results',
    'merged pull requests',
    ({ attempts }) => [rounded(attempts.perMerged), attempts.merged],
  ],
  endedAs('passed'),
  endedAs('failed'),
  endedAs('interrupted'),
  endedAs('cancelled'),
  endedAs('other'),
  time('p50', 'p50Ms'),
  time('p90', 'p90Ms'),
  time('max', 'maxMs'),
  ...spentOn('failed'),
  ...spentOn('interrupted'),
  ...spentOn('cancelled'),
  [
    'batches-split',
    'Test runs that split a batch',
    'test runs',
    'test runs',
    ({ bisections, runs }) => [bisections.batchesSplit, runs],
  ],
  [
    'runs-in-bisection',
    'Test runs in bisections',
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

/** Returns a number as a person reads it: `31 of 40 (78%)`, `12m10s of 61`. */
function describe(value: number | null, of: number | null, unit: string, ofUnit: string): string {
  if (value === null || of === null) return '-'
  if (unit === 'ms') return `${formatDuration(value)} of ${formatInteger(of)}`
  const isPart = unit === ofUnit || unit === 'minutes'
  const text = `${formatInteger(value)} of ${formatInteger(of)}`
  return isPart && of > 0 ? `${text} (${formatRate(value / of)})` : text
}

export const shownMeasure = ({ label, value, of, unit, ofUnit, before, beforeOf }: Measure): JsonObject => ({
  label,
  shown: describe(value, of, unit, ofUnit),
  shownBefore: describe(before, beforeOf, unit, ofUnit),
  ofUnit,
})
