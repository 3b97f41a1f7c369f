import { describe, expect, test } from 'vitest'
import { mergeq, type Seen, type Setting, tickingClock } from '../../support/harness.ts'

const where = '-R acme/web --org acme --retries 0'
const screen = { terminal: true, env: { NO_COLOR: '1' } }
const idOf = (start: string) => `${start}-93f0-4c57-8a3b-1f2e3d4c5b6a`

const tests = [
  { id: idOf('50c3aedb'), name: 'Address form submits once', variant: 'chromium' },
  { id: idOf('50c3aedc'), name: 'Address form submits once', variant: 'webkit' },
  { id: idOf('facade00'), name: 'Login' },
  { id: idOf('11111111'), name: 'Login shows the facade of the form', variant: '' },
  { id: idOf('22222222'), name: 'Größe der Straße' },
  { id: 'no-uuid' },
  { name: 'a test without an ID' },
]

/** Answers with the tests on pages of two, or with the details of the test that is requested. */
const answer = ({ path, body }: Seen) => {
  const request = JSON.parse(body)
  if (path.endsWith('get-test-details'))
    return {
      body: JSON.stringify({ test: tests.find(({ id }) => id === request.test_id.toLowerCase()) ?? {} }),
    }
  const from = Number(request.page_query.page_token || 0)
  return {
    body: JSON.stringify({
      tests: tests.slice(from, from + 2),
      page: { next_page_token: from + 2 < tests.length ? String(from + 2) : '' },
    }),
  }
}

const get = (line: string, setting: Setting = {}) =>
  mergeq(`flaky get ${line} ${where}`, { answer, ...setting })
const paths = ({ requests }: { readonly requests: readonly Seen[] }) =>
  requests.map(({ path }) => path.slice(path.lastIndexOf('/') + 1))
const detailsOf = ({ requests }: { readonly requests: readonly Seen[] }) =>
  JSON.parse(requests.at(-1)?.body ?? '{}').test_id

describe('a test is found', () => {
  test.each([
    ['by words in any order and case', '"ONCE chromium address"', '50c3aedb'],
    ['by the beginning of its ID in upper case, with a part of the next group', '22222222-93F', '22222222'],
    ['by 6 characters of its ID, although they are a word of another name', 'facade', 'facade00'],
    ['by its whole name, although another name contains it', 'login', 'facade00'],
    ['by parts of words', '"log faca"', '11111111'],
    ['by letters with accents in another normal form', `"${'größe'.normalize('NFD')}"`, '22222222'],
  ])('%s', async (_, text, start) => {
    // Also while time passes.
    const outcome = await get(`${text} --json`, { clock: tickingClock() })
    expect({ code: outcome.code, id: detailsOf(outcome) }).toEqual({ code: 0, id: idOf(start) })
    expect(JSON.parse(outcome.out)).toEqual({ test: tests.find(({ id }) => id === idOf(start)) })
    expect(paths(outcome)).toEqual([...Array(4).fill('list-failing-tests'), 'get-test-details'])
  })

  test('by its full ID without a search', async () => {
    const outcome = await get(`${idOf('50C3AEDB')} --window 1h`)
    expect({ code: outcome.code, paths: paths(outcome) }).toEqual({ code: 0, paths: ['get-test-details'] })
  })

  test.each([
    ['', '2025-12-29T12:00:00.000Z'],
    ['--window 2h', '2026-01-05T10:00:00.000Z'],
  ])('in the last 7 days, or in --window %s', async (flags, start) => {
    const { requests } = await get(`login ${flags}`)
    expect(JSON.parse(requests[0]?.body ?? '')).toMatchObject({
      start_time: start,
      end_time: '2026-01-05T12:00:00.000Z',
      page_query: { page_size: 100, page_token: '' },
    })
  })
})

