import fc from 'fast-check'
import stringWidth from 'string-width'
import { describe, expect, test } from 'vitest'
import { formats } from '../../src/domain/output-formats.ts'
import { type Answer, mergeq, type Seen, type Setting } from '../support/harness.ts'

const where = '-R acme/web -b main'
const org = '-R acme/web --org acme'
const id = '2b4e8d1c-93f0-4c57-8a3b-1f2e3d4c5b6a'

const record = {
  id: '0b9f',
  state: 'testing',
  stateChangedAt: '2026-01-05T11:57:00.000Z',
  priorityValue: 100,
  priorityName: 'medium',
  isCurrentlySubmittedToQueue: true,
  prTitle: 'Fix cart',
  readiness: { hasImpactedTargets: false },
}
const tests = [
  {
    id,
    name: 'cart total',
    status: { value: 'flaky', reason: 'r' },
    failure_rate_last_7d: 0.25,
    pull_requests_impacted_last_7d: 3,
    quarantined: true,
    codeowners: ['@acme/web', 'acme'],
  },
  { id: '3c4e8d1c-93f0-4c57-8a3b-1f2e3d4c5b6a', name: 'login' },
]
const exposition = '# TYPE up gauge\nup{repo="acme/web",branch="main"} 4\n\nx NaN\ny{le="+Inf"} -Inf\n'

/** A service that answers with these documents. */
const serve =
  (documents: Readonly<Record<string, unknown>> = {}) =>
  ({ path, body }: Seen): Answer => {
    const name = path.replace('/v1/', '').replace(/\?.*/, '')
    const own = documents[name]
    if (typeof own === 'string') return { body: own }
    if (own !== undefined) return { body: JSON.stringify(own) }
    if (name === 'getSubmittedPullRequest')
      return { body: JSON.stringify({ ...record, prNumber: JSON.parse(body).pr.number }) }
    if (name === 'flaky-tests/list-failing-tests')
      return { body: JSON.stringify({ tests, page: { total_rows: 2, next_page_token: '' } }) }
    if (name === 'flaky-tests/get-test-details') return { body: JSON.stringify({ test: tests[0] }) }
    return { body: name === 'getMergeQueueMetrics' ? exposition : 'OK' }
  }

const documentOf = (number: number) => ({ ...record, state: 'TESTING', prNumber: number })
const receiptOf = (number: number) => ({
  operation: 'submitPullRequest',
  repo: 'github.com/acme/web',
  targetBranch: 'main',
  pr: number,
  ok: true,
  delivery: 'confirmed',
})
const listDocument = {
  tests,
  page: { total_rows: 2, next_page_token: '' },
  window: { start: '2026-01-04T12:00:00.000Z', end: '2026-01-05T12:00:00.000Z', complete: true },
}
const samples = [
  { name: 'up', type: 'gauge', labels: { repo: 'acme/web', branch: 'main' }, value: 4 },
  { name: 'x', type: 'untyped', labels: {}, value: 'NaN' },
  { name: 'y', type: 'untyped', labels: { le: '+Inf' }, value: '-Inf' },
]
const indented = (document: unknown) => `${JSON.stringify(document, null, 2)}\n`
const lines = (...documents: readonly unknown[]) =>
  documents.map(document => `${JSON.stringify(document)}\n`).join('')
const text = (...rows: readonly string[]) => rows.map(row => `${row}\n`).join('')
const crlf = (...rows: readonly string[]) => rows.map(row => `${row}\r\n`).join('')

const onTerminal = { terminal: true, columns: 100 }
const onPipe = { terminal: false }

type Row = readonly [what: string, flags: string, setting: Setting, out: string]

