import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { testOrders } from '../../../src/api/operations/tests.ts'
import { idOf, many, rows, screen, serving } from '../../support/flaky-list.ts'
import { mergeq, noon, type Seen, type Setting } from '../../support/harness.ts'

const where = '-R acme/web --org acme --retries 0'

interface Page {
  readonly ids: readonly string[]
  readonly next?: string
}
/** Answers by token, and by the start of the window; `''` is the first page. */
type Pages = (token: string, start: string) => Page

const walk = (flags: string, pages: Pages, setting: Setting = {}) =>
  mergeq(`flaky list ${where} ${flags}`, {
    ...setting,
    answer({ body }) {
      const { page_query, start_time } = JSON.parse(body)
      const { ids, next = '' } = pages(page_query.page_token, start_time)
      const tests = ids.map(id => ({ id, name: id }))
      return { body: JSON.stringify({ tests, page: { next_page_token: next }, hint: { kept: 1 } }) }
    },
  })
const two: Pages = token => (token === '' ? { ids: ['a', 'b'], next: 'p2' } : { ids: ['c'] })

test.each(['list', 'quarantined', 'unhealthy'])(
  'an answer of flaky %s without its list, page or valid token ends with 15 and a whole sentence',
  async command => {
    const lists = '"tests":[],"quarantined_tests":[]'
    for (const members of [
      '"tests":{},"quarantined_tests":{},"page":{}',
      lists,
      ...['[]', 'null', '1', '{"next_page_token":[]}'].map(page => `${lists},"page":${page}`),
    ]) {
      const { code, out, err } = await mergeq(`flaky ${command} ${where}`, {
        answer: () => ({ body: `{${members}}` }),
      })
      expect({ members, code, out }).toEqual({ members, code: 15, out: '' })
      expect(err).toMatch(/^mergeq: Invalid response from \S+: it has no .*\.\n/)
    }
  },
)

test.each(Object.entries(testOrders))('--sort %s orders any two tests the same way round', (_, order) => {
  const tests = fc.record({ name: fc.constantFrom('a', 'b'), failure_rate_last_7d: fc.nat(2) })
  fc.assert(fc.property(tests, tests, (a, b) => order(a, b) + order(b, a) === 0))
})

test('CSV has file, link and ticket, too, and ends with id and variant as rows do', async () => {
  const more = {
    variant: 'ios',
    file_path: 'a.ts',
    html_url: 'https://app',
    ticket: { html_url: 'https://t' },
  }
  const body = JSON.stringify({ tests: [{ id: 'a', name: 'login', ...more }], page: {} })
  const { out } = await mergeq(`flaky list ${where} -o csv`, { answer: () => ({ body }) })
  expect(out.split('\r\n')[1]).toBe('login,,,,,,a.ts,https://app,https://t,a,ios')
  const { out: row } = await mergeq(`flaky list ${where}`, { answer: () => ({ body }) })
  expect(row).toBe('login\t\t\t\t\t\ta\tios\n')
})

test.each([
  [false, 0],
  [true, 2],
])('--json is what one call would make of the whole list (terminal %s)', async (terminal, indent) => {
  const whole = {
    tests: ['a', 'b', 'c'].map(id => ({ id, name: id })),
    page: { total_rows: 3, total_pages: 2 },
    hint: { kept: 1 },
    window: { start: '2026-01-04T12:00:00.000Z', end: '2026-01-05T12:00:00.000Z', complete: true },
  }
  const { out } = await walk('--json', two, { terminal })
  expect(out).toBe(`${JSON.stringify(whole, null, indent)}\n`)
  const none = { ...whole, tests: [], page: { next_page_token: '' } }
  const { out: empty } = await walk('--json', () => ({ ids: [] }), { terminal })
  expect(empty).toBe(`${JSON.stringify(none, null, indent)}\n`)
})

test('a long list in CI reports its progress', async () => {
  const clock = { now: noon }
  const slow: Pages = token => {
    clock.now += 61_000
    return two(token, '')
  }
  const setting = { clock, env: { CI: 'true' } }
  const { err } = await walk('-o ndjson --until 2026-01-05', slow, setting)
  expect(err).toContain('flaky list: 1 page and 2 tests so far.')
  expect((await walk('-o ndjson --until 2026-01-05 -q', slow, setting)).err).toBe('')
})

