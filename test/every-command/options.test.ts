import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { MergeqError } from '../../src/base/errors.ts'
import { globalOptions } from '../../src/cli/parse.ts'
import { isOption } from '../../src/command/inputs.ts'
import { askingLines } from '../support/asking-commands.ts'
import { checkout } from '../support/checkout.ts'
import { allCommands } from '../support/commands.ts'
import { type Answer, mergeq, queueEnv, type Seen, type Setting } from '../support/harness.ts'
import { testId } from '../support/operations.ts'

const opened: unknown[] = []
// The commands load this module when they open a sandbox.
beforeAll(() => {
  vi.doMock('../../src/sandbox/sandbox.ts', async original => ({
    ...(await original<typeof import('../../src/sandbox/sandbox.ts')>()),
    // What a sandbox does with its options has tests of its own; here it counts that it gets them.
    startSandbox: async (options: object) => {
      opened.push(options)
      throw new MergeqError('output', 'no sandbox is opened here.')
    },
  }))
})
afterAll(() => {
  vi.doUnmock('../../src/sandbox/sandbox.ts')
})
beforeEach(() => {
  opened.length = 0
})

const sha = '4f2a9c1d0b8e7f6a5b4c3d2e1f0a9b8c7d6e5f4a'

/** Failing tests on two pages, in no order that a flag makes. */
const failing = [
  { id: 'b1', name: 'beta', file_path: 'lib/x/b.ts', failure_rate_last_7d: 0.2, quarantined: true },
  { id: testId, name: 'alpha', file_path: 'src/a.ts', failure_rate_last_7d: 0.9, codeowners: ['@a'] },
  { id: 'c1', name: 'gamma', file_path: 'src/c.ts', failure_rate_last_7d: 0.5, quarantined: false },
]

const metricsText = [
  '# TYPE mq_depth_current gauge',
  'mq_depth_current{repo="acme/web",branch="main"} 2',
  'mq_depth_current{repo="acme/web",branch="other"} 3',
  ...['main', 'other'].flatMap(branch => [
    `mq_pr_conclusions_1h_total{branch="${branch}",conclusion="merged"} 4`,
    `mq_pr_test_duration_1h_seconds_count{branch="${branch}"} 4`,
    `mq_pr_test_duration_1h_seconds_sum{branch="${branch}"} 2400`,
  ]),
  '',
].join('\n')

/** A service on which every flag has something to show. */
const answer = ({ path, body }: Seen): Answer => {
  if (path.includes('getMergeQueueMetrics')) return { body: metricsText }
  const sent = body === '' ? {} : JSON.parse(body)
  if (/list-(failing|unhealthy)-tests$/.test(path)) {
    const isSecond = sent.page_query?.page_token === 'p2'
    const [tests, next_page_token] = isSecond ? [failing.slice(2), ''] : [failing.slice(0, 2), 'p2']
    return { body: JSON.stringify({ tests, page: { next_page_token } }) }
  }
  if (path.endsWith('get-test-details'))
    return { body: JSON.stringify({ test: { id: testId, name: 'alpha' } }) }
  const pullRequest = { prNumber: 7, state: 'TESTING', stateChangedAt: '2026-01-05T10:00:00Z' }
  if (path.endsWith('getSubmittedPullRequest')) {
    const { number: prNumber = 7 } = sent.pr ?? {}
    const document = { ...pullRequest, prNumber, prSha: sha, isCurrentlySubmittedToQueue: true }
    return { body: JSON.stringify(document) }
  }
  if (path.endsWith('getQueue')) {
    const queue = { state: 'paused', concurrency: 1, enqueuedPullRequests: [pullRequest] }
    return { body: JSON.stringify(queue) }
  }
  if (path.endsWith('getMergeQueueTestingDetails')) return { body: '{"status":"running"}' }
  return { body: '' }
}