const answers: Readonly<Record<string, readonly [words: string, rows: readonly Row[]]>> = {
  'one record': [
    `pr get 7 ${where}`,
    [
      [
        'a sheet on a terminal',
        '',
        onTerminal,
        text(
          '#7  ◐ testing for 3m',
          '  Fix cart',
          '  priority  medium (100)',
          '  page      https://github.com/acme/web/pull/7',
        ),
      ],
      [
        'tab-separated on a pipe, without a header and relative times',
        '',
        onPipe,
        text('7\tTESTING\ttrue\tmedium\t100\t2026-01-05T11:57:00.000Z\tFix cart'),
      ],
      [
        'the table on a pipe where it is said aloud',
        '-o table',
        onPipe,
        text('PR  STATE      FOR  PRIORITY  TITLE', '#7  ◐ testing  3m   medium    Fix cart'),
      ],
      ['the document, indented on a terminal', '--json', onTerminal, indented(documentOf(7))],
      ['the document on one line on a pipe', '-o json', onPipe, lines(documentOf(7))],
      ['a line', '-o ndjson', onTerminal, lines(documentOf(7))],
      [
        'CSV',
        '-o csv',
        onPipe,
        crlf(
          'pr,state,submitted,priority,value,since,title',
          '7,TESTING,true,medium,100,2026-01-05T11:57:00.000Z,Fix cart',
        ),
      ],
      [
        'Markdown',
        '-o markdown',
        onTerminal,
        text(
          '| pr | state | submitted | priority | value | since | title |',
          '| --- | --- | --- | --- | ---: | --- | --- |',
          '| 7 | TESTING | true | medium | 100 | 2026-01-05T11:57:00.000Z | Fix cart |',
        ),
      ],
      [
        'picked fields in a table',
        '--fields state,prTitle,readiness.hasImpactedTargets',
        onTerminal,
        text('state      prTitle   readiness.hasImpactedTargets', '◐ testing  Fix cart  no'),
      ],
      [
        'picked fields on a pipe',
        '--fields state,prTitle,readiness.hasImpactedTargets',
        onPipe,
        text('TESTING\tFix cart\tfalse'),
      ],
      [
        'picked fields in JSON, nested as they were',
        '--fields readiness.hasImpactedTargets,state --json',
        onPipe,
        lines({ readiness: { hasImpactedTargets: false }, state: 'TESTING' }),
      ],
      [
        'picked fields in CSV',
        '--fields state,readiness.hasImpactedTargets -o csv',
        onPipe,
        crlf('state,readiness.hasImpactedTargets', 'TESTING,false'),
      ],
      [
        'picked fields in Markdown',
        '--fields state,prNumber -o markdown',
        onPipe,
        text('| state | prnumber |', '| --- | --- |', '| TESTING | 7 |'),
      ],
    ],
  ],
  'several records': [
    `pr get 8 7 ${where}`,
    [
      [
        'one table, in the order given',
        '',
        onTerminal,
        text(
          'PR  STATE      FOR  PRIORITY  TITLE',
          '#8  ◐ testing  3m   medium    Fix cart',
          '#7  ◐ testing  3m   medium    Fix cart',
        ),
      ],
      ['several documents, one a line', '--json', onPipe, lines(documentOf(8), documentOf(7))],
      ['several lines', '-o ndjson', onPipe, lines(documentOf(8), documentOf(7))],
      [
        'one CSV with one header',
        '-o csv --fields prNumber,state',
        onPipe,
        crlf('prNumber,state', '8,TESTING', '7,TESTING'),
      ],
      [
        'one Markdown table',
        '-o markdown --fields state',
        onPipe,
        text('| state |', '| --- |', '| TESTING |', '| TESTING |'),
      ],
    ],
  ],
  'a list': [
    `flaky list ${org}`,
    [
      [
        'a table on a terminal, a dash where a field is missing',
        '',
        onTerminal,
        text(
          'RATE  PRS  OWNER            STATUS   TEST                     ID',
          ' 25%    3  @acme/web, acme  ! flaky  cart total  quarantined  2b4e8d1c-93f0-4c57-8a3b-1f2e3d4c5b6a',
          '   -    -  -                -        login                    3c4e8d1c-93f0-4c57-8a3b-1f2e3d4c5b6a',
          '2 tests, last 24 hours, worst first. Details: mergeq flaky get 2b4e8d1c --repo acme/web --org acme',
        ),
      ],
      [
        'tab-separated on a pipe',
        '',
        onPipe,
        text(
          `cart total\tflaky\t0.25\t3\ttrue\t@acme/web, acme\t${id}`,
          'login\t\t\t\t\t\t3c4e8d1c-93f0-4c57-8a3b-1f2e3d4c5b6a',
        ),
      ],
      ['the document with its window', '--json', onPipe, lines(listDocument)],
      ['the document, indented', '--json', onTerminal, indented(listDocument)],
      ['a line for each record', '-o ndjson', onPipe, lines(...tests)],
      [
        'CSV, defused and quoted',
        '-o csv',
        onPipe,
        crlf(
          'name,status,rate_7d,prs_7d,quarantined,owners,id',
          `cart total,flaky,0.25,3,true,"'@acme/web, acme",${id}`,
          'login,,,,,,3c4e8d1c-93f0-4c57-8a3b-1f2e3d4c5b6a',
        ),
      ],
      [
        'picked fields of each record',
        '--fields status.reason,name -o ndjson',
        onPipe,
        lines({ status: { reason: 'r' }, name: 'cart total' }, { name: 'login' }),
      ],
      [
        'picked fields of each record in the document',
        '--fields name --json',
        onPipe,
        lines({ ...listDocument, tests: tests.map(({ name }) => ({ name })) }),
      ],
    ],
  ],
  metrics: [
    'metrics',
    [
      [
        'a table of all series on a terminal',
        '--raw',
        onTerminal,
        text(
          'SERIES                        VALUE',
          'up repo=acme/web branch=main      4',
          'x                               NaN',
          'y le=+Inf                      -Inf',
        ),
      ],
      ['the text on a pipe, byte for byte', '', onPipe, exposition],
      ['a list with NaN and the infinities as text', '--json', onPipe, lines(samples)],
      ['the list, indented', '--json', onTerminal, indented(samples)],
      ['a line for each sample', '-o ndjson', onPipe, lines(...samples)],
      [
        'CSV',
        '-o csv --fields name,labels.repo,value',
        onPipe,
        crlf('name,labels.repo,value', 'up,acme/web,4', 'x,,NaN', 'y,,"\'-Inf"'),
      ],
      [
        'Markdown',
        '-o markdown --fields name,value',
        onPipe,
        text('| name | value |', '| --- | --- |', '| up | 4 |', '| x | NaN |', '| y | -Inf |'),
      ],
    ],
  ],
  receipts: [
    `pr submit 7 8 ${where}`,
    [
      ['a sentence on a terminal', '', onTerminal, text('#7 was already queued.', '#8 was already queued.')],
      [
        'pr, ok, delivery and message on a pipe',
        '',
        onPipe,
        text(
          '7\ttrue\tconfirmed\tSubmitted #7 to the queue for main.',
          '8\ttrue\tconfirmed\tSubmitted #8 to the queue for main.',
        ),
      ],
      ['a receipt for each, one a line', '--json', onPipe, lines(receiptOf(7), receiptOf(8))],
      ['a receipt for each', '-o ndjson', onPipe, lines(receiptOf(7), receiptOf(8))],
      [
        'CSV',
        '-o csv',
        onPipe,
        crlf(
          'pr,ok,delivery,message',
          '7,true,confirmed,Submitted #7 to the queue for main.',
          '8,true,confirmed,Submitted #8 to the queue for main.',
        ),
      ],
      [
        'Markdown',
        '-o markdown',
        onPipe,
        text(
          '| pr | ok | delivery | message |',
          '| --- | --- | --- | --- |',
          '| 7 | true | confirmed | Submitted \\#7 to the queue for main. |',
          '| 8 | true | confirmed | Submitted \\#8 to the queue for main. |',
        ),
      ],
      ['picked fields', '--fields pr,delivery', onPipe, text('7\tconfirmed', '8\tconfirmed')],
      [
        'picked fields in JSON',
        '--fields delivery,pr --json',
        onPipe,
        lines({ delivery: 'confirmed', pr: 7 }, { delivery: 'confirmed', pr: 8 }),
      ],
    ],
  ],
}

