import fc from 'fast-check'
import { expect, test } from 'vitest'
import { MergeqError } from '../../src/errors.ts'
import { allCommands } from '../support/commands.ts'
import { type Answer, mergeq, noon, type Outcome, type Setting } from '../support/harness.ts'

/** How many runs each attack has; `npm run attack` has more of them. */
const runs = Number(process.env.MERGEQ_RANDOM_ATTACKS ?? 150)
const seed = Number(process.env.MERGEQ_RANDOM_SEED ?? Date.now() % 2 ** 31)

const id = '2b4e8d1c-93f0-4c57-8a3b-1f2e3d4c5b6a'
const env = { MERGEQ_REPO: 'acme/web', MERGEQ_TARGET_BRANCH: 'main', MERGEQ_ORG: 'acme' }

/** Sleeps after which a run is ended by a signal: a watch has no other end. */
const maxSleeps = 100

/** Runs a command line with a clock that does not wait. */
async function run(
  line: readonly string[],
  answer: NonNullable<Setting['answer']>,
  setting: Setting = {},
): Promise<Outcome> {
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
  return mergeq(line, { env, answer, clock, signal: controller.signal, ...setting })
}

/** The paths of requests that change something. */
const isChangePath = /\/(?:submit|cancel|restart|set|create|update|delete)[A-Z]\w+$|\/link-/

