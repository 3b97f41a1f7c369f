import { describe, expect, test } from 'vitest'
import { serviceOperations } from '../../src/api/operations/index.ts'
import { queueSettings } from '../../src/api/operations/queue-settings.ts'
import {
  type Answer,
  mergeq,
  noon,
  queueEnv,
  type Seen,
  type Setting,
  useConnections,
} from '../support/harness.ts'
import { operationExamples, responseText } from '../support/operations.ts'

useConnections()

/**
 * What goes over the wire, written by hand from docs/reference/service.md and never derived from the operations: a
 * field that is renamed there must fail here, even if both sides of our own agree.
 */
interface Line extends Pick<Setting, 'env' | 'files' | 'input'> {
  readonly words: string
  readonly route: string
  /** The exact text of the body; none for a GET. */
  readonly body?: string
  readonly query?: string
  /** The headers that stand in the place of the token. */
  readonly headers?: Readonly<Record<string, string>>
}

/** A command line, what the body has besides the repository, and what else belongs to the line. */
type Row = readonly [words: string, fields: string, also?: Partial<Line>]
/** The rows of each operation that is sent with POST. */
type Rows = Readonly<Record<string, readonly Row[]>>

const repo = '"repo":{"host":"github.com","owner":"acme","name":"web"}'
const on = `${repo},"targetBranch":"main"`
const where = '-R acme/web -b main'
const org = '-R acme/web --org acme'

const toLines = (common: string, options: string, rows: Rows): readonly Line[] =>
  Object.entries(rows).flatMap(([operation, rows]) =>
    rows.map(([words, fields, also]) => ({
      words: `${words} ${options}`,
      route: `POST /${operation}`,
      body: `{${[common, fields].filter(part => part !== '').join(',')}}`,
      ...also,
    })),
  )
/** Requests about a queue. */
const ofQueue = (rows: Rows) => toLines(on, where, rows)
/** Requests about the tests of an organization. */
const ofTests = (rows: Rows) => toLines(`${repo},"org_url_slug":"acme"`, org, rows)

const pr = '"pr":{"number":123}'
const sha = '4f2a9c1d0e8b7a6655443322110ffeeddccbbaa9'
const headOfPr = `"pr":{"number":123,"sha":"${sha}"}`
const run = '6e1d9f0a-52b1-4a6e-9a44-0d7f0c1f2b3c'

const pullLines = ofQueue({
  submitPullRequest: [
    ["pr submit '#123'", pr],
    ['pr submit 4294967295', '"pr":{"number":4294967295}'],
    ['pr submit 123 --priority urgent', `${pr},"priority":"urgent"`],
    ['pr submit 123 --priority 0', `${pr},"priority":0`],
    ['pr submit 123 --priority 255 --no-batch', `${pr},"priority":255,"noBatch":true`],
  ],
  getSubmittedPullRequest: [
    ['pr get 123', pr],
    ['pr status 123', pr],
    ['pr get --head fix-cart', '"pr":{"branch":"fix-cart"}'],
  ],
  // `cursor` and `take` are members of the body itself (docs/reference/service.md, "listPullRequests").
  listPullRequests: [
    ['pr list', '"take":100'],
    ['pr list --state merged', '"state":"MERGED","take":100'],
    ['pr list --state NOT_READY --state not-ready --page-size 500', '"state":"NOT_READY","take":500'],
    ['pr list --since 24h --author ada', '"since":"2026-01-04T12:00:00.000Z","take":100'],
    [
      'pr list --since 24h --until 2026-01-05T11:00:00Z',
      '"since":"2026-01-04T12:00:00.000Z","until":"2026-01-05T11:00:00.000Z","take":100',
    ],
  ],
  listMergeQueueTestingResults: [
    [
      'queue runs --since 24h --until 2026-01-05T12:00:00Z',
      '"since":"2026-01-04T12:00:00.000Z","until":"2026-01-05T12:00:00.000Z","take":100',
    ],
    [
      'queue runs --since 45d --pr 7 --outcome failed --page-size 5 --max-pages 2',
      '"since":"2025-11-21T12:01:00.000Z","until":"2026-01-05T12:00:00.000Z","take":5',
    ],
  ],
  getMergeQueueTestingDetails: [
    [`pr testing ${run}`, `"testRunId":"${run}"`],
    [`pr testing trunk-merge/pr-7/${run}`, `"testRunId":"${run}"`],
    [`pr testing refs/heads/trunk-merge/pr-7/${run}`, `"testRunId":"${run}"`],
    ['pr testing --pr 123', pr],
  ],
})

