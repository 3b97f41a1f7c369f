import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { getNumber, getString, type JsonObject } from '../../../../src/base/json.ts'
import { countResults } from '../../../../src/commands/queue/report/numbers.ts'

const range = { start: 0, end: 100_000 }

const row = fc.record({
  prNumber: fc.integer({ min: 1, max: 6 }),
  testRunId: fc.option(fc.constantFrom('a', 'b', 'c', 'd', 'e'), { nil: undefined }),
  endedAt: fc.integer({ min: -2, max: 102 }).map(second => new Date(second * 1000).toISOString()),
  outcome: fc.constantFrom('passed', 'FAILED', 'interrupted', 'cancelled', 'new'),
  cycleConclusion: fc.option(fc.constantFrom('merged', 'failed', 'cancelled'), { nil: undefined }),
  bisection: fc.option(fc.constantFrom('in_bisection', 'entered_bisection'), { nil: undefined }),
  testingDurationMs: fc.option(
    fc.integer({ min: 0, max: 9 }).map(n => n * 60_000),
    { nil: undefined },
  ),
}) as fc.Arbitrary<JsonObject>

/** Counts in another way: by loops over names instead of groups. */
function oracle(all: readonly JsonObject[]) {
  const rows = all.filter(each => {
    const at = Date.parse(getString(each, 'endedAt') ?? '')
    return range.start <= at && at <= range.end
  })
  const prs = new Set(rows.map(each => each.prNumber))
  const counts = { merged: 0, failed: 0, cancelled: 0, queued: 0 }
  let attempts = 0
  for (const pr of prs) {
    const own = rows.filter(each => each.prNumber === pr)
    const newest = [...own].sort((a, b) => String(b.endedAt).localeCompare(String(a.endedAt)))[0]
    const isMerged = own.some(each => each.cycleConclusion === 'merged')
    const name = isMerged ? 'merged' : (getString(newest, 'cycleConclusion') ?? 'queued')
    counts[name as keyof typeof counts]++
    if (isMerged) attempts += own.length
  }
  const ids = [...new Set(rows.map((each, index) => each.testRunId ?? index))]
  const ofRun = (id: unknown) => rows.filter((each, index) => (each.testRunId ?? index) === id)
  const timeOf = (id: unknown) => ofRun(id).map(each => getNumber(each, 'testingDurationMs') ?? -1)
  const times = ids.map(id => Math.max(...timeOf(id))).filter(time => time >= 0)
  const isAt = (time: number, part: number) =>
    times.filter(each => each <= time).length >= times.length * part &&
    times.filter(each => each < time).length < times.length * part
  const wasted = (name: string, before: readonly string[]) =>
    ids
      .filter(id => ofRun(id).some(each => String(each.outcome).toLowerCase() === name))
      .filter(id => !ofRun(id).some(each => before.includes(String(each.outcome).toLowerCase())))
      .map(id => Math.max(0, ...timeOf(id)) / 60_000)
  /** The first of these words that a result of a run has, and `other` for any other word. */
  const words = ['passed', 'failed', 'interrupted', 'cancelled'] as const
  const outcomes = { passed: 0, failed: 0, interrupted: 0, cancelled: 0, other: 0 }
  for (const id of ids) {
    const said = ofRun(id).map(each => String(each.outcome).toLowerCase())
    outcomes[words.find(word => said.includes(word)) ?? 'other']++
  }
  const bisected = (word: string) => ids.filter(id => ofRun(id).some(each => each.bisection === word)).length
  const minutes = times.reduce((sum, time) => sum + time / 60_000, 0)
  const ofRuns = { runs: ids.length, times, isAt, wasted, outcomes, bisected, minutes }
  return { prs: prs.size, counts, attempts, ...ofRuns }
}

describe('the numbers of a queue report', () => {
  test('are those that are counted another way', () => {
    fc.assert(
      fc.property(fc.array(row, { maxLength: 40 }), rows => {
        const { pullRequests, attempts, testingTime, notMerged, outcomes, ...numbers } = countResults(
          rows,
          range,
        )
        const expected = oracle(rows)
        for (const part of [...Object.values(pullRequests), ...Object.values(outcomes)])
          expect(part.share === null ? part.of : part.share * part.of).toBeCloseTo(part.count)
        expect(Object.entries(outcomes).map(([name, { count }]) => [name, count])).toEqual(
          Object.entries(expected.outcomes),
        )
        expect(numbers.minutes).toBeCloseTo(expected.minutes)
        expect(numbers.bisections).toEqual({
          batchesSplit: expected.bisected('entered_bisection'),
          runs: expected.bisected('in_bisection'),
        })
        for (const [name, part] of Object.entries(pullRequests))
          expect([name, part.count, part.of]).toEqual([
            name,
            expected.counts[name as keyof typeof expected.counts],
            expected.prs,
          ])
        expect(attempts.results).toBe(expected.attempts)
        expect(attempts.perMerged).toBe(
          expected.counts.merged === 0 ? null : expected.attempts / expected.counts.merged,
        )
        expect(numbers.runs).toBe(expected.runs)
        expect(Object.values(outcomes).reduce((sum, { count }) => sum + count, 0)).toBe(expected.runs)
        expect(testingTime.runs).toBe(expected.times.length)
        expect(testingTime.maxMs).toBe(expected.times.length === 0 ? null : Math.max(...expected.times))
        for (const [value, part] of [
          [testingTime.p50Ms, 0.5],
          [testingTime.p90Ms, 0.9],
        ] as const)
          expect(value === null ? expected.times.length === 0 : expected.isAt(value, part)).toBe(true)
        const before: string[] = ['passed']
        for (const name of ['failed', 'interrupted', 'cancelled'] as const) {
          const wasted = expected.wasted(name, before)
          const minutes = wasted.reduce((sum, each) => sum + each, 0)
          expect(notMerged[name]).toEqual({ runs: wasted.length, minutes })
          before.push(name)
        }
      }),
    )
  })
})
