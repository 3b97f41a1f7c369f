import fc from 'fast-check'
import { beforeAll, describe, expect, test } from 'vitest'
import type { FormatThatPrints } from '../../src/output/output-formats.ts'
// Loaded before its test: it is shown while a service takes its time.
import '../../src/output/spinner.ts'
import { anyCharacter } from '../support/any-character.ts'
import { askingCommands, askingFiles, askingLines } from '../support/asking-commands.ts'
import { closeAfterTests } from '../support/close-after-tests.ts'
import { type ExpectedResult, runAndCheck } from '../support/command-checks.ts'
import {
  type Answer,
  mergeq,
  queueEnv,
  type Seen,
  type Service,
  type Setting,
  serveScript,
} from '../support/harness.ts'
import { slowTest } from '../support/sample.ts'
import { startRawServer } from '../support/service.ts'
import {
  answerOf,
  controlCharacters,
  expectHarmless,
  operation,
  record,
  token,
  tokens,
  untrustedText,
  untrustedTexts,
} from '../support/untrusted-text.ts'

const closeLater = closeAfterTests()

const aTest = (name: string, index = 0) => ({ id: `id-${index}`, name, failure_rate_last_7d: 0.5 })
const listOf = (...names: readonly string[]) => ({ tests: names.map(aTest), page: { next_page_token: '' } })
const answered = (document: unknown) => (): Answer => ({ body: JSON.stringify(document) })

const colors = /\x1B\[[\d;]*m/g
/** Nobody sees these; the joiners of emoji are left out. */
const invisible = /(?!\u200C|\u200D|[\t\r\n])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cs}\p{Cn}]/u
const expectPlainText = (text: string) => expect(text.replaceAll(colors, '')).not.toMatch(invisible)

/** A format for people or for a spreadsheet; `heads` lines stand above its rows. */
interface Format {
  readonly flags: string
  readonly due: ExpectedResult
  readonly terminal?: boolean
  readonly heads: number
}
const onPipe: Format = { flags: '', due: { code: 0, format: 'tsv' }, heads: 0 }
const onTerminal: Format = {
  flags: '--color always',
  due: { code: 0, format: 'table', colored: true },
  terminal: true,
  heads: 1,
}
const formatsOfRows = {
  table: { flags: '-o table', due: { code: 0, format: 'table' }, heads: 1 },
  csv: { flags: '-o csv', due: { code: 0, format: 'csv' }, heads: 1 },
  markdown: { flags: '-o markdown', due: { code: 0, format: 'markdown' }, heads: 2 },
} satisfies Record<FormatThatPrints<'rows'>, Format>
const { table: drawn, csv: inCsv, markdown: inMarkdown } = formatsOfRows
const formats: readonly Format[] = [onPipe, onTerminal, ...Object.values(formatsOfRows)]
const jsonFormats = ['json', 'ndjson'] as const

/** The names of the tests in a JSON list, or in a line of JSON for each. */
function namesIn(out: string, format: (typeof jsonFormats)[number]): readonly string[] {
  const tests: readonly { readonly name: string }[] =
    format === 'json'
      ? JSON.parse(out).tests
      : out
          .trim()
          .split('\n')
          .map(text => JSON.parse(text))
  return tests.map(({ name }) => name)
}

