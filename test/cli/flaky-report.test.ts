import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { renderReport } from '../../src/commands/flaky/report.ts'
import type { JsonObject } from '../../src/json.ts'
import { annotationLines, sanitizeLine } from '../../src/output/sanitize.ts'
import { type Answer, mergeq, openStory } from '../support/harness.ts'

const where = '-R acme/web --org acme'
const inCi = { GITHUB_ACTIONS: 'true', CI: 'true' }

/** A failing test of the service; its id follows from its number. */
const failing = (number: number, more: JsonObject = {}): JsonObject => ({
  id: `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`,
  name: `test ${number}`,
  html_url: `https://app.example/acme/${number}`,
  status: { value: 'flaky', reason: 'now and then', timestamp: '2026-01-05T11:00:00Z' },
  failure_rate_last_7d: 0.5,
  pull_requests_impacted_last_7d: number,
  codeowners: ['@acme/web'],
  quarantined: false,
  file_path: 'web/cart.test.ts',
  ...more,
})

/**
 * Pages of tests, one after another; a number in the place of a page is the status that it is refused with.
 */
const pages =
  (...all: readonly (readonly JsonObject[] | number)[]) =>
  ({ body }: { readonly body: string }): Answer => {
    const { page_query } = JSON.parse(body)
    const index = Number(page_query.page_token || 0)
    const page = all[index]
    if (typeof page === 'number') return { status: page, body: 'no' }
    const next_page_token = index + 1 < all.length ? String(index + 1) : ''
    return { body: JSON.stringify({ tests: page, page: { next_page_token } }) }
  }

const lengthOf = (text: Uint8Array) => new TextDecoder().decode(text).length
const rowsOf = (text: string) =>
  text
    .split('\n')
    .filter(line => line.startsWith('| '))
    .slice(2)

describe.each(['document', 'hosted'] as const)('the sandbox in the %s dialect', dialect => {
  test('a report in every format', async () => {
    const story = await openStory({ dialect })
    try {
      let golden = ''
      for (const line of [
        'flaky report --since 7d --max-chars 1500',
        'flaky report --format github --limit 3 --no-quarantined',
        'flaky report --name none*',
      ]) {
        const { code, out, err } = await story.mergeq(line)
        golden += `$ mergeq ${line}\n${out}${err.replaceAll(/^(?=.)/gm, '! ')}-> ${code}\n\n`
      }
      await expect(golden).toMatchFileSnapshot(`../golden/${dialect}/flaky-report.txt`)
    } finally {
      await story.close()
    }
  })
})

