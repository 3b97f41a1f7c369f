import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { MergeqError } from '../../src/base/errors.ts'
import { renderReport } from '../../src/commands/flaky/report.ts'
import { type FormatOfRows, outputFormats } from '../../src/output/output-formats.ts'
// Loaded before its test: it is shown while a service takes its time.
import '../../src/output/spinner.ts'
import { anyCharacter } from '../support/any-character.ts'
import { askingCommands, askingFiles, askingLines } from '../support/asking-commands.ts'
import { type ExpectedResult, runAndCheck } from '../support/command-checks.ts'
import { allCommands, formatFlags } from '../support/commands.ts'
import {
  type Answer,
  mergeq,
  noon,
  type Outcome,
  queueEnv,
  type Seen,
  type Setting,
} from '../support/harness.ts'
import {
  actingTexts,
  actsOnRunner,
  answerOf,
  controlCharacters,
  csvCells,
  expectHarmless,
  hostileText,
  markdownCells,
  operation,
  record,
  runnerCommands,
  token,
  tokens,
} from '../support/hostile-texts.ts'
import { clientOf } from '../support/library-client.ts'
import { changeExamples, operationExamples, testId } from '../support/operations.ts'
import { sampleOf, slowTest } from '../support/sample.ts'
import { startRawServer } from '../support/service.ts'

const aTest = (name: string, index = 0) => ({ id: `id-${index}`, name, failure_rate_last_7d: 0.5 })
const listOf = (...names: readonly string[]) => ({ tests: names.map(aTest), page: { next_page_token: '' } })
const answered = (document: unknown) => (): Answer => ({ body: JSON.stringify(document) })
const inCi = { CI: 'true', GITHUB_ACTIONS: 'true' }

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
} satisfies Record<FormatOfRows, Format>
const { table: drawn, csv: inCsv, markdown: inMarkdown } = formatsOfRows
const formats: readonly Format[] = [onPipe, onTerminal, ...Object.values(formatsOfRows)]
const jsonFormats = ['json', 'ndjson'] as const