const refusing = (): Answer => ({ status: 500, body: 'no' })
const knowsNothing = (seen: Seen): Answer =>
  seen.path.endsWith('getSubmittedPullRequest') ? { status: 404, body: 'not found' } : answer(seen)
/** A pull request of ada leaves after the first reading. */
const leavesLater = ({ path }: Seen, index: number): Answer => ({
  body: path.endsWith('/getQueue')
    ? JSON.stringify({
        state: 'RUNNING',
        enqueuedPullRequests: index === 0 ? [{ prNumber: 7, state: 'PENDING', prAuthor: 'ada' }] : [],
      })
    : '{"prNumber":7,"state":"MERGED","prAuthor":"ada"}',
})

/** A service that fails from its third answer on. */
const failsLater = (seen: Seen, index: number): Answer => (index < 2 ? answer(seen) : refusing())

/** Quarantined tests on two pages. */
const quarantine = ({ body }: Seen): Answer => {
  const isSecond = JSON.parse(body).page_query.page_token === 'p2'
  const tests = failing.map(({ id, file_path, ...test }) => ({ ...test, test_case_id: id, file: file_path }))
  const [quarantined_tests, next_page_token] = isSecond ? [tests.slice(2), ''] : [tests.slice(0, 2), 'p2']
  return { body: JSON.stringify({ quarantined_tests, page: { next_page_token } }) }
}

/** Nine results, one a page. */
const testResults = ({ path, body }: Seen) => {
  const headers = { date: 'Mon, 05 Jan 2026 12:00:00 GMT' }
  if (path.endsWith('/getQueue')) return { headers, body: '{"state":"running","enqueuedPullRequests":[]}' }
  const { offset = 0, until } = JSON.parse(body)
  const outcome = offset % 2 === 0 ? 'failed' : 'passed'
  const result = { prNumber: offset, testRunId: `r${offset}`, endedAt: until, outcome }
  const testingResults = offset < 9 ? [result] : []
  return { body: JSON.stringify({ testingResults, totalItems: 9 }) }
}

/** The pull requests of a queue on two pages. */
const listing = ({ body }: Seen): Answer => {
  const isSecond = JSON.parse(body).cursor === 'c2'
  const pullRequests = isSecond
    ? [{ prNumber: 9, state: 'merged', prAuthor: 'ada' }]
    : [
        { prNumber: 7, state: 'testing', prAuthor: 'ada' },
        { prNumber: 8, state: 'pending', prAuthor: 'grace' },
      ]
  return { body: JSON.stringify({ pullRequests, nextCursor: isSecond ? null : 'c2' }) }
}

const answerOrList = (seen: Seen): Answer =>
  seen.path.endsWith('listPullRequests') ? listing(seen) : answer(seen)

/** What is typed for an option, and the line and the world in which that makes a difference. */
interface Shows {
  readonly typed?: string
  readonly line?: string
  readonly setting?: Setting
}

/** The line of a command, by default its name and arguments, and the options that need more than a value to show their effect. */
interface Rows {
  readonly line?: string
  readonly setting?: Setting
  readonly options?: Readonly<Record<string, Shows>>
}

/** The value that is typed for an option; a switch has none, and a choice is its last one. */
const values = new Map(
  `
    --baseline=known.txt --field=a=1 --file=q.yaml --from=a.txt --from-json=a.json --give-up-after=5s --grace=1s
    --if-match=0123456789abcdef --input=b.json --interval=7s --limit=1
    --match-head=4f2a9c1d0e8b7a6655443322110ffeeddccbbaa9 --max-pages=1 --min-failure-rate=0.5 --name=a* --owner=@a
    --page-size=50 --page-token=p2 --path=src/* --queue=acme/web:release --raw-field=a=1 --set=some.thing=1
    --sha=4f2a9c1d0e8b7a6655443322110ffeeddccbbaa9 --since=2h --stalled=1h --until=1h --window=30d
  `
    .trim()
    .split(/\s+/)
    .map(word => [word.replace(/=.*/, ''), word.replace(/^.*?=/, '')] as const),
)