describe('Markdown', () => {
  test('the worst first, by impact and then by rate; owners, quarantine, status and links', async () => {
    const { code, out, err, requests } = await mergeq(`flaky report ${where}`, {
      answer: pages([
        failing(1, { codeowners: [], html_url: null, status: { reason: 'since May' } }),
        failing(2, { failure_rate_last_7d: 0.1, variant: 'chromium', quarantined: true }),
        failing(3, {
          pull_requests_impacted_last_7d: 2,
          ticket: { html_url: 'https://tickets.example/WEB-7' },
        }),
      ]),
    })
    expect({ code, out }).toEqual({
      code: 0,
      out: [
        '### 3 failing tests, 1 quarantined',
        '',
        'From 2026-01-04T12:00:00.000Z to 2026-01-05T12:00:00.000Z.',
        '',
        '| test | status | rate 7d | prs 7d | quarantined | owners | ticket |',
        '| --- | --- | ---: | ---: | --- | --- | --- |',
        '| [test 3](https://app.example/acme/3) | flaky | 0.5 | 2 | no | @\u200Cacme/web | [ticket](https://tickets.example/WEB-7) |',
        '| [test 2 (chromium)](https://app.example/acme/2) | flaky | 0.1 | 2 | yes | @\u200Cacme/web | - |',
        '| test 1 | since May | 0.5 | 1 | no | - | - |',
        '',
      ].join('\n'),
    })
    expect(err).toBe('3 tests failed from 2026-01-04T12:00:00.000Z to 2026-01-05T12:00:00.000Z.\n')
    expect(requests.map(({ path, body }) => ({ path, body: JSON.parse(body) }))).toEqual([
      {
        path: '/v1/flaky-tests/list-failing-tests',
        body: {
          repo: { host: 'github.com', owner: 'acme', name: 'web' },
          org_url_slug: 'acme',
          start_time: '2026-01-04T12:00:00.000Z',
          end_time: '2026-01-05T12:00:00.000Z',
          page_query: { page_size: 100, page_token: '' },
        },
      },
    ])
  })

  test.each([
    ['a | b', 'a \\| b'],
    ['`rm -rf`', '\\`rm -rf\\`'],
    ['<img src=x>', '\\<img src=x\\>'],
    ['[a](javascript:b)', '\\[a\\](javascript:b)'],
    ['::error::x', ':\\:error:\\:x'],
    ['##vso[task.x]', '\\#\\#vso\\[task.x\\]'],
    ['a\n| b | c |', 'a \\| b \\| c \\|'],
    ['\u001B]0;title\u0007\u202Ename', 'name'],
  ])('%j stays text in its cell, in CI too', async (name, cell) => {
    for (const env of [{}, inCi]) {
      const { out } = await mergeq(`flaky report ${where}`, {
        answer: pages([failing(1, { name, html_url: 'javascript:alert(1)' })]),
        env,
      })
      expect(rowsOf(out)).toEqual([`| ${cell} | flaky | 0.5 | 1 | no | @\u200Cacme/web | - |`])
    }
  })

  test.each([
    ['https://x.example/a b(c)|d', 'https://x.example/a%20b%28c%29%7Cd'],
    ['https://x.example/::error::', 'https://x.example/%3A:error%3A:'],
    ['https://x.example/<script>', 'https://x.example/%3Cscript%3E'],
    ['https://x.example/?a=&lt;', 'https://x.example/?a=&lt%3B'],
  ])('the address %j cannot end its link', async (html_url, shown) => {
    const { out } = await mergeq(`flaky report ${where}`, {
      answer: pages([failing(1, { html_url })]),
      env: inCi,
    })
    expect(rowsOf(out)[0]).toMatch(/^\| \[test 1\]\(/)
    expect(rowsOf(out)[0]).toContain(`](${shown}) |`)
  })

  test('names of 100 KB are cut, and leave room for the others', async () => {
    const { out } = await mergeq(`flaky report ${where} --max-chars 2000`, {
      answer: pages([failing(2, { name: 'x'.repeat(100_000) }), failing(1)]),
    })
    expect(rowsOf(out)).toHaveLength(2)
    expect(out).toContain('x…')
  })

  test('accepts the filters of `flaky list`: owners, names, ranges', async () => {
    const answer = pages([
      failing(1),
      failing(2, { codeowners: ['@acme/ios'] }),
      failing(3, { quarantined: true }),
    ])
    const { out, err, requests } = await mergeq(
      `flaky report ${where} --owner @acme/web --no-quarantined --since 8d`,
      { answer },
    )
    expect(rowsOf(out)).toHaveLength(1)
    expect(err).toContain('1 test hidden by --owner, 1 by --no-quarantined.')
    expect(requests).toHaveLength(2)
  })
})

describe('annotations', () => {
  const annotated = (test: JsonObject, env: Readonly<Record<string, string>> = inCi) =>
    mergeq(`flaky report ${where} --format github`, { answer: pages([test]), env })

  test.each([{}, inCi])(
    'a line for each test, untouched by what makes CI output harmless (%j)',
    async env => {
      const { code, out } = await annotated(
        failing(1, { ticket: { html_url: 'https://tickets.example/WEB-7' }, quarantined: true }),
        env,
      )
      expect({ code, out }).toEqual({
        code: 0,
        out: '::warning file=web/cart.test.ts,title=Failing test%3A test 1::flaky; failure rate over 7 days 0.5; pull requests impacted 1; quarantined; owned by @acme/web; https://app.example/acme/1; https://tickets.example/WEB-7\n',
      })
    },
  )

  test('on a terminal the note has the range in words, elsewhere its times', async () => {
    const noteOf = async (terminal: boolean) =>
      (await mergeq(`flaky report ${where} --since 3d`, { answer: pages([failing(1)]), terminal })).err
    expect(await noteOf(true)).toBe('1 test failed in the last 3 days.\n')
    expect(await noteOf(false)).toBe(
      '1 test failed from 2026-01-02T12:00:00.000Z to 2026-01-05T12:00:00.000Z.\n',
    )
  })

  test('on a terminal inside a CI job they are commands, too', async () => {
    const { out } = await mergeq(`flaky report ${where} --format github`, {
      answer: pages([failing(1)]),
      env: inCi,
      terminal: true,
    })
    expect(out).toMatch(/^::warning file=web\/cart\.test\.ts,title=Failing test%3A test 1::flaky;.*\n$/)
  })

  test.each([
    ['a name with a command', { name: '\n::error::pwned' }],
    ['a name that ends its properties', { name: 'x::y' }],
    ['a name with another property', { name: 'x,file=secret.ts' }],
    ['a name that was escaped before', { name: 'x%0A::error::y' }],
    ['a file that ends its properties', { file_path: 'a,title=b::c\r\n::error::d' }],
    [
      'an owner with commands of other runners',
      { codeowners: ['##vso[task.setvariable]x', '##[error]y', '##teamcity[z]'] },
    ],
    ['a status with a line', { status: { value: 'a\u2028::stop-commands::b' } }],
    ['a link with a command', { html_url: 'https://x.example/\n::set-output name=a::b' }],
  ])('4.12: %s makes no command of its own', async (_, more) => {
    const { out } = await annotated(failing(1, more))
    expect(out.match(/\n/g)).toHaveLength(1)
    expect(out).toMatch(/^::warning (file=[^:,]*,)?title=[^:,]*::/)
    expect(out).not.toMatch(/##(\[|vso\[|teamcity\[)/)
    expect(out.replace(/^::warning [^:]*::/, '')).not.toMatch(/::[\w-]+( [^\n]*?)?::/)
  })

  test('the body of an error contains no commands in a CI job', async () => {
    const { err } = await mergeq(`flaky report ${where} --format github`, {
      answer: () => ({ status: 400, body: '::error::pwned' }),
      env: inCi,
    })
    expect(err).toContain(': :error::pwned')
  })

  test('ten are shown, as GitHub does, and a notice says how many more there are', async () => {
    const many = Array.from({ length: 12 }, (_, index) => failing(index))
    const { out } = await mergeq(`flaky report ${where} --format github`, { answer: pages(many) })
    expect(out.match(/^::warning /gm)).toHaveLength(10)
    expect(out).toMatch(
      /::notice title=Failing tests::2 more tests are not shown\. To list all tests, run `mergeq flaky list`\.\n$/,
    )
  })

  /** A line read back as GitHub's runner reads it. */
  const readBack = (line: string) => {
    const [, properties = '', data = ''] = /^::warning (.*?)::(.*)\n$/s.exec(line) ?? expect.fail(line)
    const plain = (text: string) =>
      text.replace(/%(0D|0A|3A|2C|25)/g, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)))
    const named = properties
      .split(',')
      .map(one => [one.slice(0, one.indexOf('=')), plain(one.slice(one.indexOf('=') + 1))])
    return { ...Object.fromEntries(named), message: plain(data) }
  }

  test('property: what is escaped reads back as it was', () => {
    const text = fc
      .string({
        unit: fc.constantFrom(
          'a',
          '%',
          ':',
          ',',
          '\n',
          '\r',
          '0',
          'A',
          '2',
          '5',
          '=',
          '#',
          '[',
          ' ',
          'é',
          '🎉',
        ),
      })
      .map(one => `x${one}x`)
    const plain = (one: string) =>
      sanitizeLine(one)
        .replaceAll(/::(?=[\w-]+(?: [^\n]*?)?::)/g, ': :')
        .replaceAll('##[', '# #[')
    fc.assert(
      fc.property(text, text, text, (file, title, message) => {
        const line = new TextDecoder().decode(annotationLines([{ level: 'warning', file, title, message }]))
        expect(readBack(line)).toEqual({ file: plain(file), title: plain(title), message: plain(message) })
      }),
    )
  })
})