/** Runs a command line in a format; what it prints is plain but for our own colors. */
async function show(line: string, { flags, due, terminal = false }: Format, setting: Setting) {
  const { out } = await runAndCheck(`${line} -q ${flags}`, due, { terminal, columns: 200, ...setting })
  expectPlainText(out)
  for (const [color] of out.matchAll(colors)) expect(color).toMatch(/^\x1B\[(?:1|2|22|3\d|39)m$/)
  return out.replaceAll(colors, '')
}

/** The rows of a list of tests with these names: the name, or the name and a rate. */
async function rowsOf(names: readonly string[], format: Format, fields = 'name', setting: Setting = {}) {
  const answer = answered(listOf(...names))
  const out = await show(`flaky list --limit 1000 --fields ${fields}`, format, { answer, ...setting })
  return out.split(/\r?\n/).slice(format.heads, -1)
}
const withRate = 'name,failure_rate_last_7d'

describe('text that acts on a terminal or hides something', () => {
  const names = untrustedTexts.map(([text]) => `a${text}b`)
  const shown = untrustedTexts.map(([, text]) => `a${text}b`)

  test('leaves only what is visible in every format', async () => {
    for (const format of [onPipe, onTerminal, drawn, inCsv])
      expect(await rowsOf(names, format)).toEqual(shown)
    const rows = await rowsOf(names, inMarkdown)
    expect(rows).toEqual(shown.map(text => `| ${text.replaceAll(/[[\]]/g, '\\$&')} |`))
  })

  test('is whole and escaped in JSON, also next to a number that is written anew', async () => {
    const document = JSON.stringify({ ...listOf(...names), more: 0 })
    const answer = () => ({ body: document.replace('"more":0', '"more":90071992547409931234') })
    for (const terminal of [false, true])
      for (const format of jsonFormats) {
        const { out } = await runAndCheck(
          `flaky list -q -o ${format}`,
          { code: 0, format },
          { answer, terminal },
        )
        expect(out).not.toMatch(controlCharacters)
        expect(namesIn(out, format)).toEqual(names)
      }
  })

  test('is stripped from what api passes on to a terminal, and untouched on a pipe', async () => {
    const answer = () => ({ body: untrustedText, headers: { 'x-evil': '\x9B31m' } })
    const line = 'api listThings --include'
    const { out } = await runAndCheck(line, { code: 0, format: 'table' }, { answer, terminal: true })
    expectPlainText(out)
    const piped = await runAndCheck('api listThings', { code: 0, format: 'bytes' }, { answer })
    expect(piped.out).toBe(Buffer.from(untrustedText).toString())
  })
})

describe('any text', () => {
  let service: Service
  let body = ''
  beforeAll(async () => {
    service = closeLater(await serveScript(() => ({ body })))
  })

  /** Every format of a queue whose titles are these. */
  async function hold(titles: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<void> {
    const setting = { env: { MERGEQ_BASE_URL: service.baseUrl, ...env } }
    const { out } = await runAndCheck('queue get --json', { code: 0, format: 'json' }, setting)
    expect(JSON.parse(out).enqueuedPullRequests.map(({ prTitle }: { prTitle: string }) => prTitle)).toEqual(
      titles,
    )
    for (const format of formats) {
      const lines = (await show('queue get', format, setting)).split(/\r?\n/)
      // A table has a line above it that names the queue.
      const heads = format.heads + (format === onTerminal || format === drawn ? 1 : 0)
      expect(lines).toHaveLength(heads + titles.length + 1)
    }
  }

  /** Some hundred command lines on a busy machine. */
  const slow = { timeout: 120_000 }
  const units = fc.array(fc.nat(0xffff), { maxLength: 30 }).map(codes => String.fromCharCode(...codes))
  const pieces = ['::error::', '##[x]', 'x', ' ', '\n', '\t', '"', '\\', '=', '|']
  const nasty = fc
    .array(fc.constantFrom(...untrustedTexts.map(([text]) => text), ...pieces), { maxLength: 8 })
    .map(parts => parts.join(''))
  const title = fc.oneof(fc.string({ unit: anyCharacter, maxLength: 30 }), units, nasty)

  test(
    'any text as a title is plain without control characters, and JSON parses back to it',
    slow,
    async () => {
      const titlesOf = fc.array(title, { minLength: 1, maxLength: 20 })
      await fc.assert(
        fc.asyncProperty(titlesOf, fc.boolean(), async (titles, inCi) => {
          const enqueuedPullRequests = titles.map((prTitle, index) => ({ prNumber: index + 1, prTitle }))
          body = JSON.stringify({ state: 'RUNNING', enqueuedPullRequests })
          await hold(titles, inCi ? { CI: 'true' } : {})
        }),
        { numRuns: 10 },
      )
    },
  )
})

/** A command line for a command that asks the service. */
const lineOf = (command: string) => `${command} ${askingLines[command]}`

/** On a pipe they pass the bytes of the service on. */
const passingOn = ['api', 'metrics']

/** Runs a command line; neither stream holds anything that acts or a piece of the token. */
async function look(line: string, more: Setting) {
  const setting = {
    files: askingFiles,
    input: token,
    ...more,
    env: { ...queueEnv, MERGEQ_TOKEN: token, ...more.env },
  }
  const { out, err } = await mergeq(line, setting)
  expectHarmless(out, `${line}: standard output`)
  expectHarmless(err, `${line}: standard error`)
  return { out, err }
}

/** States and numbers as they should be, so that the work goes on. */
const calm =
  (text: string) =>
  (seen: Seen): Answer => {
    const { body = '', headers = {} } = answerOf(text)(seen)
    if (!body.startsWith('{')) return { body, headers }
    const document = JSON.parse(body)
    const state = operation(seen).endsWith('Queue') ? 'RUNNING' : 'TESTING'
    if (document.state) Object.assign(document, { state, prNumber: 7 })
    if (document.status) document.status = 'FAILED'
    return { body: JSON.stringify(document), headers }
  }

describe('every command that asks the service prints nothing that acts, and no token', () => {
  test('every one has a line', () => {
    expect(Object.keys(askingLines).sort()).toEqual([...askingCommands].sort())
  })

  test.each(askingCommands)('`%s`: in every field of every answer', async command => {
    const line = lineOf(command)
    const all = `${tokens} ${untrustedText}`
    await look(line, { answer: answerOf(all), terminal: true, columns: 50 })
    await look(line, { answer: answerOf(token), terminal: true, columns: 200 })
    await look(`${line} -v`, { answer: calm(all), terminal: true })
    for (const flags of passingOn.includes(command) ? [] : ['', '--json'])
      await look(`${line} ${flags}`, { answer: answerOf(all) })
  })

  test.each(askingCommands)('`%s`: in refusals', async command => {
    const evil = `${token}\x9B31m\x9D0;pwned\x9C\u00AD`
    const headers = {
      'x-request-id': evil,
      location: `https://${encodeURIComponent(token)}.test/${evil}`,
      'retry-after': evil,
      'content-type': evil,
      date: evil,
    }
    const text = `${tokens} ${untrustedText}`
    for (const body of [text, JSON.stringify({ error: { message: text } })])
      for (const status of [400, 401, 404, 503, 307]) {
        const answer = () => ({ status, headers, body })
        const terminal = body !== text || passingOn.includes(command)
        await look(`${lineOf(command)} --retries 0`, { answer, terminal })
      }
  })

  // A spinner is shown in real time.
  slowTest('in what the spinner of a wait shows', async () => {
    const { err } = await look('pr wait 7 8 --timeout 3s --interval 1s', {
      async answer(seen, index) {
        if (index > 1) await new Promise(resolve => setTimeout(resolve, 350))
        const entry = { ...record(untrustedText), state: 'TESTING', prNumber: tokens }
        return operation(seen) === 'getQueue'
          ? answered({ state: 'RUNNING', enqueuedPullRequests: [entry] })()
          : answerOf(`${tokens} ${untrustedText}`)(seen)
      },
      terminal: true,
      redraws: true,
      env: { TERM: 'xterm', CI: '' },
    })
    expect(err).toMatch(/\x1B\[\?2026h.*[⠀-⣿\-\\|/]/)
  })
})

describe('text of the service in errors', () => {
  test.each(['pr submit 7', 'api listThings'])('%s: a 400 is reported whole in JSON', async line => {
    const evil = '\x9B31m\x9D0;pwned\x9C\u00AD'
    const answer = () => ({ status: 400, body: untrustedText, headers: { 'x-request-id': evil } })
    const { code, out, err } = await mergeq(`${line} --json`, { answer, env: queueEnv })
    // `api` prints the body of a refusal as it came, as curl does.
    expect([code, out.includes('1\x9B31m')]).toEqual([6, line.startsWith('api')])
    const { message, requestId } = JSON.parse(err).error
    expect({ message, requestId }).toEqual({ message: expect.stringContaining('1\x9B31m'), requestId: evil })
  })

  test.each([
    ['the reason phrase', 6, 'HTTP/1.1 400 \x1B]0;pwned\x07Bad \x9B31m\r\ncontent-length: 0\r\n\r\n'],
    [
      'the encoding',
      15,
      'HTTP/1.1 200 OK\r\ncontent-encoding: \x9B31m\x9D0;pwned\x9C\r\ncontent-length: 2\r\n\r\n{}',
    ],
    ['an answer that is no HTTP', 15, '\x1B]0;pwned\x07\x9B31m\r\n\r\n'],
  ])('%s has nothing that acts', async (_, code, head) => {
    const { base, close } = await startRawServer(Buffer.from(head, 'latin1'))
    for (const flags of ['', '-v', '-o json']) {
      const format = flags === '-o json' ? 'json' : 'tsv'
      const line = `queue get --retries 0 ${flags}`
      const { err } = await runAndCheck(line, { code, format }, { env: { MERGEQ_BASE_URL: base } })
      expectPlainText(err)
    }
    await close()
  })

  const forged = 'x\nmergeq: all is well\r\nmergeq: #7 MERGED\u2028mergeq: nothing to see \x9D0;'
  const failing = () => ({ status: 500, body: forged })
  const state = answered({ state: forged })
  const secondPage = (_: Seen, index: number) =>
    index > 0 ? failing() : answered({ tests: [aTest('one')], page: { next_page_token: 'more' } })()
  test.each([
    ['a 400', 'pr get 7', 6, () => ({ status: 400, body: forged }), /rejected the request/],
    ['a 500 of a change', 'pr submit 7', 11, failing, /It is unknown whether the change was applied/],
    ['a 500 between pages', 'flaky list --retries 0', 17, secondPage, /[Tt]he list is incomplete/],
    ['an error in a wait', 'pr wait 7 --interval 1s --timeout 2s', 124, failing, /\(500\)/],
    ['a state in a wait', 'pr wait 7 --interval 1s --timeout 2s', 124, state, /nknown state/],
  ])(
    '%s cannot write a line of its own on standard error, or hide ours',
    async (_, line, code, answer, ours) => {
      const { err } = await runAndCheck(line, { code }, { answer })
      expect(err).not.toMatch(/^(mergeq: )?(all is well|#7 MERGED|nothing to see)/m)
      expect(err).toMatch(ours)
    },
  )
})

describe('cells and rows', () => {
  test('a cell in CSV is quoted where it must be, and no formula', async () => {
    const cells: Readonly<Record<string, string>> = {
      '=1+1': `"'=1+1"`,
      '+1': `"'+1"`,
      '-1+cmd|x': `"'-1+cmd|x"`,
      '@SUM(A1)': `"'@SUM(A1)"`,
      '＝1+1': `"'＝1+1"`,
      '＋1': `"'＋1"`,
      '－1': `"'－1"`,
      '＠SUM(A1)': `"'＠SUM(A1)"`,
      'a＝b': 'a＝b',
      '\t=1': `"'=1"`,
      '\r=1': `"'=1"`,
      ' =1': `"'=1"`,
      '\u200B=1': `"'=1"`,
      '\x1B[0m=1': `"'=1"`,
      'say "hi"': '"say ""hi"""',
      'a,b': '"a,b"',
      'a\nb': 'a b',
      '"=1': '"""=1"',
      '=cmd|"/c calc"!A1': `"'=cmd|""/c calc""!A1"`,
      ' a': 'a',
      'a=b': 'a=b',
    }
    expect(await rowsOf(Object.keys(cells), inCsv)).toEqual(Object.values(cells))
  })

  test.each([
    ['-12.5', '-12.5'],
    ['["-1+1"]', `"'-1+1"`],
    ['"-12.5"', `"'-12.5"`],
  ])('in CSV a negative number stays a number, and a formula becomes text: %s', async (value, cell) => {
    const answer = () => ({ body: `{"state":"TESTING","prTitle":${value}}` })
    const { out } = await runAndCheck('pr get 7 --fields prTitle -o csv', inCsv.due, { answer })
    expect(out).toBe(`prTitle\r\n${cell}\r\n`)
  })

  test('a name with markup stays text in its Markdown cell, and mentions no user', async () => {
    const cells: Readonly<Record<string, string>> = {
      'a|b': 'a\\|b',
      '`code`': '\\`code\\`',
      '<img src=x>': '\\<img src=x\\>',
      '[link](http://evil.test)': '\\[link\\](http://evil.test)',
      '*a* _b_ ~c~': '\\*a\\* \\_b\\_ \\~c\\~',
      '# head #7': '\\# head \\#7',
      '@someone': '@\u200Csomeone',
      'a\\|b': 'a\\\\\\|b',
      '<!-- x': '\\<!-- x',
      'a\n| b | c |': 'a \\| b \\| c \\|',
      '&lt;b&gt;': '\\&lt;b\\&gt;',
      '![i](x)': '!\\[i\\](x)',
    }
    const rows = await rowsOf(Object.keys(cells), inMarkdown)
    expect(rows).toEqual(Object.values(cells).map(cell => `| ${cell} |`))
  })

  /** Clusters and the columns they take. */
  const wide: readonly (readonly [cluster: string, columns: number])[] = [
    ['x', 1],
    ['日', 2],
    ['e\u0301', 1],
    ['👩\u200D👩\u200D👧\u200D👦', 2],
    ['👍🏽', 2],
    ['🇩🇪', 2],
    ['ש', 1],
    ['𝒳', 1],
    ['Ａ', 2],
  ]
  test('names of every width are aligned in 40 columns, and no cluster is split', async () => {
    const names = wide.flatMap(([cluster]) => [3, 60].map(times => `-${cluster.repeat(times)}`))
    const rows = await rowsOf(names, { ...onTerminal, heads: 0 }, withRate, { columns: 40 })
    // A rate is aligned to the right, below the end of its heading.
    const second = (rows[0]?.length ?? 0) - 3
    expect(second + 3).toBeLessThanOrEqual(40)
    expect(rows).toHaveLength(1 + names.length)
    for (const [index, row] of rows.slice(1).entries()) {
      const [cluster, columns] = wide[Math.floor(index / 2)] ?? expect.fail('no row')
      const [, body = '', cut = '', gap = ''] = /^-(.*?)(…?)( +)0\.5$/u.exec(row) ?? expect.fail(row)
      const clusters = body.length / cluster.length
      expect(body, 'no cluster is split').toBe(cluster.repeat(clusters))
      expect(cut, 'only a long name is cut').toBe(index % 2 === 0 ? '' : '…')
      expect(1 + clusters * columns + cut.length + gap.length, row).toBe(second)
    }
  })
})

describe('commands for a CI runner', () => {
  const commands = [
    '::error file=app.js,line=1,title=x::stop',
    '::ERROR::stop',
    '::endgroup::',
    '##[error]stop',
    '##[error file=a.js;line=1]stop',
    // Cut in a column, the row ends its bracket.
    '##[error]##[error]##vso[a.b]x',
    '##vso[task.setvariable variable=x]stop',
    "##teamcity[setParameter name='x' value='y']",
    '::::error::stop::error::stop',
    '  ::error::stop',
    'x ::set-output name=x::stop',
    'x\n::error::stop',
    'x\r\n##vso[task.complete result=Succeeded;]',
    '\x1B[0m::error::stop',
    ':\u200B:error::stop',
    ':\x1B[0m:error::stop',
    '#\x07#teamcity[buildStatus]',
    '##\u2060[error]stop',
  ]
  /** What GitHub, Azure and TeamCity take as a command: the first on a line of its own, the others anywhere. */
  const acts = /^\s*::[\w-]+(?: .*)?::|##\[\w|##vso\[|##teamcity\[/im
  const env = { CI: 'true', GITHUB_ACTIONS: 'true' }

  test('act in no format as a name, and JSON parses back to it', async () => {
    for (const format of formats)
      for (const columns of [20, 200])
        expect((await rowsOf(commands, format, 'name', { env, columns })).join('\n')).not.toMatch(acts)
    const answer = (_: Seen, index: number) => {
      const half = commands.length / 2
      const tests = commands.map(aTest).slice(index * half, (index + 1) * half)
      const page = { next_page_token: index === 0 ? 'more' : '' }
      return answered({ tests, page, more: { '::group::': '::error::x' } })()
    }
    for (const terminal of [false, true])
      for (const format of jsonFormats) {
        const line = `flaky list -q -o ${format}`
        const { out } = await runAndCheck(line, { code: 0, format }, { answer, env, terminal })
        expect(out).not.toMatch(/::(?:error|group)|##(?:\[|vso|team)/i)
        expect(namesIn(out, format)).toEqual(commands)
        if (format === 'json') expect(JSON.parse(out).more).toEqual({ '::group::': '::error::x' })
      }
  })

  test.each(askingCommands.filter(command => !passingOn.includes(command)))(
    '`%s` prints none from any field',
    async command => {
      const line = lineOf(command)
      const failing = () => ({ status: 500, body: commands.join('\n') })
      for (const answer of [calm(commands.join('\n')), failing]) {
        const { out, err } = await look(`${line} --retries 0`, { answer, env })
        expect(out + err).not.toMatch(acts)
      }
    },
  )

  test.each(commands)('%j in an error acts on no stream', async body => {
    for (const flags of ['-v', '-o json']) {
      const { err } = await mergeq(`pr get 7 ${flags}`, {
        answer: () => ({ status: 400, body }),
        env: { ...queueEnv, ...env },
      })
      expect(err).toContain('400')
      expect(err).not.toMatch(acts)
    }
  })

  test.each([
    { CI: 'true' },
    { GITHUB_ACTIONS: 'true' },
    { TF_BUILD: 'True' },
    { TEAMCITY_VERSION: '2025.07' },
  ])('%j is enough to say that a runner reads this', async variables => {
    const rows = await rowsOf(['::error::one ##[error]two ##vso[a.b]three'], onPipe, 'name', {
      env: variables,
    })
    expect(rows[0]).toMatch(/one.*two.*three/)
    expect(rows[0]).not.toMatch(acts)
  })

  test('stay unchanged outside a runner', async () => {
    const name = '::error::one ##[error]two ##vso[a.b]three'
    expect(await rowsOf([name], onPipe)).toEqual([name])
    const { out } = await runAndCheck(
      'flaky list -q -o ndjson --fields name',
      { code: 0, format: 'ndjson' },
      { answer: answered(listOf(name)) },
    )
    expect(out).toBe(`${JSON.stringify({ name })}\n`)
  })

  test('do not act where they are parted over two cells', async () => {
    const answer = answered({ state: '##[error x', prTitle: 'y]pwned' })
    const { out } = await runAndCheck('pr get 7 --fields state,prTitle', { code: 0 }, { answer, env })
    expect(out).not.toMatch(/##\[/)
  })
})
