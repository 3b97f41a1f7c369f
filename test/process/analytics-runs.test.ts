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
  prNumber,
  prAuthor: authorOf(prNumber),
  state: 'MERGED',
  stateChangedAt: '2026-11-20T00:00:00.000Z',
}))

const blocks = blocksOf('docs/analytics.md')
const blockBelow = (heading: string, language: string): string =>
  blocks.find(block => block.language === language && block.heading === heading)?.text ?? expect.fail(heading)

describe('finished test runs in docs/analytics.md', () => {
  const folder = join(place, 'analytics-runs')
  let query: (sql: string) => Promise<readonly Row[]>
  let report: () => Promise<ReportedRange>

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
    writeFileSync(token, 'qj7-token-123\n', { mode: 0o600 })
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
    report = async () => {
      const range = '--since 2026-11-09T00:00:00Z --until 2026-11-15T23:59:59.999Z'
      const line = `${settings} mergeq queue report ${range} --json`
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

  test('what the queries find is in test/golden/analytics-runs.txt', async () => {
    const headings = [
      'Week against week',
      'What do failed runs cost?',
      'Who waits for failed runs?',
      'Which flaky tests are behind failed runs?',
    ]
    const parts: string[] = []
    for (const heading of headings) {
      const rows = await query(blockBelow(heading, 'sql'))
      parts.push(`=== ${heading}\n${rows.map(row => `${JSON.stringify(row)}\n`).join('')}`)
    }
    await expect(parts.join('\n')).toMatchFileSnapshot('../golden/analytics-runs.txt')
  })

  test('the first week has the figures of mergeq queue report', async () => {
    const { runs, testingTime } = await report()
    const [first] = await query(blockBelow('Week against week', 'sql'))
    const minutes = (ms: number) => Number((ms / 60_000).toFixed(1))
    expect(first).toMatchObject({
      runs: String(runs),
      median: minutes(testingTime.p50Ms),
      p90: minutes(testingTime.p90Ms),
    })
  })
})
