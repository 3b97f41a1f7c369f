import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { getNumber, getString, type JsonObject } from '../../../src/base/json.ts'
import { countResults } from '../../../src/commands/queue/report/numbers.ts'
import { mergeq, noon, type Seen, type Setting } from '../../support/harness.ts'

const hour = 3_600_000
const headers = { date: new Date(noon).toUTCString() }

const result = (prNumber: number, hoursAgo: number, more: object = {}) => ({
  prNumber,
  testRunId: `run-${prNumber}`,
  endedAt: new Date(noon - hoursAgo * hour).toISOString(),
  outcome: 'passed',
  cycleConclusion: 'merged',
  testingDurationMs: 600_000,
  ...more,
})

const rows = [
  result(1, 1),
  result(2, 2, {
    testRunId: 'a',
    outcome: 'failed',
    cycleConclusion: 'failed',
    testingDurationMs: 1_200_000,
  }),
  result(3, 2, { testRunId: 'a', outcome: 'failed', testingDurationMs: 1_200_000 }),
  result(4, 200),
]

/** A service with results, which selects those of the range. */
const service =
  (all: readonly { readonly endedAt: string }[]) =>
  ({ path, body }: Seen) => {
    if (path.endsWith('/getQueue')) return { headers, body: '{"state":"running","enqueuedPullRequests":[]}' }
    const { since, until, offset = 0, take } = JSON.parse(body)
    const found = all.filter(({ endedAt }) => endedAt >= since && endedAt <= until)
    const page = found.slice(offset, offset + take)
    return { headers, body: JSON.stringify({ testingResults: page, totalItems: found.length }) }
  }

const report = (flags: string, setting: Setting = {}) =>
  mergeq(`queue report -R acme/web -b main --retries 0 ${flags}`, { answer: service(rows), ...setting })

