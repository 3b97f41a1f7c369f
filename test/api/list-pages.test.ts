import { describe, expect, test } from 'vitest'
import { mergeq, type Outcome } from '../support/harness.ts'

// How a list is read page by page, shown with `flaky list`. How a range is cut into windows:
// test/values/time.test.ts.

interface Page {
  readonly ids?: readonly (string | object)[]
  /** The token of the next page; none without it. */
  readonly next?: string | null
  readonly page?: object
  readonly status?: number
}

/** Lists failing tests from pages that are found by the token and the number of the request. */
const walk = (
  flags: string,
  pages: Readonly<Record<string, Page>> | ((token: string, index: number) => Page),
) =>
  mergeq(`flaky list -R acme/web --org acme --retries 0 ${flags}`, {
    answer: ({ body }, index) => {
      const { page_token: token = '' } = JSON.parse(body).page_query
      const found = typeof pages === 'function' ? pages(token, index) : pages[token]
      const { ids = [], next, page, status } = found ?? { status: 400 }
      const tests = ids.map(id => (typeof id === 'string' ? { id, name: id } : id))
      const document = { tests, page: { ...page, next_page_token: next } }
      return status === undefined ? { body: JSON.stringify(document) } : { status, body: 'no' }
    },
  })

const ids = ({ out }: Outcome) => out.split('\n').filter(line => line !== '')
const sent = ({ requests }: Outcome) => requests.map(({ body }) => JSON.parse(body))
const tokens = (outcome: Outcome) => sent(outcome).map(({ page_query }) => page_query.page_token)

const totals = { total_rows: 3, total_pages: 1, page_index: 0 }

/** Pages that follow each other, with the tests that each letter stands for. */
const chain = (...pages: readonly string[]): Readonly<Record<string, Page>> =>
  Object.fromEntries(
    pages.map((ids, index) => [
      index === 0 ? '' : `p${index}`,
      { ids: [...ids], next: index === pages.length - 1 ? '' : `p${index + 1}` },
    ]),
  )
const first: Page = { ids: ['a'], next: 'p2' }
const endless = (_: string, index: number): Page => ({ ids: [`${index}`], next: `p${index + 1}` })
const range = '2026-01-04T12:00:00.000Z to 2026-01-05T12:00:00.000Z'

/** What comes of a walk: its exit code, the ids that are printed, each a letter, and the number of requests. */
type Row = [
  title: string,
  pages: Parameters<typeof walk>[1],
  outcome: string,
  err?: readonly string[],
  flags?: string,
]

test.each<Row>([
  ['pages are followed until the token is empty', chain('a', 'b', 'c'), '0: abc, 3', ['3 tests ', range]],
  ['a null token is the end', { '': { ids: ['a'], next: null } }, '0: a, 1'],
  ['no token is the end', { '': { ids: ['a'] } }, '0: a, 1'],
  [
    'tokens decide when the list ends, not totals',
    { '': { ...first, page: totals }, p2: { ids: ['b', 'c', 'd'], next: '', page: totals } },
    '0: abcd, 2',
  ],
  [
    'a token that comes again ends the list, which is incomplete',
    { ...chain('a', 'b', 'c', ''), p3: { ids: ['d'], next: 'p1' } },
    '17: abcd, 4',
    ['the same page token twice'],
  ],
  [
    'a token that names its own page ends the list after two requests',
    token => ({ ids: [token || 'a'], next: 'b' }),
    '17: ab, 2',
  ],
  [
    'tokens without end stop at --max-pages, and the hint names it',
    endless,
    '17: 012, 3',
    ['--max-pages'],
    '--max-pages 3',
  ],
  ['exactly --max-pages pages are complete', chain('a', 'b'), '0: ab, 2', [], '--max-pages 2'],
  [
    'a row that comes again on a later page is one row, with a note',
    chain('ab', 'abac'),
    '0: abc, 2',
    ['3 tests ', '3 duplicate rows'],
  ],
  [
    'a page that fails for good keeps the rows before it, and the list is incomplete',
    { '': first, p2: { status: 500 } },
    '17: a, 2',
    ['incomplete'],
  ],
  [
    'a token that is revoked between pages is the reason that is reported',
    { '': first, p2: { status: 401 } },
    '4: a, 2',
    ['rejected the token', 'incomplete'],
  ],
  ['a first page that fails prints nothing', () => ({ status: 500 }), '7: , 1'],
  ['--limit is kept although the service sends more', chain('abcdef', 'g'), '0: abc, 1', [], '--limit 3'],
])('%s', async (_, pages, expected, err = [], flags = '') => {
  const outcome = await walk(`--fields id ${flags}`, pages)
  const { code, requests } = outcome
  expect(`${code}: ${ids(outcome).join('')}, ${requests.length}`).toBe(expected)
  for (const part of err) expect(outcome.err).toContain(part)
  // All pages are of the same window.
  expect(new Set(sent(outcome).map(({ start_time }) => start_time)).size).toBe(1)
})