/** The names of the tests in a JSON list, or in a line of JSON for each. */
function namesIn(out: string, format: (typeof jsonFormats)[number]): readonly string[] {
  const lines = format === 'json' ? JSON.parse(out).tests : out.trim().split('\n')
  return lines.map((line: string | { readonly name: string }) =>
    typeof line === 'string' ? JSON.parse(line).name : line.name,
  )
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

const actingNames = actingTexts.map(([text]) => `a${text}b`)
const shownNames = actingTexts.map(([, text]) => `a${text}b`)

describe('a name is text in every format', () => {
  test.each([
    ['what acts on a terminal, on a pipe', onPipe, actingNames, shownNames],
    ['what acts on a terminal, on a terminal', onTerminal, actingNames, shownNames],
    ['what acts on a terminal, in a table', drawn, actingNames, shownNames],
    ['what acts on a terminal, in CSV', inCsv, actingNames, shownNames],
    [
      'what acts on a terminal, in Markdown',
      inMarkdown,
      actingNames,
      shownNames.map(text => text.replaceAll(/[[\]]/g, '\\$&')),
    ],
    ['formulas and quotes in CSV', inCsv, Object.keys(csvCells), Object.values(csvCells)],
    ['markup in Markdown', inMarkdown, Object.keys(markdownCells), Object.values(markdownCells)],
  ])('%s', async (_, format, names, cells) => {
    const shown = format === inMarkdown ? cells.map(cell => `| ${cell} |`) : cells
    expect(await rowsOf(names, format)).toEqual(shown)
  })

  test('commands for a CI runner act in no format, whatever is cut', async () => {
    for (const format of formats)
      for (const columns of [20, 200]) {
        const rows = await rowsOf(runnerCommands, format, 'name', { env: inCi, columns })
        expect(rows.join('\n')).not.toMatch(actsOnRunner)
      }
  })

  test('JSON is whole and escaped, in a CI job and next to a number that is written anew', async () => {
    const names = [...actingNames, ...runnerCommands]
    const more = { '::group::': '::error::x', number: 0 }
    const document = JSON.stringify({ ...listOf(...names), more })
    const answer = () => ({ body: document.replace('"number":0', '"number":90071992547409931234') })
    for (const terminal of [false, true])
      for (const format of jsonFormats) {
        const setting = { answer, terminal, env: inCi }
        const { out } = await runAndCheck(`flaky list -q -o ${format}`, { code: 0, format }, setting)
        expect(out).not.toMatch(controlCharacters)
        expect(out).not.toMatch(/::(?:error|group)|##(?:\[|vso|team)/i)
        expect(namesIn(out, format)).toEqual(names)
        if (format === 'json') expect(JSON.parse(out).more).toMatchObject({ '::group::': '::error::x' })
      }
  })

  test('it is stripped from what api passes on to a terminal, and untouched on a pipe', async () => {
    const answer = () => ({ body: hostileText, headers: { 'x-evil': '\x9B31m' } })
    const line = 'api listThings --include'
    const { out } = await runAndCheck(line, { code: 0, format: 'table' }, { answer, terminal: true })
    expectPlainText(out)
    const piped = await runAndCheck('api listThings', { code: 0, format: 'bytes' }, { answer })
    expect(piped.out).toBe(Buffer.from(hostileText).toString())
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

  const units = fc.array(fc.nat(0xffff), { maxLength: 30 }).map(codes => String.fromCharCode(...codes))
  const pieces = ['::error::', '##[x]', 'x', ' ', '\n', '\t', '"', '\\', '=', '|']
  const nasty = fc
    .array(fc.constantFrom(...actingTexts.map(([text]) => text), ...pieces), { maxLength: 8 })
    .map(parts => parts.join(''))
  const title = fc.oneof(fc.string({ unit: anyCharacter, maxLength: 30 }), units, nasty)

  // Some hundred command lines on a busy machine.
  test('any title is a row of plain text, and JSON parses back to it', { timeout: 120_000 }, async () => {
    const titlesOf = fc.array(title, { minLength: 1, maxLength: 20 })
    await fc.assert(
      fc.asyncProperty(titlesOf, fc.boolean(), async (titles, isCi) => {
        const enqueuedPullRequests = titles.map((prTitle, index) => ({ prNumber: index + 1, prTitle }))
        const setting = {
          answer: answered({ state: 'RUNNING', enqueuedPullRequests }),
          env: isCi ? { CI: 'true' } : {},
        }
        const { out } = await runAndCheck('queue get --json', { code: 0, format: 'json' }, setting)
        expect(JSON.parse(out)).toMatchObject({ enqueuedPullRequests })
        for (const format of formats) {
          const lines = (await show('queue get', format, setting)).split(/\r?\n/)
          // A table has a line above it that names the queue.
          const heads = format.heads + (format === onTerminal || format === drawn ? 1 : 0)
          expect(lines).toHaveLength(heads + titles.length + 1)
        }
      }),
      { numRuns: 10 },
    )
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
    const fields = 'name,failure_rate_last_7d'
    const rows = await rowsOf(names, { ...onTerminal, heads: 0 }, fields, { columns: 40 })
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

/** A command line for a command that asks the service. */
const lineOf = (command: string) => `${command} ${askingLines[command]}`

/** On a pipe they pass the bytes of the service on. */
const passingOn = ['api', 'metrics']

/** Runs a command line; neither stream holds anything that acts or a piece of the token. */
async function look(line: string, more: Setting) {
  const env = { ...queueEnv, MERGEQ_TOKEN: token, ...more.env }
  const { out, err } = await mergeq(line, { files: askingFiles, input: token, ...more, env })
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

test('each line is about a command that asks the service', () => {
  expect(Object.keys(askingLines).sort()).toEqual([...askingCommands].sort())
})

describe.each(askingCommands)('`%s` prints nothing that acts, and no token', command => {
  const line = lineOf(command)
  const all = `${tokens} ${hostileText}`

  test('in every field of every answer', async () => {
    await look(line, { answer: answerOf(all), terminal: true, columns: 50 })
    await look(line, { answer: answerOf(token), terminal: true, columns: 200 })
    await look(`${line} -v`, { answer: calm(all), terminal: true })
    for (const flags of passingOn.includes(command) ? [] : ['', '--json'])
      await look(`${line} ${flags}`, { answer: answerOf(all) })
  })

  test('in refusals', async () => {
    const evil = `${token}\x9B31m\x9D0;pwned\x9C\u00AD`
    const headers = {
      'x-request-id': evil,
      location: `https://${encodeURIComponent(token)}.test/${evil}`,
      'retry-after': evil,
      'content-type': evil,
      date: evil,
    }
    for (const body of [all, JSON.stringify({ error: { message: all } })])
      for (const status of [400, 401, 404, 503, 307]) {
        const answer = () => ({ status, headers, body })
        const terminal = body !== all || passingOn.includes(command)
        await look(`${line} --retries 0`, { answer, terminal })
      }
  })

  test('on a CI runner', async () => {
    if (passingOn.includes(command)) return
    const failing = () => ({ status: 500, body: runnerCommands.join('\n') })
    for (const answer of [calm(runnerCommands.join('\n')), failing]) {
      const { out, err } = await look(`${line} --retries 0`, { answer, env: inCi })
      expect(out + err).not.toMatch(actsOnRunner)
    }
  })
})

// A spinner is shown in real time.
slowTest('the spinner of a wait shows nothing that acts, and no token', async () => {
  const { err } = await look('pr wait 7 8 --timeout 3s --interval 1s', {
    async answer(seen, index) {
      if (index > 1) await new Promise(resolve => setTimeout(resolve, 350))
      const entry = { ...record(hostileText), state: 'TESTING', prNumber: tokens }
      return operation(seen) === 'getQueue'
        ? answered({ state: 'RUNNING', enqueuedPullRequests: [entry] })()
        : answerOf(`${tokens} ${hostileText}`)(seen)
    },
    terminal: true,
    redraws: true,
    env: { TERM: 'xterm', CI: '' },
  })
  expect(err).toMatch(/\x1B\[\?2026h.*[⠀-⣿\-\\|/]/)
})

describe('text of the service in errors', () => {
  test.each(['pr submit 7', 'api listThings'])('%s: a 400 is reported whole in JSON', async line => {
    const evil = '\x9B31m\x9D0;pwned\x9C\u00AD'
    const answer = () => ({ status: 400, body: hostileText, headers: { 'x-request-id': evil } })
    const { code, out, err } = await mergeq(`${line} --json`, { answer, env: queueEnv })
    // `api` prints the body of a refusal as it came, as curl does.
    expect([code, out.includes('1\x9B31m')]).toEqual([6, line.startsWith('api')])
    const { message, requestId } = JSON.parse(err).error
    expect({ message, requestId }).toEqual({ message: expect.stringContaining('1\x9B31m'), requestId: evil })
  })

  const encoding = 'content-encoding: \x9B31m\x9D0;pwned\x9C'
  test.each([
    ['the reason phrase', 6, 'HTTP/1.1 400 \x1B]0;pwned\x07Bad \x9B31m\r\ncontent-length: 0\r\n\r\n'],
    ['the encoding', 15, `HTTP/1.1 200 OK\r\n${encoding}\r\ncontent-length: 2\r\n\r\n{}`],
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

  test.each(runnerCommands)('%j acts on no stream of a CI runner', async body => {
    const env = { ...queueEnv, ...inCi }
    for (const flags of ['-v', '-o json']) {
      const { err } = await mergeq(`pr get 7 ${flags}`, { answer: () => ({ status: 400, body }), env })
      expect(err).toContain('400')
      expect(err).not.toMatch(actsOnRunner)
    }
  })
})

describe('commands for a CI runner', () => {
  const name = '::error::one ##[error]two ##vso[a.b]three'

  test.each([
    { CI: 'true' },
    { GITHUB_ACTIONS: 'true' },
    { TF_BUILD: 'True' },
    { TEAMCITY_VERSION: '2025.07' },
  ])('%j is enough to say that a runner reads this', async env => {
    const [row] = await rowsOf([name], onPipe, 'name', { env })
    expect(row).toMatch(/one.*two.*three/)
    expect(row).not.toMatch(actsOnRunner)
  })

  test('stay unchanged outside a runner', async () => {
    expect(await rowsOf([name], onPipe)).toEqual([name])
    const line = 'flaky list -q -o ndjson --fields name'
    const { out } = await runAndCheck(line, { code: 0, format: 'ndjson' }, { answer: answered(listOf(name)) })
    expect(out).toBe(`${JSON.stringify({ name })}\n`)
  })

  test('do not act where they are parted over two cells', async () => {
    const answer = answered({ state: '##[error x', prTitle: 'y]pwned' })
    const line = 'pr get 7 --fields state,prTitle'
    const { out } = await runAndCheck(line, { code: 0 }, { answer, env: inCi })
    expect(out).not.toMatch(/##\[/)
  })
})

/** `npm run attack` types more and longer texts. */
const isAttack = process.env.MERGEQ_TEXT_SIZES !== undefined

describe('text that is expensive to lay out, search or cut', () => {
  const sizes = (process.env.MERGEQ_TEXT_SIZES ?? '4').split(',').map(Number)
  const pieces = ['e\u0301', ' ', '\\']
  const words = ['日', 'ab ', '👨‍👩‍👧', '\u200D', '日 ', 'https://a/', '`mergeq ', ': mergeq ']
  const signs = ['\t\r', '\u200B', '"', 'a\n', ',', '%', '(']

  /** Most commands print a refusal in the same way. */
  const refusalsOf = (command: string): number => {
    if (isAttack) return 2
    return ['pr get', 'pr submit', 'flaky list'].includes(command) ? 1 : 0
  }

  test.each(askingCommands)(
    '`%s` prints it in every field within a second',
    { timeout: 3_600_000 },
    async command => {
      for (const piece of isAttack ? [...pieces, ...words, ...signs] : sampleOf(pieces, 1))
        for (const size of sizes) {
          const text = piece.repeat((size * 1024) / piece.length)
          const refusals = [text, JSON.stringify({ error: { message: text } })]
          const answers = [
            (seen: Seen) => ({ body: answerOf(text)(seen).body ?? '' }),
            ...refusals.slice(0, refusalsOf(command)).map(body => () => ({ status: 400, body })),
          ]
          const given = { env: queueEnv, files: askingFiles, input: 'a-token', terminal: true }
          for (const answer of answers) {
            const before = process.cpuUsage()
            await mergeq(`${lineOf(command)}${isAttack ? ' -v' : ''}`, { ...given, answer })
            // In microseconds of this process, whatever else the machine does. A megabyte is read for longer.
            const used = process.cpuUsage(before).user
            expect(used, `${size} KiB of ${JSON.stringify(piece)}`).toBeLessThan(size > 64 ? 10e6 : 1e6)
          }
        }
    },
  )
})

describe('an answer of an unusual size', () => {
  const run = (line: string | readonly string[], body: string, setting: Setting = {}) =>
    mergeq(line, { env: queueEnv, answer: () => ({ body }), ...setting })
  const samples = 'mq_depth_current{branch="main"} 1\n'.repeat(100_001)

  test('200,000 tests are counted by a report', () => {
    const report = {
      tests: Array(200_000).fill({ name: 'adds' }),
      complete: true,
      isPast: false,
      range: { start: noon - 86_400_000, end: noon },
      listCommand: 'mergeq flaky list',
    }
    for (const format of ['markdown', 'github'] as const) {
      const text = new TextDecoder().decode(renderReport(report, format, 100))
      expect(text).toContain('199,900 more tests are not shown.')
    }
  })

  slowTest('of more than 100,000 samples of metrics is not parsed', async () => {
    const { code, err } = await run('metrics --json', samples)
    expect(code).toBe(15)
    expect(err).toContain('The metrics have more than 100,000 samples')
    const most = await run('metrics --fields value', samples.slice(samples.indexOf('\n') + 1))
    expect({ code: most.code, lines: most.out.split('\n').length }).toEqual({ code: 0, lines: 100_001 })
  })

  test('a metric with a label of many megabytes is an invalid response', async () => {
    expect((await run('metrics --json', `a{b="${'x'.repeat(20_000_000)}"} 1\n`)).code).toBe(15)
  })

  test('completion reads at most 1 MiB of it', async () => {
    const enqueuedPullRequests = [{ prNumber: 7, state: 'pending', prTitle: 'x' }]
    const complete = async (padding: number) => {
      const document = { state: 'running', enqueuedPullRequests, padding: 'x'.repeat(padding) }
      return (await run(['__complete', '--', 'pr', 'get', ''], JSON.stringify(document))).out
    }
    expect(await complete(1_000_000)).toContain('7\tpending')
    expect(await complete(1_100_000)).not.toContain('7\tpending')
  })

  test('`api --input` over the limit names no option that `api` lacks', async () => {
    const input = `{"a":"${'x'.repeat(21 * 1024 * 1024)}"}`
    const { code, err } = await run('api updateQueue --input -', '{}', { input })
    expect(code).toBe(6)
    expect(err).not.toContain('--all')
  })

  const rowFormats = outputFormats.filter(({ prints }) => prints === 'rows').map(({ name }) => `-o ${name}`)
  test.each(['', ...rowFormats])('a number that is too large is not shown as infinite (%s)', async flags => {
    const body =
      '{"state":"running","concurrency":1e400,"prNumber":1e400,"prTitle":1e400,"enqueuedPullRequests":[{"prNumber":-1e400,"state":"pending","priorityValue":1e400}],"tests":[{"name":1e400,"failure_rate_last_7d":1e400,"pull_requests_impacted_last_7d":1e400}],"page":{"total_rows":1e400}}'
    for (const line of ['pr get 7', 'queue get', 'flaky list', 'queue check --max-depth 3', 'pr explain 7'])
      for (const terminal of [true, false]) {
        const { out, err } = await run(`${line} ${flags}`, body, { terminal })
        expect(out + err).not.toMatch(/Infinity|∞|NaN/)
      }
  })
})

describe('what a person may have mixed up', () => {
  const queue = '{"state":"running","enqueuedPullRequests":[]}'
  const run = (line: string, body: string, { env, ...setting }: Setting = {}) =>
    mergeq(line, { env: { ...queueEnv, ...env }, answer: () => ({ body }), ...setting })

  test.each([
    ['pr submit 7', ''],
    ['pr submit 7', undefined],
    ['auth status', undefined],
    ['doctor', ''],
  ])('TRUNK_API_TOKEN beside another base address is said to be ignored: %s', async (line, MERGEQ_TOKEN) => {
    const { code, out, err } = await run(line, '{}', {
      env: { MERGEQ_TOKEN, TRUNK_API_TOKEN: 'secret-token' },
    })
    expect(code).toBe(line === 'doctor' ? 21 : 4)
    expect(out + err).toContain('TRUNK_API_TOKEN is ignored: it is used only for https://api.trunk.io.')
  })

  test.each([
    ['an unknown key', 'aws secret AKIA0: x', 'q.yaml:1: unknown key.'],
    ['an unknown setting', `settings: { "${'k'.repeat(41)}": 1 }`, 'q.yaml: unknown queue setting.'],
    ['a tag', 'settings: !AKIA0 x', 'q.yaml:1: tags are not supported.'],
    ['a part that is not YAML', 'a: b: "AKIA0', 'q.yaml:1: invalid YAML'],
  ])('nothing of %s in another file than was meant is in the error', async (_, text, message) => {
    const { err } = await run('queue diff -f q.yaml', queue, { files: { 'q.yaml': text } })
    expect(err).toContain(message)
    expect(err).not.toMatch(/AKIA0|kkk/)
  })

  test.each([
    ['7d', ', or widen the range with --since 30d'],
    ['45d', ''],
  ])('`flaky match --since %s` names its range, and a wider one where there is one', async (since, hint) => {
    const files = { 'j.xml': '<testsuite><testcase name="adds"><failure/></testcase></testsuite>' }
    const answer = '{"tests":[],"page":{},"unhealthy_tests":[]}'
    const { err } = await run(`flaky match j.xml --since ${since}`, answer, { files })
    expect(err).toContain(
      `(did not fail in the last ${since.replace('d', ' days')}).\n  Fix the new failures${hint}.\n`,
    )
  })

  test('of a token of fewer than 8 characters one warning says that it cannot be hidden, but on loopback', async () => {
    const env = { MERGEQ_TOKEN: 'abc1234' }
    const there = { ...env, MERGEQ_BASE_URL: 'https://mergeq.invalid/v1' }
    const warning = 'is shorter than 8 characters, so mergeq cannot remove it from its output'
    const { err } = await mergeq('pr get 7 8', { env: { ...queueEnv, ...there } })
    expect(err.split(warning)).toHaveLength(2)
    expect(await run('queue get --json', queue, { env })).toMatchObject({ code: 0, err: '' })
  })
})

describe('a library that is given', () => {
  const fails = () => {
    throw new Error('no')
  }
  // A response that is not UTF-8 leads to a notice.
  const notUtf8 = { body: '{"state":"running","branch":"\uD800","enqueuedPullRequests":[]}' }

  test.each<[string, () => unknown]>([
    ['never settles', () => new Promise(() => undefined)],
    ['rejects', () => Promise.reject(new Error('no'))],
    ['throws', fails],
  ])('an onNotice that %s goes on', async (_, onNotice) => {
    const { client } = await clientOf(() => notUtf8, { onNotice: onNotice as () => void })
    expect(await client.getQueue()).toMatchObject({ state: 'RUNNING' })
  })

  const endless: { set?: unknown } = {}
  endless.set = endless
  const failing = (name: string) => Object.defineProperty({}, name, { enumerable: true, get: fails })
  test.each<[string, unknown]>([
    ['an option with a getter that throws', failing('repo')],
    ['a value with a getter that throws', { set: failing('a') }],
    ['a proxy that throws', new Proxy({}, { ownKeys: fails })],
    ['a value that contains itself', endless],
  ])('%s reports a usage error', async (_, options) => {
    const { client } = await clientOf(() => notUtf8)
    await expect(Reflect.apply(Reflect.get(client, 'getQueue'), client, [options])).rejects.toMatchObject({
      kind: 'usage',
      message: expect.stringContaining('cannot be read'),
    })
  })
})

describe('nothing random ends a command with an error of mergeq itself', () => {
  /** How many runs each attack has; `npm run attack` has more of them. */
  const numRuns = Number(process.env.MERGEQ_RANDOM_ATTACKS ?? 150)
  /** Sleeps after which a run is ended by a signal: a watch has no other end. */
  const maxSleeps = 100
  const changePaths = changeExamples.map(({ name }) => `/v1/${name}`)

  /** Runs a command line with a clock that does not wait, and checks what holds for every run. */
  async function run(line: readonly string[], setting: Setting): Promise<Outcome> {
    const controller = new AbortController()
    let sleeps = 0
    const clock = {
      now: noon,
      async sleep(ms: number) {
        clock.now += ms
        if (++sleeps > maxSleeps)
          controller.abort(new MergeqError('interrupted', 'stopped by SIGINT.', { exit: 130 }))
      },
    }
    const given = { env: queueEnv, clock, files: askingFiles, signal: controller.signal }
    const outcome = await mergeq(line, { ...given, ...setting })
    const { code, out, err, requests } = outcome
    expect(code, `${line.join(' ')}\n${out}\n${err}`).not.toBe(1)
    expect(out + err).not.toMatch(/\b(?:undefined|NaN|\[object Object\])\b|^ +at \S+ \(/m)
    if (code === 2) expect(requests.filter(({ path }) => changePaths.includes(path))).toEqual([])
    for (const { headers } of requests) expect(['qj7-token', undefined]).toContain(headers['x-api-token'])
    return outcome
  }

  // Without those that start servers or other programs, and without those that change files.
  const commands = allCommands.filter(
    ({ command }) => !/^(?:sandbox|auth|config|guard|completion)\b/.test(command),
  )
  const names = commands.map(({ command }) => command.split(' '))
  const words = [
    ...names,
    ...new Set(commands.flatMap(({ definitions }) => definitions.map(({ name }) => [name]))),
    ...[
      ...['7', '#8', '0', '-1', 'main', '-', '--', '', '日本', 'a b', '--=', '-qv', '-o', '1h', '30d'],
      ...['--json', '--dry-run', '--yes', '-o=csv', '--fields=a,b', '--set=a.b=1', '--limit=2', '--wait'],
      ...[testId, 'https://github.com/acme/web/pull/7', 'https://', '{"a":1}', 'a=b', '\u202E', '\0'],
    ].map(word => [word]),
  ]

  test('that is typed', async () => {
    const word = fc.oneof(
      fc.constantFrom(...words),
      fc.string().map(text => [text]),
    )
    const line = fc
      .tuple(fc.constantFrom(...names), fc.array(word, { maxLength: 5 }))
      .map(([command, more]) => [...command, ...more.flat()])
    const isFine = fc.asyncProperty(line, async argv => void (await run(argv, { answer: answered({}) })))
    await fc.assert(isFine, { numRuns })
  })

  const responses = new Map<string, unknown>(operationExamples.map(({ name, response }) => [name, response]))
  /** Replaces the value at a random place of a document. */
  function replaceSomewhere(document: unknown, path: readonly number[], value: unknown): unknown {
    const [first, ...rest] = path
    if (first === undefined || typeof document !== 'object' || document === null) return value
    const keys = Object.keys(document)
    const key = keys[first % Math.max(1, keys.length)]
    if (key === undefined) return value
    const changed = replaceSomewhere((document as Record<string, unknown>)[key], rest, value)
    return Array.isArray(document)
      ? document.map((item, index) => (String(index) === key ? changed : item))
      : { ...document, [key]: changed }
  }

  type Damage = (operation: string) => Answer
  const responseText = (operation: string): string => {
    const response = responses.get(operation)
    return typeof response === 'string' ? response : JSON.stringify(response ?? {})
  }
  const statuses = [200, 204, 299, 302, 400, 401, 403, 404, 408, 409, 413, 418, 429, 500, 503]
  const places = fc.array(fc.nat(20), { minLength: 1, maxLength: 4 })
  const damage: fc.Arbitrary<Damage> = fc.oneof(
    fc.tuple(places, fc.jsonValue()).map(
      ([path, value]): Damage =>
        operation => ({ body: JSON.stringify(replaceSomewhere(responses.get(operation), path, value)) }),
    ),
    fc.jsonValue().map((value): Damage => answered(value)),
    fc.string({ unit: anyCharacter }).map(
      (body): Damage =>
        () => ({ body }),
    ),
    fc.nat(200).map(
      (length): Damage =>
        operation => ({ body: responseText(operation).slice(0, length) }),
    ),
    fc.tuple(fc.constantFrom(...statuses), fc.string()).map(
      ([status, body]): Damage =>
        () => ({ status, body }),
    ),
  )

  const lines = [
    ...commands
      .filter(({ command }) => askingLines[command] !== undefined)
      .map(({ command }) => lineOf(command).trim()),
    'pr get 7',
    'pr submit 7',
    'pr testing --pr 7',
    'flaky unhealthy --status flaky',
    'api status',
  ]
  /** The commands that print a row for each record. */
  const lists = /^(?:pr list|pr get 7 8|queue get|queue list|flaky (?:list|quarantined|unhealthy))/
  /** The commands that print a document for each pull request, which on a terminal has several lines. */
  const severalDocuments = / 7 8\b|--cancel-all/
  /** How the cells of a row are read back, by format. */
  const cellsOf: Readonly<Record<string, (row: string) => readonly string[]>> = {
    '': row => row.split('\t'),
    '-o markdown': row => row.split(/(?<!\\)\|/),
  }

  test('that is answered', async () => {
    const typed = fc.tuple(
      fc.constantFrom(...lines),
      fc.constantFrom(...formatFlags, '--fields state,name'),
      fc.boolean(),
    )
    const damages = fc.array(damage, { minLength: 1, maxLength: 3 })
    const isFine = fc.asyncProperty(typed, damages, async ([command, format, terminal], some) => {
      const answer = (seen: Seen, index: number) => some[index % some.length]?.(operation(seen)) ?? {}
      const { code, out } = await run(`${command} ${format}`.trim().split(' '), { answer, terminal })
      if (code !== 0) return
      const cells = lists.test(command) && !terminal ? cellsOf[format] : undefined
      if (cells !== undefined) {
        const rows = out.split('\n').slice(0, -1)
        expect(new Set(rows.map(row => cells(row).length)).size, out).toBeLessThanOrEqual(1)
      }
      if (format !== '-o json' || out === '' || command.startsWith('api')) return
      if (terminal && severalDocuments.test(command)) return
      for (const text of terminal ? [out] : out.trimEnd().split('\n'))
        expect(() => JSON.parse(text)).not.toThrow()
    })
    await fc.assert(isFine, { numRuns })
  })
})
