import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import { beforeAll, describe, expect, test } from 'vitest'
import { blocksOf } from '../support/code-blocks.ts'
import { checkout, environmentOf, place, sh } from '../support/documentation-runs.ts'
import { startTestServer } from '../support/service.ts'

type Row = Readonly<Record<string, unknown>>

interface Result {
  readonly prNumber: number
  readonly testRunId: string
  readonly endedAt: string
  readonly outcome: string
  readonly cycleConclusion?: string
  readonly testingDurationMs: number
}

/** What `queue report --json` says of a range, as far as it is compared. */
interface ReportedRange {
  readonly runs: number
  readonly testingTime: { readonly p50Ms: number; readonly p90Ms: number }
  readonly minutes: number
  readonly notMerged: Readonly<Record<'failed' | 'interrupted', { readonly minutes: number }>>
}

const day = 86_400_000
const hour = 3_600_000
const firstMonday = Date.UTC(2026, 10, 9)
const runId = (number: number) => `${String(number).padStart(8, '0')}-93f0-4c57-8a3b-1f2e3d4c5b6a`

/** Three weeks of test runs, one every 4 hours: every third has two pull requests, every fifth fails. */
const results: readonly Result[] = Array.from({ length: 110 }, (_, index) => {
  const endedAt = new Date(firstMonday + index * 4 * hour).toISOString()
  const outcome = index % 5 === 0 ? 'failed' : index % 7 === 0 ? 'interrupted' : 'passed'
  const testingDurationMs = (10 + (index % 13) + Math.floor(index / 42) * 5) * 60_000
  const row = { testRunId: runId(index), endedAt, outcome, testingDurationMs }
  const first = Math.floor(index / 2)
  const prs = index % 3 === 0 ? [first, first + 1_000] : [first]
  return prs.map(prNumber => ({
    ...row,
    prNumber,
    ...(outcome !== 'interrupted' && { cycleConclusion: outcome === 'passed' ? 'merged' : 'failed' }),
  }))
}).flat()

/** Who wrote which pull request: the last one has not finished. */
const authorOf = (pr: number) => ['ada', 'grace', 'edsger'][pr % 3]
const pullRequests = [...new Set(results.map(({ prNumber }) => prNumber))].slice(0, -1).map(prNumber => ({
  ...{ prNumber, prAuthor: authorOf(prNumber), state: 'MERGED', stateChangedAt: '2026-11-20T00:00:00.000Z' },
}))

const blocks = blocksOf('docs/analytics.md')
const blockBelow = (heading: string, language: string): string =>
  blocks.find(block => block.language === language && block.heading === heading)?.text ?? expect.fail(heading)

const monday = (time: string) => {
  const date = new Date(time)
  return new Date(date.getTime() - ((date.getUTCDay() + 6) % 7) * day).toISOString().slice(0, 10)
}
const round = (value: number, digits: number) => Number(value.toFixed(digits))