/** The pull request is not in the queue before it is submitted, and fails then. */
const failsAfterSubmission = ({ path }: Seen, index: number): Answer => {
  if (index === 0) return { status: 404 }
  return { body: path.endsWith('/submitPullRequest') ? 'OK' : '{"state":"FAILED"}' }
}

const waitOptions: NonNullable<Rows['options']> = {
  '--until': { typed: '--until testing' },
  '--grace': { setting: { answer: knowsNothing } },
  '--give-up-after': { setting: { answer: failsLater } },
  '--no-bell': { setting: { terminal: true } },
}

const onSeveral = (command: string): NonNullable<Rows['options']> => ({
  '--file': { setting: quietQueue },
  '--record': { line: `${command} --all --yes` },
  '--yes': { line: `${command} --all` },
})

/** The options of every command for several pull requests, for a command line without them. */
const stopsOnError = (line: string): NonNullable<Rows['options']> => ({
  '--stop-on-error': {
    line: `${line} 7 8 --retries 0`,
    setting: { answer: () => ({ status: 400, body: 'no' }) },
  },
  '--if-empty': { line: `${line} -`, typed: '--if-empty ok', setting: { input: '' } },
})

/** The options that several commands have. */
const ofEvery = (command: string, line: string): NonNullable<Rows['options']> => ({
  ...stopsOnError(line),
  // It answers the question about a pull request that nobody named.
  ...(command.startsWith('pr ') && { '--yes': { line, setting: { spawn: checkout({ pr: 7 }) } } }),
})

const inCheckout: Setting = {
  spawn: (_, args) => ({ code: 0, out: args.includes('--git-path') ? '.git/hooks/pre-push\n' : '/repo\n' }),
}
const push = `refs/heads/fix ${sha} refs/heads/fix ${'1'.repeat(40)}\n`
const exported = 'q/acme/web@main.yaml'
const withQueueFile: Setting = { files: { 'q.yaml': 'settings: {state: running, concurrency: 2}' } }
/** A queue that the metrics do not name. */
const quietQueue: Setting = { files: { 'q.yaml': 'repo: acme/quiet\ntargetBranch: main\n' } }
const junit = (attributes: string, more = ''): Setting => ({
  files: { 'j.xml': `<testsuite><testcase ${attributes}><failure/></testcase>${more}</testsuite>` },
})

/**
 * The commands whose options need more than the name of the command to show their effect. An option that is not here
 * has the value above, if it has one.
 */
