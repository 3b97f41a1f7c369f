import { describe, expect, test } from 'vitest'
import { renderReport } from '../../src/commands/flaky/report.ts'
import { outputFormats } from '../../src/output/output-formats.ts'
import { askingCommands, askingFiles, askingLines } from '../support/asking-commands.ts'
import { type Answer, mergeq, queueEnv, type Seen, type Setting } from '../support/harness.ts'
import { clientOf } from '../support/library-client.ts'
import { answerOf } from '../support/untrusted-text.ts'

const run = (line: string | readonly string[], answer: Answer, setting: Setting = {}) =>
  mergeq(line, { ...setting, env: { ...queueEnv, ...setting.env }, answer: () => answer })

const json = (document: unknown): Answer => ({ body: JSON.stringify(document) })

const day = { start: '2026-01-05T00:00:00.000Z', end: '2026-01-06T00:00:00.000Z' }

test('a report counts 200,000 tests', () => {
  const report = {
    tests: Array(200_000).fill({ name: 'adds' }),
    complete: true,
    isPast: false,
    ...day,
    listCommand: 'mergeq flaky list',
  }
  for (const format of ['markdown', 'github'] as const) {
    const text = new TextDecoder().decode(renderReport(report, format, 100))
    expect(text).toContain('199,900 more tests are not shown.')
  }
})

describe('metrics of more than 100,000 samples', () => {
  const text = 'mq_depth_current{branch="main"} 1\n'.repeat(100_001)

  test('are not parsed', async () => {
    const { code, err } = await run('metrics --json', { body: text })
    expect(code).toBe(15)
    expect(err).toContain('The metrics have more than 100,000 samples')
  })

  test('of exactly 100,000 samples are parsed', async () => {
    const { code, out } = await run('metrics --fields value', { body: text.slice(text.indexOf('\n') + 1) })
    expect({ code, lines: out.trim().split('\n').length }).toEqual({ code: 0, lines: 100_000 })
  })
})

test('completion reads at most 1 MiB of an answer', async () => {
  const enqueuedPullRequests = [{ prNumber: 7, state: 'pending', prTitle: 'x' }]
  const complete = (padding: number) =>
    run(
      ['__complete', '--', 'pr', 'get', ''],
      json({ state: 'running', enqueuedPullRequests, padding: 'x'.repeat(padding) }),
    )
  expect((await complete(1_000_000)).out).toContain('7\tpending')
  expect((await complete(1_100_000)).out).not.toContain('7\tpending')
})

describe('text that is expensive to lay out, search or cut', () => {
  // `npm run attack` has more of them, and longer ones.
  const isAttack = process.env.MERGEQ_TEXT_SIZES !== undefined
  const sizes = (process.env.MERGEQ_TEXT_SIZES ?? '4').split(',').map(Number)
  const pieces = ['e\u0301', ' ', '\\']
  const more = [
    '日',
    'ab ',
    '👨‍👩‍👧',
    '\u200D',
    '日 ',
    'https://a/',
    '\t\r',
    '\u200B',
    '"',
    'a\n',
    ',',
    '%',
    '(',
    '`mergeq ',
    ': mergeq ',
  ]

  /** Most commands print a refusal in the same way. */
  const refusalsOf = (command: string): number => {
    if (isAttack) return 2
    return ['pr get', 'pr submit', 'flaky list'].includes(command) ? 1 : 0
  }

  test.each(askingCommands)(
    '`%s` prints it in every field within a second',
    { timeout: 3_600_000 },
    async command => {
      for (const piece of isAttack ? [...pieces, ...more] : pieces)
        for (const size of sizes) {
          const text = piece.repeat((size * 1024) / piece.length)
          const refusals = [text, JSON.stringify({ error: { message: text } })]
          const answers = [
            (seen: Seen) => ({ body: answerOf(text)(seen).body ?? '' }),
            ...refusals.slice(0, refusalsOf(command)).map(body => () => ({ status: 400, body })),
          ]
          for (const answer of answers) {
            const before = process.cpuUsage()
            const line = `${command} ${askingLines[command]}${isAttack ? ' -v' : ''}`
            await mergeq(line, {
              env: queueEnv,
              answer,
              files: askingFiles,
              input: 'a-token',
              terminal: true,
            })
            // In microseconds of this process, whatever else the machine does. A megabyte is read for longer.
            const used = process.cpuUsage(before).user
            expect(used, `${size} KiB of ${JSON.stringify(piece)}`).toBeLessThan(size > 64 ? 10e6 : 1e6)
          }
        }
    },
  )
})

