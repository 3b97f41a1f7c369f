import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import { beforeAll, describe, expect, test } from 'vitest'
import { startSandbox } from '../../src/sandbox/sandbox.ts'
import { blocksOf, linesOf } from '../support/code-blocks.ts'
import { checkout, environmentOf, inSandbox, place, sh } from '../support/documentation-runs.ts'

type Row = Readonly<Record<string, unknown>>

const blocks = blocksOf('docs/analytics.md')
const sqlBelow = (heading: string): string =>
  blocks.find(block => block.language === 'sql' && block.heading === heading)?.text ?? ''

interface FailingTest {
  readonly id: string
  readonly name: string
  readonly failure_rate_last_7d: number
  readonly pull_requests_impacted_last_7d: number
  readonly codeowners: readonly string[]
}

const readTests = (path: string): readonly FailingTest[] =>
  readFileSync(path, 'utf8')
    .trim()
    .split('\n')
    .map(line => JSON.parse(line))

describe('docs/analytics.md', () => {
  const folder = join(place, 'analytics')
  const tests = (time: string) => join(folder, 'history/tests', `${time}.ndjson`)
  let query: (sql: string) => Promise<readonly Row[]>

  beforeAll(async () => {
    checkout('analytics')
    const sandbox = await startSandbox({ speed: 4, now: Date.now })
    const env = { ...environmentOf(sandbox, folder), ...inSandbox(sandbox) }
    const [script = ''] = blocks.filter(({ heading }) => heading === 'Collect').flatMap(linesOf)
    /** Collects as at another time: the script takes the names of its files from `date`. */
    const collect = async (time: string) => {
      mkdirSync(join(folder, 'bin'), { recursive: true })
      writeFileSync(join(folder, 'bin/date'), `#!/bin/sh\necho ${time}\n`, { mode: 0o755 })
      const { code, err } = await sh(['sh', '-c', script], folder, {
        ...env,
        PATH: `${join(folder, 'bin')}:${env.PATH}`,
      })
      expect({ code, err: code === 0 ? '' : err }).toEqual({ code: 0, err: '' })
    }
    await collect('2026-11-22T0800')
    await sh(['sh', '-c', 'mergeq pr submit 7; mergeq pr wait 7 --interval 1s'], folder, env)
    await collect('2026-11-23T0900')
    await sandbox.close()

    // In the first file one test is missing, and another failed less often.
    const [first, second, ...others] = readTests(tests('2026-11-22T0800'))
    const changed = [{ ...second, failure_rate_last_7d: (second?.failure_rate_last_7d ?? 0) / 4 }, ...others]
    expect(first).toBeDefined()
    writeFileSync(tests('2026-11-22T0800'), changed.map(one => `${JSON.stringify(one)}\n`).join(''))

    const connection = await (await DuckDBInstance.create(':memory:')).connect()
    await connection.run(`SET file_search_path = '${folder}'`)
    await connection.run(sqlBelow('Load'))
    query = async sql => (await connection.runAndReadAll(sql)).getRowObjectsJson()
  }, 60_000)

  test('the script leaves complete files only', () => {
    const times = ['2026-11-22T0800.ndjson', '2026-11-23T0900.ndjson']
    for (const kind of ['metrics', 'tests'])
      expect(readdirSync(join(folder, 'history', kind)).sort()).toEqual(times)
  })

  test('what the queries find is in test/golden/analytics.txt, but for how long a merge takes', async () => {
    const headings = [
      'How does the queue develop?',
      'Time in the queue, this week and last',
      'What changed between two runs?',
      'Did other settings help?',
      'Which teams lose most to failing tests?',
      'Which tests are new or got worse?',
    ]
    const parts: string[] = []
    for (const heading of headings) {
      const rows = await query(sqlBelow(heading))
      const kept = rows.filter(({ name }) => !String(name).endsWith('_seconds_sum'))
      const text = kept.map(row => `${JSON.stringify(row)}\n`).join('')
      parts.push(`=== ${heading}\n${text.replaceAll(/"minutes":\d[\d.]*/g, '"minutes":"some"')}`)
    }
    await expect(parts.join('\n')).toMatchFileSnapshot('../golden/analytics.txt')
  })

  describe('a long history of failing tests', () => {
    const heading = 'A long history of failing tests'
    const [script = ''] = blocks
      .filter(block => block.language === 'sh' && block.heading === heading)
      .flatMap(linesOf)
    const program = join(folder, 'windows-bin')
    const windows = join(folder, 'history/windows')
    /** Runs the script at noon of 2026-10-24 with a mergeq that knows one more test in each window. */
    const read = (failing: string) => {
      mkdirSync(program, { recursive: true })
      writeFileSync(
        join(program, 'mergeq'),
        `#!/bin/sh
[ "$1 $2 $3 $5 $7 $8" = "flaky list --since --until -o ndjson" ] || exit 2
echo "$4 $6" >> requests
echo '{"id":"a","name":"in '"$4"'","file_path":"a.ts"}'
[ "$4" = "${failing}" ] && exit 17
echo '{"id":"'"$4"'","name":"once","file_path":"b.ts"}'
`,
        { mode: 0o755 },
      )
      writeFileSync(
        join(program, 'date'),
        '#!/bin/sh\nif [ "$2" = -d ]; then exec /usr/bin/env -i PATH=/usr/bin:/bin date "$@"; fi\nexec /usr/bin/env -i PATH=/usr/bin:/bin date -u -d 2026-10-24T12:00Z "$2"\n',
        { mode: 0o755 },
      )
      return sh(['sh', '-c', script], folder, { PATH: `${program}:/usr/bin:/bin` })
    }

    test('a failed window is read again, and the others are not', async () => {
      expect((await read('2026-10-08')).code).toBe(17)
      expect(readdirSync(windows).sort()).toEqual(['2026-10-01.ndjson', '2026-10-08.part'])
      expect((await read('never')).code).toBe(0)
      expect(readdirSync(windows).sort()).toEqual(
        ['2026-10-01', '2026-10-08', '2026-10-15'].map(day => `${day}.ndjson`),
      )
      const requests = readFileSync(join(folder, 'requests'), 'utf8').trim().split('\n')
      expect(requests.map(range => range.slice(0, 10))).toEqual([
        '2026-10-01',
        '2026-10-08',
        '2026-10-08',
        '2026-10-15',
      ])
      expect(requests.at(-1)).toBe('2026-10-15 2026-10-22')
    })

    test('one row for each ID, from the newest window', async () => {
      const rows = await query(sqlBelow(heading))
      expect(rows.map(({ id, name, windows }) => [id, name, windows])).toEqual([
        ['a', 'in 2026-10-15', '3'],
        ['2026-10-01', 'once', '1'],
        ['2026-10-08', 'once', '1'],
        ['2026-10-15', 'once', '1'],
      ])
      expect(rows[0]).toMatchObject({ first_window: '2026-10-01', last_window: '2026-10-15' })
    })
  })
})
