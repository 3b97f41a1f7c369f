import { describe, expect, test } from 'vitest'
import { topics } from '../../src/cli/topics.ts'
import { expectUsageError } from '../support/command-checks.ts'
import { commandDocs, examples } from '../support/commands.ts'
import { mergeq, type Outcome, openStory, type Setting, type Story } from '../support/harness.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const groupNames = ['pr', 'queue', 'flaky', 'auth', 'config', 'sandbox']

describe('the order of help is the same for every command', () => {
  const order = [
    'Usage',
    'Alias',
    'Commands',
    'Arguments',
    'Flags',
    'Examples',
    'Advanced',
    'Exit codes',
    'Output',
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
  })
})

describe('help is as wide as the terminal, at most 100 columns, and 80 on a pipe', () => {
  const pages = ['--help', 'queue update --help', 'flaky list --help', 'queue --help']
  const lines = [...pages, ...Object.keys(topics).map(topic => `help ${topic}`)]
  const widest = ({ out }: Outcome) =>
    Math.max(
      ...out
        .split('\n')
        // An example is one line, to be copied; a word that is wider than the line stays whole.
        .filter(line => !/^ {2}(mergeq|git|npx|source|printf) /.test(line) && line.trim().includes(' '))
        .map(line => line.length),
    )

  test.each(lines)('%s', async line => {
    const widthOn = async (setting: Setting) => widest(await mergeq(line, setting))
    expect(await widthOn({ terminal: true, columns: 60 })).toBeLessThanOrEqual(60)
    expect(await widthOn({ columns: 80 })).toBeLessThanOrEqual(80)
    const wide = await widthOn({ terminal: true, columns: 100 })
    expect(wide).toBeLessThanOrEqual(100)
    expect(await widthOn({ terminal: true, columns: 300 })).toBe(wide)
  })

  test('headings are bold on a terminal only; NO_COLOR and --color are honored', async () => {
    const has = async (line: string, setting: Setting) =>
      (await mergeq(line, setting)).out.includes('\u001B[1mFlags:')
    expect(await has('pr get --help', { terminal: true })).toBe(true)
    expect(await has('pr get --help', { terminal: true, env: { NO_COLOR: '1' } })).toBe(false)
    expect(await has('pr get --help', {})).toBe(false)
    expect(await has('pr get --help --color always', {})).toBe(true)
    expect(await has('pr get --help --color never', { terminal: true })).toBe(false)
  })
})

describe('a command explains -R and -b where it uses them', () => {
  test.each([
    ['pr submit', true, true],
    ['queue pause', true, true],
    ['metrics', true, true],
    ['flaky list', true, false],
    ['config set', false, false],
    ['sandbox tour', false, false],
  ])('%s', async (command, repo, branch) => {
    const { out } = await mergeq(`${command} --help`)
    expect([out.includes('  -R, --repo <'), out.includes('  -b, --target-branch <')]).toEqual([repo, branch])
    expect(out).not.toMatch(/^ +--ca-file/m)
    expect(out).toMatch(/\nLearn more: mergeq --help, mergeq help topics, mergeq help <topic>\n$/)
  })
})

