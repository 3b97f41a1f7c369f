import { describe, expect, test } from 'vitest'
import { mergeq, type Seen, type Setting, tickingClock } from '../support/harness.ts'

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
    ['by the beginning of its ID', '50c3aedc', '50c3aedc'],
    ['by the beginning of its ID in upper case, with a part of the next group', '22222222-93F', '22222222'],
    ['by 6 characters of its ID, although they are a word of another name', 'facade', 'facade00'],
    ['by its whole name, although another name contains it', 'login', 'facade00'],
    ['by parts of words', '"log faca"', '11111111'],
    ['by letters with accents in another normal form', `"${'größe'.normalize('NFD')}"`, '22222222'],
  ])('%s', async (_, text, start) => {
    const outcome = await get(`${text} --json`)
    expect([outcome.code, detailsOf(outcome)]).toEqual([0, idOf(start)])
    expect(JSON.parse(outcome.out)).toEqual({ test: tests.find(({ id }) => id === idOf(start)) })
    expect(paths(outcome)).toEqual([...Array(4).fill('list-failing-tests'), 'get-test-details'])
  })

  test('while time passes', async () => {
    expect((await get('50c3aedc', { clock: tickingClock() })).code).toBe(0)
  })

  test('by its full ID without a search', async () => {
    const outcome = await get(`${idOf('50C3AEDB')} --window 1h`)
    expect([outcome.code, paths(outcome)]).toEqual([0, ['get-test-details']])
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

  test('a longer --window is searched in windows of 7 days', async () => {
    const { requests, code } = await get('nothing --window 15d')
    expect([code, requests.length]).toEqual([5, 12])
  })
})

describe('a test is not found', () => {
  test('several matches are listed with IDs that differ', async () => {
    const { code, out, err } = await get('"address form"')
    expect({ code, out, err }).toEqual({
      code: 2,
      out: '',
      err: [
        "mergeq: 2 tests match 'address form'.",
        '  50c3aedb  Address form submits once (chromium)',
        '  50c3aedc  Address form submits once (webkit)',
        '  To show a test, run: mergeq flaky get 50c3aedb -R acme/web --org acme',
        '',
      ]
        .join('\n')
        .replace('-R acme/web', '--repo acme/web'),
    })
    const byId = await get('50c3ae --window 2d')
    expect([byId.code, byId.err]).toEqual([
      2,
      expect.stringContaining('mergeq flaky get 50c3aedb --repo acme/web --org acme --window 2d\n'),
    ])
  })

  test('of very many matches the first 20 are listed', async () => {
    const many = Array.from({ length: 1_030 }, (_, index) => ({
      id: `50c3aedb-${String(index).padStart(4, '0')}-4c57-8a3b-1f2e3d4c5b6a`,
      name: 'same',
    }))
    const { code, err } = await get('same', {
      answer: () => ({ body: JSON.stringify({ tests: many, page: {} }) }),
    })
    expect(code).toBe(2)
    expect(err.match(/^ {2}50c3aedb {2}same$/gm)).toHaveLength(20)
    expect(err).toContain('  and 1,010 more: add words from the name or the variant\n')
  })

  test('no match says where it was searched and how to search further back', async () => {
    const { code, out, err } = await get("'no such'")
    expect({ code, out, err }).toEqual({
      code: 5,
      out: '',
      err: [
        "mergeq: No test that failed in the last 7 days matches 'no such'.",
        '  To search further back, run: mergeq flaky get "no such" --repo acme/web --org acme --window 30d',
        '  To list the failing tests, run: mergeq flaky list --repo acme/web --org acme',
        '',
      ].join('\n'),
    })
    const json = await get('form --json')
    expect(JSON.parse(json.err)).toMatchObject({ error: { kind: 'usage', exit: 2 } })
  })

  test.each(['50c3a', 'e1'])(
    'fewer than 6 characters do not match the beginning of an ID: %s',
    async text => {
      expect((await get(text)).code).toBe(5)
    },
  )

  test.each([
    [500, 17],
    [401, 4],
  ])('a search that could not read every page finds nothing (%i)', async (status, code) => {
    const failing = (seen: Seen) => (seen.body.includes('"page_token":"4"') ? { status } : answer(seen))
    const outcome = await get('login', { answer: failing })
    expect([outcome.code, outcome.out]).toEqual([code, ''])
    expect(outcome.err).toContain('The list is incomplete.')
  })

  test('names with escapes and secrets are shown without them', async () => {
    const unsafe = ['1', '2'].map(id => ({ id: idOf(`0000000${id}`), name: `x\u001B[31m test-token ${id}` }))
    const { err } = await get('x', {
      answer: () => ({ body: JSON.stringify({ tests: unsafe, page: {} }) }),
      ...screen,
    })
    expect(err).not.toMatch(/\u001B|test-token/)
    expect(err).toContain('00000001  x')
  })
})