describe.each(Object.entries(answers))('%s', (_, [words, rows]) => {
  test.each(rows)('is %s: %s', async (_, flags, setting, expected) => {
    const { code, out } = await mergeq(`${words} ${flags} --color never`, { ...setting, answer: serve() })
    expect({ code, out }).toEqual({ code: 0, out: expected })
  })
})

describe('more of the formats', () => {
  test('MERGEQ_OUTPUT works like the option, which takes precedence', async () => {
    const env = { MERGEQ_OUTPUT: 'json' }
    const json = await mergeq(`pr get 7 ${where}`, { answer: serve(), env })
    expect(json.out).toBe(lines(documentOf(7)))
    const { out } = await mergeq(`pr get 7 ${where} -o csv --fields state`, { answer: serve(), env })
    expect(out).toBe(crlf('state', 'TESTING'))
  })

  test('MERGEQ_OUTPUT=table does not draw on a pipe', async () => {
    const { out } = await mergeq(`pr get 7 ${where} --fields state`, {
      answer: serve(),
      env: { MERGEQ_OUTPUT: 'table' },
    })
    expect(out).toBe('TESTING\n')
  })

  test.each([
    ['--json', lines({ ...listDocument, tests: [], page: {} })],
    ['-o ndjson', ''],
    ['', ''],
    ['-o csv', crlf('name,status,rate_7d,prs_7d,quarantined,owners,id')],
  ])('an empty list with %j is empty, never a sentence', async (flags, expected) => {
    const { code, out } = await mergeq(`flaky list ${org} ${flags}`, {
      answer: serve({ 'flaky-tests/list-failing-tests': { tests: [], page: {} } }),
    })
    expect({ code, out }).toEqual({ code: 0, out: expected })
  })

  test('no metrics are an empty list', async () => {
    const { code, out } = await mergeq('metrics --json', { answer: () => ({ body: '' }) })
    expect({ code, out }).toEqual({ code: 0, out: '[]\n' })
  })

  test('metrics on a pipe are the bytes of the service', async () => {
    const body = '# HELP up \u001B[31mred\u202E\r\nup{a="é\u0000"} 1\r\n'
    for (const words of ['metrics', 'api getMergeQueueMetrics']) {
      const { code, out } = await mergeq(words, { answer: () => ({ body }) })
      expect({ code, out }).toEqual({ code: 0, out: body })
    }
  })

  test('api prints the response unchanged, states too', async () => {
    const body = '{ "state":"merged",\n  "x": 9007199254740993 }'
    const { code, out } = await mergeq(`api getQueue ${where}`, { answer: () => ({ body }) })
    expect({ code, out }).toEqual({ code: 0, out: body })
  })

  // docs/reference/cli.md, "Selecting fields": --fields picks by name; a test's fields stand in a record of
  // that name.
  test('flaky get takes the field names that flaky list takes', async () => {
    const { out } = await mergeq(`flaky get ${id} ${org} --fields name,status.value`, { answer: serve() })
    expect(out).toBe('cart total\tflaky\n')
  })
})

const esc = '\u001B'
const hostile: readonly (readonly [what: string, name: string, plain: string])[] = [
  ['colours', `${esc}[31mred${esc}[0m`, 'red'],
  ['cursor moves', `a${esc}[2Jb${esc}[1;1Hc`, 'abc'],
  ['a clipboard', `a${esc}]52;c;ZXZpbA==\u0007b`, 'ab'],
  ['a link', `${esc}]8;;https://evil.test${esc}\\text${esc}]8;;${esc}\\`, 'text'],
  ['a title', `${esc}]0;title\u0007a`, 'a'],
  ['DCS', `a${esc}P1$r0m${esc}\\b`, 'ab'],
  ['the alternate screen', `${esc}[?1049ha`, 'a'],
  ['a query', `a${esc}[cb${esc}[6n`, 'ab'],
  ['C1 forms', 'a\u009B31mb\u009D0;x\u009Cc', 'abc'],
  ['CR and backspace', 'good\rbad\b\b\bok', 'good badok'],
  ['a newline that imitates a row', 'a\n8\tMERGED\ttrue', 'a 8 MERGED true'],
  ['CRLF, vertical tab and form feed', 'a\r\nb\u000Bc\u000Cd\u0085e', 'a b c d e'],
  ['bidirectional overrides and isolates', 'a\u202Eb\u2066c\u2069d\u200Ee\u061Cf', 'abcdef'],
  ['zero-width characters', 'a\u200Bb\uFEFFc\u2060d\u00ADe', 'abcde'],
  ['tag characters', 'a\u{E0041}\u{E007F}b', 'ab'],
  ['line and paragraph separators', 'a\u2028b\u2029c', 'a b c'],
  ['the joiner in an emoji stays', '👩\u200D💻', '👩\u200D💻'],
  ['a NUL and a DEL', 'a\u0000b\u007Fc', 'abc'],
  ['a lone surrogate', 'a\uD800b', 'ab'],
  ['noncharacters and private use', 'a\uFFFEb\uE000c', 'abc'],
]