describe('as JSON', () => {
  test.each([
    ['--limit 3', undefined, true],
    ['--limit 2', 'p1', false],
    ['--limit 1', '', false],
    ['--limit 2 --sort name', undefined, false],
    ['--max-pages 1', 'p1', false],
    ['--limit 2 --since 14d', '', false],
  ])('%s prints a cursor only where it continues: %j; complete: %j', async (flags, token, complete) => {
    const { page, window } = JSON.parse((await walk(`${flags} --json`, chain('ab', 'c'))).out)
    expect([page.next_page_token, window.complete]).toEqual([token, complete])
  })

  test('--page-token gives one page, as the service gives it', async () => {
    const pages = { p2: { ids: ['b'], next: 'p3', page: { total_rows: 9 } } }
    const outcome = await walk('--page-token p2 --json', pages)
    expect({ code: outcome.code, tokens: tokens(outcome) }).toEqual({ code: 0, tokens: ['p2'] })
    expect(JSON.parse(outcome.out)).toMatchObject({
      tests: [{ id: 'b' }],
      page: { total_rows: 9, next_page_token: 'p3' },
      window: { complete: false },
    })
  })
})

describe('a range of time', () => {
  test('20 days are read in windows, newest first, each test once', async () => {
    const outcome = await walk('--fields id --since 20d', (_, index) => ({ ids: ['every', `w${index}`] }))
    expect({ code: outcome.code, ids: ids(outcome) }).toEqual({ code: 0, ids: ['every', 'w0', 'w1', 'w2'] })
    expect(sent(outcome)).toMatchObject([
      { start_time: '2025-12-29T12:00:00.000Z', end_time: '2026-01-05T12:00:00.000Z' },
      { start_time: '2025-12-22T12:00:00.000Z', end_time: '2025-12-29T12:00:00.000Z' },
      { start_time: '2025-12-16T12:00:00.000Z', end_time: '2025-12-22T12:00:00.000Z' },
    ])
    expect(outcome.err).toContain('2025-12-16T12:00:00.000Z to 2026-01-05T12:00:00.000Z')
  })

  test('a page token of one window may come again in the next', async () => {
    const outcome = await walk('--fields id --since 14d', (token, index) => ({
      ids: [`t${index}`],
      next: token === '' ? 'p2' : '',
    }))
    expect({ code: outcome.code, tokens: tokens(outcome) }).toEqual({ code: 0, tokens: ['', 'p2', '', 'p2'] })
  })
})

describe('filters and order', () => {
  const [a, b, c, d] = [
    {
      id: 'a',
      name: 'cart total',
      file_path: 'src/cart/total.ts',
      quarantined: true,
      codeowners: ['@acme/web'],
      failure_rate_last_7d: 0.5,
      pull_requests_impacted_last_7d: 1,
      status: { timestamp: '2026-01-03T00:00:00Z' },
    },
    {
      id: 'b',
      name: 'cart/add',
      file_path: 'src/add.ts',
      quarantined: false,
      codeowners: [],
      failure_rate_last_7d: 0.1,
      pull_requests_impacted_last_7d: 9,
      status: { timestamp: 'soon' },
    },
    {
      id: 'c',
      name: 'Login',
      file_path: 'src/login.tsx',
      quarantined: null,
      codeowners: null,
      failure_rate_last_7d: 0.9,
      most_common_failures: [{ last_occurrence: '2026-01-05T00:00:00Z' }],
    },
    { id: 'd' },
  ]
  const pages = { '': { ids: [a, b], next: 'p2' }, p2: { ids: [c, d] } }

  test.each([
    ['', 'abcd'],
    ['--quarantined', 'a'],
    ['--no-quarantined', 'b'],
    ['--owner @acme/web', 'a'],
    ['--min-failure-rate 0.5', 'ac'],
    ["--name 'cart*'", 'ab'],
    ["--name 'cart?total'", 'a'],
    ['--name cart', ''],
    ["--path 'src/*.ts'", 'b'],
    ["--path 'src/**'", 'abc'],
    ["--path 'src/**/*.ts'", 'ab'],
    ["--name 'cart*' --no-quarantined", 'b'],
  ])('of the tests a to d, %j keeps %j, and reads every page', async (flags, expected) => {
    const outcome = await walk(`--fields id ${flags}`, pages)
    expect({ code: outcome.code, ids: ids(outcome).join(''), requests: outcome.requests.length }).toEqual({
      code: 0,
      ids: expected,
      requests: 2,
    })
  })

  test.each([
    ['impact', /^ba/],
    ['rate', /^cab/],
    ['recent', /^ca/],
    ['name', /^dcab/],
  ])('--sort %s reads every page first; unreadable dates do not matter', async (key, expected) => {
    const whole = ids(await walk(`--fields id --sort ${key}`, pages))
    expect(whole).toHaveLength(4)
    expect(whole.join('')).toMatch(expected)
    const cut = await walk(`--fields id --sort ${key} --limit 1`, pages)
    expect({ ids: ids(cut), requests: cut.requests.length }).toEqual({ ids: whole.slice(0, 1), requests: 2 })
  })
})