describe('help finds', () => {
  test.each([
    // By the beginning, by another word, by the spelling, and by what the help says.
    ['sub', /^Submit pull requests .*\n\nUsage: mergeq pr submit/],
    ['pr sub', /^Submit pull requests .*\n\nUsage: mergeq pr submit/],
    ['que', /\nUsage: mergeq queue <command>/],
    ['exit', /^Exit codes:\n/],
    ['exit codes', /^Exit codes:\n/],
    ['exit-cods', /^Exit codes:\n/],
    ['pr view', /\nUsage: mergeq pr get /],
    ['merge', /\nUsage: mergeq pr submit /],
    ['mrege', /\nUsage: mergeq pr submit /],
    ['pr cancle', /\nUsage: mergeq pr cancel /],
    ['undo', /^To take a change back, run the command/],
    ['hotfix', /\nUsage: mergeq pr submit /],
    ['urgnet', /\nUsage: mergeq pr submit /],
    ['stuck', /\nUsage: mergeq queue explain /],
    ['pausing', /\nUsage: mergeq queue pause /],
    ['use', /^To use another profile/],
    ['queue copy', /^To copy the settings of a queue, name the branch/],
    ['copy', /^To copy the settings of a queue, name the branch/],
    ['topics', /^Topics:\n\n {2}exit-codes +What each exit code means\n/],
    ['merge method', /^Found in the help of .*:\n {2}queue update {2}/],
    ['explain', /^Found in the help of .*:\n {2}pr explain .*\n(?:.*\n)*? {2}queue explain /],
    ['NOT_READY', /^Found in the help of [\s\S]*\n {2}help states /],
  ])('help %s', async (words, shown) => {
    const { code, out, err } = await mergeq(`help ${words}`)
    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(out).toMatch(shown)
    if (out.startsWith('Found')) expect(out.match(/^ {2}\S/gm)?.length).toBeLessThanOrEqual(10)
  })

  test('every topic is in the list of topics, and by its name in no other', async () => {
    const { out } = await mergeq('help topics')
    expect([...out.matchAll(/^ {2}([\w-]+) {2,}/gm)].map(([, name]) => name)).toEqual(Object.keys(topics))
  })

  test('words that stand in no help', async () => {
    expectUsageError(await mergeq('help xyzzy'), /^mergeq: No help has 'xyzzy' in it\.\n/)
    expect((await mergeq('help merge method --json')).code).toBe(2)
  })
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
  const maxGroupLines = 30
  /** No sentence is cut: commands with many options have some lines more, and `queue update` more for its settings. */
  const maxLongLines = 33

  test.each(commandDocs.map(doc => [doc.command, doc] as const))('%s -h', async (command, doc) => {
    const lines = await linesOf(`${command} -h`)
    const text = lines.join('\n')
    if (command !== 'queue update') expect(lines.length, text).toBeLessThanOrEqual(maxLongLines)
    expect(text).not.toContain('…')
    const usage = lines.findIndex(each => each.startsWith('Usage: '))
    expect(lines.slice(0, usage).join(' ')).toBe(doc.summary)
    expect(lines[usage]).toBe(`Usage: ${doc.usage}`)
    expect(lines.at(-1)).toBe(`Learn more: mergeq ${command} --help`)
    const basic = doc.flags.filter(({ advanced }) => advanced !== true)
    for (const { name } of doc.flags.filter(flag => !basic.includes(flag)))
      expect(text).not.toContain(`  ${name} `)
    for (const { name } of [...doc.arguments, ...basic])
      expect(text.replaceAll('--[no-]', '--').replaceAll('--no-', '--')).toContain(
        `  ${name.replace(/^--no-/, '--')}`.slice(name.startsWith('-') ? 1 : 0),
      )
    for (const { line } of doc.examples.slice(0, 2)) expect(text).toContain(`\n  ${line}\n`)
    for (const line of lines) expect(line.length, line).toBeLessThanOrEqual(80)
  })

  test.each(groupNames)('%s -h', async group => {
    const lines = await linesOf(`${group} -h`)
    expect(lines.length).toBeLessThanOrEqual(maxGroupLines)
    expect(lines.at(-1)).toBe(`Learn more: mergeq ${group} <command> -h, mergeq ${group} --help`)
    expect(lines.filter(line => line.startsWith('  mergeq '))).toHaveLength(2)
    for (const { command } of commandDocs.filter(({ command }) => command.startsWith(`${group} `)))
      expect(lines.join('\n')).toContain(`\n  ${command.slice(group.length + 1)} `)
    // The complete help has the first example of every command.
    const all = (await linesOf(`${group} --help`)).join('\n')
    for (const { command, examples } of commandDocs.filter(({ command }) => command.startsWith(`${group} `)))
      expect(all, command).toContain(`\n  ${examples[0]?.line}`)
  })

  test('mergeq alone', async () => {
    const lines = await linesOf('')
    expect(lines.length).toBeLessThanOrEqual(maxLines)
    expect(lines.filter(line => line.startsWith('  mergeq '))).toHaveLength(4)
    expect(lines.at(-1)).toBe('Learn more: mergeq <command> -h, mergeq help <topic>, mergeq --help')
  })
})