/** What no plain output may hold besides the characters named. */
const unsafe = (but = '\n') =>
  new RegExp(
    `[${Array.from({ length: 32 }, (_, code) => String.fromCharCode(code))
      .filter(character => !but.includes(character))
      .map(character => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
      .join(
        '',
      )}\\u007F-\\u009F\\u200B\\u200E\\u200F\\u2028-\\u202E\\u2060-\\u2069\\u061C\\uFEFF]|[\\u{E0000}-\\u{E0FFF}]`,
    'u',
  )

describe('untrusted text', () => {
  const titled = (title: string) =>
    serve({ getSubmittedPullRequest: { ...record, prNumber: 7, prTitle: title } })

  test.each(hostile)('%s is plain to people', async (_, name, plain) => {
    const answer = titled(name)
    const table = await mergeq(`pr get 7 ${where} --fields prTitle --color never`, { answer, ...onTerminal })
    expect({ code: table.code, out: table.out }).toEqual({ code: 0, out: `prTitle\n${plain}\n` })
    const tsv = await mergeq(`pr get 7 ${where} --fields prTitle`, { answer })
    expect(tsv.out).toBe(`${plain}\n`)
    const csv = await mergeq(`pr get 7 ${where} --fields prTitle -o csv`, { answer })
    expect(csv.out).toBe(crlf('prTitle', plain))
    const markdown = await mergeq(`pr get 7 ${where} --fields prTitle -o markdown`, { answer })
    expect(markdown.out).not.toMatch(unsafe())
    expect(markdown.out.split('\n')).toHaveLength(4)
  })

  test.each(hostile)('%s is kept in JSON', async (_, name) => {
    for (const flags of ['--json', '-o ndjson'])
      for (const setting of [onPipe, onTerminal]) {
        const { code, out } = await mergeq(`pr get 7 ${where} ${flags}`, { answer: titled(name), ...setting })
        expect({ code, title: JSON.parse(out).prTitle }).toEqual({ code: 0, title: name })
        expect(out).not.toMatch(/[\u0000-\u0009\u000B-\u001F]/)
      }
  })

  // docs/reference/cli.md, "Text from the service": JSON keeps the text, escaped: U+007F to U+009F and what
  // is invisible stand there raw.
  test('control and bidirectional characters are escaped in JSON', async () => {
    const title = hostile.map(([, name]) => name).join('')
    const { out } = await mergeq(`pr get 7 ${where} --json`, { answer: titled(title), ...onTerminal })
    expect(JSON.parse(out).prTitle).toBe(title)
    expect(out).not.toMatch(unsafe())
  })

  test('on a terminal the only escape sequences are our colors', async () => {
    const title = hostile.map(([, name]) => name).join('')
    const { out } = await mergeq(`pr get 7 ${where}`, { answer: titled(title), ...onTerminal })
    expect(out.replaceAll(new RegExp(`${esc}\\[(1|2|22|3[1-6]|39)m`, 'g'), '')).not.toMatch(unsafe())
    expect(out).toContain(`${esc}[33m◐ testing${esc}[39m`)
  })

  test('flaky get removes them from every field', async () => {
    const name = hostile.map(([, name]) => name).join('')
    const test = {
      id: name,
      name,
      variant: name,
      status: { value: name, reason: name, timestamp: name },
      most_common_failures: [{ summary: name, occurrence_count: 1, last_occurrence: name }],
      codeowners: [name, name],
      file_path: name,
      parent: name,
      classname: name,
      html_url: name,
      ticket: { html_url: name },
    }
    const answer = serve({ 'flaky-tests/get-test-details': { test } })
    for (const flags of ['-o table', '', '-o csv', '-o markdown']) {
      const { code, out } = await mergeq(`flaky get ${id} ${org} ${flags}`, { answer })
      expect(code).toBe(0)
      expect(out).not.toMatch(unsafe('\n\t\r'))
    }
  })

  test('as many rows as items', async () => {
    const names = ['a\nb', 'c\td', 'e\r\nf', '"g\n"', '|h\n|']
    const answer = serve({
      'flaky-tests/list-failing-tests': { tests: names.map(name => ({ id: name, name })), page: {} },
    })
    const rows = async (flags: string, setting: Setting = onPipe) =>
      (await mergeq(`flaky list ${org} --fields name ${flags}`, { answer, ...setting })).out.split('\n')
        .length - 1
    expect(await rows('')).toBe(5)
    expect(await rows('', onTerminal)).toBe(6)
    expect(await rows('-o csv')).toBe(6)
    expect(await rows('-o markdown')).toBe(7)
  })

  test.each([
    ['=1+1', `"'=1+1"`],
    ['+1', `"'+1"`],
    ['-1', `"'-1"`],
    ['@SUM(A1)', `"'@SUM(A1)"`],
    ['\t=1', `"'=1"`],
    ['\r=1', `"'=1"`],
    ['a,b', '"a,b"'],
    ['say "hi"', '"say ""hi"""'],
    ['=cmd|"/c calc"!A1', `"'=cmd|""/c calc""!A1"`],
    [' a', 'a'],
    ['a=b', 'a=b'],
  ])('%j in CSV is %j', async (name, cell) => {
    const { out } = await mergeq(`pr get 7 ${where} --fields prTitle -o csv`, { answer: titled(name) })
    expect(out).toBe(crlf('prTitle', cell))
  })

  test.each([
    ['-12.5', '-12.5'],
    ['-3', '-3'],
    ['-1e-7', '-1e-7'],
    ['-9007199254740991', '-9007199254740991'],
    ['["-1+1"]', `"'-1+1"`],
    ['{"-":1}', '"{""-"":1}"'],
    ['"-12.5"', `"'-12.5"`],
  ])('in CSV a negative number stays a number, and a formula becomes text: %s', async (value, cell) => {
    const answer = serve({ getSubmittedPullRequest: `{"state":"TESTING","prTitle":${value}}` })
    const { out } = await mergeq(`pr get 7 ${where} --fields prTitle -o csv`, { answer })
    expect(out).toBe(crlf('prTitle', cell))
  })

  test('a cell cannot break its row in TSV', async () => {
    const { out } = await mergeq(`pr get 7 ${where} --fields prTitle,state`, { answer: titled('a\tb\nc') })
    expect(out).toBe('a b c\tTESTING\n')
  })

  test.each([
    ['a|b', 'a\\|b'],
    ['`rm`', '\\`rm\\`'],
    ['<img src=x>', '\\<img src=x\\>'],
    ['[a](b)', '\\[a\\](b)'],
    ['*a* _b_ ~c~', '\\*a\\* \\_b\\_ \\~c\\~'],
    ['a\\|b', 'a\\\\\\|b'],
  ])('%j in Markdown is %j', async (name, cell) => {
    const { out } = await mergeq(`pr get 7 ${where} --fields prTitle -o markdown`, { answer: titled(name) })
    expect(out).toBe(text('| prTitle |'.toLowerCase(), '| --- |', `| ${cell} |`))
  })

  test('Markdown mentions no user', async () => {
    const { out } = await mergeq(`pr get 7 ${where} --fields prTitle -o markdown`, {
      answer: titled('@acme/web #7'),
    })
    expect(out).not.toMatch(/@acme|[^\\]#7/)
  })

  test.each([
    ['ASCII', 'x'.repeat(100_000)],
    ['wide characters', '界'.repeat(50_000)],
    ['one cluster that never ends', `e${'\u0301'.repeat(100_000)}`],
  ])('100 KB of %s are cut with an ellipsis on a terminal and whole in JSON', async (_, name) => {
    const answer = titled(name)
    const started = performance.now()
    const table = await mergeq(`pr get 7 8 ${where} --color never`, { answer, terminal: true, columns: 80 })
    expect(table.code).toBe(0)
    for (const line of table.out.trimEnd().split('\n')) expect(line.length).toBeLessThan(3_000)
    if (!name.startsWith('e')) {
      expect(table.out).toContain('…')
      for (const line of table.out.trimEnd().split('\n')) expect(stringWidth(line)).toBeLessThanOrEqual(80)
    }
    const json = await mergeq(`pr get 7 ${where} --json`, { answer, terminal: true, columns: 80 })
    expect(JSON.parse(json.out).prTitle).toBe(name)
    expect(performance.now() - started).toBeLessThan(5_000)
  })

  test('wide, combining, joined and right-to-left names are aligned in 40 columns', async () => {
    const names = [
      'plain',
      '界界界界界界界界界界界界界界界界界界界界界',
      'e\u0301e\u0301e\u0301',
      '👩\u200D👩\u200D👧\u200D👦'.repeat(20),
      '🇩🇪'.repeat(20),
      'שלום עולם',
      'a'.repeat(60),
    ]
    const answer = serve({
      'flaky-tests/list-failing-tests': {
        tests: names.map((name, index) => ({ id: String(index), name, classname: 'end' })),
        page: {},
      },
    })
    const { out } = await mergeq(`flaky list ${org} --fields name,classname --color never`, {
      answer,
      terminal: true,
      columns: 40,
    })
    const rows = out.trimEnd().split('\n').slice(1)
    expect(rows).toHaveLength(names.length)
    const ends = rows.map(row => stringWidth(row.slice(0, row.lastIndexOf('end'))))
    expect(new Set(ends).size).toBe(1)
    for (const row of rows) {
      expect(stringWidth(row)).toBeLessThanOrEqual(40)
      expect(row).not.toMatch(/[\uD800-\uDBFF](?![\uDC00-\uDFFF])|\u200D…|\u200D(?= )/)
    }
    // What is cut is cut between clusters: whole families and flags, then the ellipsis.
    expect(rows[3]).toMatch(/^(👩\u200D👩\u200D👧\u200D👦)+…? +end$/u)
    expect(rows[4]).toMatch(/^(🇩🇪)+…? +end$/u)
  })

  const commands = [
    '::error::all is lost',
    '::add-mask::x',
    'a ::set-output name=x::y',
    '##[error]no',
    '##vso[task.complete]',
    '##teamcity[buildStop]',
  ]

  test.each(commands)('the runner of a CI job does not read %j as a command', async name => {
    const env = { CI: 'true', GITHUB_ACTIONS: 'true' }
    const active = /::[\w-]+(?: [^\n]*)?::|##\[|##vso\[|##teamcity\[/
    for (const flags of ['', '-o table', '-o csv', '-o markdown', '-v']) {
      const { out, err } = await mergeq(`pr get 7 ${where} --fields prTitle ${flags}`, {
        answer: titled(name),
        env,
      })
      expect(out + err).not.toMatch(active)
    }
    for (const flags of ['--json', '-o ndjson']) {
      const { out } = await mergeq(`pr get 7 ${where} ${flags}`, { answer: titled(name), env })
      expect(out).not.toMatch(active)
      expect(JSON.parse(out).prTitle).toBe(name)
    }
    for (const flags of ['', '--json']) {
      const { err } = await mergeq(`pr get 7 ${where} ${flags}`, {
        answer: () => ({ status: 400, body: name }),
        env,
      })
      expect(err).not.toMatch(active)
    }
    const { out } = await mergeq(`pr get 7 ${where} --fields prTitle`, { answer: titled(name) })
    expect(out).toBe(`${name}\n`)
  })

  test('any title gives plain output without control characters, and JSON that parses back to it', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'binary', maxLength: 60 }), async title => {
        const answer = titled(title)
        for (const flags of ['', '-o table', '-o markdown']) {
          const { code, out } = await mergeq(`pr get 7 ${where} --fields prTitle,state ${flags}`, { answer })
          expect(code).toBe(0)
          expect(out).not.toMatch(unsafe('\n\t'))
        }
        const tsv = await mergeq(`pr get 7 ${where} --fields prTitle,state`, { answer })
        expect(tsv.out.split(/[\n\t]/)).toHaveLength(3)
        const { out } = await mergeq(`pr get 7 ${where} --json`, { answer })
        expect(JSON.parse(out).prTitle).toBe(title)
        expect(out.split('\n')).toHaveLength(2)
      }),
      { numRuns: 60 },
    )
  })
})

