import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { topics } from '../../src/cli/help.ts'
import { mergeq, type Outcome, openStory, type Setting, type Story } from '../support/harness.ts'
import { commandDocs, examples, storingCommands } from '../support/help.ts'

describe('the order of help is the same for every command', () => {
  const order = [
    'Usage',
    'Alias',
    'Commands',
    'Arguments',
    'Flags',
    'Global flags',
    'Requests',
    'Output',
    'Examples',
    'Exit codes',
    'Learn more',
  ]

  test.each(commandDocs.map(({ command }) => command))('%s', async command => {
    const { code, out, err } = await mergeq(`${command} --help`)
    expect({ code, err }).toEqual({ code: 0, err: '' })
    const titles = [...out.slice(out.indexOf('\n')).matchAll(/^([A-Z][a-z ]+):/gm)].map(
      ([, title = '']) => title,
    )
    expect(titles).toEqual(order.filter(title => titles.includes(title)))
    expect(titles).toEqual(
      expect.arrayContaining(['Usage', 'Flags', 'Output', 'Examples', 'Exit codes', 'Learn more']),
    )
    const { summary = '' } = commandDocs.find(page => page.command === command) ?? {}
    expect(out.split('\n\n')[0]?.replaceAll('\n', ' ')).toBe(summary)
    expect((await mergeq(`help ${command}`)).out).toBe(out)
  })
})

describe('help is as wide as the terminal, at most 100 columns, and 80 on a pipe', () => {
  const lines = [
    '--help',
    'pr submit --help',
    'queue update --help',
    'flaky list --help',
    'queue --help',
    ...Object.keys(topics).map(topic => `help ${topic}`),
  ]
  const widest = ({ out }: Outcome) =>
    Math.max(
      ...out
        .split('\n')
        // An example is one line, to be copied; a word that is wider than the line stays whole.
        .filter(line => !/^ {2}(mergeq|git|npx|source|printf) /.test(line) && line.trim().includes(' '))
        .map(line => line.length),
    )

  test.each(lines)('%s', async line => {
    const [narrow, pipe, wide, wider] = [
      widest(await mergeq(line, { terminal: true, columns: 60 })),
      widest(await mergeq(line, { columns: 80 })),
      widest(await mergeq(line, { terminal: true, columns: 100 })),
      widest(await mergeq(line, { terminal: true, columns: 300 })),
    ]
    expect(narrow).toBeLessThanOrEqual(60)
    expect(pipe).toBeLessThanOrEqual(80)
    expect(wide).toBeLessThanOrEqual(100)
    expect(wider).toBe(wide)
  })

  test('headings are bold on a terminal only; NO_COLOR and --color are honored', async () => {
    const has = async (line: string, setting: Setting) =>
      (await mergeq(line, setting)).out.includes('\u001B[1mFlags:')
    expect(await has('pr get --help', { terminal: true })).toBe(true)
    expect(await has('pr get --help', { terminal: true, env: { NO_COLOR: '1' } })).toBe(false)
    expect(await has('pr get --help', { terminal: true, env: { TERM: 'dumb' } })).toBe(false)
    expect(await has('pr get --help', {})).toBe(false)
    expect(await has('pr get --help --color always', {})).toBe(true)
    expect(await has('pr get --help --color never', { terminal: true })).toBe(false)
  })
})

test.each([
  ['pr get', ['pr get 7 --help', '-R acme/web pr get --help', 'pr get --head x --help', 'pr status --help']],
  ['pr get', ['pr get --help -h', 'pr get --head x -h --help']],
  ['pr', ['pr --help', 'pr --org acme --help', 'help pr']],
  ['', ['--help', '--help --no-input', 'help']],
  ['sandbox exec', ['sandbox exec --help', 'sandbox exec --seed 1 --help -- ls']],
])('--help prints the complete help of `mergeq %s` at any position', async (command, lines) => {
  const { out } = await mergeq(`help ${command}`)
  for (const line of lines)
    expect({ line, ...(await mergeq(line)) }).toMatchObject({ line, code: 0, out, err: '' })
})

