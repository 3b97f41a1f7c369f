import { afterAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { isOption } from '../../src/cli/inputs.ts'
import { globalOptions } from '../../src/cli/parse.ts'
import { usageError } from '../../src/errors.ts'
import { allCommands } from '../support/commands.ts'
import { type Answer, mergeq, type Seen, type Setting } from '../support/harness.ts'

const opened: unknown[] = []
// Test files share loaded modules: this one loads its own, in which a module is replaced, and leaves none of
// them.
vi.hoisted(() => vi.resetModules())
afterAll(() => {
  vi.doUnmock('../../src/sandbox/sandbox.ts')
  vi.resetModules()
})
vi.mock('../../src/sandbox/sandbox.ts', async original => ({
  ...(await original<typeof import('../../src/sandbox/sandbox.ts')>()),
  // What a sandbox does with its options has tests of its own; here it counts that it gets them.
  startSandbox: async (options: object) => {
    opened.push(options)
    throw usageError('no sandbox is opened here.')
  },
}))
beforeEach(() => {
  opened.length = 0
})

const id = '2b4e8d1c-93f0-4c57-8a3b-1f2e3d4c5b6a'
const sha = '4f2a9c1d0b8e7f6a5b4c3d2e1f0a9b8c7d6e5f4a'

/** Failing tests on two pages, in no order that a flag makes. */
const failing = [
  { id: 'b1', name: 'beta', file_path: 'lib/x/b.ts', failure_rate_last_7d: 0.2, quarantined: true },
  { id: 'a1', name: 'alpha', file_path: 'src/a.ts', failure_rate_last_7d: 0.9, codeowners: ['@a'] },
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
  if (path.endsWith('get-test-details')) return { body: JSON.stringify({ test: { id, name: 'alpha' } }) }
  if (path.endsWith('getSubmittedPullRequest'))
    return {
      body: JSON.stringify({
        prNumber: sent.pr?.number ?? 7,
        prSha: sha,
        state: 'TESTING',
        isCurrentlySubmittedToQueue: true,
        stateChangedAt: '2026-01-05T10:00:00Z',
      }),
    }
  if (path.endsWith('getQueue'))
    return {
      body: JSON.stringify({
        state: 'paused',
        concurrency: 1,
        enqueuedPullRequests: [{ prNumber: 7, state: 'TESTING', stateChangedAt: '2026-01-05T10:00:00Z' }],
      }),
    }
  if (path.endsWith('getMergeQueueTestingDetails')) return { body: '{"status":"running"}' }
  return { body: '' }
}

const refusing = (): Answer => ({ status: 500, body: 'no' })
const knowsNothing = (seen: Seen): Answer =>
  seen.path.endsWith('getSubmittedPullRequest') ? { status: 404, body: 'not found' } : answer(seen)
/** A service that fails from its third answer on. */
const failsLater = (seen: Seen, index: number): Answer => (index < 2 ? answer(seen) : refusing())

/** Quarantined tests on two pages. */
const quarantine = ({ body }: Seen): Answer => {
  const isSecond = JSON.parse(body).page_query.page_token === 'p2'
  const tests = failing.map(({ id, file_path, ...test }) => ({ ...test, test_case_id: id, file: file_path }))
  const [quarantined_tests, next_page_token] = isSecond ? [tests.slice(2), ''] : [tests.slice(0, 2), 'p2']
  return { body: JSON.stringify({ quarantined_tests, page: { next_page_token } }) }
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

const hasMany = (): Answer => ({
  body: JSON.stringify({
    tests: Array.from({ length: 60 }, (_, index) => ({ id: `t${index}`, name: `test number ${index}` })),
    page: { next_page_token: '' },
  }),
})

/** How an option shows: what is typed for it, and the line and the world in which that makes a difference. */
interface Shows {
  readonly typed: string
  readonly line?: string
  readonly setting?: Setting
}
/** The words that give an option, where the command's own line shows its effect. */
type Row = string | Shows

interface Rows {
  readonly line: string
  readonly setting?: Setting
  readonly options: Readonly<Record<string, Row>>
}

const setOption = { '--set': '--set some.thing=1' }

const waitOptions = (line: string, withSeveral: Row): Rows['options'] => ({
  '--stop-on-error': withSeveral,
  '--until': { line, typed: '--until testing' },
  '--interval': { line, typed: '--interval 7s' },
  '--grace': { line, typed: '--grace 1s', setting: { answer: knowsNothing } },
  '--match-head': { line, typed: '--match-head abcdef' },
  '--max-errors': { line: `${line} --interval 1s`, typed: '--max-errors 2', setting: { answer: failsLater } },
  '--fail-on-paused': { line, typed: '--fail-on-paused' },
  ...setOption,
})

const stopsOnError = (line: string): Row => ({
  line: `${line} 7 8 --retries 0`,
  typed: '--stop-on-error',
  setting: { answer: () => ({ status: 400, body: 'no' }) },
})

const watchOptions = (line: string): Rows['options'] => ({
  '--once': { line: `${line} --for 5s`, typed: '--once' },
  '--interval': { line: `${line} --for 5s`, typed: '--interval 2s' },
  '--for': { line: `${line} --max-errors 1`, typed: '--for 1s', setting: { answer: failsLater } },
  '--max-errors': { line, typed: '--max-errors 2', setting: { answer: failsLater } },
})

const rangeOptions = {
  '--since': '--since 2h',
  '--until': '--until 1h',
  '--page-size': '--page-size 50',
  '--max-pages': '--max-pages 1',
} as const

const filterOptions = {
  '--owner': '--owner @a',
  '--quarantined': '--quarantined',
  '--no-quarantined': '--no-quarantined',
  '--min-failure-rate': '--min-failure-rate 0.5',
  '--name': "--name 'a*'",
  '--path': "--path 'src/*'",
} as const

const listOptions = {
  ...rangeOptions,
  ...filterOptions,
  ...setOption,
  '--limit': '--limit 1',
  '--page-token': '--page-token p2',
  '--sort': '--sort name',
} as const

const testListOptions = {
  ...setOption,
  '--limit': '--limit 1',
  '--page-size': '--page-size 50',
  '--page-token': '--page-token p2',
  '--max-pages': '--max-pages 1',
  '--owner': '--owner @a',
  '--name': "--name 'a*'",
  '--path': "--path 'src/*'",
} as const

const playOptions = {
  '--speed': '--speed 4',
  '--seed': '--seed 9',
  '--scenario': '--scenario failure',
  '--dialect': '--dialect hosted',
  '--queue': '--queue acme/web:release',
} as const

const switches = [
  'can-optimistically-merge',
  'batch',
  'create-prs-for-testing-branches',
  'comments-enabled',
  'commands-enabled',
  'status-check-enabled',
  'extension-enabled',
  'label-commands-enabled',
  'state-labels-enabled',
].flatMap(name => [`--${name}`, `--no-${name}`])

const inCheckout: Setting = {
  spawn: (_, args) => ({ code: 0, out: args.includes('--git-path') ? '.git/hooks/pre-push\n' : '/repo\n' }),
}
const push = `refs/heads/fix ${sha} refs/heads/fix ${'1'.repeat(40)}\n`

/** How each option of each command shows. An option without a line here fails the test below: add one. */
const table: Readonly<Record<string, Rows>> = {
  'pr submit': {
    line: 'pr submit 7',
    options: {
      ...waitOptions('pr submit 7 --wait --timeout 40s', stopsOnError('pr submit')),
      '--priority': '--priority high',
      '--no-batch': '--no-batch',
      '--wait': '--wait --timeout 5s',
    },
  },
  'pr cancel': {
    line: 'pr cancel 7',
    options: {
      ...setOption,
      '--stop-on-error': stopsOnError('pr cancel --yes'),
      '--yes': { line: 'pr cancel 7 8', typed: '--yes' },
    },
  },
  'pr restart': {
    line: 'pr restart 7',
    options: { ...setOption, '--stop-on-error': stopsOnError('pr restart') },
  },
  'pr get': {
    line: 'pr get 7',
    options: {
      ...setOption,
      '--stop-on-error': stopsOnError('pr get'),
      '--head': '--head fix',
      '--exit-status': '--exit-status',
      '--web': '--web',
    },
  },
  'pr list': {
    line: 'pr list',
    setting: { answer: listing },
    options: {
      ...setOption,
      '--state': '--state merged',
      '--since': '--since 2h',
      '--author': '--author ada',
      '--limit': '--limit 1',
      '--page-size': '--page-size 50',
      '--max-pages': '--max-pages 1',
    },
  },
  'pr targets': {
    line: `pr targets 7 //a --sha ${sha}`,
    setting: { files: { 'a.txt': '//b\n', 'a.json': '["//b"]', 'large.txt': '//large\n'.repeat(3_000_000) } },
    options: {
      ...setOption,
      '--sha': { line: 'pr targets 7 //a', typed: '--sha abc' },
      '--no-sha': { line: 'pr targets 7 //a', typed: '--no-sha' },
      '--too-large': {
        line: `pr targets 7 --sha ${sha} --from-json a.json`,
        typed: '--too-large fail',
        setting: { answer: () => ({ status: 413, body: '' }) },
      },
      '--forked-run': '--forked-run 12',
      '--from': { line: `pr targets 7 --sha ${sha}`, typed: '--from a.txt' },
      '--from-json': { line: `pr targets 7 --sha ${sha}`, typed: '--from-json a.json' },
      '--all': { line: `pr targets 7 --sha ${sha}`, typed: '--all' },
      '--none': { line: `pr targets 7 --sha ${sha}`, typed: '--none' },
    },
  },
  'pr testing': {
    line: 'pr testing 6e1d',
    options: { ...setOption, '--web': '--web', '--pr': { line: 'pr testing', typed: '--pr 7' } },
  },
  'pr wait': {
    line: 'pr wait 7 --timeout 40s',
    options: waitOptions('pr wait 7 --timeout 40s', {
      line: 'pr wait 7 8 --timeout 40s --max-errors 1',
      typed: '--stop-on-error',
      setting: {
        answer: seen => {
          if (seen.path.endsWith('getQueue'))
            return { body: '{"state":"running","enqueuedPullRequests":[{"prNumber":8,"state":"TESTING"}]}' }
          return { body: '{"prNumber":7,"state":"FAILED","isCurrentlySubmittedToQueue":false}' }
        },
      },
    }),
  },
  'pr explain': { line: 'pr explain 7', options: { ...setOption, '--web': '--web' } },
  'queue create': {
    line: 'queue create',
    options: { ...setOption, '--mode': '--mode parallel', '--concurrency': '--concurrency 3' },
  },
  'queue get': { line: 'queue get', options: setOption },
  'queue list': { line: 'queue list', options: { '--all-repos': '--all-repos' } },
  'queue update': {
    line: 'queue update --set x=1',
    options: {
      ...setOption,
      ...Object.fromEntries(switches.map(name => [name, name])),
      '--state': '--state draining',
      '--mode': '--mode parallel',
      '--concurrency': '--concurrency 3',
      '--bisection-concurrency': '--bisection-concurrency 3',
      '--testing-timeout-minutes': '--testing-timeout-minutes 3',
      '--pending-failure-depth': '--pending-failure-depth 3',
      '--batching-min-size': '--batching-min-size 3',
      '--batching-max-wait-time-minutes': '--batching-max-wait-time-minutes 3',
      '--direct-merge-mode': '--direct-merge-mode always',
      '--optimization-mode': '--optimization-mode bisection_skip_redundant_tests',
      '--merge-method': '--merge-method squash',
      '--required-status': '--required-status ci',
      '--delete-required-statuses': '--delete-required-statuses',
      '--enqueueing-label': '--enqueueing-label ship',
      '--not-ready-timeout-hours': '--not-ready-timeout-hours 3',
      '--test-branch-construction-mode': '--test-branch-construction-mode push_new_branch_from_temp',
    },
  },
  'queue delete': {
    line: 'queue delete --yes',
    options: {
      ...setOption,
      '--yes': { line: 'queue delete', typed: '--yes' },
      '--cancel-all': '--cancel-all',
    },
  },
  'queue pause': { line: 'queue pause', options: setOption },
  'queue resume': { line: 'queue resume', options: setOption },
  'queue drain': { line: 'queue drain', options: setOption },
  'queue watch': {
    line: 'queue watch',
    options: { ...watchOptions('queue watch'), '--set': { line: 'queue watch --once', typed: '--set a=1' } },
  },
  'queue export': {
    line: 'queue export',
    options: { ...setOption, '--file': '--file q.yaml', '--include-state': '--include-state' },
  },
  'queue diff': {
    line: 'queue diff -f q.yaml',
    setting: {
      files: { 'q.yaml': 'settings: {state: running, concurrency: 2}' },
    },
    options: {
      '--set': '--set concurrency=4',
      '--file': { line: 'queue diff', typed: '--file q.yaml' },
      '--include-state': '--include-state',
    },
  },
  'queue apply': {
    line: 'queue apply -f q.yaml --yes --retries 0',
    setting: {
      files: { 'q.yaml': 'settings: {state: running, concurrency: 2}' },
    },
    options: {
      '--set': '--set concurrency=4',
      '--file': { line: 'queue apply --yes', typed: '--file q.yaml' },
      '--yes': { line: 'queue apply -f q.yaml', typed: '--yes' },
      '--if-match': '--if-match 0123456789abcdef',
      '--include-state': '--include-state',
    },
  },
  'queue check': {
    line: 'queue check --not-paused',
    options: {
      ...setOption,
      '--max-depth': '--max-depth 0',
      '--stalled': '--stalled 1h',
      '--not-paused': { line: 'queue check --max-depth 3', typed: '--not-paused' },
    },
  },
  metrics: {
    line: 'metrics',
    options: { '--all-repos': '--all-repos', '--raw': { typed: '--raw', setting: { terminal: true } } },
  },
  'flaky list': {
    line: 'flaky list -o ndjson',
    options: listOptions,
  },
  'flaky quarantined': {
    line: 'flaky quarantined',
    setting: { answer: quarantine },
    options: testListOptions,
  },
  'flaky unhealthy': {
    line: 'flaky unhealthy',
    options: {
      ...testListOptions,
      '--status': '--status broken',
      '--page-token': { line: 'flaky unhealthy --status flaky', typed: '--page-token p2' },
      '--quarantined': '--quarantined',
      '--no-quarantined': '--no-quarantined',
    },
  },
  'flaky link': { line: `flaky link ${id} KAN-123`, options: setOption },
  'flaky get': {
    line: `flaky get ${id}`,
    options: {
      ...setOption,
      '--web': '--web',
      '--window': { line: 'flaky get cart', typed: '--window 30d' },
    },
  },
  'flaky report': {
    line: 'flaky report',
    options: {
      ...listOptions,
      '--format': '--format json',
      '--max-chars': { typed: '--max-chars 400', setting: { answer: hasMany } },
    },
  },
  'flaky match': {
    line: 'flaky match j.xml',
    setting: {
      files: {
        'j.xml': '<testsuite><testcase name="alpha" file="src/a.ts"><failure/></testcase></testsuite>',
      },
    },
    options: {
      ...rangeOptions,
      ...setOption,
      '--window-only': {
        typed: '--window-only',
        setting: {
          files: {
            'j.xml': '<testsuite><testcase name="new" classname="A"><failure/></testcase></testsuite>',
          },
        },
      },
    },
  },
  'flaky gate': {
    line: 'flaky gate --max 2',
    setting: { files: { 'known.txt': 'a1\n' } },
    options: {
      ...rangeOptions,
      ...filterOptions,
      ...setOption,
      '--max': { line: 'flaky gate', typed: '--max 2' },
      '--baseline': '--baseline known.txt',
      '--on-unavailable': { typed: '--on-unavailable pass', setting: { answer: refusing } },
      '--window-only': '--window-only',
    },
  },
  guard: {
    line: 'guard',
    setting: inCheckout,
    options: {
      '--install': { typed: '--install', setting: inCheckout },
      '--uninstall': { typed: '--uninstall', setting: inCheckout },
      '--fail-closed': {
        line: 'guard -- origin https://github.com/acme/web',
        typed: '--fail-closed',
        setting: { input: push, answer: refusing },
      },
    },
  },
  api: {
    line: 'api getQueue',
    setting: { files: { 'b.json': '{"a":1}' } },
    options: {
      '--method': { line: 'api something', typed: '--method post' },
      '--field': '--field a=1',
      '--raw-field': '--raw-field a=1',
      '--input': '--input b.json',
      '--include': '--include',
    },
  },
  'auth login': {
    line: 'auth login',
    setting: { input: 'tok-12345678' },
    options: {
      '--with-token': '--with-token',
      '--no-verify': { line: 'auth login --with-token', typed: '--no-verify' },
    },
  },
  'auth status': { line: 'auth status', options: { '--no-verify': '--no-verify' } },
  'config list': { line: 'config list', options: { '--show-origin': '--show-origin' } },
  'sandbox start': { line: 'sandbox start', options: { ...playOptions, '--port': '--port 8080' } },
  'sandbox exec': { line: 'sandbox exec -- git push', options: { ...playOptions, '--port': '--port 8080' } },
  'sandbox shell': { line: 'sandbox shell', options: { ...playOptions, '--port': '--port 8080' } },
  'sandbox tour': { line: 'sandbox tour', options: playOptions },
}

/** For each global option a command line on which it has an effect. */
const globalRows: Readonly<Record<string, Shows>> = {
  '--repo': { line: 'pr get 7', typed: '--repo acme/other' },
  '--target-branch': { line: 'pr get 7', typed: '--target-branch release' },
  '--org': { line: 'flaky list', typed: '--org other' },
  '--base-url': { line: 'pr get 7 --dry-run', typed: '--base-url https://other.test/v2' },
  '--profile': { line: 'config set org other --dry-run', typed: '--profile work' },
  '--output': { line: 'pr get 7', typed: '--output csv' },
  '--json': { line: 'pr get 7', typed: '--json' },
  '--fields': { line: 'pr get 7', typed: '--fields state' },
  '--dry-run': { line: 'pr get 7', typed: '--dry-run' },
  '--timeout': { line: 'pr wait 7', typed: '--timeout 5s' },
  '--retries': { line: 'pr get 7', typed: '--retries 0', setting: { answer: refusing } },
  '--ca-file': { line: 'pr get 7', typed: '--ca-file /missing.pem' },
  '--quiet': { line: 'pr get 7', typed: '--quiet', setting: { answer: refusing } },
  '--verbose': { line: 'pr get 7', typed: '--verbose' },
  '--color': { line: 'pr get 7', typed: '--color always' },
  '--no-input': {
    line: 'queue delete',
    typed: '--no-input',
    setting: { terminal: true, inputTerminal: true, typed: ['n'] },
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
    env: {
      MERGEQ_CONFIG_DIR: '/no-such-folder',
      MERGEQ_REPO: 'acme/web',
      MERGEQ_TARGET_BRANCH: 'main',
      MERGEQ_ORG: 'acme',
      ...setting.env,
    },
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

const optionsOf = (definitions: (typeof allCommands)[number]['definitions']): readonly string[] =>
  definitions.filter(definition => isOption(definition) && definition.hidden !== true).map(({ name }) => name)

describe('every option of every command has an effect or is refused', () => {
  test('each has a line in the table of this test, and each line an option', () => {
    const here = Object.entries(table).flatMap(([command, { options }]) =>
      Object.keys(options).map(name => `${command} ${name}`),
    )
    const there = allCommands.flatMap(({ command, definitions }) =>
      optionsOf(definitions).map(name => `${command} ${name}`),
    )
    expect(here.sort()).toEqual([...there].sort())
  })

  for (const [command, { line, setting = {}, options }] of Object.entries(table))
    test.each(Object.entries(options))(`${command} %s`, async (name, row) => {
      const shows: Shows = typeof row === 'string' ? { typed: row } : row
      const base = shows.line ?? line
      const host = { ...setting, ...shows.setting }
      const without = await traceOf(base, host)
      const typed = await traceOf(base.replace(/^([a-z]+(?: [a-z]+)?)/, `$1 ${shows.typed}`), host)
      const isRefused = typed.refusal !== '' && typed.refusal.includes(name)
      expect({ name, shows: isRefused || typed.text !== without.text }).toEqual({ name, shows: true })
    })
})

describe('every global option has an effect', () => {
  test('each has a line in the table of this test, and each line an option', () => {
    expect(Object.keys(globalRows)).toEqual(globalOptions.map(({ name }) => name))
  })

  test.each(Object.entries(globalRows))('%s', async (_, { line = '', typed, setting = {} }) => {
    const { text, refusal } = await traceOf(`${line} ${typed}`, setting)
    expect(refusal).not.toContain('unknown option')
    expect(text).not.toBe((await traceOf(line, setting)).text)
  })
})

describe('a default is the value that is used: typing the default changes nothing', () => {
  for (const { command, definitions } of allCommands)
    test.each(
      definitions.flatMap(({ name, default: value }) =>
        value === undefined ? [] : [[name, value] as const],
      ),
    )(`${command} %s %s`, async (name, value) => {
      const { line = '', setting = {}, options = {} } = table[command] ?? {}
      const row = options[name] ?? ''
      const shows: Shows = typeof row === 'string' ? { typed: row } : row
      const host = { ...setting, ...shows.setting }
      const base = shows.line ?? line
      const typed = base.replace(/^([a-z]+(?: [a-z]+)?)/, `$1 ${name} ${value}`)
      expect(await traceOf(typed, host)).toEqual(await traceOf(base, host))
    })

  // The tests have a service of their own, and --output table is a table for people even on a pipe.
  const others = ['--base-url', '--output']
  test.each(
    globalOptions.flatMap(({ name, default: value }) =>
      value === undefined || others.includes(name) ? [] : [[name, value] as const],
    ),
  )('%s %s', async (name, value) => {
    const host: Setting = { answer: () => ({ status: 503 }) }
    expect(await traceOf(`pr get 7 ${name} ${value}`, host)).toEqual(await traceOf('pr get 7', host))
  })
})