const targetLines = ofQueue({
  setImpactedTargets: [
    [`pr targets 123 b //a:lib b --sha ${sha}`, `${headOfPr},"impactedTargets":["b","//a:lib"]`],
    ["pr targets '#123' ALL b --no-sha", `${pr},"impactedTargets":["ALL","b"]`],
    [`pr targets 123 --all --sha ${sha}`, `${headOfPr},"impactedTargets":"ALL"`],
    [`pr targets 123 --none --sha ${sha}`, `${headOfPr},"impactedTargets":[]`],
    [
      `pr targets 123 --from - --too-large fail --sha ${sha}`,
      `${headOfPr},"impactedTargets":["//cart:lib","web","\\"quoted\\" \\\\ é"]`,
      { input: '\uFEFF//cart:lib\r\n\r\nweb\n//cart:lib\n"quoted" \\ é' },
    ],
    [
      `pr targets 123 --from-json - --sha ${sha}`,
      `${headOfPr},"impactedTargets":["a","b"]`,
      { input: '["a", "b", "a"]\n' },
    ],
    [
      `pr targets web 7.0 --sha ${sha}`,
      `${headOfPr},"impactedTargets":["web","7.0"]`,
      { env: { MERGEQ_PR: '123' } },
    ],
    [
      `pr targets 123 web --sha ${sha} --forked-run 42`,
      `${headOfPr},"impactedTargets":["web"]`,
      { headers: { 'x-forked-workflow-run-id': '42' } },
    ],
  ],
})

const queueLines: readonly Line[] = [
  ...ofQueue({
    createQueue: [
      ['queue create', ''],
      ['queue create --mode parallel --concurrency 4', '"mode":"parallel","concurrency":4'],
    ],
    updateQueue: [
      ['queue pause', '"state":"PAUSED"'],
      ['queue resume', '"state":"RUNNING"'],
      ['queue drain', '"state":"DRAINING"'],
    ],
  }),
  {
    words: 'queue get -R git.example.com/acme/platform/web -b release/2.0',
    route: 'POST /getQueue',
    body: '{"repo":{"host":"git.example.com","owner":"acme/platform","name":"web"},"targetBranch":"release/2.0"}',
  },
]

const choices = (option: string, field: string, ...values: readonly string[]): readonly Row[] =>
  values.map(value => [`--${option} ${value.toLowerCase()}`, `"${field}":"${value}"`])
const flag = (option: string, field: string): readonly Row[] => [
  [`--${option}`, `"${field}":true`],
  [`--no-${option}`, `"${field}":false`],
]

