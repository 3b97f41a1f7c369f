import { describe, expect, test } from 'vitest'
import { startSandbox } from '../../src/sandbox/sandbox.ts'
import { createFailingTests, listTestsFailedBetween } from '../../src/sandbox/test-history.ts'
import { day, ids } from '../support/flaky-list.ts'
import { mergeq, noon, type Seen, type Setting } from '../support/harness.ts'

test.each([
  ['in one line: its own text', '{"id":"a","n":1.0,"big":90071992547409931234,"at":"\\u00e9\\/"}', undefined],
  ['with blanks: its own text without them', '{ "id": "a",\n "n": 1.0 }', '{"id":"a","n":1.0}'],
  ['with what nobody sees: that is escaped', '{"id":"a","name":"\u202e"}', '{"id":"a","name":"\\u202e"}'],
])('ndjson prints a record %s', async (_, record, printed = record) => {
  const answer = () => ({ body: `{"tests":[${record},{"id":"b"}],"page":{"next_page_token":""}}` })
  const { out } = await mergeq(`flaky list ${org} -o ndjson`, { answer })
  expect(out).toBe(`${printed}\n{"id":"b"}\n`)
})

interface Page {
  readonly ids?: readonly string[]
  readonly next?: string
  readonly status?: number
  readonly text?: string
  readonly more?: object
}
type Pages = (token: string, index: number, start: string) => Page

const org = '-R acme/web --org acme --retries 0'

/** Answers by token, and by the start of the window; `''` is the first page. */
const answering =
  (pages: Pages) =>
  ({ body }: Pick<Seen, 'body'>, index: number) => {
    const { page_query, start_time } = JSON.parse(body)
    const {
      ids = [],
      next = '',
      status,
      text = '',
      more = {},
    } = pages(page_query.page_token, index, start_time)
    if (status !== undefined) return { status, body: text }
    const tests = ids.map(id => ({ id, name: id }))
    return { body: JSON.stringify({ tests, page: { next_page_token: next }, ...more }) }
  }

const walk = (flags: string, pages: Pages, setting: Setting = {}) =>
  mergeq(`flaky list ${org} ${flags}`, { ...setting, answer: answering(pages) })
const by =
  (pages: Readonly<Record<string, Page>>): Pages =>
  token =>
    pages[token] ?? { status: 400, text: 'Bad' }
const three = by({ '': { ids: ['a', 'b'], next: 'p2' }, p2: { ids: ['c'], next: 'p3' }, p3: { ids: ['d'] } })

describe('one JSON document, written while the list is read', () => {
  const collected = { tests: ['a', 'b', 'c', 'd'].map(id => ({ id, name: id })), hint: { kept: 1 } }
  const window = (complete: boolean) => ({
    start: '2026-01-04T12:00:00.000Z',
    end: '2026-01-05T12:00:00.000Z',
    complete,
  })
  const hinted: Pages = (token, index, start) => ({
    ...three(token, index, start),
    more: { hint: { kept: 1 } },
  })

  test('is what one call would make of the whole, on a pipe and on a terminal', async () => {
    const whole = {
      tests: collected.tests,
      page: { total_rows: 4, total_pages: 3 },
      hint: collected.hint,
      window: window(true),
    }
    expect((await walk('--json', hinted)).out).toBe(`${JSON.stringify(whole)}\n`)
    expect((await walk('--json', hinted, { terminal: true })).out).toBe(`${JSON.stringify(whole, null, 2)}\n`)
  })

  test.each([false, true])('an empty list is a document, too (terminal %s)', async terminal => {
    const { out } = await walk('--json', () => ({}), { terminal })
    const whole = { tests: [], page: { next_page_token: '' }, window: window(true) }
    expect(out).toBe(`${JSON.stringify(whole, null, terminal ? 2 : 0)}\n`)
  })

  test('--fields picks in it', async () => {
    const { out } = await walk('--json --fields id', three)
    expect(JSON.parse(out).tests).toEqual(['a', 'b', 'c', 'd'].map(id => ({ id })))
  })

  test('a failure ends the document, which says that it is incomplete', async () => {
    const { code, out } = await walk('--json', token =>
      token === 'p3' ? { status: 500 } : three(token, 0, ''),
    )
    expect(code).toBe(17)
    expect(JSON.parse(out)).toMatchObject({
      tests: [{ id: 'a' }, { id: 'b' }, { id: 'c' }],
      window: window(false),
    })
  })

  test('a signal also ends the document', async () => {
    const stop = new AbortController()
    const { code, out } = await walk(
      '--json',
      token => {
        if (token === 'p2') stop.abort(Object.assign(new Error('stopped'), { kind: 'interrupted' }))
        return three(token, 0, '')
      },
      { signal: stop.signal },
    )
    expect(code).not.toBe(0)
    expect(JSON.parse(out)).toMatchObject({ tests: [{ id: 'a' }, { id: 'b' }], window: window(false) })
  })

  test('numbers keep their digits while it is written', async () => {
    const answer = () => ({ body: '{"tests":[{"id":"a","n":90071992547409931234}],"page":{}}' })
    const { out } = await mergeq(`flaky list ${org} --json`, { answer })
    expect(out).toContain('"n":90071992547409931234')
  })
})