describe('shapes', () => {
  const reads: readonly (readonly [words: string, operation: string])[] = [
    [`pr get 7 ${where}`, 'getSubmittedPullRequest'],
    [`pr testing x ${where}`, 'getMergeQueueTestingDetails'],
    [`queue get ${where}`, 'getQueue'],
    [`flaky get ${id} ${org}`, 'flaky-tests/get-test-details'],
  ]

  const odd =
    '{"__proto__":{"polluted":1},"constructor":1,"toString":2,"then":3,"toJSON":4,"valueOf":null,"hasOwnProperty":[],"state":"MERGED","test":{},"enqueuedPullRequests":[],"zulu":{"__proto__":[1]}}'

  test.each(reads)('%s keeps keys of any name, and nothing is polluted', async (words, operation) => {
    const { code, out } = await mergeq(`${words} --json`, { answer: serve({ [operation]: odd }) })
    expect({ code, out }).toEqual({ code: 0, out: `${odd}\n` })
    expect({}).not.toHaveProperty('polluted')
    const table = await mergeq(words, { answer: serve({ [operation]: odd }), ...onTerminal })
    expect(table.code).toBe(0)
  })

  test('and so in the records of a list, as lines and as fields', async () => {
    const answer = serve({ 'flaky-tests/list-failing-tests': `{"tests":[${odd}],"page":{}}` })
    const { out } = await mergeq(`flaky list ${org} -o ndjson`, { answer })
    expect(out).toBe(`${odd}\n`)
    const picked = await mergeq(`flaky list ${org} -o ndjson --fields __proto__.polluted,toString`, {
      answer,
    })
    expect(picked.out).toBe('{"__proto__":{"polluted":1},"toString":2}\n')
    expect({}).not.toHaveProperty('polluted')
  })

  test('also next to a number that a double cannot hold', async () => {
    const body = '{"__proto__":{"polluted":1},"state":"MERGED","large":9007199254740993}'
    const { out } = await mergeq(`pr get 7 ${where} --json`, { answer: () => ({ body }) })
    expect({}).not.toHaveProperty('polluted')
    expect(out).toBe(`${body}\n`)
  })

  test('the last value of a repeated key wins', async () => {
    for (const large of ['1', '9007199254740993']) {
      const body = `{"a":1,"state":"MERGED","large":${large},"a":2}`
      const { code, out } = await mergeq(`pr get 7 ${where} --json`, { answer: () => ({ body }) })
      expect({ code, out }).toEqual({ code: 0, out: `${body}\n` })
      const selected = await mergeq(`pr get 7 ${where} --fields a`, { answer: () => ({ body }) })
      expect(selected.out).toBe('2\n')
    }
  })

  test.each([
    '9007199254740993',
    '-9007199254740993',
    '123456789012345678901234567890',
    '1e400',
    '1.5e-400',
    '0.1000000000000000055511151231257827',
  ])('%s is not rounded, except by --fields', async number => {
    const body = `{"state":"TESTING","large":${number},"list":[${number}],"deep":{"x":${number}}}`
    for (const flags of ['--json', '-o ndjson']) {
      const { code, out } = await mergeq(`pr get 7 ${where} ${flags}`, { answer: () => ({ body }) })
      expect({ code, out }).toEqual({ code: 0, out: `${body}\n` })
    }
    const { out } = await mergeq(`pr get 7 ${where} --fields large,deep.x`, { answer: () => ({ body }) })
    expect(out).toBe(`${Number(number)}\t${Number(number)}\n`)
  })

  const nothing = (operation: string) =>
    operation.startsWith('flaky')
      ? { test: {} }
      : operation === 'getQueue'
        ? { enqueuedPullRequests: [{}] }
        : operation === 'getSubmittedPullRequest'
          ? { state: 'PENDING' }
          : {}
  const tables = ['', '-o table', '-o csv', '-o markdown']

  test.each(reads)('%s with every field missing', async (words, operation) => {
    const answer = serve({ [operation]: nothing(operation) })
    for (const flags of tables) {
      const { code, out } = await mergeq(`${words} ${flags}`, { answer })
      expect(code).toBe(0)
      expect(out).not.toMatch(/undefined|null|NaN|1970|Invalid|\[object/)
    }
    const { out } = await mergeq(`${words} --json`, { answer })
    expect(out).toBe(lines(nothing(operation)))
  })

  const nulls: Readonly<Record<string, object>> = {
    // Without its state it is no record.
    getSubmittedPullRequest: {
      ...Object.fromEntries([...Object.keys(record), 'prNumber'].map(key => [key, null])),
      state: 'PENDING',
    },
    getMergeQueueTestingDetails: {
      requiredStatuses: null,
      testBranch: null,
      createdAt: null,
      status: null,
      checkSuites: [
        { checkRuns: null },
        { checkRuns: [null, { name: null, url: null, status: null, conclusion: null }] },
        null,
      ],
      statusChecks: [{ context: null, url: null, state: null }, null],
      testedPullRequests: [{ prNumber: null, title: null }, null],
    },
    getQueue: {
      state: null,
      mode: null,
      concurrency: null,
      batch: null,
      enqueuedPullRequests: [null, { state: null, stateChangedAt: null, prNumber: null, prTitle: null }],
    },
    'flaky-tests/get-test-details': {
      test: {
        id: null,
        name: null,
        status: null,
        most_common_failures: [null, { summary: null, occurrence_count: null, last_occurrence: null }],
        failure_rate_last_7d: null,
        codeowners: [null],
        quarantined: null,
        ticket: null,
      },
    },
    'flaky-tests/list-failing-tests': {
      tests: [
        { id: null, name: null, status: { value: null }, failure_rate_last_7d: null, codeowners: null },
      ],
      page: { next_page_token: null, total_rows: null },
    },
  }

  const spotless = async (words: string, operation: string) => {
    const answer = serve({ [operation]: nulls[operation] })
    for (const flags of tables) {
      const { code, out, err } = await mergeq(`${words} ${flags}`, { answer })
      expect({ code, flags }).toEqual({ code: 0, flags })
      expect(out + err).not.toMatch(/undefined|null|NaN|1970|Invalid|\[object/)
    }
  }

  test.each([
    ...reads.filter(([, operation]) => operation !== 'getQueue'),
    [`flaky list ${org}`, 'flaky-tests/list-failing-tests'] as const,
  ])('%s with every field null', spotless)

  // The heading says "mode null".
  test('queue get with every field null', () => spotless(`queue get ${where}`, 'getQueue'))

  test.each([...reads])('%s keeps every null in JSON', async (words, operation) => {
    const { code, out } = await mergeq(`${words} --json`, {
      answer: serve({ [operation]: nulls[operation] }),
    })
    expect({ code, out }).toEqual({ code: 0, out: lines(nulls[operation]) })
  })

  test('a dash replaces a field that one of several records lacks', async () => {
    const answer = ({ body }: Seen): Answer => ({
      body: JSON.parse(body).pr.number === 7 ? '{"state":"merged","prTitle":"Fix"}' : '{"state":"testing"}',
    })
    const { out } = await mergeq(`pr get 7 8 ${where} --color never`, { answer, ...onTerminal })
    expect(out).toBe(text('PR  STATE      TITLE', '#7  ✓ merged   Fix', '#8  ◐ testing  -'))
  })

  // Tables show a dash, or leave out a column without values; a sheet leaves out the line.
  test.each([
    [`pr get 7 8 ${where}`, 'getSubmittedPullRequest', { state: 'PENDING' }, /#7 +● pending +-\n/],
    [
      `flaky get ${id} ${org}`,
      'flaky-tests/get-test-details',
      { test: { id } },
      /^a test without a name\n {2}id {6}\w{8}-/,
    ],
    [
      `flaky list ${org}`,
      'flaky-tests/list-failing-tests',
      { tests: [{ id }], page: {} },
      /^RATE.*\n +- +- +- /,
    ],
  ])('%s shows a dash for a field that is missing', async (words, operation, document, expected) => {
    const { out } = await mergeq(`${words} --color never`, {
      answer: serve({ [operation]: document }),
      ...onTerminal,
    })
    expect(out).toMatch(expected)
  })

  test('unknown fields are kept on every level', async () => {
    const document = {
      state: 'RUNNING',
      newSetting: { deep: [1, { x: null }] },
      enqueuedPullRequests: [{ prNumber: 7, state: 'TESTING', news: true }],
    }
    const { out } = await mergeq(`queue get ${where} --json`, { answer: serve({ getQueue: document }) })
    expect(out).toBe(lines(document))
  })

  // docs/reference/cli.md, "Lists of failing tests": the window is beside the fields of the service; these
  // are dropped.
  test('and next to the tests of a list', async () => {
    const { out } = await mergeq(`flaky list ${org} --json`, {
      answer: serve({ 'flaky-tests/list-failing-tests': { tests: [], page: { news: 1 }, news: 2 } }),
    })
    expect(JSON.parse(out)).toMatchObject({ tests: [], page: { news: 1 }, news: 2 })
  })

  test.each(['soon', '', '2026-99-99T00:00:00Z', 'Infinity'])(
    'the date %j is shown as it came',
    async date => {
      const pull = serve({ getSubmittedPullRequest: { state: 'testing', stateChangedAt: date } })
      const table = await mergeq(`pr get 7 ${where} --fields stateChangedAt,state`, { answer: pull })
      expect({ code: table.code, out: table.out }).toEqual({ code: 0, out: `${date}\tTESTING\n` })
      const test = {
        id,
        status: { timestamp: date },
        most_common_failures: [{ last_occurrence: date, summary: 's' }],
      }
      const { code, out } = await mergeq(`flaky get ${id} ${org} --color never`, {
        answer: serve({ 'flaky-tests/get-test-details': { test } }),
        ...onTerminal,
      })
      expect(code).toBe(0)
      expect(out).toContain(date)
      expect(out).not.toMatch(/Invalid|NaN|1970/)
    },
  )

  test('states in any case are printed in the spelling of the contract, unknown ones as they are', async () => {
    const document = {
      state: 'switching_modes',
      mode: 'single',
      enqueuedPullRequests: [
        { state: 'not_ready', prNumber: 1 },
        { state: 'Pending_Failure', prNumber: 2 },
        { state: 'TESTS_PASSED', prNumber: 3 },
        { state: 'warming_up', prNumber: 4, other: { state: 'merged' } },
      ],
    }
    const answer = serve({ getQueue: document })
    const { out } = await mergeq(`queue get ${where} --json`, { answer })
    const [first, second, third, fourth] = document.enqueuedPullRequests
    expect(JSON.parse(out)).toEqual({
      ...document,
      state: 'SWITCHING_MODES',
      enqueuedPullRequests: [
        { ...first, state: 'NOT_READY' },
        { ...second, state: 'PENDING_FAILURE' },
        third,
        fourth,
      ],
    })
    const tsv = await mergeq(`queue get ${where}`, { answer })
    expect(tsv.out.split('\n').map(row => row.split('\t').slice(0, 3).join(' '))).toEqual([
      '1 1 NOT_READY',
      '2 2 PENDING_FAILURE',
      '3 3 TESTS_PASSED',
      '4 4 warming_up',
      '',
    ])
  })

  test('an unknown state of a pull request is shown unchanged', async () => {
    const answer = serve({ getSubmittedPullRequest: { state: 'Warming_Up' } })
    for (const flags of ['', '--json', '-o csv', '-o markdown'])
      expect((await mergeq(`pr get 7 ${where} --fields state ${flags}`, { answer })).out).toMatch(
        /Warming\\?_Up/,
      )
  })

  test('the words of a test run stay as they came', async () => {
    const document = {
      status: 'succeeded',
      checkSuites: [{ checkRuns: [{ name: 'build', status: 'COMPLETED', conclusion: 'success' }] }],
    }
    const { out } = await mergeq(`pr testing x ${where} --json`, {
      answer: serve({ getMergeQueueTestingDetails: document }),
    })
    expect(out).toBe(lines(document))
  })
})

test('each format prints a record on a terminal in a way of its own', async () => {
  const outputs = new Map<string, string>()
  for (const format of formats) {
    const { code, out } = await mergeq(`pr get 7 ${where} -o ${format}`, { answer: serve(), ...onTerminal })
    expect({ format, code, sameAs: outputs.get(out) }).toEqual({ format, code: 0, sameAs: undefined })
    expect(out).toMatch(/TESTING|◐ testing/)
    outputs.set(out, format)
  }
})

describe('colour', () => {
  const colored = new RegExp(`${esc}\\[`)
  const cases: readonly (readonly [
    what: string,
    flags: string,
    env: Readonly<Record<string, string>>,
    terminal: boolean,
    expected: boolean,
  ])[] = [
    ['a terminal', '', {}, true, true],
    ['a pipe', '-o table', {}, false, false],
    ['NO_COLOR', '', { NO_COLOR: '1' }, true, false],
    ['an empty NO_COLOR', '', { NO_COLOR: '' }, true, true],
    ['FORCE_COLOR=1 on a pipe', '-o table', { FORCE_COLOR: '1' }, false, true],
    ['FORCE_COLOR=0 on a terminal', '', { FORCE_COLOR: '0' }, true, false],
    ['CLICOLOR_FORCE=1 on a pipe', '-o table', { CLICOLOR_FORCE: '1' }, false, true],
    // As in gh: a value other than 0 forces, 0 does not force and does not forbid.
    ['CLICOLOR_FORCE=0 on a terminal', '', { CLICOLOR_FORCE: '0' }, true, true],
    ['CLICOLOR_FORCE=0 on a pipe', '-o table', { CLICOLOR_FORCE: '0' }, false, false],
    ['TERM=dumb', '', { TERM: 'dumb' }, true, false],
    ['--color always on a pipe', '-o table --color always', {}, false, true],
    ['--color always after NO_COLOR', '--color always', { NO_COLOR: '1' }, true, true],
    ['--color always after TERM=dumb', '--color always', { TERM: 'dumb' }, true, true],
    ['--color never', '--color never', {}, true, false],
    ['--color never after FORCE_COLOR', '--color never', { FORCE_COLOR: '1' }, true, false],
    ['--color auto', '--color auto', {}, true, true],
    ['--color auto with NO_COLOR', '--color auto', { NO_COLOR: '1' }, true, false],
  ]

  for (const [what, flags, env, terminal, expected] of cases) {
    test(`${what} is ${expected ? 'coloured' : 'plain'}`, async () => {
      for (const words of [`flaky list ${org}`, `pr get 7 ${where}`]) {
        const { code, out } = await mergeq(`${words} ${flags}`, { answer: serve(), env, terminal })
        expect({ code, colored: colored.test(out) }).toEqual({ code: 0, colored: expected })
      }
    })
  }

  // docs/reference/cli.md, "Color": no color on a pipe unless --color always or the environment forces it.
  test.each([
    ['--color always', {}],
    ['', { FORCE_COLOR: '1' }],
  ])('tab-separated rows are colored if that is forced: %j %j', async (flags, env) => {
    const { out } = await mergeq(`pr get 7 ${where} ${flags}`, { answer: serve(), env })
    expect(out).toContain(`\t${esc}[33mTESTING${esc}[39m\t`)
  })

  test('output for scripts is never colored', async () => {
    for (const flags of ['--json', '-o ndjson', '-o csv', '-o markdown']) {
      const { out } = await mergeq(`pr get 7 ${where} ${flags} --color always`, {
        answer: serve(),
        terminal: true,
      })
      expect(out).not.toMatch(colored)
    }
  })
})
