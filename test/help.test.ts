import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { documentCommand } from '../src/cli/help/command-doc.ts'
import { topicNames } from '../src/cli/help/topic-names.ts'
import { allCommands } from '../src/commands/index.ts'
import { formats, settingDefinitions } from '../src/config/setting-definitions.ts'
import { scenarioNames } from '../src/domain/scenario-names.ts'
import { exitCodeList } from '../src/errors.ts'
import { mergeq, type Outcome, openStory, type Setting, type Story } from './harness.ts'
import { bareEnvironment, launcher, testWith } from './programs.ts'

const pages = allCommands.map(documentCommand)
const groups = [
  ...new Set(
    allCommands.flatMap(({ command }) => (command.includes(' ') ? [command.split(' ')[0] ?? ''] : [])),
  ),
]

describe('the order of help is the same for every command', () => {
  const order = [
    'Usage',
    'Alias',
    'Commands',
    'Arguments',
    'Flags',
    'Global flags',
    'Sends',
    'Prints',
    'Examples',
    'Exit codes',
    'More',
  ]

  test.each(pages.map(({ command }) => command))('%s', async command => {
    const { code, out, err } = await mergeq(`${command} --help`)
    expect({ code, err }).toEqual({ code: 0, err: '' })
    const titles = [...out.slice(out.indexOf('\n')).matchAll(/^([A-Z][a-z ]+):/gm)].map(
      ([, title = '']) => title,
    )
    expect(titles).toEqual(order.filter(title => titles.includes(title)))
    expect(titles).toEqual(
      expect.arrayContaining(['Usage', 'Flags', 'Prints', 'Examples', 'Exit codes', 'More']),
    )
    const { summary = '' } = pages.find(page => page.command === command) ?? {}
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
    ...topicNames.map(topic => `help ${topic}`),
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

  test('headings stand out on a terminal, and nowhere else; NO_COLOR and --color are honoured', async () => {
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
  ['pr get', ['pr get 7 --help', '-R acme/web pr get -h', 'pr get --head x -h', 'pr status --help']],
  ['pr', ['pr', 'pr -h', '-q pr', 'pr --org acme --help', 'help pr']],
  ['', ['', '-v', '-h', '--help --no-input', 'help']],
  ['sandbox exec', ['sandbox exec --help', 'sandbox exec --seed 1 --help -- ls']],
])('the help of `mergeq %s` comes wherever its flag stands', async (command, lines) => {
  const { out } = await mergeq(`help ${command}`)
  for (const line of lines)
    expect({ line, ...(await mergeq(line)) }).toMatchObject({ line, code: 0, out, err: '' })
})

describe('help as data', () => {
  test('`help --json` is one document, on one line on a pipe', async () => {
    const { out } = await mergeq('help --json')
    expect(out.split('\n')).toHaveLength(2)
    expect(JSON.parse(out)).toEqual(JSON.parse(readFileSync('test/golden/help.json', 'utf8')))
    for (const line of ['--help --json', '--json help', 'help -o json', '--json'])
      expect((await mergeq(line)).out).toBe(out)
  })

  test('a command, a group and ndjson have their part of it', async () => {
    const { commands } = JSON.parse((await mergeq('help --json')).out)
    const find = (name: string) =>
      commands.filter(({ command }: { command: string }) => command.startsWith(name))
    for (const line of ['help pr get --json', 'pr get --help --json', 'help pr status --json'])
      expect(JSON.parse((await mergeq(line)).out)).toEqual(find('pr get')[0])
    expect(JSON.parse((await mergeq('help pr --json')).out).commands).toEqual(find('pr '))
    const lines = (await mergeq('help -o ndjson')).out.trimEnd().split('\n')
    expect(lines.map(line => JSON.parse(line))).toEqual(commands)
  })

  test('every leaf is in it, with its words and its exit codes', async () => {
    const { commands } = JSON.parse((await mergeq('help --json')).out)
    expect(commands.map(({ command }: { command: string }) => command)).toEqual(
      pages.map(({ command }) => command),
    )
    const update = commands.find(({ command }: { command: string }) => command === 'queue update')
    expect(update.exitCodes).toEqual([0, 1, 2, 4, 5, 6, 7, 11, 15, 16, 129, 130, 143])
    expect(update.flags).toContainEqual({
      name: '--mode',
      value: '<mode>',
      summary: 'One line (single), or lanes by impacted targets (parallel)',
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
    expect((await mergeq('--help', { env: { MERGEQ_OUTPUT: 'json' } })).out).toMatch(/^Usage: mergeq /m)
  })
})

describe('every list in prose is whole', () => {
  const told = (line: string) => mergeq(line).then(({ out }) => out)

  test('every group and command is in `mergeq --help`, every command in the help of its group', async () => {
    const root = await told('--help')
    for (const { command } of pages) expect(root).toMatch(new RegExp(`^  ${command.split(' ')[0]} `, 'm'))
    for (const group of groups)
      for (const { command } of pages.filter(page => page.command.startsWith(`${group} `)))
        expect(await told(`${group} --help`)).toMatch(
          new RegExp(`^  ${command.slice(group.length + 1)} `, 'm'),
        )
  })

  test('every exit code is in `help exit-codes`, every format in `help formatting`', async () => {
    const [codes, forms] = [await told('help exit-codes'), await told('help formatting')]
    for (const { code, kind } of exitCodeList) expect(codes).toMatch(new RegExp(`^ *${code}  ${kind} `, 'm'))
    for (const format of formats) expect(forms).toMatch(new RegExp(`^  ${format} `, 'm'))
  })

  test('every variable that the source reads is in `help environment`, but those of CI jobs and of the system', async () => {
    const text = readdirSync('src', { recursive: true, encoding: 'utf8' })
      .filter(path => path.endsWith('.ts') && !/^config\/(ci|ci-systems)\.ts$/.test(path))
      .map(path => readFileSync(join('src', path), 'utf8'))
      .concat(readFileSync(launcher, 'utf8'))
      .join('\n')
    const read = [...text.matchAll(/\benv\??\.([A-Z][A-Z_]+)/g)].map(([, name = '']) => name)
    const system = [
      'HOME',
      'PATH',
      'APPDATA',
      'LOCALAPPDATA',
      'NODE_TLS_REJECT_UNAUTHORIZED',
      'GIT_CONFIG_COUNT',
    ]
    const environment = (await told('help environment')).replace(/\s+/g, ' ')
    const settings = Object.values(settingDefinitions).flatMap(({ env }) => env)
    expect(read.length).toBeGreaterThan(10)
    for (const name of [...new Set([...read, ...settings])].filter(
      name => !system.includes(name) && !isOfRunner(name),
    ))
      expect(environment).toContain(name)
  })

  test('every scenario of the sandbox is in its help', async () => {
    const definitions = allCommands.find(({ command }) => command === 'sandbox start')?.definitions ?? []
    const { suggestions } = definitions.find(({ syntax }) => syntax.startsWith('--scenario')) ?? {}
    expect(suggestions).toEqual(scenarioNames)
  })
})

/** Variables by which a CI job is known. */
const isOfRunner = (name: string): boolean =>
  /^(GITHUB|GITLAB|TF|TEAMCITY|BUILDKITE|AGENT|SYSTEM|BUILD)_/.test(name)

test.each([
  ['help nothing', /no command or topic 'nothing'/],
  ['help pr nothing', /no command or topic 'pr nothing'/],
  ['help exit-codes more', /no command or topic 'exit-codes more'/],
])('%s is refused', async (line, says) => {
  const { code, out, err } = await mergeq(line)
  expect({ code, out }).toEqual({ code: 2, out: '' })
  expect(err).toMatch(says)
})

const place = mkdtempSync(join(tmpdir(), 'mergeq help '))
afterAll(() => rmSync(place, { recursive: true, force: true }))

testWith('mandoc')('the manual page is right roff', () => {
  const told = (() => {
    try {
      return execFileSync('mandoc', ['-T', 'lint', 'man/mergeq.1'], { encoding: 'utf8' })
    } catch (error) {
      return error instanceof Error && 'stdout' in error ? String(error.stdout) : String(error)
    }
  })()
  // The date is left out, so that the page changes only when what it says does.
  expect(told.split('\n').filter(line => line !== '' && !line.includes('missing date'))).toEqual([])
  const shown = execFileSync('mandoc', ['-T', 'ascii', 'man/mergeq.1'], { encoding: 'utf8' }).replace(
    /.\u0008/g,
    '',
  )
  for (const { command } of pages) expect(shown).toContain(`mergeq ${command} [flags]`)
})

/** The part of an example that is ours, as the shell would hand it over: without what it is piped from, into, or to. */
function ownPart(line: string): string {
  const stage = line.split(/ \| (?=(?:[^']*'[^']*')*[^']*$)/).find(part => /(^|<\()mergeq /.test(part)) ?? ''
  return stage.replace(/^(source <\()?mergeq /, '').replace(/\)$| >>? .*$/g, '')
}

/** What stands ready before the example of a command is run, and what it is told. */
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
const merged: Stage = { before: ['pr submit 123 124', 'pr wait 123 124'] }
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
  'metrics check': merged,
  'metrics watch': { setting: { terminal: true, inputTerminal: true, keys: ['x', 'q'] } },
  'sandbox simulate': merged,
  'queue watch': { setting: { terminal: true, inputTerminal: true, keys: ['x', 'q'] } },
  'flaky match': { setting: { input: junit, files: { 'junit.xml': junit } } },
  api: queued,
  'sandbox exec': { setting: { spawn: () => ({ code: 0, out: '' }) } },
}

/** Names of an example that only a real service knows, as the sandbox has them. */
async function localized(line: string, story: Story): Promise<string> {
  const read = async (words: string) => JSON.parse((await story.mergeq(`${words} --json`)).out)
  if (line.startsWith('flaky get '))
    return `flaky get ${(await story.mergeq('flaky list --fields id --limit 1')).out}`
  if (line.startsWith('pr testing ') && !line.includes('--pr'))
    return `pr testing ${(await read('pr testing --pr 123')).testBranch}`
  if (line.includes('--head ')) return line.replace('fix-cart', 'pr-123')
  if (line.includes('--match-head'))
    return line.replace('HEAD', (await read('pr get 123')).prSha ?? '4f2a9c1d')
  // Which tests fail in a sandbox is its own affair.
  if (line.startsWith('flaky gate')) return line.replace(/--max \d+/, '--max 1000')
  return line.replace('build/test-results/test/*.xml', 'junit.xml')
}

/** What is stored is stored on a disk: these are run by the built binary, in a shell. */
const stores = /^(auth (login|logout|token)|config (set|unset|get|path)|guard)$/
/** These serve until they are stopped. */
const serves = /^sandbox start$/

const examples = pages.flatMap(({ command, examples }) => examples.map(example => ({ command, ...example })))

describe.each(['document', 'hosted'] as const)('every example works in the %s dialect', dialect => {
  test.each(examples.filter(({ command }) => !stores.test(command) && !serves.test(command)))(
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

describe('examples that store something', () => {
  testWith('bash').each(examples.filter(({ command }) => stores.test(command)))(
    '$line exits with $exit',
    async ({ line, exit, command }) => {
      const story = await openStory()
      try {
        const home = mkdtempSync(join(place, 'home '))
        writeFileSync(join(home, 'mergeq'), `#!/bin/sh\nexec '${process.execPath}' '${launcher}' "$@"\n`, {
          mode: 0o755,
        })
        writeFileSync(join(home, 'pbcopy'), '#!/bin/sh\ncat > /dev/null\n', { mode: 0o755 })
        const { MERGEQ_BASE_URL = '' } = story.env
        const env = {
          ...bareEnvironment(home),
          PATH: `${home}:${process.env.PATH}`,
          MERGEQ_BASE_URL,
          TOKEN: 'sandbox',
          MERGEQ_REPO: 'acme/web',
          ...(command === 'auth token' ? { MERGEQ_TOKEN: 'sandbox' } : {}),
        }
        const { execa } = await import('execa')
        if (command === 'guard') {
          const make =
            'git init -q && git init -q --bare there && git remote add origin ./there && git config push.default current && git -c user.name=t -c user.email=t@example.com commit -q --allow-empty -m first'
          await execa('sh', ['-c', make], { env, extendEnv: false, cwd: home })
        }
        const asks = line === 'mergeq auth login'
        const { exitCode, stderr } = await execa(
          'bash',
          ['-o', 'pipefail', '-c', asks ? `printf sandbox | ${line} --with-token` : line],
          { env, extendEnv: false, cwd: home, reject: false },
        )
        expect(exitCode, stderr).toBe(exit)
      } finally {
        await story.close()
      }
    },
  )
})