describe('pages that mislead', () => {
  test('a long list of tests known from another window does not count as endless', async () => {
    const last = 150
    const outcome = await walk('-o ndjson --since 14d', (token, _, start) => {
      const page = Number(token || 0)
      return {
        ids: page === last && start.startsWith('2025-12-22') ? ['old'] : [`t${page}`],
        next: page < last ? String(page + 1) : '',
      }
    })
    expect([outcome.code, ids(outcome).length, ids(outcome).at(-1)]).toEqual([0, last + 2, 'old'])
  })

  test('an error after the first page leaves the list incomplete', async () => {
    const refusing: Pages = token =>
      token === 'p3' ? { status: 400, text: 'token expired' } : three(token, 0, '')
    const outcome = await walk('-o ndjson', refusing)
    expect([outcome.code, ids(outcome), outcome.requests.length]).toEqual([17, ['a', 'b', 'c'], 3])
    const first = await walk('-o ndjson', () => ({ status: 400, text: 'token' }))
    expect([first.code, first.out, first.requests.length]).toEqual([6, '', 1])
  })

  test('untrusted page tokens are data: huge, with control characters, with half a surrogate pair', async () => {
    const hostile = ['x'.repeat(1_000_000), '\u001B[2J\r\n\u0000', '\uD800', '__proto__']
    const outcome = await walk('-o ndjson', token => {
      const index = token === '' ? 0 : hostile.indexOf(token.replace('\uFFFD', '\uD800')) + 1
      return { ids: [`t${index}`], next: hostile[index] ?? '' }
    })
    expect([outcome.code, ids(outcome)]).toEqual([0, ['t0', 't1', 't2', 't3', 't4']])
    expect(outcome.err).not.toMatch(/[^\n -~]/)
  })

  test('what filters hid is reported, by filter', async () => {
    const outcome = await walk("-o ndjson --name '[!x]*' --owner @acme/web", three)
    expect(outcome.err).toContain('4 tests hidden by --owner.')
  })

  test('a long list in CI reports its progress', async () => {
    const clock = { now: noon }
    const slow: Pages = token => {
      clock.now += 61_000
      return three(token, 0, '')
    }
    const { err } = await walk('-o ndjson --until 2026-01-05', slow, { clock, env: { CI: 'true' } })
    expect(err).toContain('flaky list: 1 page and 2 tests so far.')
    expect((await walk('-o ndjson --until 2026-01-05 -q', slow, { clock, env: { CI: 'true' } })).err).toBe('')
  })
})

test.each(['document', 'hosted'] as const)(
  'a list of 30 days has each test of the sandbox once, in the %s dialect',
  async dialect => {
    const sandbox = await startSandbox({ dialect, now: () => noon })
    const repo = { host: 'github.com', owner: 'acme', name: 'web' }
    const truth = listTestsFailedBetween(
      createFailingTests({ seed: 1, repo, now: noon, formatTime: String }),
      noon - 30 * day,
      noon,
    )
    const { code, out } = await mergeq(
      `flaky list -R acme/web --org ${sandbox.org} --since 30d -o ndjson --page-size 7`,
      { env: { MERGEQ_BASE_URL: sandbox.baseUrl, MERGEQ_TOKEN: sandbox.token } },
    )
    await sandbox.close()
    expect(code).toBe(0)
    expect(ids({ out }).sort()).toEqual(truth.map(({ id }) => id).sort())
  },
)
