import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { testOrders } from '../../../src/api/operations/tests.ts'
import type { JsonObject } from '../../../src/json.ts'
import { idOf, ids } from '../../support/flaky-list.ts'
import { mergeq, noon, openStory, type Seen, type Setting } from '../../support/harness.ts'

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

test('-o ndjson prints each record in one line, with its own text', async () => {
  const record = '{"id":"a","n":1.0,"big":90071992547409931234,"at":"\\u00e9\\/"}'
  const answer = () => ({ body: `{"tests":[${record},{ "id":\n"b" }],"page":{"next_page_token":""}}` })
  const { out } = await mergeq(`flaky list ${where} -o ndjson`, { answer })
  expect(out).toBe(`${record}\n{"id":"b"}\n`)
})

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

const screen = { terminal: true, env: { NO_COLOR: '1', MERGEQ_REPO: 'acme/web', MERGEQ_ORG: 'acme' } }
const rows = (out: string) => out.trimEnd().split('\n')

/** Answers with pages of the size that is asked for; the key is that of the list. */
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

/** Tests of which later ones are worse. */
const many = (count: number): readonly JsonObject[] =>
  Array.from({ length: count }, (_, index) => ({
    id: idOf(index),
    name: `test number ${index}`,
    pull_requests_impacted_last_7d: index,
    failure_rate_last_7d: 0.294,
  }))

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
    ['--limit 1000', 40, 39, '40 tests, last 24 hours, worst first.'],
    ['--limit 2', 2, 39, '2 of 40 tests, last 24 hours, worst first.'],
    ['--limit 1', 1, 39, '1 of 40 tests, last 24 hours.'],
    ['--sort name --limit 3', 3, 0, '3 of 40 tests, last 24 hours, by name.'],
    ['--since 2d', 30, 39, '30 of 40 tests, last 2 days, worst first.'],
    ['--since 1h', 30, 39, '30 of 40 tests, last hour, worst first.'],
    ['--since 2026-01-05T11:00:00.5Z', 30, 39, '30 of 40 tests, since 2026-01-05 11:00 UTC, worst first.'],
    [
      '--since 2h --until 1h',
      30,
      39,
      '30 of 40 tests, 2026-01-05 10:00 to 2026-01-05 11:00 UTC, worst first.',
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
    expect(out).toContain(
      '\nListed 30 tests, last 24 hours, worst first. RATE and PRS: last 7 days.\nOne of them:',
    )
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

const asked = (requests: readonly Seen[]) =>
  requests.map(({ body }) => {
    const { repo: _repo, org_url_slug: _org, ...rest } = JSON.parse(body)
    return rest
  })
const page = (token = '') => ({ page_size: 100, page_token: token })

describe('flaky quarantined', () => {
  const tests = ['b', 'a', 'c'].map((name, index) => ({
    name,
    parent: 'suite',
    file: index === 2 ? null : `src/${name}.ts`,
    classname: 'x',
    status: 'FLAKY',
    codeowners: [`@${name}`],
    quarantine_setting: 'AUTO_QUARANTINE',
    status_last_updated_at: '2026-01-05T11:00:00.000Z',
    test_case_id: `id-${name}`,
  }))
  const answer = ({ body }: Seen) => {
    const isSecond = JSON.parse(body).page_query.page_token === 'p2'
    return {
      body: JSON.stringify({
        quarantined_tests: isSecond ? tests.slice(2) : tests.slice(0, 2),
        page: { next_page_token: isSecond ? '' : 'p2', total_rows: 99 },
        kept: 1,
      }),
    }
  }

  test('reads all pages and prints rows', async () => {
    const { code, out, err, requests } = await mergeq(`flaky quarantined ${where}`, { answer })
    expect({ code, out, err }).toEqual({
      code: 0,
      out: [
        'b\tFLAKY\tAUTO_QUARANTINE\t2026-01-05T11:00:00.000Z\t@b\tsrc/b.ts\tid-b\t\n',
        'a\tFLAKY\tAUTO_QUARANTINE\t2026-01-05T11:00:00.000Z\t@a\tsrc/a.ts\tid-a\t\n',
        'c\tFLAKY\tAUTO_QUARANTINE\t2026-01-05T11:00:00.000Z\t@c\t\tid-c\t\n',
      ].join(''),
      err: '3 quarantined tests in github.com/acme/web.\n',
    })
    expect(asked(requests)).toEqual([{ page_query: page() }, { page_query: page('p2') }])
  })

  test('says on a terminal how each is quarantined, in a word', async () => {
    const settings = ['AUTO_QUARANTINE', 'ALWAYS_QUARANTINE', 'SOMETIMES']
    const records = settings.map((quarantine_setting, index) => ({ name: `t${index}`, quarantine_setting }))
    const setting = { ...screen, answer: serving(records, 'quarantined_tests') }
    const { out } = await mergeq('flaky quarantined', setting)
    expect(out.match(/\b(?:auto|always|SOMETIMES)\b/g)).toEqual(['auto', 'always', 'SOMETIMES'])
  })

  test.each([
    ["--owner @a --path 'src/*'", ['a']],
    ['--limit 1', ['b']],
    ['--page-token p2', ['c']],
  ])('%s', async (flags, names) => {
    const { out, err } = await mergeq(`flaky quarantined ${where} ${flags} -o ndjson --fields name`, {
      answer,
    })
    expect(out).toBe(names.map(name => `{"name":"${name}"}\n`).join(''))
    // Only an option of mergeq leaves out a test of a list that was read to its end.
    expect(err.startsWith('Listed 1 ')).toBe(!flags.includes('--owner'))
  })
})

describe('flaky unhealthy', () => {
  const answer = ({ body }: Seen) => {
    const { status, page_query } = JSON.parse(body)
    const isFirst = page_query.page_token === ''
    const name = `${status.toLowerCase()} ${isFirst ? 1 : 2}`
    const tests = [
      { id: name, name, status: { value: status.toLowerCase() }, quarantined: isFirst, codeowners: ['@a'] },
      { id: 'both', name: 'both', status: { value: status.toLowerCase() } },
    ]
    const next_page_token = isFirst && status === 'FLAKY' ? 'p2' : ''
    return { body: JSON.stringify({ tests, page: { next_page_token } }) }
  }

  test('asks for the flaky tests, then for the broken tests, and prints each test once', async () => {
    const { code, out, err, requests } = await mergeq(`flaky unhealthy ${where}`, { answer })
    expect({ code, out, err }).toEqual({
      code: 0,
      out: [
        'flaky 1\tflaky\t\ttrue\t@a\tflaky 1\t\n',
        'both\tflaky\t\t\t\tboth\t\n',
        'flaky 2\tflaky\t\tfalse\t@a\tflaky 2\t\n',
        'broken 1\tbroken\t\ttrue\t@a\tbroken 1\t\n',
      ].join(''),
      err: '4 flaky or broken tests in github.com/acme/web.\nOmitted 2 duplicate rows.\n',
    })
    expect(asked(requests)).toEqual([
      { status: 'FLAKY', page_query: page() },
      { status: 'FLAKY', page_query: page('p2') },
      { status: 'BROKEN', page_query: page() },
    ])
  })

  test.each([
    ['--status broken', ['broken 1', 'both']],
    ['--status flaky --page-token p2', ['flaky 2', 'both']],
    ['--quarantined', ['flaky 1', 'broken 1']],
    ['--limit 2', ['flaky 1', 'both']],
  ])('%s', async (flags, names) => {
    const { out, err } = await mergeq(`flaky unhealthy ${where} ${flags} -o ndjson --fields name`, { answer })
    expect(out).toBe(names.map(name => `{"name":"${name}"}\n`).join(''))
    expect(err.startsWith('Listed 2 ')).toBe(/limit|token/.test(flags))
  })

  test('a page token belongs to one status', async () => {
    const { code, err, requests } = await mergeq(`flaky unhealthy ${where} --page-token p2`, { answer })
    expect({ code, requests }).toEqual({ code: 2, requests: [] })
    expect(err).toContain('mergeq: --page-token requires --status.\n')
  })

  test('a failure of the second status leaves the first, which is then not complete', async () => {
    const failing = (seen: Seen) => (seen.body.includes('BROKEN') ? { status: 500 } : answer(seen))
    const { code, out } = await mergeq(`flaky unhealthy ${where} --json`, { answer: failing })
    expect(code).toBe(17)
    expect(JSON.parse(out)).toMatchObject({
      tests: [{ name: 'flaky 1' }, { name: 'both' }, { name: 'flaky 2' }],
      window: { complete: false },
    })
  })
})

test.each([
  ['flaky quarantined', 'quarantined_tests', 'quarantined'],
  ['flaky unhealthy --status flaky', 'tests', 'flaky'],
])('%s on a terminal ends with how many there are, and how to list all', async (line, key, adjective) => {
  const run = (count: number, flags = '') => {
    const owners = { codeowners: ['@acme/web'] }
    const records = many(count).map(record => ({ ...record, ...owners, test_case_id: record.id }))
    return mergeq(`${line} --retries 0 ${flags}`, { ...screen, answer: serving(records, key) })
  }
  const cut = await run(40)
  expect(rows(cut.out).slice(-2).join(' ')).toContain(
    `Showing 30 ${adjective} tests; there are more. To list more, add --limit 1000.`,
  )
  expect(cut.err).toBe('')
  const whole = await run(40, '--limit 1000')
  expect(rows(whole.out).at(-1)).toBe(`40 ${adjective} tests in github.com/acme/web.`)
  const none = await run(0)
  // The sentence is wrapped at the width of the terminal.
  expect([none.out.replace(/\n(?=.)/, ' '), none.err]).toEqual([
    `No test in github.com/acme/web is ${adjective}. To list the tests that failed, run: mergeq flaky list\n`,
    '',
  ])
  const hidden = await run(2, '--owner me')
  expect(hidden.out).toBe(`No ${adjective} test in github.com/acme/web matches the options.\n`)
  expect(hidden.err).toContain('No test is owned by me. Owners: @acme/web.\n')
  const misnamed = await run(2, '--owner web')
  expect(misnamed.err).toContain('No test is owned by web. Did you mean @acme/web?\n')
})

describe('flaky link', () => {
  const id = idOf(7)
  const link = (flags: string, answer: () => { status?: number; body?: string }, setting: Setting = {}) =>
    mergeq(`flaky link ${id} KAN-123 -R acme/web ${flags}`, { answer, ...setting })

  test('sends the link once and says so; its receipt', async () => {
    const { code, out, err, requests } = await link('', () => ({ body: 'OK' }), { terminal: true })
    expect({ code, out, err }).toEqual({ code: 0, out: `Linked ticket KAN-123 to test ${id}.\n`, err: '' })
    expect(asked(requests)).toEqual([{ test_case_id: id, external_ticket_id: 'KAN-123' }])
    expect(JSON.parse((await link('--json', () => ({ body: '{}' }))).out)).toEqual({
      operation: 'flaky-tests/link-ticket-to-test-case',
      repo: 'github.com/acme/web',
      testId: id,
      ticket: 'KAN-123',
      ok: true,
      delivery: 'confirmed',
    })
  })

  test.each([
    [500, 11, 'unknown'],
    [400, 6, 'not-applied'],
  ])('after %i it ends with %i, and is not sent again', async (status, exit, delivery) => {
    const { code, out, err, requests } = await link('--json', () => ({ status }))
    expect({ code, requests: requests.length }).toEqual({ code: exit, requests: 1 })
    expect(JSON.parse(out)).toMatchObject({ ok: false, delivery, exit })
    if (delivery === 'unknown') expect(err).toContain('The outcome cannot be verified.')
  })

  test('takes the beginning of an ID, or a name with its variant, of one test that failed lately', async () => {
    const tests = ['2b4e8d1c-93f0', '2b4e8d1d-93f0'].map(start => ({
      id: `${start}-4c57-8a3b-1f2e3d4c5b6a`,
      name: 'facade',
      variant: start.slice(7, 8),
    }))
    const answer = ({ path }: Seen) => ({
      body: path.endsWith('list-failing-tests') ? JSON.stringify({ tests, page: {} }) : '',
    })
    const start = (text: string) => mergeq(`flaky link ${text} KAN-1 -R acme/web --org acme`, { answer })
    for (const text of ['2b4e8d1C', '"Facade (c)"']) {
      const { code, requests } = await start(text)
      const sent = { test_case_id: tests[0]?.id }
      expect({ code, sent: asked(requests).at(-1) }).toMatchObject({ code: 0, sent })
    }
    for (const [text, exit, said] of [
      ['2b4e8d', 2, "2 tests match '2b4e8d'.\n  2b4e8d1c  facade (c)\n  2b4e8d1d  facade (d)\n"],
      ['façade', 5, "No test that failed in the last 7 days matches 'façade'."],
    ] as const) {
      const { code, err, requests } = await start(text)
      expect({ code, err, asked: requests.length }).toEqual({
        code: exit,
        err: expect.stringContaining(said),
        asked: 1,
      })
    }
    const dry = await start('2b4e8d1c --dry-run')
    expect({ operation: JSON.parse(dry.out).operation, sent: dry.requests }).toEqual({
      operation: 'flaky-tests/list-failing-tests',
      sent: [],
    })
  })

  describe('with - reads links from standard input', () => {
    const input = `${idOf(1)} KAN-1\r\n\n${idOf(2)}\tKAN 2\n${idOf(1)} KAN-1\n${idOf(3)} KAN-3\n`
    const read = (flags: string, status: (test: string) => number = () => 200, lines = input) =>
      mergeq(`flaky link - -R acme/web --org acme ${flags}`, {
        input: lines,
        answer: ({ body }) => ({ status: status(JSON.parse(body).test_case_id) }),
      })

    test('and sends each once', async () => {
      const { code, requests } = await read('')
      expect({ code, sent: asked(requests) }).toEqual({
        code: 0,
        sent: [
          [1, 'KAN-1'],
          [2, 'KAN 2'],
          [3, 'KAN-3'],
        ].map(([n, ticket]) => ({ test_case_id: idOf(Number(n)), external_ticket_id: ticket })),
      })
    })

    test.each([
      [404, 5],
      [500, 11],
    ])(
      'and stops at a failure (%i): what was sent has receipts, and the rest is named',
      async (status, exit) => {
        const { code, out, err, requests } = await read('', test => (test === idOf(2) ? status : 200))
        expect({ code, sent: requests.length }).toEqual({ code: exit, sent: 2 })
        expect(out.split('\n')).toEqual([
          `\ttrue\tconfirmed\tLinked ticket KAN-1 to test ${idOf(1)}.`,
          expect.stringMatching(/^\tfalse\t(not-applied|unknown)\t/),
          '',
        ])
        expect(err).toContain(
          `Stopped early. Done: ${idOf(1)} KAN-1. Failed: ${idOf(2)} KAN 2. Not sent: ${idOf(3)} KAN-3.`,
        )
        expect(err).toContain(`(${idOf(2)} KAN 2).`)
      },
    )

    test.each([
      ['-', `${idOf(1)} KAN-1\n${idOf(2)}\n`, `'${idOf(2)}' is not a link.`],
      ['-', `${idOf(1)} KAN-1\nabc KAN-2\n`, "'abc' is not a test ID."],
      ['-', '', 'Standard input was empty'],
      ['- KAN-1', input, 'A ticket cannot be used with `-`'],
      [id, '', 'No ticket was given.'],
      [`${id} ''`, '', 'The ticket must not be empty.'],
    ])(
      '`flaky link %s` with the input %j is a usage error that sends nothing',
      async (words, input, said) => {
        const { code, err, requests } = await mergeq(`flaky link ${words} -R acme/web`, {
          input,
          answer: () => ({}),
        })
        expect({ code, err, requests }).toEqual({ code: 2, err: expect.stringContaining(said), requests: [] })
      },
    )
  })
})

test.each(['document', 'hosted'] as const)(
  'quarantined, unhealthy and linked tests of the sandbox agree with its lists (%s)',
  async dialect => {
    const story = await openStory({ dialect })
    const read = async (line: string) => {
      const { code, out } = await story.mergeq(`${line} --json`)
      expect(code).toBe(0)
      return JSON.parse(out)
    }
    const names = (list: readonly { name: string; variant: string }[]) =>
      list.map(({ name, variant }) => `${name} ${variant}`).sort()
    const listed = await read('flaky list --since 30d --quarantined')
    const quarantined = await read('flaky quarantined --page-size 7')
    expect(names(quarantined.quarantined_tests)).toEqual(names(listed.tests))
    expect(quarantined.page.total_pages).toBeGreaterThan(1)

    const { tests } = await read('flaky unhealthy')
    const values = tests.map(({ status }: { status: { value: string } }) => status.value)
    expect([...new Set(values)]).toEqual(['flaky', 'broken'])
    const failed = ids(await story.mergeq('flaky list --since 24h -o ndjson'))
    expect(tests.some(({ id }: { id: string }) => !failed.includes(id))).toBe(true)
    expect(tests[0]).not.toHaveProperty('failure_rate_last_7d')

    expect((await story.mergeq(`flaky link ${tests[0].id} KAN-7`)).code).toBe(0)
    const { test } = await read(`flaky get ${tests[0].id}`)
    expect(test.ticket).toEqual({ html_url: 'https://tickets.sandbox.example/KAN-7' })

    expect((await story.mergeq(`flaky link ${idOf(7)} KAN-7`)).code).toBe(5)
    await story.close()
  },
)
