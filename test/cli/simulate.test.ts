import { describe, expect, test } from 'vitest'
import { MergeqError } from '../../src/errors.ts'
import { mergeq, openStory } from '../support/harness.ts'

describe('sandbox simulate', () => {
  const line = 'sandbox simulate --prs-per-hour 6 --test-minutes 20 --failure-rate 0.1 --weeks 1'

  test('a row for each setting, the same for the same seed', async () => {
    const one = await mergeq(`${line} --concurrency 2,4 --batch 1,3`)
    expect(one.code).toBe(0)
    expect(
      one.out
        .trim()
        .split('\n')
        .map(row => row.split('\t').slice(0, 2).join('/')),
    ).toEqual(['2/1', '2/3', '4/1', '4/3'])
    expect(one.requests).toEqual([])
    expect((await mergeq(`${line} --concurrency 2,4 --batch 1,3`)).out).toBe(one.out)
    expect((await mergeq(`${line} --concurrency 2,4 --batch 1,3 --seed 2`)).out).not.toBe(one.out)
    expect(one.err).toMatch(/These results come from a model: .*never flaky/)
  })

  test('on a terminal a table and a chart, and a note on a setting that cannot keep up', async () => {
    const { out, err } = await mergeq(`${line} --concurrency 1,4 --color never`, {
      terminal: true,
      columns: 120,
    })
    const [heading, head, ...rows] = out.trim().split('\n')
    expect(heading).toBe('1 week, 6 pull requests per hour, 20 minutes per test run, 10% failures')
    expect(head).toBe('CONCURRENCY  BATCH  MERGED/H  P50  P95  CI/MERGE  FAILED  STILL QUEUED  TIME TO MERGE')
    expect(rows).toEqual([
      expect.stringMatching(/^ +1 +1 .* - +- +\d+m +\d+ +\d+ {2}cannot keep up$/),
      expect.stringMatching(/^ +4 +1 .* \d+m +\d+m +\d+m +\d+ +\d+ {2}█{14}$/),
      '✓ Best: --concurrency 4 --batch 1',
      expect.stringMatching(/^ {2}95% of the pull requests merge within \d+m\. CI time per merge: \d+m\.$/),
    ])
    expect(err).toBe(
      `1 setting cannot keep up with the load: the queue and the time to merge keep growing.
This is a model: constant load, no flaky tests, no conflicts, no priorities. To list all simplifications, add --json.
`,
    )
  })

  test('on a narrow terminal the headings are whole, and the least important columns are left out', async () => {
    const headings = async (columns: number) => {
      const { out } = await mergeq(`${line} --concurrency 1,4`, {
        terminal: true,
        columns,
        env: { NO_COLOR: '1' },
      })
      return out.split('\n')[columns < 72 ? 2 : 1]
    }
    expect(await headings(80)).toBe('CONCURRENCY  BATCH  MERGED/H  P50  P95  CI/MERGE  FAILED  TIME TO MERGE')
    expect(await headings(60)).toBe('CONCURRENCY  BATCH  MERGED/H  P50  P95  TIME TO MERGE')
  })

  test('on a terminal the setting with the least CI time is named if it is another one', async () => {
    const { out } = await mergeq(`${line.replace('0.1', '0')} --concurrency 1,4 --batch 4`, {
      terminal: true,
      columns: 200,
      env: { NO_COLOR: '1' },
    })
    expect(out).toMatch(
      /\n✓ Best: --concurrency 4 --batch 4\n {2}95% .*\n {2}Least CI time: --concurrency 1 --batch 4\n {2}95% .*\n$/,
    )
    expect(out).not.toContain('FAILED')
  })

  test('on a terminal a load that no setting can carry is said', async () => {
    const { out } = await mergeq('sandbox simulate --prs-per-hour 60 --test-minutes 90 --weeks 1', {
      terminal: true,
      columns: 200,
      env: { NO_COLOR: '1' },
    })
    expect(out).toContain(
      '\n! No setting keeps up with this load. Try a higher --concurrency or a larger --batch.\n',
    )
  })

  test('JSON has the model and its omissions; NDJSON and CSV have the rows', async () => {
    const { out } = await mergeq(`${line} --json`)
    expect(JSON.parse(out)).toMatchObject({
      model: {
        prsPerHour: 6,
        testMinutes: 20,
        failureRate: 0.1,
        weeks: 1,
        seed: 1,
        leavesOut: expect.any(Array),
      },
      results: [{ concurrency: 1, batch: 1, merged: expect.any(Number) }],
    })
    expect(JSON.parse((await mergeq(`${line} -o ndjson`)).out)).toEqual(JSON.parse(out).results[0])
    expect((await mergeq(`${line} -o csv --fields batch,left`)).out).toMatch(/^batch,left\r\n1,\d+\r\n$/)
  })

  test.each([
    ['', /--prs-per-hour is required.*/],
    ['--prs-per-hour 6', /--test-minutes is required/],
    ['--prs-per-hour 0 --test-minutes 1', /--prs-per-hour: '0' is not a number greater than 0/],
    ['--prs-per-hour 1 --test-minutes 1 --failure-rate 1', /--failure-rate: '1' is not a number from 0/],
    ['--prs-per-hour 1 --test-minutes 1 --concurrency 1,x', /--concurrency: 'x' is not a whole number/],
    ['--prs-per-hour 9000 --test-minutes 1', /exceed 200,000 pull requests/],
  ])('2: %s', async (args, message) => {
    const { code, err } = await mergeq(`sandbox simulate ${args}`)
    expect(code).toBe(2)
    expect(err).toMatch(message)
  })

  test('a signal ends it between two days', async () => {
    const stop = new AbortController()
    stop.abort(new MergeqError('interrupted', 'stopped by SIGINT.'))
    const { code, out } = await mergeq(line, { signal: stop.signal })
    expect({ code, out }).toEqual({ code: 130, out: '' })
  })

  test.each(['document', 'hosted'] as const)(
    '--from-metrics takes the last hour of the queue, %s',
    async dialect => {
      const story = await openStory({ dialect, scenario: 'failure' })
      const empty = await story.mergeq('sandbox simulate --from-metrics')
      expect(empty.code).toBe(5)
      await story.mergeq('pr submit 1 2 3 4 5 6')
      story.clock.now += 60_000
      const { code, out } = await story.mergeq(
        'sandbox simulate --from-metrics --test-minutes 5 --weeks 1 --json',
      )
      await story.close()
      expect(code).toBe(0)
      expect(JSON.parse(out).model).toMatchObject({ prsPerHour: 6, testMinutes: 5, failureRate: 2 / 6 })
    },
  )
})