describe('flaky list on a terminal', () => {
  const list = (flags: string, records: readonly object[], setting: Setting = {}) =>
    mergeq(`flaky list --retries 0 ${flags}`, { ...screen, answer: serving(records), ...setting })

  test('on a pipe, says that a cut list is in the order of the service, and that options hide tests', async () => {
    const pipe = (flags: string) => list(flags, many(40), { terminal: false })
    expect((await pipe('--limit 2')).err).toMatch(
      /^Listed 2 tests that failed from \S+ to \S+, in the order of the service\. There are more\.\n$/,
    )
    expect((await pipe('--limit 2 --sort impact')).err).not.toContain('in the order of the service')
    expect((await pipe('--name none')).err).toMatch(
      /^No matching tests failed from \S+ to \S+\.\n40 tests hidden by --name\.\n$/,
    )
  })

  test('requests the same pages as a pipe, which gets all tests in the order of the service, as other formats do', async () => {
    const terminal = await list('', many(250))
    const pipe = await list('', many(250), { terminal: false })
    expect(terminal.requests.map(({ body }) => body)).toEqual(pipe.requests.map(({ body }) => body))
    expect(rows(pipe.out)).toHaveLength(250)
    expect(pipe.out).toMatch(/^test number 0\t/)
    expect(pipe.err).toContain('250 tests failed from 2026-01-04T12:00:00.000Z')
    for (const format of ['--json', '-o csv']) {
      const { out } = await list(`${format} --fields name`, many(40))
      expect(out.match(/test number \d+/g)).toEqual(many(40).map(({ name }) => name))
    }
  })

  test.each([
    ['--limit 1000', 40, 39, '40 tests, last 24 hours, worst first (PRS).'],
    ['--limit 2', 2, 39, '2 of 40 tests, last 24 hours, worst first (PRS).'],
    ['--limit 1', 1, 39, '1 of 40 tests, last 24 hours.'],
    ['--sort name --limit 3', 3, 0, '3 of 40 tests, last 24 hours, by name.'],
    ['--since 2d', 30, 39, '30 of 40 tests, last 2 days, worst first (PRS).'],
    [
      '--since 2h --until 1h',
      30,
      39,
      '30 of 40 tests, 2026-01-05 10:00 to 2026-01-05 11:00 UTC, worst first (PRS).',
    ],
  ])('%s is honored', async (flags, count, first, footer) => {
    const { out } = await list(flags, many(40), { columns: 200 })
    const lines = rows(out)
    expect(lines).toHaveLength(count + 3)
    expect(lines[1]).toContain(`test number ${first}`)
    expect(lines.at(-2)?.slice(0, footer.length)).toBe(footer)
  })

  test('no test is a sentence', async () => {
    const none = await list('', [])
    expect(none).toMatchObject({
      code: 0,
      out: 'No test failed in the last 24 hours. To search further back, run:\nmergeq flaky list --since 30d\n',
      err: '',
    })
  })

  test('a page that cannot be read leaves the rows before it, and no number of all tests', async () => {
    const answer = (seen: Seen) =>
      seen.body.includes('"page_token":"100"') ? { status: 500 } : serving(many(200))(seen)
    const { code, out, err } = await list('', [], { answer })
    expect(code).toBe(17)
    expect(out).toContain('\nListed 30 tests, last 24 hours, worst first (PRS).\nOne of them:')
    expect(err).toContain('The list is incomplete.')
  })

  test('with --fields the rows are a table of these fields, and the notes say the rest', async () => {
    const { out, err } = await list('--fields name', many(40))
    expect([rows(out).length, rows(out)[1]]).toEqual([31, 'test number 39'])
    expect(err).toContain('There are more.')
  })

  test('of many tests the worst are kept, in a stable order', async () => {
    const tied = many(2_000).map((record, index) => ({
      ...record,
      pull_requests_impacted_last_7d: index % 7 === 0 ? 5 : 1,
    }))
    const { out } = await list('', tied)
    expect(out.match(/test number \d+/g)?.slice(0, 30)).toEqual(
      Array.from({ length: 30 }, (_, index) => `test number ${index * 7}`),
    )
    expect(out).toContain('30 of 2,000 tests')
  })

  test('the suggested ID is one that is found', async () => {
    // Two IDs begin with the same digits, and beginnings are searched in 7 days only.
    const suggested = async (flags: string, records: readonly object[]) =>
      /flaky get (\S+)/.exec((await list(flags, records)).out)?.[1]
    expect(await suggested('', many(2))).toBe(idOf(1))
    expect(await suggested('', many(1))).toBe('00000000')
    expect(await suggested('--since 8d', many(1))).toBe(idOf(0))
  })
})
