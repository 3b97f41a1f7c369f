import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { checkGeneralRules, runAndCheck } from '../support/command-checks.ts'
import type { Answer } from '../support/harness.ts'
import { testWith } from '../support/programs.ts'
import { openTestFolder } from '../support/test-folder.ts'
import { startRawServer, startTestServer } from '../support/test-servers.ts'
import { openTmuxScreen } from '../support/tmux-screen.ts'
import {
  aTest,
  closeLater,
  colors,
  expectPlainText,
  formats,
  id,
  terminalText,
} from '../support/untrusted-text.ts'

const home = closeLater(openTestFolder())

const on = (base: string, line: string) => [...line.split(' '), '--base-url', base]
const answered = (document: unknown): (() => Answer) => {
  const body = JSON.stringify(document)
  return () => ({ body, headers: { 'content-type': 'application/json' } })
}
const listOf = (...names: readonly string[]) => ({ tests: names.map(aTest), page: { next_page_token: '' } })

/**
 * Where text of the service is shown: the command, and an answer that has the text wherever it may have any.
 */
const places: readonly (readonly [line: string, answer: (text: string) => unknown])[] = [
  [
    'pr get 7',
    text => ({ state: text, prTitle: text, priorityName: text, stateChangedAt: text, prNumber: 7 }),
  ],
  [
    'pr testing --pr 7',
    text => ({
      status: text,
      testBranch: text,
      checkSuites: [{ checkRuns: [{ name: text, conclusion: text, url: text }] }],
      statusChecks: [{ context: text, state: text, url: text }],
    }),
  ],
  [
    'queue get',
    text => ({
      state: text,
      mode: text,
      enqueuedPullRequests: [
        { prNumber: 7, prTitle: text, prAuthor: text, state: text, priorityName: text, stateChangedAt: text },
      ],
    }),
  ],
  ['queue update --concurrency 2', text => ({ state: text, [text]: text, requiredStatuses: [text, text] })],
  [
    'flaky list',
    text => ({ ...listOf(text), tests: [{ ...aTest(text), codeowners: [text], status: { value: text } }] }),
  ],
  [
    `flaky get ${id}`,
    text => ({
      test: {
        ...aTest(text),
        status: { value: text, reason: text, timestamp: text },
        most_common_failures: [{ summary: text, occurrence_count: 3, last_occurrence: text }],
        codeowners: [text],
        file_path: text,
        parent: text,
        classname: text,
        html_url: text,
        ticket: { html_url: text },
      },
    }),
  ],
]
/** What a person would not see either, though Unicode calls it a letter or a mark. */
const fillers: Readonly<Record<string, string>> = {
  'a Hangul filler': '\u3164',
  'Hangul fillers of syllables': '\u115F\u1160',
  'a halfwidth Hangul filler': '\uFFA0',
  'a combining grapheme joiner': '\u034F',
  'Khmer inherent vowels': '\u17B4\u17B5',
  'Mongolian variation selectors': '\u180B\u180C\u180D\u180F',
}

