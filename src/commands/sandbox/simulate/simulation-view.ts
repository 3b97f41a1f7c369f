import { formatAge, formatDuration, pluralize } from '../../../domain/format.ts'
import { bar } from '../../../output/charts.ts'
import { type StyledLine, signSpan } from '../../../output/styled-text.ts'
import type { View } from '../../../output/view.ts'
import type { SimulatedLoad, SimulationResult } from '../../../sandbox/simulation.ts'

/** A queue that leaves a larger share of the submitted pull requests waiting at the end does not keep up. */
const maxShareLeft = 0.05

/** Returns whether a queue with these settings merges pull requests as fast as they are submitted. */
export const keepsUp = ({ left, submitted }: SimulationResult): boolean => left <= submitted * maxShareLeft

const minute = 60_000

/** Formats minutes: `1m30s`, `41m`, `3h04m`; seconds are left out from 10 minutes. */
function formatMinutes(minutes: number | null): string {
  if (minutes === null) return '-'
  return minutes >= 10 && minutes < 59.5
    ? formatAge(Math.round(minutes) * minute)
    : formatDuration(Math.round(minutes * 60) * 1_000)
}

/** Formats a number with at most two decimals. */
const formatNumber = (value: number): string => String(Math.round(value * 100) / 100)

const describeSetup = ({ concurrency, batch }: SimulationResult): string =>
  `--concurrency ${concurrency} --batch ${batch}`

/** Returns the result with the smallest values, of which the first that differs decides. */
const smallest = (
  results: readonly SimulationResult[],
  valuesOf: (result: SimulationResult) => readonly (number | null)[],
): SimulationResult | undefined =>
  results.toSorted((one, other) => {
    const [ours, theirs] = [valuesOf(one), valuesOf(other)]
    const index = ours.findIndex((value, place) => value !== theirs[place])
    return index < 0
      ? 0
      : (ours[index] ?? Number.POSITIVE_INFINITY) - (theirs[index] ?? Number.POSITIVE_INFINITY)
  })[0]

/** Names the best of the settings that keep up with the load, and the one that needs the least CI time. */
function conclusionLines(results: readonly SimulationResult[]): readonly StyledLine[] {
  const candidates = results.filter(result => keepsUp(result) && result.p95 !== null)
  const best = smallest(candidates, ({ p95, ciMinutesPerMerge, concurrency }) => [
    p95,
    ciMinutesPerMerge,
    concurrency,
  ])
  const cheapest = smallest(candidates, ({ ciMinutesPerMerge, p95 }) => [ciMinutesPerMerge, p95])
  if (best === undefined || cheapest === undefined)
    return [
      [
        signSpan('WARN'),
        ' No setting keeps up with this load. Try a higher --concurrency or a larger --batch.',
      ],
    ]
  const describeTimes = ({ p95, ciMinutesPerMerge }: SimulationResult) =>
    `95% of the pull requests merge within ${formatMinutes(p95)}. CI time per merge: ${formatMinutes(ciMinutesPerMerge)}.`
  return [
    [signSpan('PASS'), ` Best: ${describeSetup(best)}`],
    `  ${describeTimes(best)}`,
    ...(cheapest === best
      ? []
      : [`  Least CI time: ${describeSetup(cheapest)}`, `  ${describeTimes(cheapest)}`]),
  ]
}

/**
 * Returns the results for a terminal: a row for each setting with a bar for its 95th percentile, and the best
 * setting in a sentence below. The times of a queue that cannot keep up are left out: they have no limit.
 */
export function simulationView(load: SimulatedLoad, results: readonly SimulationResult[]): View {
  const longest = Math.max(0, ...results.filter(keepsUp).map(({ p95 }) => p95 ?? 0))
  const hasFailures = results.some(({ failed }) => failed > 0)
  return {
    heading: [
      `${pluralize(load.weeks, 'week')}, ${formatNumber(load.prsPerHour)} pull requests per hour, ${formatNumber(load.testMinutes)} minutes per test run, ${formatNumber(load.failureRate * 100)}% failures`,
    ],
    columns: [
      { title: 'CONCURRENCY', format: 'number' },
      { title: 'BATCH', format: 'number' },
      { title: 'MERGED/H', format: 'number', priority: 1 },
      { title: 'P50', format: 'number' },
      { title: 'P95', format: 'number' },
      { title: 'CI/MERGE', format: 'number', priority: 2 },
      { title: 'FAILED', format: 'number', priority: 3 },
      { title: 'STILL QUEUED', format: 'number', priority: 4 },
      { title: 'TIME TO MERGE', format: 'id' },
    ],
    rows: results.map(result => [
      result.concurrency,
      result.batch,
      result.mergedPerHour,
      keepsUp(result) ? formatMinutes(result.p50) : '-',
      keepsUp(result) ? formatMinutes(result.p95) : '-',
      formatMinutes(result.ciMinutesPerMerge),
      hasFailures ? result.failed : undefined,
      result.left,
      keepsUp(result) ? bar(result.p95 ?? 0, longest, barWidth) || '·' : 'cannot keep up',
    ]),
    footer: results.length > 1 || !results.every(keepsUp) ? conclusionLines(results) : [],
  }
}

const barWidth = 14