const table: Readonly<Record<string, Rows>> = {
  'pr submit': {
    line: 'pr submit 7 --wait --timeout 40s',
    options: { ...waitOptions, '--wait': { line: 'pr submit 7', typed: '--wait --timeout 5s' } },
  },
  'pr land': {
    line: 'pr land 7 --timeout 1m',
    setting: { answer: failsAfterSubmission },
    options: {
      ...waitOptions,
      '--until': { typed: '--until testing', setting: { answer } },
      '--match-head': { setting: { answer } },
      '--attempts': { line: 'pr land 7 --timeout 1m --resubmit any', typed: '--attempts 1' },
    },
  },
  'pr cancel': {
    options: { ...stopsOnError('pr cancel --yes'), '--yes': { line: 'pr cancel 7 8' } },
  },
  'pr get': { options: { '--grace': { setting: { answer: knowsNothing } } } },
  'pr list': { setting: { answer: listing } },
  'queue report': {
    setting: { answer: testResults },
    options: { '--file': { setting: quietQueue } },
  },
  'queue runs': {
    setting: { answer: testResults },
    options: { '--file': { setting: quietQueue } },
  },
  'pr targets': {
    line: `pr targets 7 --sha ${sha}`,
    setting: { files: { 'a.txt': '//b\n', 'a.json': '["//b"]', 'empty.txt': '' } },
    options: {
      '--set': { line: `pr targets 7 //a --sha ${sha}` },
      '--forked-run': { line: `pr targets 7 //a --sha ${sha}` },
      '--sha': { line: 'pr targets 7 //a' },
      '--no-sha': { line: 'pr targets 7 //a' },
      '--exec': {
        typed: '--exec -- list',
        setting: { env: { MERGEQ_PR: '7', MERGEQ_SHA: sha }, spawn: () => ({ code: 0, out: 'a' }) },
      },
      '--if-empty': { line: `pr targets 7 --sha ${sha} --from empty.txt`, typed: '--if-empty none' },
      '--too-large': {
        line: `pr targets 7 --sha ${sha} --from-json a.json`,
        setting: { answer: () => ({ status: 413, body: '' }) },
      },
    },
  },
  'pr testing': { options: { '--pr': { line: 'pr testing' } } },
  'pr wait': {
    line: 'pr wait 7 --timeout 40s',
    options: {
      ...waitOptions,
      '--stop-on-error': {
        line: 'pr wait 7 8 --timeout 40s',
        setting: {
          answer: seen => {
            if (seen.path.endsWith('getQueue'))
              return { body: '{"state":"running","enqueuedPullRequests":[{"prNumber":8,"state":"TESTING"}]}' }
            return { body: '{"prNumber":7,"state":"FAILED","isCurrentlySubmittedToQueue":false}' }
          },
        },
      },
    },
  },
  'queue list': { options: { '--file': { setting: quietQueue } } },
  'queue update': { line: 'queue update --set x=1' },
  'queue pause': { line: 'queue pause --yes', options: onSeveral('queue pause') },
  'queue resume': {
    line: 'queue resume --yes',
    options: {
      ...onSeveral('queue resume'),
      '--from': { typed: '--from s.json', setting: { files: { 's.json': '[]' } } },
    },
  },
  'queue drain': { line: 'queue drain --yes', options: onSeveral('queue drain') },
  'queue delete': { line: 'queue delete --yes', options: { '--yes': { line: 'queue delete' } } },
  'queue wait': {
    line: 'queue wait --timeout 0',
    options: {
      '--file': { setting: quietQueue },
      '--interval': { line: 'queue wait --timeout 9s' },
      '--no-bell': { line: 'queue wait --timeout 11s', setting: { terminal: true } },
      '--give-up-after': { line: 'queue wait --timeout 9s', setting: { answer: () => ({ status: 503 }) } },
    },
  },
  'queue watch': {
    options: {
      '--all': { line: 'queue watch --for 5s' },
      '--file': { line: 'queue watch --for 5s', setting: quietQueue },
      '--once': { line: 'queue watch --for 5s' },
      '--since': { line: 'queue watch --for 5s', typed: '--since 1h', setting: { answer: answerOrList } },
      '--heartbeat': { line: 'queue watch --for 5s', typed: '--heartbeat 2s -o ndjson' },
      '--interval': { line: 'queue watch --for 5s', typed: '--interval 2s' },
      '--for': { line: 'queue watch --give-up-after 5s', typed: '--for 1s', setting: { answer: failsLater } },
      '--give-up-after': { setting: { answer: failsLater } },
      '--no-bell': {
        line: 'queue watch -v --interval 11s --for 20s',
        setting: {
          files: { '/ada/config.json': '{"profiles":{"default":{"user":"ada"}}}' },
          env: { MERGEQ_CONFIG_DIR: '/ada' },
          terminal: true,
          answer: leavesLater,
        },
      },
      '--set': { line: 'queue watch --once' },
    },
  },
  'queue explain': { options: { '--file': { setting: quietQueue } } },
  'queue export': {
    options: {
      '--all': { line: 'queue export -f q.yaml' },
      '--yes': { line: 'queue export --all -f q', setting: { disk: new Map([[exported, 'settings: {}']]) } },
    },
  },
  'queue diff': {
    line: 'queue diff -f q.yaml',
    setting: withQueueFile,
    options: {
      '--set': { typed: '--set concurrency=4' },
      '--file': { line: 'queue diff' },
      '--with-branch': { line: 'queue diff', typed: '--with-branch next' },
      '--all-repos': {
        line: 'queue diff -f q.yaml --strict',
        setting: { files: { 'q.yaml': 'repo: acme/api' } },
      },
    },
  },
  'queue apply': {
    line: 'queue apply -f q.yaml --yes --retries 0',
    setting: withQueueFile,
    options: {
      '--set': { typed: '--set concurrency=4' },
      '--file': { line: 'queue apply --yes' },
      '--yes': { line: 'queue apply -f q.yaml' },
      '--create': { setting: { answer: () => ({ status: 404, body: 'Not Found' }) } },
    },
  },
  'queue check': {
    line: 'queue check --not-paused',
    options: {
      '--file': { setting: quietQueue },
      '--not-paused': { line: 'queue check --only --max-depth 3' },
      '--stalled': { line: 'queue check --only --not-paused' },
    },
  },
  metrics: { options: { '--raw': { setting: { terminal: true } } } },
  'flaky quarantined': { setting: { answer: quarantine } },
  'flaky unhealthy': { options: { '--page-token': { line: 'flaky unhealthy --status flaky' } } },
  'flaky get': { options: { '--window': { line: 'flaky get cart' } } },
  'flaky match': {
    line: 'flaky match j.xml',
    setting: junit('name="alpha" file="src/a.ts"'),
    options: {
      '--window-only': { setting: junit('name="new" classname="A"') },
      '--allow-empty': {
        line: 'flaky match j.xml k.xml',
        setting: { files: { 'j.xml': '<testsuite/>', 'k.xml': '<testsuite><testcase/></testsuite>' } },
      },
      '--allow': { typed: '--allow known', setting: junit('name="alpha" file="src/a.ts"') },
      '--retried': {
        typed: '--retried pass',
        setting: junit('name="alpha" file="src/a.ts"', '<testcase name="alpha" file="src/a.ts"/>'),
      },
      '--on-unavailable': { typed: '--on-unavailable pass', setting: { answer: () => ({ status: 503 }) } },
    },
  },
  'flaky gate': {
    setting: { files: { 'known.txt': testId } },
    options: {
      '--on-unavailable': { typed: '--on-unavailable pass', setting: { answer: refusing } },
    },
  },
  'guard install': { setting: inCheckout },
  'guard check': { setting: inCheckout, options: { '--fail-closed': { setting: { answer: refusing } } } },
  'guard hook': {
    setting: inCheckout,
    options: {
      '--fail-closed': {
        line: 'guard hook -- origin https://github.com/acme/web',
        setting: { input: push, answer: refusing },
      },
    },
  },
  api: {
    setting: { files: { 'b.json': '{"a":1}' } },
    options: { '--method': { line: 'api something', typed: '--method get' } },
  },
  'auth login': {
    setting: { input: 'tok-12345678' },
    options: { '--no-verify': { line: 'auth login --with-token' } },
  },
  'sandbox exec': { line: 'sandbox exec -- git push' },
}