/** What holds for every run, whatever was typed and answered. */
function checkOutcome({ code, out, err, requests }: Outcome, line: readonly string[]): void {
  expect(code, `${line.join(' ')}\n${out}\n${err}`).not.toBe(1)
  expect(out + err).not.toMatch(/\b(?:undefined|NaN|\[object Object\])\b|^ +at \S+ \(/m)
  const changes = requests.filter(({ path }) => isChangePath.test(path))
  if (code === 2) expect(changes).toEqual([])
  for (const { headers } of requests) expect(['test-token', undefined]).toContain(headers['x-api-token'])
}

// Without those that start servers or other programs, and without those that change files.
const commands = allCommands.filter(
  ({ command }) => !/^(?:sandbox|auth|config|guard|completion)\b/.test(command),
)

const words = [
  ...commands.map(({ command }) => command.split(' ')),
  ...new Set(commands.flatMap(({ definitions }) => definitions.map(({ name }) => [name]))),
  ...['7', '#8', '0', '-1', 'main', '-', '--', '', '日本', 'a b', '--=', '-qv', '-o', '1h', '30d'].map(
    word => [word],
  ),
  ...['--json', '--dry-run', '--yes', '-o=csv', '--fields=a,b', '--set=a.b=1', '--limit=2', '--wait'].map(
    word => [word],
  ),
  ...[id, 'https://github.com/acme/web/pull/7', 'https://', '{"a":1}', 'a=b', '\u202E', '\0'].map(word => [
    word,
  ]),
]

test(`no command line ends with an error of mergeq itself (seed ${seed})`, async () => {
  const line = fc
    .tuple(
      fc.constantFrom(...commands.map(({ command }) => command.split(' '))),
      fc.array(
        fc.oneof(
          fc.constantFrom(...words),
          fc.string().map(word => [word]),
        ),
        { maxLength: 5 },
      ),
    )
    .map(([command, more]) => [...command, ...more.flat()])
  await fc.assert(
    fc.asyncProperty(line, async argv => {
      checkOutcome(await run(argv, () => ({ body: '{}' })), argv)
    }),
    { numRuns: runs, seed },
  )
})

const record = {
  ...{ id: 'a', state: 'pending', stateChangedAt: '2026-01-05T11:00:00.000Z', prNumber: 7, prTitle: 'Add' },
  ...{ priorityValue: 100, priorityName: 'medium', isCurrentlySubmittedToQueue: true, readiness: {} },
}
const documents: Readonly<Record<string, unknown>> = {
  getSubmittedPullRequest: record,
  getQueue: {
    state: 'running',
    mode: 'single',
    concurrency: 2,
    requiredStatuses: ['a'],
    enqueuedPullRequests: [record],
  },
  getMergeQueueTestingDetails: {
    id,
    status: 'failed',
    testBranch: 'a',
    pullRequests: [record],
    checkSuites: [],
  },
  listPullRequests: { pullRequests: [record, record] },
  'flaky-tests/list-failing-tests': {
    tests: [
      { id, name: 'adds', status: { value: 'broken' }, codeowners: ['ada'], failure_rate_last_7d: 0.5 },
    ],
    page: { total_rows: 1, next_page_token: '' },
  },
  'flaky-tests/list-quarantined-tests': {
    quarantined_tests: [{ name: 'adds', status: 'FLAKY', quarantine_setting: 'AUTO_QUARANTINE' }],
    page: { next_page_token: '' },
  },
  'flaky-tests/list-unhealthy-tests': {
    tests: [{ id, name: 'adds', status: { value: 'flaky' }, quarantined: true, codeowners: ['ada'] }],
    page: { next_page_token: '' },
  },
  'flaky-tests/get-test-details': { test: { id, name: 'adds' }, most_common_failures: [{ count: 1 }] },
}
const metrics =
  'mq_depth_current{repo="acme/web",branch="main"} 3\nmq_pr_conclusions_1h_total{branch="main"} 1\n'

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

const answers: fc.Arbitrary<Damage> = fc.oneof(
  fc.tuple(fc.array(fc.nat(20), { minLength: 1, maxLength: 4 }), fc.jsonValue()).map(
    ([path, value]): Damage =>
      operation => ({ body: JSON.stringify(replaceSomewhere(documents[operation] ?? {}, path, value)) }),
  ),
  fc.jsonValue().map(
    (value): Damage =>
      () => ({ body: JSON.stringify(value) }),
  ),
  fc.string({ unit: 'binary' }).map(
    (body): Damage =>
      () => ({ body }),
  ),
  fc.nat(200).map(
    (length): Damage =>
      operation => ({ body: (JSON.stringify(documents[operation]) ?? metrics).slice(0, length) }),
  ),
  fc
    .tuple(
      fc.constantFrom(200, 204, 299, 302, 400, 401, 403, 404, 408, 409, 413, 418, 429, 500, 503),
      fc.string(),
    )
    .map(
      ([status, body]): Damage =>
        () => ({ status, body }),
    ),
)

const reads = [
  ...[
    'pr get 7',
    'pr get 7 8',
    'pr list',
    'pr testing --pr 7',
    'pr explain 7',
    'pr wait 7',
    'queue get',
    'queue list',
  ],
  ...[
    'queue watch',
    'queue wait --timeout 9s',
    'queue check',
    'queue export',
    'flaky list',
    `flaky get ${id}`,
    'flaky report',
    'flaky gate',
  ],
  ...[
    'flaky quarantined',
    'flaky unhealthy --status flaky',
    'metrics',
    'doctor',
    'api getQueue',
    'api status',
  ],
]
const changes = [
  ...['pr submit 7', 'pr submit 7 --wait', 'pr cancel 7', 'pr restart 7', 'pr targets 7 web', 'queue create'],
  ...['queue update --concurrency 2', 'queue pause', 'queue delete --yes', `flaky link ${id} KAN-1`],
]
/** The commands that print a row for each record. */
const lists = /^(?:pr list|pr get 7 8|queue get|queue list|flaky (?:list|quarantined|unhealthy))/

/** How the cells of a row are read back, by format. */
const cellsOf: Readonly<Record<string, (row: string) => readonly string[]>> = {
  '': row => row.split('\t'),
  '-o markdown': row => row.split(/(?<!\\)\|/),
}

const formats = ['', '--json', '-o ndjson', '-o csv', '-o markdown', '-o table', '--fields state,name']

test(`no response ends a command with an error of mergeq itself (seed ${seed})`, async () => {
  const commandLine = fc.tuple(
    fc.constantFrom(...reads, ...changes),
    fc.constantFrom(...formats),
    fc.boolean(),
  )
  await fc.assert(
    fc.asyncProperty(
      commandLine,
      fc.array(answers, { minLength: 1, maxLength: 3 }),
      async (typed, damages) => {
        const [command, format, terminal] = typed
        const line = `${command} ${format}`.trim().split(' ')
        const outcome = await run(
          line,
          ({ path }, index) => damages[index % damages.length]?.(path.replace(/^\/v1\/|\?.*$/g, '')) ?? {},
          { env, terminal },
        )
        checkOutcome(outcome, line)
        const cells = terminal || outcome.code !== 0 || !lists.test(command) ? undefined : cellsOf[format]
        if (cells !== undefined) {
          const widths = outcome.out
            .split('\n')
            .slice(0, -1)
            .map(row => cells(row).length)
          expect(new Set(widths).size, outcome.out).toBeLessThanOrEqual(1)
        }
        if (format === '--json' && outcome.code === 0 && outcome.out !== '' && !command.startsWith('api'))
          for (const text of terminal ? [outcome.out] : outcome.out.trimEnd().split('\n'))
            expect(() => (command === 'pr get 7 8' && terminal ? undefined : JSON.parse(text))).not.toThrow()
      },
    ),
    { numRuns: runs, seed },
  )
})

/** A page of a list, and what is wrong with it. */
interface Page {
  readonly ids: readonly number[]
  readonly fault: 'none' | 'no page' | 'old token' | 'refused' | 'no list'
}

test(`a list is complete exactly if every page was read (seed ${seed})`, async () => {
  const page: fc.Arbitrary<Page> = fc.record({
    ids: fc.array(fc.nat(30), { maxLength: 8 }),
    fault: fc.oneof(
      { weight: 8, arbitrary: fc.constant('none' as const) },
      { weight: 1, arbitrary: fc.constantFrom('no page', 'old token', 'refused', 'no list') },
    ),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(page, { minLength: 1, maxLength: 8 }), async pages => {
      const answer: NonNullable<Setting['answer']> = ({ body }) => {
        const index = Number(JSON.parse(body).page_query.page_token || '0')
        const { ids, fault } = pages[index] ?? { ids: [], fault: 'none' }
        const isLast = index + 1 >= pages.length
        const token = fault === 'old token' ? String(index) : isLast ? '' : String(index + 1)
        if (fault === 'refused') return { status: 403 }
        const tests =
          fault === 'no list' ? {} : { tests: ids.map(number => ({ id: `id-${number}`, name: 'adds' })) }
        const rest = fault === 'no page' ? {} : { page: { next_page_token: token } }
        return { body: JSON.stringify({ ...tests, ...rest }) }
      }
      const { code, out } = await run(['flaky', 'list', '-o', 'ndjson'], answer)
      // The first page's token is empty: '0' as an old token is a page of its own.
      const broken = pages.findIndex(({ fault }) => fault !== 'none')
      const printed = out
        .split('\n')
        .slice(0, -1)
        .map(line => JSON.parse(line).id)
      const read = broken < 0 ? pages : pages.slice(0, broken)
      const expected = [...new Set(read.flatMap(({ ids }) => ids))].map(number => `id-${number}`)
      expect(code === 0).toBe(broken < 0)
      expect(printed.slice(0, expected.length)).toEqual(expected)
      expect(new Set(printed).size).toBe(printed.length)
      if (broken < 0) expect(printed).toEqual(expected)
    }),
    { numRuns: runs, seed },
  )
})
