import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { mergeq, openStory, type Seen, type Setting, type Story } from '../support/harness.ts'

const where = '--retries 0'
const screen = { terminal: true, env: { NO_COLOR: '1', MERGEQ_REPO: 'acme/web', MERGEQ_ORG: 'acme' } }

interface TestRecord {
  readonly id: string
  readonly name: string
  readonly pull_requests_impacted_last_7d?: number
  readonly failure_rate_last_7d?: number
  readonly [key: string]: unknown
}

/** Answers with pages of at most 100 records; the key is that of the list. */
const serving =
  (records: readonly object[], key = 'tests') =>
  ({ body }: Pick<Seen, 'body'>) => {
    const { page_query } = JSON.parse(body)
    const from = Number(page_query.page_token || 0)
    const next = from + page_query.page_size
    return {
      body: JSON.stringify({
        [key]: records.slice(from, next),
        page: { next_page_token: next < records.length ? String(next) : '' },
      }),
    }
  }

const many = (count: number): readonly TestRecord[] =>
  Array.from({ length: count }, (_, index) => ({
    id: `${String(index).padStart(8, '0')}-93f0-4c57-8a3b-1f2e3d4c5b6a`,
    name: `test number ${index}`,
    // Later tests are worse.
    pull_requests_impacted_last_7d: index,
    failure_rate_last_7d: 0.294,
  }))

const rows = (out: string) => out.trimEnd().split('\n')
const list = (flags: string, records: readonly object[], setting: Setting = {}) =>
  mergeq(`flaky list ${where} ${flags}`, { ...screen, answer: serving(records), ...setting })

describe.each(['document', 'hosted'] as const)('the screens in the %s dialect', dialect => {
  let story: Story
  beforeEach(async () => {
    story = await openStory({ dialect })
  })
  afterEach(() => story.close())

  test('which test is it: the list, the beginning of an ID, words of a name, the details', async () => {
    const listed = await story.mergeq('flaky list', { ...screen, columns: 120 })
    const [, id] = listed.out.match(/Details: mergeq flaky get ([0-9a-f]{8})\n$/) ?? []
    const one = await story.mergeq(`flaky get ${id}`, { ...screen, columns: 120 })
    expect([one.code, one.out.startsWith('Address form')]).toEqual([0, true])
    const several = await story.mergeq('flaky get "Address form"', { ...screen, columns: 120 })
    expect([several.code, several.out]).toEqual([2, ''])
    const [, command = ''] = several.err.match(/To show a test, run: mergeq (.*)\n$/) ?? []
    expect(command).toMatch(/^flaky get [0-9a-f]{8}$/)
    const shown = await story.mergeq(command, { ...screen, columns: 120 })
    expect([shown.code, shown.out.startsWith('Address form')]).toEqual([0, true])
  })
})