/** For each global option a command line on which it has an effect. */
const globalRows: Readonly<Record<string, Shows & { readonly typed: string }>> = {
  '--repo': { line: 'pr get 7', typed: '--repo acme/other' },
  '--target-branch': { line: 'pr get 7', typed: '--target-branch release' },
  '--org': { line: 'flaky list', typed: '--org other' },
  '--base-url': { line: 'pr get 7 --dry-run', typed: '--base-url https://other.test/v2' },
  '--profile': { line: 'config set org other --dry-run', typed: '--profile work' },
  '--output': { line: 'pr get 7', typed: '--output csv' },
  '--json': { line: 'pr get 7', typed: '--json' },
  '--fields': { line: 'pr get 7', typed: '--fields state' },
  '--dry-run': { line: 'pr get 7', typed: '--dry-run' },
  '--timeout': { line: 'pr wait 7 --interval 10m', typed: '--timeout 5s' },
  '--retries': { line: 'pr get 7', typed: '--retries 0', setting: { answer: refusing } },
  '--ca-file': {
    line: 'pr get 7',
    typed: '--ca-file /missing.pem',
    setting: { env: { MERGEQ_BASE_URL: 'https://127.0.0.1:9/v1' } },
  },
  '--quiet': { line: 'pr get 7', typed: '--quiet', setting: { answer: refusing } },
  '--verbose': { line: 'pr get 7', typed: '--verbose' },
  '--color': { line: 'pr get 7', typed: '--color always' },
  '--no-input': {
    line: 'queue delete',
    typed: '--no-input',
    setting: { terminal: true, inputTerminal: true, typed: ['main'] },
  },
}

