// What the finished test runs of a range say about a queue (docs/reference/cli.md, "Reports of a queue").
import {
  type Infer,
  named,
  nested,
  nullable,
  ownRecord,
  queueNameFields,
} from '../../../api/operations/fields.ts'
import { getNumber, getString, type JsonObject } from '../../../base/json.ts'
import type { TimeRange } from '../../../values/time-range.ts'

const part = ownRecord({ count: 'number', of: 'number', share: 'number | null' })
const spent = ownRecord({ runs: 'number', minutes: 'number' })

/** The numbers of a range of finished test runs. */
const reportedRange = ownRecord({
  start: 'string',
  end: 'string',
  complete: 'boolean',
  results: 'number',
  // Results without a pull request or a time, which nothing counts.
  unreadable: 'number',
  runs: 'number',
  withoutRunId: 'number',
  pullRequests: ownRecord({ merged: part, failed: part, cancelled: part, queued: part }),
  attempts: ownRecord({ results: 'number', merged: 'number', perMerged: 'number | null' }),
  outcomes: ownRecord({ passed: part, failed: part, interrupted: part, cancelled: part, other: part }),
  testingTime: ownRecord({
    // Those whose time is known.
    runs: 'number',
    p50Ms: 'number | null',
    p90Ms: 'number | null',
    maxMs: 'number | null',
  }),
  minutes: 'number',
  notMerged: ownRecord({ failed: spent, interrupted: spent, cancelled: spent }),
  bisections: ownRecord({ batchesSplit: 'number', runs: 'number' }),
})

export const queueReportRecord = named(
  'QueueReport',
  'The finished test runs of a range beside the range before.',
  {
    ...queueNameFields,
    range: reportedRange,
    before: nullable(nested(reportedRange)),
    notes: 'readonly string[]',
  },
)

export type ReportedRange = Infer<typeof reportedRange>

/** The numbers of a range, as JSON. */
export type RangeNumbers = Omit<ReportedRange, 'start' | 'end' | 'complete'>

/** How a test run ended for one of its pull requests. */
type Result = NonNullable<ReturnType<typeof readResult>>

const word = (record: JsonObject, key: string): string => (getString(record, key) ?? '').toLowerCase()

/** Undefined without a pull request or a time: nothing counts such a result. */
function readResult(record: JsonObject, index: number) {
  const [pr, endedAt] = [getNumber(record, 'prNumber'), Date.parse(getString(record, 'endedAt') ?? '')]
  if (pr === undefined || Number.isNaN(endedAt)) return undefined
  const duration = getNumber(record, 'testingDurationMs')
  const id = getString(record, 'testRunId') ?? ''
  return {
    pr,
    run: id === '' ? `result ${index}` : `run ${id}`,
    endedAt,
    outcome: word(record, 'outcome'),
    conclusion: word(record, 'cycleConclusion'),
    bisection: word(record, 'bisection'),
    /** In milliseconds; undefined where the service does not say it. */
    duration: duration !== undefined && duration >= 0 ? duration : undefined,
  }
}

function groupBy<K>(
  results: readonly Result[],
  keyOf: (result: Result) => K,
): ReadonlyMap<K, readonly Result[]> {
  const groups = new Map<K, Result[]>()
  for (const result of results) {
    const group = groups.get(keyOf(result)) ?? []
    group.push(result)
    groups.set(keyOf(result), group)
  }
  return groups
}

/** A part of something that was counted; `share` is null where nothing was. */
const share = (count: number, of: number) => ({ count, of, share: of === 0 ? null : count / of })

/** How a pull request left the queue. A merge is final; otherwise its newest result decides. */
function conclusionOf(results: readonly Result[]): string {
  if (results.some(({ conclusion }) => conclusion === 'merged')) return 'merged'
  const newest = results.reduce((best, other) => (other.endedAt > best.endedAt ? other : best))
  return ['failed', 'cancelled'].includes(newest.conclusion) ? newest.conclusion : 'queued'
}

const outcomeOrder = ['passed', 'failed', 'interrupted', 'cancelled']

/** The outcome of a test run. Pull requests of a batch may differ: one can leave before the others pass. */
const outcomeOf = (results: readonly Result[]): string =>
  outcomeOrder.find(outcome => results.some(result => result.outcome === outcome)) ?? 'other'

/** The longest known time of the results of a test run. */
const durationOf = (results: readonly Result[]): number | undefined =>
  results.reduce<number | undefined>(
    (longest, { duration }) => (duration === undefined ? longest : Math.max(longest ?? 0, duration)),
    undefined,
  )

/** The smallest value that at least this share of the sorted values does not exceed; null without values. */
const quantile = (sorted: readonly number[], part: number): number | null =>
  sorted[Math.max(0, Math.ceil(sorted.length * part) - 1)] ?? null

const inMinutes = (milliseconds: number): number => milliseconds / 60_000

/** Counts the results of a range; those that ended outside of it are left out. Divides by nothing that is 0. */
export function countResults(records: readonly JsonObject[], { start, end }: TimeRange): RangeNumbers {
  const read = records.map(readResult)
  const results = read.filter(
    (result): result is Result => result !== undefined && result.endedAt >= start && result.endedAt <= end,
  )
  const pulls = [...groupBy(results, ({ pr }) => pr).values()]
  const conclusions = pulls.map(conclusionOf)
  const concluded = (name: string) => share(conclusions.filter(each => each === name).length, pulls.length)
  const merged = pulls.filter((_, index) => conclusions[index] === 'merged')
  const attempts = merged.reduce((sum, { length }) => sum + length, 0)
  const runs = [...groupBy(results, ({ run }) => run).values()].map(all => ({
    outcome: outcomeOf(all),
    duration: durationOf(all),
    bisections: all.map(({ bisection }) => bisection),
  }))
  const ended = (name: string) => share(runs.filter(({ outcome }) => outcome === name).length, runs.length)
  const sum = (some: readonly { readonly duration: number | undefined }[]) =>
    inMinutes(some.reduce((total, { duration = 0 }) => total + duration, 0))
  const spent = (name: string) => {
    const some = runs.filter(({ outcome }) => outcome === name)
    return { runs: some.length, minutes: sum(some) }
  }
  const times = runs.flatMap(({ duration }) => duration ?? []).sort((one, other) => one - other)
  const inBisection = (name: string) => runs.filter(({ bisections }) => bisections.includes(name)).length
  return {
    results: results.length,
    unreadable: read.filter(result => result === undefined).length,
    runs: runs.length,
    withoutRunId: results.filter(({ run }) => run.startsWith('result ')).length,
    pullRequests: {
      merged: concluded('merged'),
      failed: concluded('failed'),
      cancelled: concluded('cancelled'),
      queued: concluded('queued'),
    },
    attempts: {
      results: attempts,
      merged: merged.length,
      perMerged: merged.length === 0 ? null : attempts / merged.length,
    },
    outcomes: {
      passed: ended('passed'),
      failed: ended('failed'),
      interrupted: ended('interrupted'),
      cancelled: ended('cancelled'),
      other: ended('other'),
    },
    testingTime: {
      runs: times.length,
      p50Ms: quantile(times, 0.5),
      p90Ms: quantile(times, 0.9),
      maxMs: times.at(-1) ?? null,
    },
    minutes: sum(runs),
    notMerged: { failed: spent('failed'), interrupted: spent('interrupted'), cancelled: spent('cancelled') },
    bisections: { batchesSplit: inBisection('entered_bisection'), runs: inBisection('in_bisection') },
  }
}