/** Every setting that updateQueue takes (docs/reference/service.md, "Queue settings"): its option, and its field. */
const settings: readonly Row[] = [
  ...choices('state', 'state', 'RUNNING', 'PAUSED', 'DRAINING'),
  ...choices('mode', 'mode', 'single', 'parallel'),
  ['--concurrency 5', '"concurrency":5'],
  ['--bisection-concurrency 2', '"bisectionConcurrency":2'],
  ['--testing-timeout-minutes 0', '"testingTimeoutMinutes":0'],
  ['--pending-failure-depth 0', '"pendingFailureDepth":0'],
  ...flag('can-optimistically-merge', 'canOptimisticallyMerge'),
  ...flag('batch', 'batch'),
  ['--batching-min-size 4', '"batchingMinSize":4'],
  ['--batching-max-wait-time-minutes 10', '"batchingMaxWaitTimeMinutes":10'],
  ...flag('create-prs-for-testing-branches', 'createPrsForTestingBranches'),
  ...flag('comments-enabled', 'commentsEnabled'),
  ...flag('commands-enabled', 'commandsEnabled'),
  ...flag('status-check-enabled', 'statusCheckEnabled'),
  ...choices('direct-merge-mode', 'directMergeMode', 'off', 'always'),
  ...choices('optimization-mode', 'optimizationMode', 'off', 'bisection_skip_redundant_tests'),
  ...choices('merge-method', 'mergeMethod', 'merge_commit', 'squash', 'rebase'),
  ["--required-status build --required-status 'unit tests'", '"requiredStatuses":["build","unit tests"]'],
  ['--delete-required-statuses', '"deleteRequiredStatuses":true'],
  ...flag('extension-enabled', 'extensionEnabled'),
  ...flag('label-commands-enabled', 'labelCommandsEnabled'),
  ...flag('state-labels-enabled', 'stateLabelsEnabled'),
  ['--enqueueing-label merge-me', '"enqueueingLabel":"merge-me"'],
  ['--not-ready-timeout-hours 24', '"notReadyTimeoutHours":24'],
  ...choices(
    'test-branch-construction-mode',
    'testBranchConstructionMode',
    'rename_temp_branch',
    'push_new_branch_from_temp',
  ),
  ['--concurrency 5 --batch --mode parallel', '"mode":"parallel","concurrency":5,"batch":true'],
]

const updateLines = ofQueue({
  updateQueue: settings.map(([option, field]) => [`queue update ${option}`, field]),
})

const metrics = 'GET /getMergeQueueMetrics'
const ofWeb = '?repo=acme%2Fweb&repoHost=github.com'
const metricsLines: readonly Line[] = [
  { words: 'metrics', route: metrics },
  { words: 'metrics --all-repos', env: { MERGEQ_REPO: 'acme/web' }, route: metrics },
  { words: 'metrics -R acme/web', route: metrics, query: ofWeb },
  { words: 'metrics', env: { MERGEQ_REPO: 'acme/web' }, route: metrics, query: ofWeb },
  {
    words: 'metrics --repo git.example.com:8443/acme/platform/web',
    route: metrics,
    query: '?repo=acme%2Fplatform%2Fweb&repoHost=git.example.com%3A8443',
  },
  { words: 'api status', route: 'GET /status', headers: {} },
]

const firstPage = '"page_query":{"page_size":100,"page_token":""}'
const between = (start: string, end: string, query = firstPage) =>
  `"start_time":"2026-01-${start}Z","end_time":"2026-01-${end}Z",${query}`
const lastDay = between('04T12:00:00.000', '05T12:00:00.000')

const testLines: readonly Line[] = [
  ...ofTests({
    'flaky-tests/list-failing-tests': [
      ['flaky list', lastDay],
      ['flaky list --since 1h30m --until 30m', between('05T10:30:00.000', '05T11:30:00.000')],
      [
        'flaky list --page-size 25 --page-token abc=',
        lastDay.replace(firstPage, '"page_query":{"page_size":25,"page_token":"abc="}'),
      ],
      // These select and order what is read, and are not sent.
      ['flaky list --limit 5 --max-pages 3 --sort impact --no-quarantined', lastDay],
      ["flaky list --owner @a --quarantined --min-failure-rate 0.5 --name 'a*' --path 'b/**'", lastDay],
    ],
    'flaky-tests/list-quarantined-tests': [
      ['flaky quarantined', firstPage],
      [
        "flaky quarantined --page-size 5 --page-token t --limit 3 --owner @a --name 'a*' --path 'b/*' --max-pages 2",
        '"page_query":{"page_size":5,"page_token":"t"}',
      ],
    ],
    'flaky-tests/list-unhealthy-tests': [
      ['flaky unhealthy --status flaky', `"status":"FLAKY",${firstPage}`],
      [
        'flaky unhealthy --status BROKEN --no-quarantined --page-token t',
        '"status":"BROKEN","page_query":{"page_size":100,"page_token":"t"}',
      ],
    ],
  }),
]