/** Everything that a command line does, as text that two runs can be compared by. */
async function traceOf(
  line: string,
  setting: Setting,
): Promise<{ readonly text: string; readonly refusal: string }> {
  const before = opened.length
  const changes: string[] = []
  const disk = new Map<string, string>()
  const { code, out, err, requests, sleeps } = await mergeq(line, {
    answer,
    disk,
    onChange: (how, path) => changes.push(`${how} ${path}`),
    ...setting,
    env: { MERGEQ_CONFIG_DIR: '/no-such-folder', ...queueEnv, ...setting.env },
  })
  const sent = requests.map(({ method, path, headers, body }) => {
    const { host: _, 'content-length': __, ...others } = headers
    return { method, path, headers: others, body }
  })
  const all = { code, out, err, sent, sleeps, changes, disk: [...disk], opened: opened.slice(before) }
  return {
    text: JSON.stringify(all).replaceAll(/127\.0\.0\.1:\d+/g, 'loopback'),
    refusal: code === 2 ? err : '',
  }
}

const allOptions = allCommands.flatMap(({ command, definitions }) =>
  definitions
    .filter(definition => isOption(definition) && definition.hidden !== true)
    .map(definition => ({ ...definition, command })),
)

const flagOption = ({ name, choices, value }: (typeof allOptions)[number]): string =>
  value === undefined ? name : `${name} ${choices?.at(-1) ?? values.get(name) ?? '3'}`

/** The options that must be typed, but for one. */
const requiredWords = ({ command, name }: (typeof allOptions)[number]): readonly string[] =>
  allOptions
    .filter(other => other.command === command && other.required === true && other.name !== name)
    .map(flagOption)

/** A command and its arguments. */
const lineWithoutOptions = (command: string): string =>
  `${command} ${askingLines[command] ?? ''}`.replace(/ -.*/, '').replace('7 8', '7').trim()

/** The command line on which an option of a command shows its effect, and its host. */
function shownBy(option: (typeof allOptions)[number]): Required<Shows> {
  const { command, name } = option
  const words = requiredWords(option)
  const {
    line = [lineWithoutOptions(command), ...words].join(' '),
    setting,
    options = {},
  } = table[command] ?? {}
  const { [name]: shows = {} } = { ...ofEvery(command, [command, ...words].join(' ')), ...options }
  return { typed: flagOption(option), line, ...shows, setting: { ...setting, ...shows.setting } }
}

/** A command line with words after the name of the command. */
const withWords = (command: string, line: string, words: string): string =>
  `${command} ${words}${line.slice(command.length)}`

const traces = new Map<string, ReturnType<typeof traceOf>>()