describe('--max-chars', () => {
  const name = fc.string({ unit: 'binary', maxLength: 300 })
  const tests = fc.array(
    fc
      .tuple(name, fc.webUrl(), fc.boolean())
      .map(([one, html_url, quarantined]) =>
        failing(1, { name: one, html_url, quarantined, codeowners: [one.slice(0, 20)] }),
      ),
    { maxLength: 40 },
  )
  const bounds = fc.integer({ min: 400, max: 9_000 })
  const around = { start: '2026-01-04T12:00:00.000Z', end: '2026-01-05T12:00:00.000Z' }

  test.each(['markdown', 'github'] as const)(
    'property: %s is never longer, and counts what it leaves out',
    format => {
      fc.assert(
        fc.property(tests, bounds, fc.boolean(), (all, characters, complete) => {
          const triage = { tests: all, complete, ...around }
          const made = renderReport(triage, format, { rows: 1_000, characters })
          expect(lengthOf(made)).toBeLessThanOrEqual(characters)
          const text = new TextDecoder().decode(made)
          const shown = format === 'github' ? (text.match(/^::warning /gm)?.length ?? 0) : rowsOf(text).length
          const more = Number(/(\d+) more tests? (?:is|are) not shown/.exec(text)?.[1] ?? 0)
          expect(shown + more).toBe(all.length)
          // What it shows is whole: as many tests without a bound make the same rows.
          const whole = new TextDecoder().decode(
            renderReport({ ...triage, tests: all.slice(0, shown) }, format, {
              rows: 1_000,
              characters: 1e9,
            }),
          )
          const rows = format === 'github' ? (whole.match(/^::warning .*$/gm) ?? []) : rowsOf(whole)
          for (const row of rows) expect(text).toContain(row)
          // One more would not have fitted.
          if (more > 0)
            expect(
              lengthOf(renderReport(triage, format, { rows: shown + 1, characters: 1e9 })),
            ).toBeGreaterThan(characters)
        }),
        { numRuns: 60 },
      )
    },
  )

  test.each(['markdown', 'github'])('%s in a CI job also stays under the limit', async format => {
    const many = Array.from({ length: 60 }, (_, index) => failing(index, { name: `a::b::c ${index}` }))
    for (const limit of [400, 1_000, 5_000]) {
      const { code, out } = await mergeq(`flaky report ${where} --format ${format} --max-chars ${limit}`, {
        answer: pages(many),
        env: inCi,
      })
      expect(code).toBe(0)
      expect(out.length).toBeLessThanOrEqual(limit)
    }
  })

  test('--limit says how many more there are as well', async () => {
    const { out } = await mergeq(`flaky report ${where} --limit 1`, {
      answer: pages([failing(1), failing(2)]),
    })
    expect(out).toMatch(/\n1 more test is not shown\. To list all tests, run `mergeq flaky list`\.\n$/)
  })
})