const rowFormats = outputFormats.filter(({ prints }) => prints === 'rows').map(({ name }) => `-o ${name}`)
test.each(['', ...rowFormats])(
  'a number that is too large for a number is not shown as infinite (%s)',
  async flags => {
    const body =
      '{"state":"running","concurrency":1e400,"prNumber":1e400,"prTitle":1e400,"enqueuedPullRequests":[{"prNumber":-1e400,"state":"pending","priorityValue":1e400}],"tests":[{"name":1e400,"failure_rate_last_7d":1e400,"pull_requests_impacted_last_7d":1e400}],"page":{"total_rows":1e400}}'
    for (const line of ['pr get 7', 'queue get', 'flaky list', 'queue check --max-depth 3', 'pr explain 7'])
      for (const terminal of [true, false]) {
        const { out, err } = await run(`${line} ${flags}`, { body }, { terminal })
        expect(out + err).not.toMatch(/Infinity|∞|NaN/)
      }
  },
)

test.each([
  ['pr submit 7', ''],
  ['pr submit 7', undefined],
  ['auth status', undefined],
  ['doctor', ''],
])('TRUNK_API_TOKEN beside another base address is said to be ignored: %s', async (line, MERGEQ_TOKEN) => {
  const env = { MERGEQ_TOKEN, TRUNK_API_TOKEN: 'secret-token' }
  const { code, out, err } = await run(line, json({}), { env })
  expect(code).toBe(line === 'doctor' ? 21 : 4)
  expect(out + err).toContain('TRUNK_API_TOKEN is ignored: it is used only for https://api.trunk.io.')
})

describe('a queue file that is another file than was meant', () => {
  test.each([
    ['an unknown key', 'aws secret AKIA0: x', 'q.yaml:1: unknown key.'],
    ['an unknown setting', `settings: { "${'k'.repeat(41)}": 1 }`, 'q.yaml: unknown queue setting.'],
    ['a tag', 'settings: !AKIA0 x', 'q.yaml:1: tags are not supported.'],
    ['a part that is not YAML', 'a: b: "AKIA0', 'q.yaml:1: invalid YAML'],
  ])('shows nothing of %s in the error', async (_, text, message) => {
    const answer = json({ state: 'running', enqueuedPullRequests: [] })
    const { err } = await run('queue diff -f q.yaml', answer, { files: { 'q.yaml': text } })
    expect(err).toContain(message)
    expect(err).not.toMatch(/AKIA0|kkk/)
  })
})

test.each([
  ['7d', ', or widen the range with --since 30d'],
  ['45d', ''],
])(
  '`flaky match --since %s` names its range, and suggests a wider one where there is one',
  async (since, hint) => {
    const files = { 'j.xml': '<testsuite><testcase name="adds"><failure/></testcase></testsuite>' }
    const answer = json({ tests: [], page: {}, unhealthy_tests: [] })
    const { err } = await run(`flaky match j.xml --since ${since}`, answer, { files })
    expect(err).toContain(
      `(did not fail in the last ${since.replace('d', ' days')}).\n  Fix the new failures${hint}.\n`,
    )
  },
)

test('a metric with a label of many megabytes is an invalid response', async () => {
  const { code } = await run('metrics --json', { body: `a{b="${'x'.repeat(20_000_000)}"} 1\n` })
  expect(code).toBe(15)
})

test('`api --input` over the limit names no option that `api` lacks', async () => {
  const input = `{"a":"${'x'.repeat(21 * 1024 * 1024)}"}`
  const { code, err } = await run('api updateQueue --input -', json({}), { input })
  expect(code).toBe(6)
  expect(err).not.toContain('--all')
})

describe('a token of fewer than 8 characters', () => {
  const warning = 'is shorter than 8 characters, so mergeq cannot remove it from its output'
  const short = { ...queueEnv, MERGEQ_TOKEN: 'abc1234' }

  test('works, and one warning says that it cannot be hidden', async () => {
    const { err } = await mergeq('pr get 7 8', {
      env: { ...short, MERGEQ_BASE_URL: 'https://mergeq.invalid/v1' },
    })
    expect(err.split(warning)).toHaveLength(2)
  })

  test('is not worth a warning on loopback', async () => {
    const { code, err } = await run(
      'queue get --json',
      json({ state: 'running', enqueuedPullRequests: [] }),
      {
        env: short,
      },
    )
    expect({ code, err }).toEqual({ code: 0, err: '' })
  })
})

describe('the library', () => {
  const fails = () => {
    throw new Error('no')
  }
  // A response that is not UTF-8 leads to a notice.
  const notUtf8 = { body: '{"state":"running","branch":"\uD800","enqueuedPullRequests":[]}' }

  test.each<[string, () => unknown]>([
    ['never settles', () => new Promise(() => undefined)],
    ['rejects', () => Promise.reject(new Error('no'))],
    ['throws', fails],
  ])('goes on where onNotice %s', async (_, onNotice) => {
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
  ])('refuses %s as a usage error', async (_, options) => {
    const { client } = await clientOf(() => notUtf8)
    await expect(Reflect.apply(Reflect.get(client, 'getQueue'), client, [options])).rejects.toMatchObject({
      kind: 'usage',
      message: expect.stringContaining('cannot be read'),
    })
  })
})