describe('flaky list on a terminal', () => {
  test('prints the worst 30 tests of all pages', async () => {
    const { out, err, requests } = await list('', many(116))
    const lines = rows(out)
    expect(lines.slice(0, 3)).toEqual([
      'RATE  PRS  TEST             ID',
      ' 29%  115  test number 115  00000115-93f0-4c57-8a3b-1f2e3d4c5b6a',
      ' 29%  114  test number 114  00000114-93f0-4c57-8a3b-1f2e3d4c5b6a',
    ])
    expect(lines).toHaveLength(33)
    expect(lines.slice(-2).join(' ')).toBe(
      '30 of 116 tests, last 24 hours, worst first. To list all, add --limit 0. Details: mergeq flaky get 00000115',
    )
    expect([err, requests.length]).toEqual(['', 2])
  })

  test('requests the same pages as a pipe, which gets all tests in the order of the service', async () => {
    const terminal = await list('', many(250))
    const pipe = await list('', many(250), { terminal: false })
    expect(terminal.requests.map(({ body }) => body)).toEqual(pipe.requests.map(({ body }) => body))
    expect(rows(pipe.out)).toHaveLength(250)
    expect(pipe.out).toMatch(/^test number 0\t/)
    expect(pipe.err).toContain('250 tests failed from 2026-01-04T12:00:00.000Z')
  })

  test.each(['--json', '-o ndjson', '-o csv', '-o markdown'])(
    '%s prints all tests in the order of the service on a terminal, too',
    async format => {
      const { out } = await list(`${format} --fields name`, many(40))
      expect(out.match(/test number \d+/g)).toEqual(many(40).map(({ name }) => name))
    },
  )

  test.each([
    ['--limit 0', 40, 'test number 39', '40 tests, last 24 hours, worst first.'],
    ['--limit 2', 2, 'test number 39', '2 of 40 tests, last 24 hours, worst first.'],
    ['--limit 1', 1, 'test number 39', '1 of 40 tests, last 24 hours.'],
    ['--sort name --limit 3', 3, 'test number 0', '3 of 40 tests, last 24 hours, by name.'],
    ['--since 2d', 30, 'test number 39', '30 of 40 tests, last 2 days, worst first.'],
    ['--since 90m', 30, 'test number 39', '30 of 40 tests, last 90 minutes, worst first.'],
    ['--since 1h', 30, 'test number 39', '30 of 40 tests, last hour, worst first.'],
    [
      '--since 2026-01-05T11:00:00.5Z',
      30,
      'test number 39',
      '30 of 40 tests, since 2026-01-05 11:00 UTC, worst first.',
    ],
    [
      '--since 2h --until 1h',
      30,
      'test number 39',
      '30 of 40 tests, 2026-01-05 10:00 to 2026-01-05 11:00 UTC, worst first.',
    ],
  ])('%s is honored', async (flags, count, first, footer) => {
    const { out } = await list(flags, many(40), { columns: 200 })
    const lines = rows(out)
    expect([lines.length - 2, lines[1]?.includes(first), lines.at(-1)?.startsWith(footer)]).toEqual([
      count,
      true,
      true,
    ])
  })

  test('--page-token prints the page as the service sent it', async () => {
    const { out, err } = await list('--page-token 3 --page-size 50', many(60))
    expect([rows(out).length, rows(out)[1]]).toEqual([51, expect.stringContaining('test number 3')])
    expect(err).toContain('50 tests failed from 2026-01-04 12:00 UTC to 2026-01-05 12:00 UTC.')
  })

  test('without tests there is a sentence with the next step', async () => {
    const { code, out, err } = await list('', [])
    expect({ code, out, err }).toEqual({
      code: 0,
      out: 'No test failed in the last 24 hours. To search further back, run:\nmergeq flaky list --since 30d\n',
      err: '',
    })
    const hidden = await list('--owner me', many(3))
    expect(hidden.out).toBe('No test that failed in the last 24 hours matches the options.\n')
    expect(hidden.err).toBe('3 tests hidden by --owner.\n')
  })

  test('a page that cannot be read leaves the rows before it, and no number of all tests', async () => {
    const answer = (seen: Seen) =>
      seen.body.includes('"page_token":"100"') ? { status: 500 } : serving(many(200))(seen)
    const { code, out, err } = await mergeq(`flaky list ${where}`, { ...screen, answer })
    expect(code).toBe(17)
    expect(out).toContain('\n30 tests, last 24 hours, worst first. Details:')
    expect(err).toContain('The list is incomplete.')
  })

  test('with --fields the rows are a table of these fields, and the notes say the rest', async () => {
    const { out, err } = await list('--fields name', many(40))
    expect([rows(out).length, rows(out)[1]]).toEqual([31, 'test number 39'])
    expect(err).toContain('This list is incomplete: there are more tests.')
    expect((await list('--fields rate,test', many(1))).out).toContain('test number 0')
  })

  test('of 10,000 tests the worst are kept, in a stable order', async () => {
    const tied = many(10_000).map((record, index) => ({
      ...record,
      pull_requests_impacted_last_7d: index % 7 === 0 ? 5 : 1,
    }))
    const { out } = await list('', tied)
    expect(out.match(/test number \d+(?= )/g)?.slice(0, 30)).toEqual(
      Array.from({ length: 30 }, (_, index) => `test number ${index * 7}`),
    )
    expect(out).toContain('30 of 10,000 tests')
  })

  test('variants are shown where names repeat', async () => {
    const [first, second] = many(2)
    const { out } = await list('', [
      { ...first, name: '<b>"x"', variant: 'webkit', quarantined: true },
      { ...second, name: '<b>"x"', variant: '' },
      { ...second, id: 'c', name: 'alone', variant: 'hidden' },
    ])
    expect(out).toBe(
      [
        'RATE  PRS  TEST    VARIANT               ID',
        ' 29%    1  <b>"x"                        00000001-93f0-4c57-8a3b-1f2e3d4c5b6a',
        ' 29%    1  alone                         c',
        ' 29%    0  <b>"x"  webkit   quarantined  00000000-93f0-4c57-8a3b-1f2e3d4c5b6a',
        '3 tests, last 24 hours, worst first. Details: mergeq flaky get 00000001',
        '',
      ].join('\n'),
    )
  })

  test('a secret in a name is redacted before the name is cut', async () => {
    const [record] = many(1)
    const { out } = await list('', [{ ...record, name: `${'x'.repeat(40)} test-token ${'y'.repeat(80)}` }])
    expect(out).not.toMatch(/test-to/)
  })
})

describe('flaky quarantined and flaky unhealthy on a terminal', () => {
  test.each([
    ['flaky quarantined', 'quarantined_tests', 'quarantined'],
    ['flaky unhealthy --status flaky', 'tests', 'flaky'],
  ])('%s ends with how many there are, and how to list all', async (line, key, adjective) => {
    const run = (records: readonly TestRecord[], flags = '') =>
      mergeq(`${line} ${where} ${flags}`, {
        ...screen,
        answer: serving(
          records.map(record => ({ ...record, test_case_id: record.id })),
          key,
        ),
      })
    const cut = await run(many(40))
    expect(rows(cut.out).slice(-2).join(' ')).toContain(
      `Showing 30 ${adjective} tests; there are more. To list all, add --limit 0.`,
    )
    expect(cut.err).toBe('')
    const whole = await run(many(40), '--limit 0')
    expect(rows(whole.out).at(-1)).toBe(`40 ${adjective} tests in github.com/acme/web.`)
    const none = await run([])
    // The sentence is wrapped at the width of the terminal.
    expect([none.out.replace(/\n(?=.)/, ' '), none.err]).toEqual([
      `No test in github.com/acme/web is ${adjective}. To list the tests that failed, run: mergeq flaky list\n`,
      '',
    ])
    const hidden = await run(many(2), '--owner me')
    expect(hidden.out).toBe(`No ${adjective} test in github.com/acme/web matches the options.\n`)
  })
})