describe('a test is not found', () => {
  test('of very many matches the first 20 are listed', async () => {
    const many = Array.from({ length: 1_030 }, (_, index) => ({
      id: `50c3aedb-${String(index).padStart(4, '0')}-4c57-8a3b-1f2e3d4c5b6a`,
      name: 'same',
    }))
    const { code, err } = await get('same --window 2d', {
      answer: () => ({ body: JSON.stringify({ tests: many, page: {} }) }),
    })
    expect(code).toBe(2)
    expect(err.match(/^ {2}50c3aedb {2}same$/gm)).toHaveLength(20)
    expect(err).toContain('  and 1,010 more: add words from the name or the variant\n')
    expect(err).toContain('run: mergeq flaky get 50c3aedb --repo acme/web --org acme --window 2d\n')
  })

  test('fewer than 6 characters do not match the beginning of an ID', async () => {
    expect((await get('50c3a')).code).toBe(5)
  })

  test('a search that could not read every page finds nothing', async () => {
    const failing = (seen: Seen) => (seen.body.includes('"page_token":"4"') ? { status: 500 } : answer(seen))
    const { code, out, err } = await get('login', { answer: failing })
    expect({ code, out }).toEqual({ code: 17, out: '' })
    expect(err).toContain('The list is incomplete.')
  })
})

describe('the sheet of a test', () => {
  const id = idOf('50c3aedb')
  const url = 'https://app.example/t/1'
  const show = async (record: object, setting: Setting = {}) => {
    const answer = () => ({ body: JSON.stringify({ test: { name: 'n', ...record } }) })
    return (await get(id, { answer, ...screen, columns: 120, ...setting })).out
  }

  // All of its lines together are in test/golden/screens/flaky.txt.
  test.each([
    [{ status: { value: 'healthy' } }, '  ✓ healthy'],
    [{ status: { value: 'flaky', timestamp: 'soon' } }, '  ! flaky since soon'],
    [{ failure_rate_last_7d: 0.5 }, '  failed in 50% of runs in the last 7 days'],
    [{ failure_rate_last_24h: 0.5 }, '  failed in 50% of runs in the last 24 hours'],
    [{ pull_requests_impacted_last_7d: 1 }, '  failed in 1 pull request in the last 7 days'],
    [{ quarantined: true }, '  quarantined: its failures are ignored'],
  ])('of %j has the line %j', async (record, line) => {
    expect(await show(record)).toBe(`n\n${line}\n`)
  })

  test('the name is bold, and the page a link where the terminal has links', async () => {
    const out = await show({ html_url: url }, { env: {}, hasLinks: true })
    expect(out).toContain('\u001B[1mn\u001B[22m')
    expect(out).toContain(`\u001B]8;;${url}\u0007`)
  })
})

describe('the most common failures of a test', () => {
  const summary = 'expected 3\n  received 2\n\u001B[31m\tat cart.ts:3\r\n\r\nlast'
  const failures = [
    { summary, occurrence_count: 1, last_occurrence: '2026-01-05T11:00:00Z' },
    { summary: 'x'.repeat(200), occurrence_count: 2 },
    { occurrence_count: null },
  ]
  const show = (most_common_failures: readonly object[], flags: string, setting: Setting = {}) =>
    get(`${idOf('50c3aedb')} ${flags}`, {
      answer: () => ({ body: JSON.stringify({ test: { name: 'n', most_common_failures } }) }),
      ...setting,
    })

  test('on a terminal they are below the sheet, with indented lines', async () => {
    const { out } = await show(failures, '', screen)
    expect(out).toBe(
      [
        'n',
        '',
        'failure 1: 1 time, last 1h ago',
        '  expected 3',
        '    received 2',
        '    at cart.ts:3',
        '',
        '  last',
        '',
        'failure 2: 2 times, last at an unknown time',
        `  ${'x'.repeat(77)}…`,
        '',
        'failure 3: an unknown number of times, last at an unknown time',
        '  -',
        '',
      ].join('\n'),
    )
  })

  test('a summary of a thousand lines shows its first forty', async () => {
    const long = { summary: 'line\n'.repeat(1_000), occurrence_count: 3 }
    const { out } = await show([long], '', screen)
    expect(out.match(/^ {2}line$/gm)).toHaveLength(40)
    expect(out).toMatch(/\n {2}… 960 more lines\n$/)
  })

  test('elsewhere each is one row', async () => {
    const { out } = await show(failures, '')
    const rows = out.split('\n').filter(line => /^failure \d/.test(line))
    expect(rows).toHaveLength(3)
    expect(rows[0]).toMatch(
      /1 time, last 2026-01-05T11:00:00Z: expected 3 {3}received 2 {2}at cart\.ts:3 last/,
    )
  })
})