// That every command with a body has `--set` is in test/every-command/options.test.ts.
const setLines: readonly Line[] = [
  ...ofQueue({
    updateQueue: [
      ['queue update --set concurrency=abc', '"concurrency":"abc"'],
      ['queue update --set a.b.c=1.5 --set a.b.d=x --set a.e=true', '"a":{"b":{"c":1.5,"d":"x"},"e":true}'],
      [
        `queue update --set 'a=[1, "x", null]' --set b=null --set c= --set 'd="5"' --set e=f=g`,
        '"a":[1,"x",null],"b":null,"c":"","d":"5","e":"f=g"',
      ],
      [`queue update --set 'a={"b":{"c":1}}' --batch`, '"batch":true,"a":{"b":{"c":1}}'],
      [
        'queue update --set __proto__.polluted=1 --set constructor.prototype.polluted=1',
        '"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}',
      ],
      ['queue pause --set why=release', '"state":"PAUSED","why":"release"'],
    ],
    submitPullRequest: [
      ['pr submit 123 --set pr.note=x --priority low', '"pr":{"number":123,"note":"x"},"priority":"low"'],
    ],
    deleteQueue: [['queue delete --yes --set force=true', '"force":true']],
  }),
  ...ofTests({
    'flaky-tests/list-failing-tests': [
      ['flaky list --set page_query.extra=1', lastDay.replace(/}$/, ',"extra":1}')],
    ],
  }),
]

const ours = { MERGEQ_REPO: 'acme/web', MERGEQ_TARGET_BRANCH: 'main', MERGEQ_PR: '123' }
const others = { MERGEQ_REPO: 'other/thing', MERGEQ_TARGET_BRANCH: '' }
const githubJob = {
  CI: 'true',
  GITHUB_ACTIONS: 'true',
  GITHUB_SERVER_URL: 'https://github.com',
  GITHUB_REPOSITORY: 'acme/web',
  GITHUB_REF: `refs/heads/trunk-merge/pr-7/${run}`,
  GITHUB_REF_NAME: `trunk-merge/pr-7/${run}`,
  GITHUB_EVENT_NAME: 'push',
  MERGEQ_TARGET_BRANCH: 'main',
}

// How each spelling and source is read: test/every-command/one-reader.test.ts, test/config/settings-sources.test.ts.
const environmentLines: readonly Line[] = [
  ...toLines(on, '', {
    getQueue: [['-b main --repo acme/web queue get', '', { env: others }]],
    getSubmittedPullRequest: [['pr get 7', '"pr":{"number":7}', { env: ours }]],
    getMergeQueueTestingDetails: [['pr testing', `"testRunId":"${run}"`, { env: githubJob }]],
  }),
  {
    words: 'pr get https://git.example.com/acme/web/pull/123 -b main',
    route: 'POST /getSubmittedPullRequest',
    body: `{"repo":{"host":"git.example.com","owner":"acme","name":"web"},"targetBranch":"main",${pr}}`,
  },
]

/** The line of each operation that sends one request. */
const operationLines = operationExamples.flatMap(({ line, body, operation: { route } }): readonly Line[] =>
  body === undefined ? [] : [{ words: line, route, body, env: queueEnv }],
)

const tables = {
  'the example of an operation': operationLines,
  'pull requests': pullLines,
  targets: targetLines,
  queues: queueLines,
  'settings of a queue': updateLines,
  'metrics and the status of the service': metricsLines,
  tests: testLines,
  '--set': setLines,
  'the environment and addresses': environmentLines,
}
const lines = Object.values(tables).flat()

const settingOf = ({ env = {}, files = {}, input }: Line): Setting => ({
  answer,
  env,
  files,
  ...(input === undefined ? {} : { input }),
})

/** A service that is content with everything. */
function answer({ path }: Seen): Answer {
  const name = path.replace('/v1/', '').replace(/\?.*/, '')
  const example = operationExamples.find(each => each.name === name)
  return { headers: { date: new Date(noon).toUTCString() }, body: example ? responseText(example) : 'OK' }
}

/** The reads before a request that tell the time of the service (docs/reference/cli.md, "Finished test runs"). */
const isClockRead = ({ path }: Seen, route: string) =>
  route === 'POST /listMergeQueueTestingResults' && path === '/v1/getQueue'