describe('-h is short help', () => {
  /** Lines of the short help on a terminal of 80 columns. */
  const linesOf = async (line: string) => {
    const { code, out, err } = await mergeq(line, { terminal: true, columns: 80 })
    expect({ code, err }).toEqual({ code: 0, err: '' })
    return out
      .replaceAll(/\u001B\[\d+m/g, '')
      .trimEnd()
      .split('\n')
  }
  const maxLines = 24
  /** Commands whose short help is longer, with the reason. */
  const longer = new Map([
    ['queue update', 'has an option for each setting of a queue'],
    ['flaky report', 'has 15 options'],
  ])

  test.each(commandDocs.map(doc => [doc.command, doc] as const))('%s -h', async (command, doc) => {
    const lines = await linesOf(`${command} -h`)
    const text = lines.join('\n')
    if (longer.has(command)) expect(lines.length).toBeGreaterThan(maxLines)
    else expect(lines.length, text).toBeLessThanOrEqual(maxLines)
    expect(lines.slice(0, 2)).toEqual([doc.summary, `Usage: ${doc.usage}`])
    expect(lines.at(-1)).toBe(`Learn more: mergeq ${command} --help`)
    for (const { name } of [...doc.arguments, ...doc.flags])
      expect(text.replaceAll('--[no-]', '--').replaceAll('--no-', '--')).toContain(
        `  ${name.replace(/^--no-/, '--')}`.slice(name.startsWith('-') ? 1 : 0),
      )
    for (const { line } of doc.examples.slice(0, 2)) expect(text).toContain(`\n  ${line}\n`)
    for (const line of lines) expect(line.length <= 80 || / mergeq |^ {2}git /.test(line), line).toBe(true)
  })

  test.each(['pr', 'queue', 'flaky', 'auth', 'config', 'sandbox'])('%s -h', async group => {
    const lines = await linesOf(`${group} -h`)
    expect(lines.length).toBeLessThanOrEqual(maxLines)
    expect(lines.at(-1)).toBe(`Learn more: mergeq ${group} <command> -h, mergeq ${group} --help`)
    expect(lines.filter(line => line.startsWith('  mergeq '))).toHaveLength(2)
    for (const { command } of commandDocs.filter(({ command }) => command.startsWith(`${group} `)))
      expect(lines.join('\n')).toContain(`\n  ${command.slice(group.length + 1)} `)
    expect(await linesOf(group)).toEqual(lines)
  })

  test('mergeq alone', async () => {
    const lines = await linesOf('')
    expect(lines.length).toBeLessThanOrEqual(maxLines)
    expect(lines.filter(line => line.startsWith('  mergeq '))).toHaveLength(4)
    expect(lines.at(-1)).toBe('Learn more: mergeq <command> -h, mergeq help <topic>, mergeq --help')
    expect(await linesOf('-h')).toEqual(lines)
  })

  test.each([
    ['pr get -h', ['-R acme/web pr get -h', 'pr get --head x -h', 'pr status -h', 'pr get 7 -qh']],
    ['pr -h', ['pr', '-q pr', 'pr --org acme -h']],
    ['-h', ['', '-v', '-h --no-input']],
    ['sandbox exec -h', ['sandbox exec -h ls --help', 'sandbox exec -h -- ls --help']],
  ])('-h prints %s at any position', async (line, others) => {
    const { out } = await mergeq(line)
    for (const other of others)
      expect({ other, ...(await mergeq(other)) }).toMatchObject({ other, code: 0, out, err: '' })
  })
})

describe('help as data', () => {
  test('`help --json` is one document, on one line on a pipe', async () => {
    const { out } = await mergeq('help --json')
    expect(out.split('\n')).toHaveLength(2)
    expect(JSON.parse(out)).toEqual(JSON.parse(readFileSync('test/golden/help.json', 'utf8')))
    for (const line of ['--help --json', '--json help', 'help -o json', '--json'])
      expect((await mergeq(line)).out).toBe(out)
  })

  test('a command, a group and ndjson print their part', async () => {
    const { commands } = JSON.parse((await mergeq('help --json')).out)
    const find = (name: string) =>
      commands.filter(({ command }: { command: string }) => command.startsWith(name))
    for (const line of ['help pr get --json', 'pr get --help --json', 'help pr status --json'])
      expect(JSON.parse((await mergeq(line)).out)).toEqual(find('pr get')[0])
    expect(JSON.parse((await mergeq('help pr --json')).out).commands).toEqual(find('pr '))
    const lines = (await mergeq('help -o ndjson')).out.trimEnd().split('\n')
    expect(lines.map(line => JSON.parse(line))).toEqual(commands)
  })

  test('every command is in it, with its arguments, options and exit codes', async () => {
    const { commands } = JSON.parse((await mergeq('help --json')).out)
    expect(commands.map(({ command }: { command: string }) => command)).toEqual(
      commandDocs.map(({ command }) => command),
    )
    const update = commands.find(({ command }: { command: string }) => command === 'queue update')
    expect(update.exitCodes).toEqual([0, 1, 2, 4, 5, 6, 7, 11, 15, 16, 129, 130, 143])
    expect(update.flags).toContainEqual({
      name: '--mode',
      value: '<mode>',
      summary: 'Test in one lane (single), or in several lanes by impacted targets (parallel)',
      choices: ['single', 'parallel'],
    })
    const wait = commands.find(({ command }: { command: string }) => command === 'pr wait')
    expect(wait.exitCodes).toEqual(expect.arrayContaining([3, 8, 10, 14, 124]))
    expect(wait.exitCodes).not.toContain(11)
    const until = wait.flags.find(({ name }: { name: string }) => name === '--until')
    expect(until.default).toBe('merged')
    expect(until.choices).toContain(until.default)
  })

  test('MERGEQ_OUTPUT makes no data of the help that a person asks for', async () => {
    for (const line of ['--help', 'help'])
      expect((await mergeq(line, { env: { MERGEQ_OUTPUT: 'json' } })).out).toMatch(/^Usage: mergeq /m)
  })

  test.each(['help pr get', 'help exit-codes', 'completion bash'])(
    'wrong settings do not keep `%s` from printing',
    async line => {
      const { out } = await mergeq(line)
      const wrong = {
        env: {
          MERGEQ_CONFIG_DIR: '/config',
          MERGEQ_OUTPUT: 'xml',
          MERGEQ_RETRIES: 'many',
          MERGEQ_PROFILE: 'none',
        },
        files: { '/config/config.json': '{', '/repo/.mergeq.json': '{' },
      }
      expect(await mergeq('config list', wrong)).toMatchObject({ code: 2 })
      expect(await mergeq(line, wrong)).toMatchObject({ code: 0, out, err: '' })
    },
  )
})

test.each([
  ['help nothing', /unknown command or topic 'nothing'/],
  ['help pr nothing', /unknown command or topic 'pr nothing'/],
  ['help exit-codes more', /unknown command or topic 'exit-codes more'/],
])('%s is refused', async (line, says) => {
  const { code, out, err } = await mergeq(line)
  expect({ code, out }).toEqual({ code: 2, out: '' })
  expect(err).toMatch(says)
})

/**
 * The part of an example that is ours, as the shell would hand it over: without what it is piped from, into,
 * or to.
 */
function ownPart(line: string): string {
  const stage = line.split(/ \| (?=(?:[^']*'[^']*')*[^']*$)/).find(part => /(^|<\()mergeq /.test(part)) ?? ''
  return stage.replace(/^(source <\()?mergeq /, '').replace(/\)$| >>? .*$/g, '')
}

/** The files and input that the example of a command needs. */
interface Stage {
  readonly before?: readonly string[]
  readonly setting?: Setting
}

const code = 'settings:\n  concurrency: 1\n'
const disk = () =>
  new Map([
    ['queue.yaml', code],
    ['queues/main.yaml', code],
    ['known.ndjson', '2b4e8d1c-93f0-4c57-8a3b-1f2e3d4c5b6a\n'],
  ])
const junit = '<testsuite name="s"><testcase name="passes" classname="c"/></testsuite>'
const queued: Stage = { before: ['pr submit 123 124 125'] }
const stages: Readonly<Record<string, Stage>> = {
  'pr cancel': queued,
  'pr restart': queued,
  'pr get': queued,
  'pr wait': queued,
  'pr testing': queued,
  'pr explain': queued,
  'pr targets': { setting: { input: 'a\nb\n', env: { MERGEQ_SHA: '4f2a9c1d' } } },
  'queue delete': { before: ['queue create --target-branch release'] },
  'queue apply': { setting: { inputTerminal: true, typed: ['y'] } },
  'queue watch': { setting: { terminal: true, inputTerminal: true, keys: ['x', 'q'] } },
  'flaky match': { setting: { input: junit, files: { 'junit.xml': junit } } },
  api: queued,
  'sandbox exec': { setting: { spawn: () => ({ code: 0, out: '' }) } },
  'sandbox shell': { setting: { spawn: () => ({ code: 0, out: '' }) } },
}

/** Names of an example that only a real service knows, as the sandbox has them. */
async function localized(line: string, story: Story): Promise<string> {
  const read = async (words: string) => JSON.parse((await story.mergeq(`${words} --json`)).out)
  if (line.startsWith('flaky get ')) {
    const { out } = await story.mergeq('flaky list --fields id --limit 1')
    return line.replace(/2b4e8d1c-\S+/, out.trim()).replace('2b4e8d1c', out.slice(0, 8))
  }
  if (line.startsWith('pr testing ') && !line.includes('--pr'))
    return `pr testing ${(await read('pr testing --pr 123')).testBranch}`
  if (line.includes('--head ')) return line.replace('fix-cart', 'pr-123')
  if (line.includes('--match-head'))
    return line.replace('HEAD', (await read('pr get 123')).prSha ?? '4f2a9c1d')
  // Which tests fail in a sandbox is its own affair.
  if (line.startsWith('flaky gate')) return line.replace(/--max \d+/, '--max 1000')
  return line.replace('build/test-results/test/*.xml', 'junit.xml')
}
/** These serve until they are stopped. */
const serves = /^sandbox start$/

describe.each(['document', 'hosted'] as const)('every example works in the %s dialect', dialect => {
  test.each(examples.filter(({ command }) => !storingCommands.test(command) && !serves.test(command)))(
    '$line exits with $exit',
    async ({ command, line, exit }) => {
      const { before = [], setting = {} } = stages[command] ?? {}
      const story = await openStory({ dialect })
      try {
        for (const one of before) expect((await story.mergeq(one)).code).toBe(0)
        story.clock.now += 1_000
        const { code, out, err } = await story.mergeq(await localized(ownPart(line), story), {
          disk: disk(),
          ...setting,
        })
        expect(code, err).toBe(exit)
        if (/--json$/.test(line)) expect(() => JSON.parse(out)).not.toThrow()
      } finally {
        await story.close()
      }
    },
  )
})