describe('--dry-run prints the first request', () => {
  test.each([
    ['login', 'flaky-tests/list-failing-tests'],
    [idOf('50c3aedb'), 'flaky-tests/get-test-details'],
  ])('%s', async (text, operation) => {
    const { code, out, requests } = await get(`${text} --dry-run`)
    expect([code, requests, JSON.parse(out).operation]).toEqual([0, [], operation])
  })
})

describe('the sheet of a test', () => {
  const full = {
    id: idOf('50c3aedb'),
    name: 'Address form submits once',
    variant: 'chromium',
    status: {
      value: 'flaky',
      reason: 'Failed and passed on the same commit',
      timestamp: '2026-01-02T12:00:00Z',
    },
    failure_rate_last_7d: 0.294,
    failure_rate_last_24h: 0.6,
    pull_requests_impacted_last_7d: 115,
    quarantined: true,
    codeowners: ['@acme/web', '@acme/payments'],
    file_path: 'web/address.test.ts',
    parent: 'Address form',
    html_url: 'https://app.example/t/1',
    ticket: { html_url: 'https://tickets.example/WEB-1' },
    most_common_failures: [{ summary: 'boom', occurrence_count: 3, last_occurrence: '2026-01-05T11:57:00Z' }],
  }
  const show = async (record: object, setting: Setting = {}) =>
    (
      await get(full.id, {
        answer: () => ({ body: JSON.stringify({ test: record }) }),
        ...screen,
        ...setting,
      })
    ).out

  test('says how the test is doing, whose it is and where', async () => {
    expect(await show(full, { columns: 120 })).toBe(
      [
        'Address form submits once (chromium)',
        '  ! flaky for 3 days: Failed and passed on the same commit',
        '  failed in 29% of runs in the last 7 days, 115 pull requests; 60% of runs in the last 24 hours',
        '  quarantined: its failures are ignored',
        '  owners  @acme/web, @acme/payments',
        '  file    web/address.test.ts',
        '  suite   Address form',
        '  page    https://app.example/t/1',
        '  ticket  https://tickets.example/WEB-1',
        '  id      50c3aedb-93f0-4c57-8a3b-1f2e3d4c5b6a',
        '',
        'failure 1: 3 times, last 3m ago',
        '  boom',
        '',
      ].join('\n'),
    )
  })

  test.each([
    [
      { status: { reason: 'Fails on main', timestamp: '2026-01-02T12:00:00Z' } },
      '  Fails on main, for 3 days',
    ],
    [{ status: { value: 'healthy' } }, '  ✓ healthy'],
    [{ status: { value: 'flaky', timestamp: 'soon' } }, '  ! flaky since soon'],
    [{ failure_rate_last_7d: 0.5 }, '  failed in 50% of runs in the last 7 days'],
    [{ failure_rate_last_24h: 0.5 }, '  failed in 50% of runs in the last 24 hours'],
    [{ pull_requests_impacted_last_7d: 1 }, '  failed in 1 pull request in the last 7 days'],
  ])('%j is %j', async (record, line) => {
    expect(await show({ name: 'n', ...record })).toBe(`n\n${line}\n`)
  })

  test('the name is bold, and the page a link where the terminal has links', async () => {
    const out = await show({ name: 'n', html_url: full.html_url }, { env: {}, hasLinks: true })
    expect(out).toContain('\u001B[1mn\u001B[22m')
    expect(out).toContain(`\u001B]8;;${full.html_url}\u0007`)
  })

  test('a pipe gets the same rows as before', async () => {
    const { out } = await get(full.id, { answer: () => ({ body: JSON.stringify({ test: full }) }) })
    expect(out).toContain('failure rate, last 7 days\t0.294\n')
    expect(out).toContain('failure 1\t3 times, last 2026-01-05T11:57:00Z: boom\n')
  })
})