/** Checks that a command line sends one request, and what is in it. */
async function checkSent(line: Line): Promise<void> {
  const { words, route, body, query = '', headers } = line
  const { err, requests: all } = await mergeq(words, settingOf(line))
  const requests = all.filter(request => !isClockRead(request, route))
  const [method, name] = route.split(' /')
  expect(
    requests.map(({ method, path, body }) => ({ method, path, body })),
    err,
  ).toEqual([{ method, path: `/v1/${name}${query}`, body: body ?? '' }])
  const [{ headers: sent = {} } = {}] = requests
  expect(sent['user-agent']).toMatch(/^mergeq\/(?!.*(?:terraform|opentofu))/i)
  expect(sent).not.toHaveProperty('x-source')
  expect({
    token: sent['x-api-token'],
    type: sent['content-type'],
    length: sent['content-length'],
    forked: sent['x-forked-workflow-run-id'],
  }).toEqual({
    token: headers === undefined ? 'qj7-token' : undefined,
    type: body === undefined ? undefined : 'application/json',
    length: body === undefined ? undefined : String(Buffer.byteLength(body)),
    forked: headers?.['x-forked-workflow-run-id'],
  })
}

/** Checks that a dry run prints the same request, on a line, without a token, and sends nothing. */
async function checkPrinted(line: Line): Promise<void> {
  const { words, env, route, body, query = '', headers = { 'x-api-token': '[REDACTED]' } } = line
  const setting = { ...settingOf(line), env: { ...env, MERGEQ_TOKEN: '' } }
  const { code, out, err, requests } = await mergeq(`${words} --dry-run`, setting)
  const lines = out.split('\n').length
  expect({ code, err, requests, lines }).toEqual({ code: 0, err: '', requests: [], lines: 2 })
  const { body: _, ...request } = JSON.parse(out.replace(/:\d+\/v1/, ':PORT/v1'))
  const [method, operation] = route.split(' /')
  expect(request).toEqual({
    operation,
    method,
    url: `http://127.0.0.1:PORT/v1/${operation}${query}`,
    headers: {
      accept: '*/*',
      'user-agent': 'mergeq/0.0.0-test',
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
  })
  expect(out.split('"body":')[1]).toBe(body === undefined ? undefined : `${body}}\n`)
}

describe.each(Object.entries(tables))('%s', (_, table) => {
  const titled = table.map(line => ({
    title: `${line.words}${line.env === undefined ? '' : ` with ${JSON.stringify(line.env)}`}`,
    line,
  }))
  test.each(titled)('sent by: $title', ({ line }) => checkSent(line))
  test.each(titled)('printed by --dry-run: $title', ({ line }) => checkPrinted(line))
})

describe('--dry-run', () => {
  // The rest of the line: test/golden/screens/pr-submit.txt.
  test('on a terminal prints a curl line whose body is quoted for the shell', async () => {
    const line = `queue update --set "note=it's \\"quoted\\" \\$HOME" ${where} --dry-run -v`
    const { out, requests } = await mergeq(line, { answer, terminal: true, env: { MERGEQ_TOKEN: '' } })
    expect(requests).toEqual([])
    expect(out).toContain(`--data-binary '{${on},"note":"it'\\''s `)
  })

  // docs/reference/cli.md, "Dry run".
  test.each([
    [
      `flaky list --since 20d ${org}`,
      'flaky-tests/list-failing-tests',
      { start_time: '2025-12-29T12:00:00.000Z' },
    ],
    [`queue delete --cancel-all --yes ${where}`, 'getQueue', { targetBranch: 'main' }],
  ])('prints the first of several requests: %s', async (words, operation, body) => {
    const { code, out, requests } = await mergeq(`${words} --dry-run`, { answer })
    expect({ code, requests, ...JSON.parse(out) }).toMatchObject({ code: 0, requests: [], operation, body })
  })
})

test('every setting of a queue has a line', () => {
  const sent = settings.flatMap(([, sent]) => Object.keys(JSON.parse(`{${sent}}`)))
  expect([...new Set(sent)].sort()).toEqual(Object.keys(queueSettings).sort())
})

test('no operation is without a line', () => {
  const covered = new Set(lines.map(({ route }) => route))
  expect(serviceOperations.map(({ route }) => route).filter(route => !covered.has(route))).toEqual([])
})