describe('JSON', () => {
  test.each(['--json', '-o json', '-o ndjson', '--format github --json'])(
    '%s is refused, and the list that has it is named',
    async flags => {
      const { code, out, err } = await mergeq(`flaky report ${where} ${flags}`, { answer: pages([]) })
      expect({ code, out }).toEqual({ code: 2, out: '' })
      expect(JSON.parse(err).error.hint).toContain('mergeq flaky list --json')
    },
  )

  test('--format json is refused, and the list that has it is named', async () => {
    const { code, out, err } = await mergeq(`flaky report ${where} --format json`, { answer: pages([]) })
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(err).toContain('run: mergeq flaky list --json')
  })

  test.each(['json', 'ndjson', 'csv'])('MERGEQ_OUTPUT=%s is ignored', async format => {
    const setting = { answer: pages([failing(1)]), env: { MERGEQ_OUTPUT: format } }
    expect((await mergeq(`flaky report ${where}`, setting)).out).toMatch(/^### 1 failing test,/)
  })
})

describe('errors', () => {
  test.each([
    [500, 17, 'incomplete'],
    [401, 4, 'auth'],
  ])(
    'a page that fails with %i: the report of the other pages is incomplete, exit %i',
    async (status, code) => {
      for (const format of ['markdown', 'github']) {
        const ran = await mergeq(`flaky report ${where} --format ${format} --retries 0`, {
          answer: pages([failing(1)], status),
        })
        expect(ran.code).toBe(code)
        expect(ran.out).toContain('test 1')
        expect(ran.out).toMatch(/The list is incomplete/)
        expect(ran.err).toMatch(/The list is incomplete/)
      }
    },
  )

  test('if the first page fails, nothing is printed', async () => {
    const { code, out } = await mergeq(`flaky report ${where} --retries 0`, { answer: pages(503) })
    expect({ code, out }).toEqual({ code: 7, out: '' })
  })

  test.each([
    '--format html',
    '--max-chars 399',
    '--max-chars many',
    '--fields name',
    '-o csv',
    '-o table',
    '--format github --json',
    '--format json',
    '--format github -o markdown',
    '--since 1d --until 2d',
  ])('%s is refused and nothing sent', async flags => {
    const { code, out, err, requests } = await mergeq(`flaky report ${where} ${flags}`, { answer: pages([]) })
    expect({ code, out, requests }).toEqual({ code: 2, out: '', requests: [] })
    expect(`${err}`).toMatch(/"kind":"usage"|^mergeq: /)
  })

  test('--dry-run prints the first request and sends nothing', async () => {
    const { code, out, requests } = await mergeq(`flaky report ${where} --dry-run`, { answer: pages([]) })
    expect({ code, requests }).toEqual({ code: 0, requests: [] })
    expect(JSON.parse(out)).toMatchObject({ operation: 'flaky-tests/list-failing-tests' })
  })
})

describe('flaky get', () => {
  const summary = 'expected 3\n  received 2\n\u001B[31m\tat cart.ts:3\r\n\r\nlast'
  const record = failing(1, {
    most_common_failures: [
      { summary, occurrence_count: 1, last_occurrence: '2026-01-05T11:00:00Z' },
      { summary: 'x'.repeat(200), occurrence_count: 2 },
      { occurrence_count: null },
    ],
  })
  const get = (line: string, more = {}) =>
    mergeq(`flaky get ${record.id} ${where} ${line}`, {
      answer: () => ({ body: JSON.stringify({ test: record }) }),
      ...more,
    })

  test('on a terminal the failures are below the table, with indented lines', async () => {
    const { out } = await get('--color never', { terminal: true })
    expect(out.slice(out.indexOf('\n\n') + 1)).toBe(
      [
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
    const long = failing(1, {
      most_common_failures: [{ summary: 'line\n'.repeat(1_000), occurrence_count: 3 }],
    })
    const { out } = await mergeq(`flaky get ${long.id} ${where}`, {
      answer: () => ({ body: JSON.stringify({ test: long }) }),
      terminal: true,
    })
    expect(out.match(/^ {2}line$/gm)).toHaveLength(40)
    expect(out).toMatch(/\n {2}… 960 more lines\n$/)
  })

  test.each(['', '-o csv', '-o markdown'])('elsewhere each is one row (%s)', async format => {
    const { out } = await get(format)
    const lines = out.split(/\r?\n/).filter(line => /failure \d/.test(line))
    expect(lines).toHaveLength(3)
    expect(lines[0]).toMatch(
      /1 time, last 2026-01-05T11:00:00Z: expected 3 {3}received 2 {2}at cart\.ts:3 last/,
    )
  })

  test('--json has the record as it came', async () => {
    expect(JSON.parse((await get('--json')).out)).toEqual({ test: record })
  })
})