describe('control sequences for a terminal', () => {
  const each = Object.entries(terminalText)

  test.each(each)('%s in a name is removed from every format, and the text stays', async (_, evil) => {
    const answer = answered(listOf('first', `before ${evil} after`, 'last'))
    for (const [flags, promised, terminal] of formats) {
      const { out } = await runAndCheck(`flaky list -q ${flags}`, promised, {
        answer,
        terminal,
        columns: 200,
      })
      expectPlainText(out)
      const lines = out.split(/\r?\n/).filter(line => line !== '')
      const heads = flags === '' ? 0 : flags === '-o markdown' ? 2 : 1
      // There are as many rows as items; a terminal has a line below them.
      expect(lines).toHaveLength(heads + 3 + (terminal ? 1 : 0))
      expect(lines[heads + 1]).toMatch(/before .*after/)
    }
  })

  test.each(Object.entries(fillers))('%s in a name is gone, too', async (_, evil) => {
    const { out } = await runAndCheck(
      'flaky list -q --fields name',
      { code: 0 },
      { answer: answered(listOf(`be${evil}fore`)) },
    )
    expect(out).toBe('before\n')
  })

  test.each(each)('%s in a name is escaped in JSON, and parses back', async (_, evil) => {
    const name = `before ${evil} after`
    const answer = answered(listOf(name))
    for (const terminal of [false, true])
      for (const format of ['json', 'ndjson'] as const) {
        const { out } = await runAndCheck(
          `flaky list -q -o ${format}`,
          { code: 0, format },
          { answer, terminal },
        )
        expect(out.replaceAll('\n', '')).not.toMatch(
          /[\0-\x1F\x7F-\x9F\u061C\u200E\u200F\u2028-\u202E\u2066-\u2069]/,
        )
        expect(JSON.stringify(JSON.parse(out))).toContain(JSON.stringify(name))
      }
  })

  test('fields next to a large number are kept as well', async () => {
    const name = Object.values(terminalText).join('')
    const body = JSON.stringify({ ...listOf(name), page: { next_page_token: '', total_rows: 0 } })
    const { out } = await runAndCheck(
      'flaky list -q --json',
      { code: 0, format: 'json' },
      {
        answer: () => ({ body: body.replace('"total_rows":0', '"total_rows":90071992547409931234') }),
      },
    )
    // The members around a list are written anew: there a number is a double.
    expect(out).toContain('90071992547409940000')
    expect(JSON.parse(out).tests[0].name).toBe(name)
  })

  const all = Object.values(terminalText)
  const everything = all.map((evil, index) => `${index}${evil}`).join(' ')
  const everywhere = places.flatMap(([line, answer]) =>
    formats.map(([flags, ...rest]) => [line, flags, answer, ...rest] as const),
  )
  test.each(everywhere)(
    '%s %s shows nothing that acts, wherever the text stands',
    async (line, flags, answer, promised, terminal) => {
      const { out } = await runAndCheck(`${line} -q ${flags}`, promised, {
        answer: answered(answer(everything)),
        terminal,
        columns: 500,
      })
      expectPlainText(out)
      expect(out).not.toMatch(/pwned/)
    },
  )

  test.each(places)('%s --json keeps the original text in any field', async (line, answer) => {
    const { out } = await runAndCheck(
      `${line} -q --json`,
      { code: 0, format: 'json' },
      { answer: answered(answer(everything)) },
    )
    const strings = (value: unknown): readonly string[] =>
      typeof value === 'string'
        ? [value]
        : typeof value === 'object' && value !== null
          ? Object.entries(value).flatMap(([key, one]) => [key, ...strings(one)])
          : []
    // States are printed in the spelling of docs/reference/service.md, "Case of states"; what is none is
    // kept.
    const due = strings(answer(everything)).filter(text => text.length > 100)
    expect(strings(JSON.parse(out)).filter(text => text.length > 100)).toEqual(due)
  })

  test('metrics on a terminal show nothing that acts', async () => {
    const text = all.join('').replaceAll(/[\n\\"]/g, '')
    const { out } = await runAndCheck(
      'metrics',
      { code: 0, format: 'table', colored: true },
      {
        answer: () => ({ body: `mq_depth_current{repo="${text}"} 3\n# HELP ${text}\n` }),
        terminal: true,
        columns: 300,
      },
    )
    expectPlainText(out)
  })

  test('what api passes on is stripped on a terminal, and untouched on a pipe', async () => {
    const answer = () => ({ body: everything, headers: { 'x-evil': '\x9B31m' } })
    const shown = await runAndCheck(
      'api listThings --include',
      { code: 0, format: 'table' },
      { answer, terminal: true },
    )
    expectPlainText(shown.out)
    const piped = await runAndCheck('api listThings', { code: 0, format: 'bytes' }, { answer })
    expect(piped.out).toBe(new TextDecoder().decode(new TextEncoder().encode(everything)))
  })

  const unfinished: readonly (readonly [what: string, opening: string])[] = [
    ['a title', '\x1B]0;'],
    ['a title with C1', '\x9D0;'],
    ['a device control string', '\x1BP'],
    ['an application command with C1', '\x9F'],
  ]
  test.each(unfinished)('%s that never ends does not take the text after it along', async (_, opening) => {
    const { out } = await runAndCheck(
      'flaky list -q --fields name',
      { code: 0 },
      { answer: answered(listOf(`before ${opening} after`)) },
    )
    expect(out).toMatch(/^before .*after\n$/)
  })

  testWith('script')('in a real terminal nothing arrives but our own colours', async () => {
    const service = closeLater(
      await startTestServer({
        answer: () => ({ body: JSON.stringify(listOf(...all.map(evil => `before ${evil} after`))) }),
      }),
    )
    const { code, out } = await home.run(on(service.baseUrl(), 'flaky list -q --limit 0'), { terminal: 120 })
    checkGeneralRules({ code, out, err: '' }, { code: 0, format: 'table', colored: true })
    expectPlainText(out)
    expect(out).toMatch(colors)
    for (const [color] of out.matchAll(colors)) expect(color).toMatch(/^\x1B\[(?:1|22|3\d|39)m$/)
    expect(out.split('\n')).toHaveLength(all.length + 3)
  })

  testWith('tmux')(
    'a real terminal keeps its title, its screen and its cursor, and receives no query',
    async () => {
      const service = closeLater(
        await startTestServer({
          answer: () => ({
            body: JSON.stringify({
              test: { ...aTest(everything), most_common_failures: [{ summary: everything }] },
            }),
          }),
        }),
      )
      const screen = closeLater(
        openTmuxScreen(home, on(service.baseUrl(), `flaky get ${id}`), { shell: '"$@" | tail -n 0; "$@"' }),
      )
      const title = screen.variable('pane_title')
      await screen.waitForLine(/^code 0$/)
      expect(
        ['alternate_on', 'cursor_flag', 'pane_title', 'mouse_any_flag', 'insert_flag'].map(screen.variable),
      ).toEqual(['0', '1', title, '0', '0'])
      expect(screen.lines().at(-1)).toBe('code 0')
      screen.close()
    },
  )
})

describe('text of the service in errors', () => {
  const everything = Object.values(terminalText)
    .map((evil, index) => `${index}${evil}`)
    .join(' ')
  const lines: readonly (readonly [line: string, operation: string])[] = [
    ['pr get 7', 'getSubmittedPullRequest'],
    ['pr testing --pr 7', 'getMergeQueueTestingDetails'],
    ['queue get', 'getQueue'],
    ['metrics', 'getMergeQueueMetrics'],
    ['flaky list', 'flaky-tests/list-failing-tests'],
    [`flaky get ${id}`, 'flaky-tests/get-test-details'],
    ['pr submit 7', 'submitPullRequest'],
    ['pr cancel 7', 'cancelPullRequest'],
    ['pr restart 7', 'restartTestsOnPullRequest'],
    ['pr targets 7 web --sha 4f2a', 'setImpactedTargets'],
    ['queue create', 'createQueue'],
    ['queue update --concurrency 2', 'updateQueue'],
    ['api listThings', 'listThings'],
  ]
  const said = [
    everything,
    JSON.stringify({ error: { message: everything } }),
    JSON.stringify({ message: everything }),
  ]

  test.each(lines)(
    '%s: a 400 is reported in one sentence, without control sequences',
    async (line, operation) => {
      for (const body of said)
        for (const terminal of [false, true]) {
          const answer = () => ({ status: 400, body })
          const { err } = await runAndCheck(
            line,
            { code: 6, names: terminal ? [] : ['(400)'], colored: false },
            { answer, terminal, env: { NO_COLOR: '1' } },
          )
          expect(err).toContain('(400)')
          expectPlainText(err)
          expect(err).not.toMatch(/pwned/)
          expect(err).not.toContain(operation)
          expect(err.match(/^mergeq: /gm)).toHaveLength(1)
        }
    },
  )

  test.each(lines)('%s --json: the message of a 400 is whole and escaped', async (line, operation) => {
    const answer = () => ({ status: 400, body: everything })
    const { err } = await runAndCheck(
      `${line} -o json`,
      { code: 6, format: 'json', names: [operation] },
      { answer },
    )
    expect(JSON.parse(err).error.message).toContain('1\x9B31m')
  })

  const statuses: readonly (readonly [status: number, code: number])[] = [
    [300, 15],
    [401, 4],
    [403, 4],
    [404, 5],
    [409, 6],
    [413, 6],
    [422, 6],
    [451, 6],
    [499, 6],
    [500, 7],
    [503, 7],
    [600, 15],
    [999, 15],
  ]
  test.each(statuses)(
    'a %i is reported without what acts, whatever its headers say',
    async (status, code) => {
      const evil = '\x9B31m\x9D0;pwned\x9C\u00AD'
      const headers = {
        'x-request-id': evil,
        location: `http://evil.test/${evil}`,
        'retry-after': evil,
        'content-type': evil,
        date: evil,
      }
      const answer = () => ({ status, body: everything, headers })
      const { err } = await runAndCheck(
        'pr get 7 --retries 0',
        { code, names: ['getSubmittedPullRequest'] },
        { answer },
      )
      expectPlainText(err)
      expect(err).not.toMatch(/pwned/)
      const { err: json } = await runAndCheck(
        'pr get 7 --retries 0 --json',
        { code, format: 'json' },
        { answer },
      )
      expect(JSON.parse(json).error.requestId).toBe(evil)
    },
  )

  const raws: readonly (readonly [what: string, head: string])[] = [
    ['the reason phrase', 'HTTP/1.1 400 \x1B]0;pwned\x07Bad \x9B31m\r\ncontent-length: 0\r\n\r\n'],
    [
      'the encoding',
      'HTTP/1.1 200 OK\r\ncontent-encoding: \x9B31m\x9D0;pwned\x9C\r\ncontent-length: 2\r\n\r\n{}',
    ],
    [
      'the request id',
      'HTTP/1.1 400 Bad\r\nx-request-id: \x9B31m\x9D0;pwned\x9C\r\ncontent-length: 0\r\n\r\n',
    ],
    ['an answer that is no HTTP', '\x1B]0;pwned\x07\x9B31m\r\n\r\n'],
  ]
  test.each(raws)('%s has nothing that acts', async (_, head) => {
    const service = closeLater(await startRawServer(Buffer.from(head, 'latin1')))
    for (const flags of ['', '-v', '-o json']) {
      const { err, code } = await home.run(on(service.base, `queue get --retries 0 ${flags}`.trim()))
      checkGeneralRules({ out: '', err, code }, { code, ...(flags === '-o json' ? { format: 'json' } : {}) })
      expect([6, 15]).toContain(code)
      expectPlainText(err)
      expect(err).not.toMatch(/[\0-\x09\x0B-\x1F\x7F-\x9F]/)
    }
  })

  test('the message of a service cannot hide that the outcome of a change is unknown', async () => {
    const { err } = await runAndCheck(
      'pr submit 7',
      { code: 11, names: ['submitPullRequest'] },
      {
        answer: () => ({ status: 500, body: 'before \x1B]0;' }),
      },
    )
    expect(err).toMatch(/It is unknown whether the change was applied/)
  })

  test('the message of a service cannot hide that a list is incomplete', async () => {
    const { err } = await runAndCheck(
      'flaky list --retries 0',
      { code: 17 },
      {
        answer: (_, index) =>
          index === 0
            ? { body: JSON.stringify({ tests: [aTest('one')], page: { next_page_token: 'more' } }) }
            : { status: 500, body: 'before \x9D0;' },
      },
    )
    expect(err).toMatch(/^mergeq: .*[Tt]he list is incomplete/m)
  })

  const forged = 'x\nmergeq: all is well\r\nmergeq: #7 MERGED\u2028mergeq: nothing to see'
  const forges: readonly (readonly [
    what: string,
    line: string,
    code: number,
    answer: (index: number) => Answer,
  ])[] = [
    ['a 400', 'pr get 7', 6, () => ({ status: 400, body: forged })],
    ['a 500 of a change, then read back', 'pr submit 7', 11, () => ({ status: 500, body: forged })],
    [
      'a 500 between pages',
      'flaky list --retries 0',
      17,
      index =>
        index === 0
          ? { body: JSON.stringify({ tests: [aTest('one')], page: { next_page_token: 'more' } }) }
          : { status: 500, body: forged },
    ],
    [
      'an error while it waits',
      'pr wait 7 --interval 1s --timeout 2s --retries 0',
      124,
      () => ({ status: 500, body: forged }),
    ],
    [
      'a state while it waits',
      'pr wait 7 --interval 1s --timeout 2s',
      124,
      () => ({ body: JSON.stringify({ state: forged }) }),
    ],
  ]
  const ofOurs = async (line: string, code: number, answer: (index: number) => Answer) => {
    const { err } = await runAndCheck(line, { code }, { answer: (_, index) => answer(index) })
    expect(err).not.toMatch(/^(mergeq: )?(all is well|#7 MERGED|nothing to see)|^mergeq: (all|#7|nothing)/m)
  }
  test.each(forges.slice(0, 1))('%s cannot write a line of its own on standard error (%s)', (_, ...rest) =>
    ofOurs(...rest),
  )
  test.each(forges.slice(1))('%s cannot write a line of its own on standard error (%s)', (_, ...rest) =>
    ofOurs(...rest),
  )
})

describe('cells and rows', () => {
  const rows = ['8\tMERGED', 'name\n8\tMERGED\ttrue', 'a\r\nb', 'a\u2028b\u0085c\vd\fe', '\n\n', '\t\t\t']

  test.each(formats)(
    'a name that imitates a row stays in its cell (%s)',
    async (flags, promised, terminal) => {
      const answer = answered(listOf(...rows.map((name, index) => `${index}${name}.`)))
      const { out } = await runAndCheck(
        `flaky list -q --fields name,failure_rate_last_7d ${flags}`,
        promised,
        {
          answer,
          terminal,
        },
      )
      const lines = out
        .replaceAll(colors, '')
        .split(/\r?\n/)
        .filter(line => line !== '')
      const heads = flags === '' ? 0 : flags === '-o markdown' ? 2 : 1
      expect(lines).toHaveLength(heads + rows.length)
      for (const [index, line] of lines.slice(heads).entries()) {
        expect(line).toMatch(flags === '-o markdown' ? new RegExp(`^\\| ${index}`) : new RegExp(`^${index}`))
        if (flags === '') expect(line.split('\t')).toHaveLength(2)
      }
    },
  )

  const cells: readonly (readonly [name: string, cell: string])[] = [
    ['=1+1', "'=1+1"],
    ['+1', "'+1"],
    ['-1+cmd|x', "'-1+cmd|x"],
    ['@SUM(A1)', "'@SUM(A1)"],
    ['\t=1', "'=1"],
    ['\r=1', "'=1"],
    [' =1', "'=1"],
    ['\u200B=1', "'=1"],
    ['\x1B[0m=1', "'=1"],
    ['say "hi"', '"say ""hi"""'],
    ['a,b', '"a,b"'],
    ['a\nb', 'a b'],
    ['"=1', '"""=1"'],
    ['=1,"2"', '"\'=1,""2"""'],
    ['plain', 'plain'],
  ]
  test.each(cells)('%j is %s in CSV', async (name, cell) => {
    const answer = answered(listOf(name))
    const { out } = await runAndCheck(
      'flaky list -q -o csv --fields name,failure_rate_last_7d',
      { code: 0, format: 'csv' },
      { answer },
    )
    // A defused cell may stand in quotes or not: it is the same cell.
    expect(out.replace(/"('[^",]*)"/, '$1')).toBe(`name,failure_rate_last_7d\r\n${cell},0.5\r\n`)
  })

  test('names of 100 KB are cut with … in a table, and whole in JSON', async () => {
    const names = [
      'x'.repeat(100_000),
      '日'.repeat(50_000),
      'e\u0301'.repeat(50_000),
      `${'\u0301'.repeat(100_000)}y`,
      'z '.repeat(50_000),
    ]
    const answer = answered(listOf(...names))
    const { out } = await runAndCheck(
      'flaky list -q --fields name,quarantined,failure_rate_last_7d --color never',
      { code: 0, format: 'table' },
      {
        answer,
        terminal: true,
      },
    )
    const lines = out.split('\n').slice(1, -1)
    expect(lines).toHaveLength(names.length)
    for (const line of lines) expect(line).toMatch(/…/)
    for (const line of [lines[0], lines[4]]) expect(line?.length).toBeLessThanOrEqual(80)
    const json = await runAndCheck('flaky list -q --json', { code: 0, format: 'json' }, { answer })
    expect(JSON.parse(json.out).tests.map(({ name }: { name: string }) => name)).toEqual(names)
  })

  test('a failure summary of 100 KB is cut on a terminal, and whole in JSON', async () => {
    const summary = 'Expected true to be false. '.repeat(4_000)
    const answer = answered({
      test: { ...aTest('cart'), most_common_failures: [{ summary, occurrence_count: 3 }] },
    })
    const { out } = await runAndCheck(
      `flaky get ${id} --color never`,
      { code: 0, format: 'table' },
      { answer, terminal: true },
    )
    for (const line of out.split('\n')) expect(line.length).toBeLessThanOrEqual(80)
    expect(out).toContain('…')
    const json = await runAndCheck(`flaky get ${id} --json`, { code: 0, format: 'json' }, { answer })
    expect(JSON.parse(json.out).test.most_common_failures[0].summary).toBe(summary)
  })

  /** Clusters and the columns they take. */
  const wide: readonly (readonly [what: string, cluster: string, columns: number])[] = [
    ['Latin', 'x', 1],
    ['wide', '日', 2],
    ['combining', 'e\u0301', 1],
    ['several marks', 'a\u0302\u0323\u0301', 1],
    ['an emoji', '🧪', 2],
    ['a joined family', '👩\u200D👩\u200D👧\u200D👦', 2],
    ['a skin tone', '👍🏽', 2],
    ['a flag', '🇩🇪', 2],
    ['Hebrew', 'ש', 1],
    ['Arabic', 'ع', 1],
    ['beyond the first plane', '𝒳', 1],
    ['fullwidth', 'Ａ', 2],
  ]
  test('names of every width are aligned in 40 columns, and no cluster is split', async () => {
    const names = wide.flatMap(([, cluster]) => [
      cluster.repeat(3),
      cluster.repeat(60),
      `x${cluster.repeat(60)}`,
    ])
    const { out } = await runAndCheck(
      'flaky list -q --limit 0 --fields name,failure_rate_last_7d --color never',
      { code: 0, format: 'table' },
      {
        answer: answered(listOf(...names)),
        terminal: true,
        columns: 40,
      },
    )
    const [head = '', ...lines] = out.split('\n').slice(0, -1)
    // A rate is aligned to the right, below the end of its heading.
    const second = head.length - 3
    expect(lines).toHaveLength(names.length)
    for (const [index, line] of lines.entries()) {
      const [what, cluster, columns] = wide[Math.floor(index / 3)] ?? expect.fail('no row')
      const [, lead = '', body = '', rest = ''] =
        /^(x?)(.*?)(…? +0\.5)$/u.exec(line) ?? expect.fail(`${what}: ${line}`)
      const clusters = cluster === 'x' ? lead.length + body.length : body.length / cluster.length
      expect(Number.isInteger(clusters), `${what}: a cluster is split in ${line}`).toBe(true)
      const isCut = rest.startsWith('…')
      expect(isCut, what).toBe(index % 3 > 0)
      const text = clusters * columns + (cluster === 'x' ? 0 : lead.length) + (isCut ? 1 : 0)
      const gap = rest.replace('…', '').indexOf('0.5')
      expect(text + gap, `${what}: ${line}`).toBe(second)
      expect(second + 3).toBeLessThanOrEqual(40)
    }
  })

  const markdown = [
    'a|b',
    '`code`',
    '<img src=x onerror=y>',
    '[link](http://evil.test)',
    '**bold** _it_ ~~no~~',
    '# head',
    '@someone',
    '\\|',
    '<!-- x',
    'a\n| b | c |',
    '&lt;',
    '![i](x)',
  ]
  test('names with markup stay text in their Markdown cell', async () => {
    const { out } = await runAndCheck(
      'flaky list -q -o markdown --fields name,failure_rate_last_7d',
      { code: 0, format: 'markdown' },
      {
        answer: answered(listOf(...markdown)),
      },
    )
    const lines = out.split('\n').slice(0, -1)
    expect(lines).toHaveLength(markdown.length + 2)
    for (const line of lines.slice(2)) {
      // Two cells: three bars that are not escaped.
      expect(line.replaceAll(/\\[\\|`*_[\]<>~#&!]/g, '').match(/\|/g)).toHaveLength(3)
      const [, text = ''] = /^\| (.*) \| 0\.5 \|$/.exec(line) ?? expect.fail(line)
      expect(text.replaceAll(/\\[\\|`*_[\]<>~#&!]/g, '')).not.toMatch(/[|`*_[\]<>~#]|@\w/)
    }
  })

  test('an entity in a name is not read as one', async () => {
    const { out } = await runAndCheck(
      'flaky list -q -o markdown --fields name',
      { code: 0, format: 'markdown' },
      { answer: answered(listOf('&lt;b&gt;')) },
    )
    expect(out.split('\n')[2]).toMatch(/^\| (\\&|&amp;)lt;b(\\&|&amp;)gt; \|$/)
  })

  testWith('mkfifo').each(['', '--json', '-o csv'])(
    'a file path of the service is never opened or made (%s)',
    async format => {
      const folder = home.path(`f12${format.replaceAll(/\W/g, '')}`)
      mkdirSync(folder)
      // Whoever opened this would wait for a writer.
      execFileSync('mkfifo', [`${folder}/trap`])
      writeFileSync(`${folder}/canary`, 'CANARY-CONTENT')
      for (const file_path of [
        '../../etc/passwd',
        '../../../../../../etc/passwd',
        `${folder}/trap`,
        `${folder}/canary`,
        `${folder}/made`,
        `file://${folder}/canary`,
      ]) {
        const service = closeLater(
          await startTestServer({
            answer: () => ({
              body: JSON.stringify({ test: { ...aTest('cart'), file_path, html_url: file_path } }),
            }),
          }),
        )
        const ran = await home.run(on(service.baseUrl(), `flaky get ${id} ${format}`.trim()))
        checkGeneralRules(ran, {
          code: 0,
          format: format === '--json' ? 'json' : format === '-o csv' ? 'csv' : 'tsv',
        })
        expect(ran.out).toContain(file_path)
        expect(ran.out).not.toMatch(/CANARY-CONTENT|root:/)
      }
      expect(readdirSync(folder).sort()).toEqual(['canary', 'trap'])
    },
  )
})

describe('commands for a CI runner', () => {
  const commands = [
    '::error::pwned',
    '::error file=app.js,line=1,title=x::pwned',
    '::set-output name=result::pwned',
    '::add-mask::pwned',
    '::stop-commands::pwned',
    '::save-state name=x::pwned',
    '::ERROR::pwned',
    '::group::pwned',
    '::debug::pwned',
    '::endgroup::',
    '##[error]pwned',
    '##[group]pwned',
    '##[add-mask]pwned',
    '##vso[task.setvariable variable=x]pwned',
    '##vso[task.complete result=Succeeded;]',
    "##teamcity[buildStatus status='SUCCESS']",
    "##teamcity[setParameter name='x' value='y']",
    ':::error::pwned',
    '::::error::pwned::error::pwned',
    'x ::error::pwned',
    '  ::error::pwned',
    'x\n::error::pwned',
    'x\r\n##vso[task.complete result=Succeeded;]',
    '\u200B::error::pwned',
    '\x1B[0m::error::pwned',
    ':\u200B:error::pwned',
    ':\x1B[0m:error::pwned',
    '#\u200B#vso[task.complete]',
    '#\x07#teamcity[buildStatus]',
    '##\u2060[error]pwned',
  ]
  const withProperties = [
    '##[save-state name=x]pwned',
    '##[set-output name=x;]pwned',
    '##[error file=a.js;line=1]pwned',
    // Cut in a column, the row ends its bracket.
    '##[error]##[error]##vso[a.b]x',
  ]

  /**
   * What GitHub, Azure and TeamCity take as a command: the first on a line of its own, the others anywhere.
   */
  const acts = /^\s*::[\w-]+(?: .*)?::|##\[\w|##vso\[|##teamcity\[/im
  const runners: readonly Readonly<Record<string, string>>[] = [
    { CI: 'true' },
    { GITHUB_ACTIONS: 'true' },
    { TF_BUILD: 'True' },
    { TEAMCITY_VERSION: '2025.07' },
  ]
  const env = { CI: 'true', GITHUB_ACTIONS: 'true' }
  const shown = [
    '--fields prTitle',
    '',
    '-o table --fields prTitle',
    '-o csv --fields prTitle',
    '-o markdown --fields prTitle',
  ]
  const tried = (title: string) => answered({ state: title, prTitle: title, priorityName: title })

  async function nowhere(title: string): Promise<void> {
    const answer = tried(title)
    for (const flags of shown) {
      const format = flags.startsWith('-o csv') ? 'csv' : flags.startsWith('-o') ? 'markdown' : 'tsv'
      const { out, err } = await runAndCheck(`pr get 7 ${flags}`, { code: 0, format }, { answer, env })
      expect(out, flags).not.toMatch(acts)
      expect(err).not.toMatch(acts)
    }
    const onTerminal = await runAndCheck(
      'pr get 7 --color always',
      { code: 0, format: 'table', colored: true },
      { answer, env, terminal: true },
    )
    expect(onTerminal.out).not.toMatch(acts)
    for (const format of ['json', 'ndjson'] as const)
      for (const terminal of [false, true]) {
        const { out } = await runAndCheck(
          `pr get 7 -o ${format}`,
          { code: 0, format },
          { answer, env, terminal },
        )
        expect(out).not.toMatch(acts)
        expect(JSON.parse(out).prTitle).toBe(title)
      }
  }
  test.each(commands)('%j in a title acts in no format, and JSON parses back', nowhere)
  test.each(withProperties)('%j in a title acts in no format, and JSON parses back', nowhere)

  test.each(runners)('%j is enough to say that a runner reads this', async variables => {
    const title = '::error::one ##[error]two ##vso[a.b]three ##teamcity[four]'
    const setting = { answer: tried(title), env: variables }
    const { out } = await runAndCheck('pr get 7 --fields prTitle', { code: 0 }, setting)
    expect(out).not.toMatch(acts)
    const { out: json } = await runAndCheck('pr get 7 --json', { code: 0, format: 'json' }, setting)
    expect(json).not.toMatch(/::error::|##/)
    expect(JSON.parse(json).prTitle).toBe(title)
  })

  test('outside a runner the text stays unchanged', async () => {
    const title = '::error::one ##[error]two ##vso[a.b]three'
    const { out } = await runAndCheck('pr get 7 --fields prTitle', { code: 0 }, { answer: tried(title) })
    expect(out).toBe(`${title}\n`)
    const { out: json } = await runAndCheck(
      'pr get 7 --json --fields prTitle',
      { code: 0, format: 'json' },
      { answer: tried(title) },
    )
    expect(json).toBe(`${JSON.stringify({ prTitle: title })}\n`)
  })

  test.each(places)('%s makes the text harmless in any field', async (line, answer) => {
    const text = commands.join('\n')
    for (const [flags, promised, terminal] of formats) {
      const { out } = await runAndCheck(`${line} -q ${flags}`, promised, {
        answer: answered(answer(text)),
        env,
        terminal,
        columns: 2_000,
      })
      expect(out.replaceAll(colors, '')).not.toMatch(acts)
    }
  })

  test.each(commands)('%j in an error acts on no stream', async text => {
    for (const status of [400, 500])
      for (const flags of ['', '-v', '-o json']) {
        const json = flags === '-o json'
        const { err } = await runAndCheck(
          `pr get 7 --retries 0 ${flags}`,
          {
            code: status === 400 ? 6 : 7,
            names: [flags === '-v' ? 'getSubmittedPullRequest: ' : 'getSubmittedPullRequest'],
            ...(json ? { format: 'json' } : {}),
          },
          { answer: () => ({ status, body: text }), env },
        )
        expect(err).not.toMatch(acts)
      }
  })

  test('a command that is parted over two cells does not act', async () => {
    const answer = answered({ state: '##[error x', prTitle: 'y]pwned' })
    const { out } = await runAndCheck('pr get 7 --fields state,prTitle', { code: 0 }, { answer, env })
    expect(out).not.toMatch(/##\[/)
  })

  const progress: readonly (readonly [line: string, answered: number, refused: number])[] = [
    ['pr wait 7 --interval 1s --timeout 1s', 124, 124],
    ['pr submit 7', 0, 11],
  ]
  test.each(progress)('%s reports its progress without control sequences', async (line, good, bad) => {
    const text = commands.join('\n')
    for (const [code, answer] of [
      [good, tried(text)],
      [bad, () => ({ status: 500, body: text })],
    ] as const) {
      const { out, err } = await runAndCheck(`${line} --retries 1`, { code }, { answer, env })
      expect(out + err).not.toMatch(acts)
    }
  })

  test('the built program does the same', async () => {
    const title = '::error::one ##[error]two'
    const service = closeLater(
      await startTestServer({
        answer: () => ({ body: JSON.stringify({ state: 'TESTING', prTitle: title }) }),
      }),
    )
    const tsv = await home.run(on(service.baseUrl(), 'pr get 7 --fields prTitle'), {
      env: { GITHUB_ACTIONS: 'true' },
    })
    checkGeneralRules(tsv, { code: 0 })
    expect(tsv.out).not.toMatch(acts)
    const json = await home.run(on(service.baseUrl(), 'pr get 7 --json'), { env: { GITHUB_ACTIONS: 'true' } })
    checkGeneralRules(json, { code: 0, format: 'json' })
    expect(json.out).not.toMatch(/::error|##\[/)
    expect(JSON.parse(json.out).prTitle).toBe(title)
  })
})