/** The trace of the command line of an option without the option; options of a command share it. */
async function traceWithout(option: (typeof allOptions)[number]): ReturnType<typeof traceOf> {
  const { line, setting } = shownBy(option)
  const isOwn = table[option.command]?.options?.[option.name]?.setting !== undefined
  const key = isOwn ? `${line} of ${option.name}` : line
  const trace = traces.get(key) ?? traceOf(line, setting)
  traces.set(key, trace)
  return trace
}

describe('every option of every command has an effect, or contradicts another', () => {
  test('each row of the table of this test is about an option', () => {
    const rows = Object.entries(table).flatMap(([command, { options = {} }]) =>
      Object.keys(options).map(name => `${command} ${name}`),
    )
    expect(allOptions.map(({ command, name }) => `${command} ${name}`)).toEqual(expect.arrayContaining(rows))
  })

  test.each(allOptions)('$command $name', async option => {
    const { line, typed, setting } = shownBy(option)
    const without = await traceWithout(option)
    const { text, refusal } = await traceOf(withWords(option.command, line, typed), setting)
    if (refusal.includes('cannot be used together')) return
    expect(refusal, 'the line with the option is refused').toBe('')
    expect(text, 'the option has no effect').not.toBe(without.text)
  })
})

describe('every global option has an effect', () => {
  test('each has a line in the table of this test, and each line an option', () => {
    expect(Object.keys(globalRows)).toEqual(globalOptions.map(({ name }) => name))
  })

  test.each(Object.entries(globalRows))('%s', async (_, { line = '', typed, setting = {} }) => {
    const without = await traceOf(line, setting)
    expect(without.refusal, 'the line without the option is refused').toBe('')
    const { text, refusal } = await traceOf(`${line} ${typed}`, setting)
    expect(refusal).not.toContain('unknown option')
    expect(text).not.toBe(without.text)
  })
})

describe('a default is the value that is used: typing it changes nothing', () => {
  test.each(allOptions.filter(definition => definition.default !== undefined))(
    '$command $name $default',
    async option => {
      const { line, setting } = shownBy(option)
      const typed = withWords(option.command, line, `${option.name} ${option.default}`)
      expect(await traceOf(typed, setting)).toEqual(await traceWithout(option))
    },
  )

  // The tests have a service of their own, and --output table is a table for people even on a pipe.
  const others = ['--base-url', '--output']
  test.each(
    globalOptions.filter(({ name, default: value }) => value !== undefined && !others.includes(name)),
  )('$name $default', async ({ name, default: value }) => {
    const host: Setting = { answer: () => ({ status: 503 }) }
    expect(await traceOf(`pr get 7 ${name} ${value}`, host)).toEqual(await traceOf('pr get 7', host))
  })
})

/** Each option that has a value once, with a command line on which it is used. */
const withValues = new Map(
  [
    ...allOptions.map(option => ({ ...option, ...shownBy(option) })),
    ...globalOptions.map(option => {
      const command = option.name === '--org' ? 'flaky list' : 'queue get'
      return { ...option, command, line: command, setting: {} }
    }),
  ].flatMap(option => (option.value === undefined ? [] : [[option.name, option] as const])),
)

describe('a wrong value is refused in the name of the option, with a hint', () => {
  test.each([...withValues.values()])('an empty value of $name', async ({ command, name, line, setting }) => {
    const { refusal } = await traceOf(withWords(command, line, `${name}=`), setting)
    // The values that are also arguments go by their own name.
    expect(refusal).toMatch(
      new RegExp(`^mergeq: (${name}\\b.*|The file name .*|'' is not a pull request)\\.\n {2}`),
    )
  })

  test.each([...withValues.values()].filter(({ choices }) => choices !== undefined))(
    'a value of $name that is no choice',
    async ({ command, name, line, setting }) => {
      const { refusal } = await traceOf(withWords(command, line, `${name}=sometimes`), setting)
      expect(refusal).toMatch(new RegExp(`^mergeq: ${name}\\b.*'sometimes'.*\\.\n {2}`))
    },
  )
})