/**
 * The part of an example that is ours, as the shell would hand it over: without what it is piped from, into,
 * or to.
 */
function ownPart(line: string): string {
  const stage = line.split(/ \| (?=(?:[^']*'[^']*')*[^']*$)/).find(part => /(^|<\()mergeq /.test(part)) ?? ''
  return stage.replace(/^(source <\()?mergeq /, '').replace(/\)$| (?:>>?|<) .*$/g, '')
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
const checkout: Stage = {
  setting: {
    spawn: (_, args) => ({
      code: args.includes('config') ? 1 : 0,
      out: args.includes('--git-path') ? '.git/hooks/pre-push\n' : '/repo\n',
    }),
  },
}
/** Those of other commands; by default, pull requests are in the queue for `pr`. */
const stages: Readonly<Record<string, Stage>> = {
  'pr submit': {},
  'pr land': {},
  'pr targets': {
    setting: {
      spawn: () => ({ code: 0, out: 'a\n' }),
      env: { MERGEQ_SHA: '4f2a9c1d0e8b7a6655443322110ffeeddccbbaa9' },
    },
  },
  'queue delete': { before: ['queue create --target-branch release'] },
  'queue pause': { setting: { inputTerminal: true, typed: ['y'] } },
  'queue drain': { setting: { inputTerminal: true, typed: ['y'] } },
  'queue resume': {
    before: ['queue pause'],
    setting: {
      inputTerminal: true,
      typed: ['y'],
      files: {
        'states.json': '[{"repo":"acme/web","targetBranch":"main","before":"RUNNING","after":"PAUSED"}]',
      },
    },
  },
  'queue apply': { setting: { inputTerminal: true, typed: ['y'] } },
  'queue watch': { setting: { terminal: true, inputTerminal: true, keys: ['x', 'q'] } },
  'flaky link': { setting: { input: '2b4e8d1c-93f0-4c57-8a3b-1f2e3d4c5b6a KAN-123\n' } },
  'flaky match': { setting: { input: junit, files: { 'junit.xml': junit } } },
  api: queued,
  'auth login': { setting: { inputTerminal: true, typed: ['sandbox'], input: 'sandbox' } },
  'guard install': checkout,
  'guard uninstall': checkout,
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
  if (/^pr testing \S{30}/.test(line)) return `pr testing ${(await read('pr testing --pr 123')).testBranch}`
  if (line.includes('--head ')) return line.replace('fix-cart', 'cache-suggestions')
  if (line.includes('--match-head'))
    return line.replace('HEAD', (await read('pr get 123')).prSha ?? '4f2a9c1d'.repeat(5))
  // Which tests fail in a sandbox is its own affair.
  if (line.startsWith('flaky gate')) return line.replace(/--max \d+/, '--max 1000')
  if (line.includes('--with-branch')) return line.replace('release', 'main')
  return line.replace('build/test-results/test/*.xml', 'junit.xml').replace('--for 1h', '--for 1m')
}

// `sandbox start` serves until it is stopped.
const runnable = examples.filter(
  ({ command, line }) => command !== 'sandbox start' && line.includes('mergeq '),
)
/** The home in which settings are stored, in real files. */
const home = temporaryFolder('mergeq-help-')

test.each(runnable)('the example `$line` exits with $exit', async ({ command, line, exit }) => {
  const { before = [], setting = {} } = stages[command] ?? (command.startsWith('pr ') ? queued : {})
  const story = await openStory()
  for (const one of before) expect((await story.mergeq(one)).code).toBe(0)
  story.clock.now += 1_000
  const typed = await localized(ownPart(line), story)
  const realFiles = /^(?:auth|config) /.test(command)
  const world: Setting = { disk: disk(), realFiles, env: { HOME: home }, ...setting }
  const { code, out, err } = await story.mergeq(typed, world)
  expect(code, err).toBe(exit)
  if (/--json$/.test(line)) expect(() => JSON.parse(out)).not.toThrow()
})