describe('finished test runs in docs/analytics.md', () => {
  const folder = join(place, 'analytics-runs')
  let query: (sql: string) => Promise<readonly Row[]>
  let report: (since: string) => Promise<ReportedRange>

  beforeAll(async () => {
    checkout('analytics-runs')
    let now = 0
    const service = await startTestServer({
      answer: ({ path, body }) => {
        const headers = { date: new Date(now).toUTCString() }
        if (path.endsWith('/getQueue'))
          return { headers, body: '{"state":"running","enqueuedPullRequests":[]}' }
        if (path.endsWith('/listPullRequests')) return { headers, body: JSON.stringify({ pullRequests }) }
        const { since, until, offset = 0, take } = JSON.parse(body)
        const found = results
          .filter(({ endedAt }) => endedAt >= since && endedAt <= until)
          // A pull request is still queued for a day.
          .map(({ cycleConclusion, ...row }) =>
            now - Date.parse(row.endedAt) < day ? row : { ...row, cycleConclusion },
          )
          .reverse()
        const testingResults = found.slice(offset, offset + take)
        return { headers, body: JSON.stringify({ testingResults, totalItems: found.length }) }
      },
    })
    const bare = environmentOf({ baseUrl: service.baseUrl() }, folder)
    const bin = join(folder, 'bin')
    mkdirSync(bin, { recursive: true })
    const token = join(folder, 'token')
    writeFileSync(token, 'test-token-123\n', { mode: 0o600 })
    writeFileSync(join(folder, 'runs.sh'), blockBelow('Finished test runs', 'bash'))
    const [, command = ''] = /^(?:\S+ ){5}(.*)\n$/.exec(blockBelow('Finished test runs', 'text')) ?? []
    const cronCommand = command.replace('/srv/mergeq', folder).replace('/etc/mergeq/token', token)
    const env = { ...bare, PATH: `${bin}:${bare.PATH}` }
    /** Runs a command at a time: the script takes the name of its file from `date`. */
    const runAt = async (time: string, line: string) => {
      now = Date.parse(time)
      writeFileSync(join(bin, 'date'), `#!/bin/sh\necho ${time.slice(0, 16).replace(/:/, '')}\n`, {
        mode: 0o755,
      })
      const { code, out, err } = await sh(['sh', '-c', line], folder, env)
      expect({ line, code, err: code === 0 ? '' : err }).toEqual({ line, code: 0, err: '' })
      return String(out)
    }
    const settings = `MERGEQ_TOKEN_FILE=${token} MERGEQ_REPO=acme/web MERGEQ_TARGET_BRANCH=main`
    await runAt('2026-11-20T03:17:00Z', `${settings} bash runs.sh 45d`)
    for (const date of ['22', '24', '26', '28', '30']) await runAt(`2026-11-${date}T03:17:00Z`, cronCommand)
    report = async since => {
      const until = new Date(Date.parse(since) + 7 * day - 1).toISOString()
      const line = `${settings} mergeq queue report --since ${since} --until ${until} --json`
      return JSON.parse(await runAt('2026-11-30T12:00:00Z', line)).range
    }

    const matches = join(folder, 'history/matches')
    mkdirSync(matches, { recursive: true })
    const match = (
      run: number,
      job: string,
      ...tests: readonly (readonly [verdict: string, name: string])[]
    ) =>
      writeFileSync(
        join(matches, `${runId(run)}${run === 10 ? '-bisection-1' : ''}.${job}.ndjson`),
        tests.map(([verdict, name]) => `${JSON.stringify({ verdict, name, classname: 'Cart' })}\n`).join(''),
      )
    match(0, 'unit', ['known', 'opens'], ['quarantined', 'closes'])
    match(5, 'unit', ['known', 'opens'])
    match(5, 'browser', ['new', 'pays'])
    match(10, 'unit', ['known', 'opens'])
    // A run that passed, and one that the history does not have.
    match(1, 'unit', ['known', 'opens'])
    match(900, 'unit', ['known', 'opens'])

    const connection = await (await DuckDBInstance.create(':memory:')).connect()
    await connection.run(`SET file_search_path = '${folder}'`)
    await connection.run(blockBelow('Finished test runs', 'sql').replace("TO '", `TO '${folder}/`))
    query = async sql => (await connection.runAndReadAll(sql)).getRowObjectsJson()
    return () => service.close()
  }, 90_000)

  test('every row is kept once, with its last conclusion', async () => {
    const rows = await query('SELECT pr, run, conclusion FROM attempts ORDER BY run, pr')
    expect(rows).toEqual(
      results.map(({ prNumber, testRunId, cycleConclusion = null }) => ({
        pr: String(prNumber),
        run: testRunId,
        conclusion: cycleConclusion,
      })),
    )
    const lines = readFileSync(join(folder, 'history/runs/2026-11-28T0317.ndjson'), 'utf8').trim().split('\n')
    expect(lines.length).toBeLessThan(results.length / 3)
  })

  test('week against week', async () => {
    const rows = await query(blockBelow('Week against week', 'sql'))
    expect(rows.map(({ week }) => week)).toEqual(['2026-11-09', '2026-11-16', '2026-11-23'])
    for (const [index, row] of rows.entries()) {
      const { runs, testingTime, minutes, notMerged } = await report(`${row.week}T00:00:00Z`)
      const lost = notMerged.failed.minutes + notMerged.interrupted.minutes
      const median = testingTime.p50Ms / 60_000
      const merged = results
        .filter(({ cycleConclusion }) => cycleConclusion === 'merged')
        .map(({ prNumber }) => prNumber)
      const attemptsOf = (pr: number) => results.filter(({ prNumber }) => prNumber === pr)
      const own = [...new Set(merged)]
        .map(attemptsOf)
        .filter(some => monday(some.at(-1)?.endedAt ?? '') === row.week)
      expect(row).toEqual({
        week: row.week,
        runs: String(runs),
        median: round(median, 1),
        change: index === 0 ? null : round(median - Number(rows[index - 1]?.median), 1),
        p90: round(testingTime.p90Ms / 60_000, 1),
        not_passed: round(lost, 1),
        share: round(lost / minutes, 2),
        merged: String(own.length),
        attempts_per_merged: round(own.flat().length / own.length, 2),
      })
    }
  }, 60_000)

  test('what failed runs cost', async () => {
    const rows = await query(blockBelow('What do failed runs cost?', 'sql'))
    const failed = new Map<string, { runs: number; minutes: number }>()
    const isFirst = ({ testRunId }: Result, index: number) => results[index - 1]?.testRunId !== testRunId
    for (const first of results.filter(isFirst)) {
      if (first.outcome === 'passed') continue
      const key = `${monday(first.endedAt)} ${first.outcome}`
      const { runs, minutes } = failed.get(key) ?? { runs: 0, minutes: 0 }
      failed.set(key, { runs: runs + 1, minutes: minutes + first.testingDurationMs / 60_000 })
    }
    const expected = [...failed].map(([key, { runs, minutes }]) => [
      key,
      String(runs),
      minutes,
      round(minutes * 0.16, 2),
    ])
    expect(
      rows.map(({ week, outcome, runs, minutes, cost }) => [`${week} ${outcome}`, runs, minutes, cost]),
    ).toEqual(expect.arrayContaining(expected))
    expect(rows).toHaveLength(expected.length)
  })

  test('the minutes of failed runs by author', async () => {
    const due = new Map<string, number>()
    for (const { prNumber, testRunId, outcome, testingDurationMs } of results) {
      if (outcome !== 'failed') continue
      const members = results.filter(other => other.testRunId === testRunId).length
      const author = pullRequests.find(one => one.prNumber === prNumber)?.prAuthor ?? 'unknown'
      due.set(author, (due.get(author) ?? 0) + testingDurationMs / 60_000 / members)
    }
    const rows = await query(blockBelow('Who waits for failed runs?', 'sql'))
    expect(Object.fromEntries(rows.map(({ author, minutes }) => [author, minutes]))).toEqual(
      Object.fromEntries([...due].map(([author, minutes]) => [author, round(minutes, 1)])),
    )
    const failed = await query("SELECT round(sum(minutes), 1) AS minutes FROM runs WHERE outcome = 'failed'")
    const sum = rows.reduce((total, { minutes }) => total + Number(minutes), 0)
    expect(sum).toBeCloseTo(Number(failed[0]?.minutes), 0)
  })

  test('the flaky tests behind failed runs', async () => {
    const minutesOf = (run: number) =>
      (results.find(({ testRunId }) => testRunId === runId(run))?.testingDurationMs ?? 0) / 60_000
    expect(await query(blockBelow('Which flaky tests are behind failed runs?', 'sql'))).toEqual([
      {
        ...{ name: 'opens', classname: 'Cart', verdict: 'known' },
        ...{ failed_for_nothing: '2', failed_runs: '3', minutes: minutesOf(0) + minutesOf(10) },
      },
      {
        ...{ name: 'closes', classname: 'Cart', verdict: 'quarantined' },
        ...{ failed_for_nothing: '1', failed_runs: '1', minutes: minutesOf(0) },
      },
    ])
  })
})
