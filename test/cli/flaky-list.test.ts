import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { day, ids } from '../support/flaky-list.ts'
import {
  mergeq,
  noon,
  type Outcome,
  type Seen,
  type Service,
  type Setting,
  serveScript,
} from '../support/harness.ts'

test.each([
  ['in one line: its own text', '{"id":"a","n":1.0,"big":90071992547409931234,"at":"\\u00e9\\/"}', undefined],
  ['with blanks: made anew', '{ "id": "a",\n "n": 1.0 }', '{"id":"a","n":1}'],
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
const tokens = ({ requests }: Outcome) => requests.map(({ body }) => JSON.parse(body).page_query.page_token)
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
  test('a list that shrinks and grows while it is read gives each test once', async () => {
    const outcome = await walk(
      '-o ndjson',
      by({
        '': { ids: ['a', 'b', 'c'], next: 'p2' },
        p2: { ids: ['c', 'a'], next: 'p3' },
        p3: { ids: ['d'] },
      }),
    )
    expect([outcome.code, ids(outcome)]).toEqual([0, ['a', 'b', 'c', 'd']])
  })

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

  test.each([
    [400, 'page_token is not valid for this request.'],
    [404, 'Unknown page token'],
    [400, '{"error":{"message":"the Token has expired"}}'],
  ])(
    'a token that expired (%i, %s) begins its window again, once, and that is reported',
    async (status, text) => {
      let expired = false
      const outcome = await walk('-o ndjson', token => {
        if (token !== 'p3' || expired) return three(token, 0, '')
        expired = true
        return { status, text }
      })
      expect([outcome.code, ids(outcome), tokens(outcome)]).toEqual([
        0,
        ['a', 'b', 'c', 'd'],
        ['', 'p2', 'p3', '', 'p2', 'p3'],
      ])
      expect(outcome.err).toMatch(
        /A page token expired; 2026-01-04T12:00:00.000Z to 2026-01-05T12:00:00.000Z was read again/,
      )
    },
  )

  test('a token that expires again, a refusal of another kind, and a first page end it', async () => {
    const refusing =
      (text: string): Pages =>
      token =>
        token === 'p3' ? { status: 400, text } : three(token, 0, '')
    const twice = await walk('-o ndjson', refusing('token expired'))
    expect([twice.code, ids(twice), twice.requests.length]).toEqual([17, ['a', 'b', 'c'], 6])
    const other = await walk('-o ndjson', refusing('bad range'))
    expect([other.code, other.requests.length]).toEqual([17, 3])
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

describe('a list that is resumed', () => {
  let service: Service
  let pages: Pages
  let from = 0
  beforeEach(async () => {
    service = await serveScript((seen, index) => answering(pages)(seen, index - from))
  })
  afterEach(() => service.close())

  /** Runs one more command line against the same service, which answers from now on by these pages. */
  async function walk(flags: string, answers: Pages, setting: Setting = {}): Promise<Outcome> {
    pages = answers
    from = service.requests.length
    const env = { MERGEQ_BASE_URL: service.baseUrl }
    const outcome = await mergeq(`flaky list ${org} ${flags}`, { ...setting, env })
    return { ...outcome, requests: service.requests.slice(from) }
  }

  const flags = '--since 14d -o ndjson --resume-file walk.state'
  const failing =
    (at: number, pages: Pages): Pages =>
    (token, index, start) =>
      index === at ? { status: 500 } : pages(token, index, start)
  const fortnight: Pages = (token, _, start) => {
    const [newer, next] = [start.startsWith('2025-12-29'), token === '']
    if (newer) return next ? { ids: ['a', 'b'], next: 'p2' } : { ids: ['c', 'a'] }
    return next ? { ids: ['b', 'd'], next: 'p2' } : { ids: ['e'] }
  }

  test.each([1, 2, 3])('continues after the page that was printed last (failed at request %i)', async at => {
    const disk = new Map<string, string>()
    const first = await walk(flags, failing(at, fortnight), { disk })
    expect(first.code).toBe(17)
    expect(first.err).toContain('Progress is saved in walk.state. To resume, run the same command again.')
    // Ten minutes later the same words mean the same range.
    const second = await walk(flags, fortnight, { disk, now: noon + 600_000 })
    expect([second.code, second.requests.length]).toEqual([0, 4 - at])
    expect([...ids(first), ...ids(second)]).toEqual(['a', 'b', 'c', 'd', 'e'])
    expect(second.err).toContain('5 tests failed from 2025-12-22T12:00:00.000Z to 2026-01-05T12:00:00.000Z')
    const third = await walk(flags, fortnight, { disk })
    expect([third.code, third.out, third.requests.length]).toEqual([0, '', 0])
    expect(third.err).toContain('walk.state: the list is complete. To start over, delete the file.')
    expect([...disk.keys()]).toEqual(['walk.state'])
  })

  test('--max-pages cuts a list into runs', async () => {
    const disk = new Map<string, string>()
    const seen: string[] = []
    const codes: number[] = []
    for (let runs = 0; runs < 4; runs++) {
      const ran = await walk(`${flags} --max-pages 1`, fortnight, { disk })
      seen.push(...ids(ran))
      codes.push(ran.code)
    }
    expect([seen, codes]).toEqual([
      ['a', 'b', 'c', 'd', 'e'],
      [17, 17, 17, 0],
    ])
  })

  test('a CSV continues without a second header, a pipe with its rows', async () => {
    for (const [format, rows] of [
      ['-o csv', ['id', 'a', 'b', 'c', 'd', 'e']],
      ['', ['a', 'b', 'c', 'd', 'e']],
    ] as const) {
      const disk = new Map<string, string>()
      const words = `--since 14d ${format} --fields id --resume-file w`
      const first = await walk(words, failing(2, fortnight), { disk })
      const second = await walk(words, fortnight, { disk })
      expect((first.out + second.out).trim().split(/\r?\n/)).toEqual(rows)
    }
  })

  test('after a token expired between the runs, its window is read again', async () => {
    const disk = new Map<string, string>()
    const first = await walk(flags, failing(1, fortnight), { disk })
    const stale: Pages = (token, index, start) =>
      index === 0 ? { status: 400, text: 'page_token' } : fortnight(token, index, start)
    const second = await walk(flags, stale, { disk })
    expect([second.code, tokens(second)]).toEqual([0, ['p2', '', 'p2', '', 'p2']])
    expect([...ids(first), ...ids(second)]).toEqual(['a', 'b', 'c', 'd', 'e'])
  })

  test.each([
    ['--json', '--resume-file cannot be used with a JSON document'],
    ['-o table', '--resume-file cannot be used with a table'],
    ['-o ndjson --sort name', '--resume-file and --sort cannot be used together'],
    ['-o ndjson --limit 3', '--resume-file and --limit cannot be used together'],
    ['-o ndjson --page-token p2', '--resume-file and --page-token cannot be used together'],
  ])('%s is refused before anything is sent', async (words, why) => {
    const { code, err, out, requests } = await walk(`${words} --resume-file w`, three)
    expect([code, out, requests.length]).toEqual([2, '', 0])
    expect(err).toContain(why)
  })

  test.each([
    [
      '-R acme/api',
      /repo is 'github.com\/acme\/web' in the file and 'github.com\/acme\/api' in this command/,
    ],
    ['--owner me', /--owner is not set in the file and 'me' in this command/],
    ['--page-size 7', /--page-size is not set in the file and '7' in this command/],
    ['--fields id', /--fields is not set in the file and 'id' in this command/],
    ['--org other', /org_url_slug is 'acme' in the file and 'other' in this command/],
    [
      '--since 20d',
      /the range is 2025-12-22T12.* to 2026-01-05T12.* in the file and 2025-12-16T12.* in this command/,
    ],
    ['--set x=1', /x is not set in the file and '1' in this command/],
  ])('the file of another query is refused, naming both: %s', async (other, why) => {
    const disk = new Map<string, string>()
    const args = '-R acme/web --org acme --since 14d'
    pages = fortnight
    const run = (words: string) =>
      mergeq(`flaky list ${words} --retries 0 -o ndjson --resume-file walk.state`, {
        disk,
        env: { MERGEQ_BASE_URL: service.baseUrl },
      })
    await run(`${args} --max-pages 1`)
    const before = disk.get('walk.state')
    const [name = ''] = other.split(' ')
    const changed = args.replace(new RegExp(`${name} \\S+`), other)
    const { code, err } = await run(changed === args ? `${args} ${other}` : changed)
    expect([code, service.requests.length, disk.get('walk.state')]).toEqual([2, 1, before])
    expect(err).toMatch(why)
  })

  test('the same range in other words continues the same list', async () => {
    const disk = new Map<string, string>()
    await walk(flags, failing(1, fortnight), { disk })
    const words = flags.replace('--since 14d', '--start 2025-12-22T12:00:00Z --end 2026-01-05T12:00:00Z')
    expect((await walk(words, fortnight, { disk, now: noon + day })).code).toBe(0)
  })

  test.each([
    ['nothing', ''],
    ['a note of somebody', 'buy milk\n'],
    ['JSON of another kind', '{"form":"other"}\n'],
    ['a list of ids that was cut', undefined],
    ['a head that was changed', 'window'],
  ])('a file with %s is named and stays', async (_, text) => {
    const disk = new Map<string, string>()
    await walk(flags, failing(2, fortnight), { disk })
    const whole = disk.get('walk.state') ?? ''
    const broken =
      text === undefined
        ? whole.slice(0, -4)
        : text === 'window'
          ? whole.replace('"window":1', '"window":-1')
          : text
    disk.set('walk.state', broken)
    const { code, err, out, requests } = await walk(flags, fortnight, { disk })
    expect([code, out, requests.length, disk.get('walk.state')]).toEqual([2, '', 0, broken])
    expect(err).toMatch(
      /walk\.state is not a mergeq resume file, or is damaged\..*Use another file, or delete this file/,
    )
  })

  test('after an interrupted run, the next run says so and begins on a new line', async () => {
    const disk = new Map<string, string>()
    await walk(`${flags} --max-pages 1`, fortnight, { disk })
    const ended = disk.get('walk.state') ?? ''
    expect(ended).not.toContain('running')
    // The file as it is while a run goes on.
    disk.set('walk.state', ended.replace('}\n', ',"running":true}\n'))
    const { code, out, err } = await walk(`${flags} --max-pages 1`, fortnight, { disk })
    expect([code, out]).toEqual([17, '\n{"id":"c","name":"c"}\n'])
    expect(err).toContain('walk.state: the previous run was stopped. Its last line may be incomplete')
    const rest = await walk(flags, fortnight, { disk })
    expect([rest.code, ids(rest), rest.out.startsWith('\n')]).toEqual([0, ['d', 'e'], false])
    expect(rest.err).not.toContain('was stopped')
  })

  test('a first page that fails leaves no file', async () => {
    const disk = new Map<string, string>()
    expect((await walk(flags, () => ({ status: 500 }), { disk })).code).toBe(7)
    expect(disk.size).toBe(0)
  })
})