describe('`queue report`', () => {
  test('counts a range beside the range before', async () => {
    const { code, out, err } = await report('--json')
    expect(code, err).toBe(0)
    expect(JSON.parse(out)).toMatchObject({
      repo: 'github.com/acme/web',
      range: {
        start: '2025-12-29T12:00:00.000Z',
        end: '2026-01-05T12:00:00.000Z',
        complete: true,
        results: 3,
        runs: 2,
        pullRequests: { merged: { count: 2, of: 3 }, failed: { count: 1, of: 3 } },
        testingTime: { runs: 2, p50Ms: 600_000, maxMs: 1_200_000 },
        notMerged: { failed: { runs: 1, minutes: 20 } },
      },
      before: { start: '2025-12-22T11:59:59.999Z', end: '2025-12-29T11:59:59.999Z', results: 1 },
      notes: [],
    })
  })

  test('shows on a terminal how much higher a share is than before, and leaves out what is zero', async () => {
    const { out } = await report('--color never', { terminal: true })
    expect(out).toMatch(/^Pull requests +merged +67% \(-33\), 2 of 3 +100%, 1 of 1$/m)
    expect(out).toMatch(/^ +in failed.* 67% \(\+67\), 20 of 30/m)
    expect(out).not.toMatch(/cancelled|interrupted|bisections/)
  })

  test('says what 45 days cut', async () => {
    expect(JSON.parse((await report('--since 30d --json')).out).notes).toEqual([
      'The range before is shorter, from 2025-11-21 12:01 to 2025-12-06 11:59 UTC: the service keeps test runs for 45 days.',
    ])
    const whole = JSON.parse((await report('--since 45d --json')).out)
    expect(whole).toMatchObject({
      before: null,
      notes: ['There is no range before: the service keeps test runs for 45 days.'],
    })
  })

  test('says what the pages cut, and is incomplete', async () => {
    const many = Array.from({ length: 250 }, (_, index) => result(index, 1 + index / 10))
    const { code, out, err } = await report('--max-pages 2 --json', { answer: service(many) })
    expect(code).toBe(17)
    const { range, before, notes } = JSON.parse(out)
    expect({ complete: range.complete, results: range.results, before }).toEqual({
      complete: false,
      results: 200,
      before: null,
    })
    expect(notes[0]).toMatch(/^Not all results from .* were read: the list has more than 2 pages/)
    expect(err).toContain('The range before was not read.')
  })

  test('says that the range before could not be read, and is incomplete', async () => {
    const answer = (seen: Seen) =>
      seen.body.includes('"until":"2025-12-29') ? { status: 500, body: 'down' } : service(rows)(seen)
    const { code, out, err } = await report('--json', { answer })
    const { range, before, notes } = JSON.parse(out)
    expect({ code, complete: range.complete, before }).toEqual({ code: 17, complete: true, before: null })
    expect(notes).toEqual([
      expect.stringMatching(
        /^Not all results from 2025-12-22 11:59 to 2025-12-29 11:59 UTC were read: .*500/,
      ),
      'The range before was not read.',
    ])
    expect(err).toContain('"kind":"incomplete"')
  })

  test.each([
    [[15, 90], '14%, 15s of 1m45s'],
    [[270, 329], '45%, 4m30s of 9m59s'],
    [[270, 330], '45%, 5 of 10'],
  ] as const)('shows less than ten minutes with their seconds: %j are %s', async (seconds, shown) => {
    const [failed, passed] = seconds.map(each => each * 1_000)
    const runs = [
      result(1, 1, { testingDurationMs: failed, outcome: 'failed' }),
      result(2, 2, { testingDurationMs: passed }),
    ]
    const { out } = await report('-o markdown', { answer: service(runs) })
    expect(out).toContain(`| in failed runs | ${shown} | 0 of 0 | minutes |`)
  })

  test('compares minutes by their exact values, and rounds where they are written', async () => {
    const runs = [
      result(1, 1, { testingDurationMs: 100, outcome: 'failed' }),
      result(2, 2, { testingDurationMs: 200 }),
    ]
    const { out } = await report('-o markdown', { answer: service(runs) })
    expect(out).toContain('| in failed runs | 33%, 0s of 0s |')
    expect((await report('', { answer: service(runs) })).out).toMatch(/^minutes-failed\t0\tminutes\t0\.01\t/m)
  })

  test('names ranges and denominators in Markdown', async () => {
    const { out } = await report('--since 30d -o markdown')
    expect(out).toContain(
      '| Range | 2025-12-06 12:00 to 2026-01-05 12:00 UTC | 2025-11-21 12:01 to 2025-12-06 11:59 UTC |  |',
    )
    expect(out).toContain('| Pull requests | merged | 75%, 3 of 4 | 0 of 0 | PRs |')
    expect(out).toContain('| Time | p50 | 10m00s over 3 | - | timed runs |')
    expect(out).toMatch(/\| Note \| The range before is shorter, .* \|/)
  })

  test('is incomplete where no page is left for the range before', async () => {
    const { code, out, err } = await report('--max-pages 1 --json')
    const { range, before, notes } = JSON.parse(out)
    expect({ code, complete: range.complete, before, notes }).toEqual({
      code: 17,
      complete: true,
      before: null,
      notes: ['The range before was not read.'],
    })
    expect(err).toContain('no page was left for the range before (raise --max-pages)')
  })
})

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
  const pullRequests = { merged: 0, failed: 0, cancelled: 0, queued: 0 }
  let results = 0
  for (const pr of prs) {
    const own = rows.filter(each => each.prNumber === pr)
    const newest = [...own].sort((a, b) => String(b.endedAt).localeCompare(String(a.endedAt)))[0]
    const isMerged = own.some(each => each.cycleConclusion === 'merged')
    const name = isMerged ? 'merged' : (getString(newest, 'cycleConclusion') ?? 'queued')
    pullRequests[name as keyof typeof pullRequests]++
    if (isMerged) results += own.length
  }
  const { merged } = pullRequests
  const ids = [...new Set(rows.map((each, index) => each.testRunId ?? index))]
  const ofRun = (id: unknown) => rows.filter((each, index) => (each.testRunId ?? index) === id)
  const timeOf = (id: unknown) =>
    Math.max(...ofRun(id).map(each => getNumber(each, 'testingDurationMs') ?? -1))
  const times = ids.map(timeOf).filter(time => time >= 0)
  const minutesOf = (some: readonly unknown[]) =>
    some.reduce((sum: number, id) => sum + Math.max(0, timeOf(id)) / 60_000, 0)
  const has = (id: unknown, word: string) =>
    ofRun(id).some(each => String(each.outcome).toLowerCase() === word)
  const words = ['passed', 'failed', 'interrupted', 'cancelled']
  /** The runs with a word, but none of the words before it. */
  const endedAs = (word: string) => {
    const before = words.slice(0, words.indexOf(word))
    return ids.filter(id => has(id, word) && !before.some(other => has(id, other)))
  }
  const spent = (word: string) => ({ runs: endedAs(word).length, minutes: minutesOf(endedAs(word)) })
  const bisected = (word: string) => ids.filter(id => ofRun(id).some(each => each.bisection === word)).length
  return {
    times,
    numbers: {
      results: rows.length,
      unreadable: 0,
      runs: ids.length,
      withoutRunId: rows.filter(({ testRunId }) => testRunId === undefined).length,
      pullRequests: partsOf(pullRequests, prs.size),
      attempts: { results, merged, perMerged: merged === 0 ? null : results / merged },
      outcomes: partsOf(
        {
          ...Object.fromEntries(words.map(word => [word, endedAs(word).length])),
          other: ids.length - words.flatMap(endedAs).length,
        },
        ids.length,
      ),
      minutes: minutesOf(ids),
      notMerged: {
        failed: spent('failed'),
        interrupted: spent('interrupted'),
        cancelled: spent('cancelled'),
      },
      bisections: { batchesSplit: bisected('entered_bisection'), runs: bisected('in_bisection') },
    },
  }
}

const partsOf = (counts: Readonly<Record<string, number>>, of: number) =>
  Object.fromEntries(
    Object.entries(counts).map(([name, count]) => [name, { count, of, share: of === 0 ? null : count / of }]),
  )

test('the numbers of a queue report are those that are counted another way', () => {
  fc.assert(
    fc.property(fc.array(row, { maxLength: 40 }), rows => {
      const { testingTime, ...numbers } = countResults(rows, range)
      const { times, numbers: expected } = oracle(rows)
      expect(numbers).toEqual(expected)
      const isAt = (time: number | null, part: number) =>
        time === null
          ? times.length === 0
          : times.filter(each => each <= time).length >= times.length * part &&
            times.filter(each => each < time).length < times.length * part
      const { runs, p50Ms, p90Ms, maxMs } = testingTime
      expect([runs, isAt(p50Ms, 0.5), isAt(p90Ms, 0.9), isAt(maxMs, 1)]).toEqual([
        times.length,
        true,
        true,
        true,
      ])
    }),
  )
})
