import { type Operation, operationName } from '../../src/api/operation.ts'
import { type OperationName, serviceOperations } from '../../src/api/operations/index.ts'
import type { Pull, Scenario, Settings } from './faulty-sandbox.ts'

/** A pull request or a queue at one moment after a change was sent; undefined where there was none. */
export interface Moment {
  readonly pull?: Pull | undefined
  readonly queue?: Settings | undefined
  /** What was sent, and when, in milliseconds by the program's clock. */
  readonly body: Readonly<Record<string, unknown>>
  readonly at: number
}

/** What tests need to know about an operation. */
export interface OperationExample {
  /** A command line that sends it, in the environment `queueEnv`. */
  readonly line: string
  /**
   * The exact text of the body that the line sends, written from the documentation of the service. Left out for a line
   * that sends none or several: it has rows in test/every-command/request-table.test.ts.
   */
  readonly body?: string
  /** The options with which the library sends the same. */
  readonly options: object
  /** What the service returns. */
  readonly response: string | object
  /** For a change: what a person reads about it. */
  readonly change?: {
    /** What it is called when it was interrupted. */
    readonly name: string
    /** The queues and pull requests that it can change, where an empty queue is not enough. */
    readonly stage?: Partial<Scenario>
    /** What another client sends for such a change, besides what it is about. */
    readonly sentByOthers?: object
    /** For a change that is read back: whether what it is for is so. Written without the code of the recovery. */
    readonly isSo?: (moment: Moment) => boolean
    /** Whether a reading that is behind may show it as somebody made it before, because it has no date. */
    readonly isUndated?: boolean
  }
}

const repo = '"repo":{"host":"github.com","owner":"acme","name":"web"}'
/** What the body of each request about a queue begins with. */
const on = `${repo},"targetBranch":"main"`
const head = '4f2a9c1d0e8b7a6655443322110ffeeddccbbaa9'

export const testId = '2b4e8d1c-93f0-4c57-8a3b-1f2e3d4c5b6a'

const pullRequest = {
  id: '0b9f',
  state: 'PENDING',
  stateChangedAt: '2026-01-05T11:00:00.000Z',
  prNumber: 7,
  prTitle: 'Fix cart',
  prAuthor: 'ada',
  prSha: '4f2a9c1',
  prBaseBranch: 'main',
  priorityName: 'medium',
  priorityValue: 100,
  isCurrentlySubmittedToQueue: true,
  readiness: { requiredStatuses: ['ci'], hasImpactedTargets: false, doesBaseBranchMatch: true },
}

const queue = {
  state: 'RUNNING',
  mode: 'single',
  branch: 'main',
  concurrency: 2,
  requiredStatuses: ['ci'],
  enqueuedPullRequests: [pullRequest, { ...pullRequest, prNumber: 8, state: 'TESTING' }],
}

const flakyTest = {
  id: testId,
  name: 'cart total',
  variant: 'linux',
  codeowners: ['@acme/web'],
  file_path: 'src/cart.ts',
  parent: 'cart',
  classname: 'Cart',
  html_url: 'https://app.trunk.io/acme/test',
  ticket: { html_url: 'https://acme.atlassian.net/browse/KAN-1' },
  status: { value: 'flaky', reason: 'flaky on main', timestamp: '2026-01-05T11:00:00.000Z' },
  quarantined: true,
  failure_rate_last_7d: 0.25,
  pull_requests_impacted_last_7d: 3,
  most_common_failures: [
    { summary: 'expected 1', occurrence_count: 2, last_occurrence: '2026-01-05T11:00:00.000Z' },
  ],
}

const testResult = {
  endedAt: '2026-01-01T11:00:00.000Z',
  prNumber: 7,
  testRunId: testId,
  outcome: 'passed',
  cycleConclusion: 'merged',
  bisection: 'in_bisection',
  testingDurationMs: 60_000,
}

const page = { total_rows: 1, next_page_token: '' }

const ends = ['MERGED', 'FAILED', 'CANCELLED']
export const isQueued = (pull: Pick<Pull, 'state'> | undefined): boolean =>
  pull !== undefined && !ends.includes(pull.state)

const priorities: Readonly<Record<string, number>> = { urgent: 0, high: 10, medium: 100, low: 200 }
const priorityIn = (value: unknown): unknown => priorities[String(value).toLowerCase()] ?? value

/** Whether the queue has the settings that were sent: states and modes in any case. */
function hasSettings({ queue, body }: Moment): boolean {
  const { repo, targetBranch, ...settings } = body
  const isSame = (one: unknown, other: unknown) => String(one).toUpperCase() === String(other).toUpperCase()
  return queue !== undefined && Object.entries(settings).every(([name, value]) => isSame(queue[name], value))
}

/** A record for each operation: tables of tests that have a row for each of them read these. */
export const operations = {
  submitPullRequest: {
    line: 'pr submit 7 --priority high --no-batch',
    body: `{${on},"pr":{"number":7},"priority":"high","noBatch":true}`,
    options: { pr: 7, priority: 'high', noBatch: true },
    response: 'OK',
    change: {
      name: 'The submission of #7',
      isSo: ({ pull, body: { priority, noBatch } }) =>
        pull !== undefined &&
        isQueued(pull) &&
        (priority === undefined || pull.priority === priorityIn(priority)) &&
        (noBatch === undefined || pull.noBatch === noBatch),
    },
  },
  cancelPullRequest: {
    line: 'pr cancel 7',
    body: `{${on},"pr":{"number":7}}`,
    options: { pr: 'https://github.com/acme/web/pull/7' },
    response: 'OK',
    change: {
      name: 'The cancellation of #7',
      stage: { pulls: { 'main#7': 'PENDING' } },
      isSo: ({ pull }) => !isQueued(pull) && pull?.state !== 'MERGED',
    },
  },
  restartTestsOnPullRequest: {
    line: 'pr restart 7',
    body: `{${on},"pr":{"number":7}}`,
    options: { pr: '#7' },
    response: 'OK',
    change: {
      name: 'The restart of #7',
      stage: { pulls: { 'main#7': 'TESTING' } },
      isSo: ({ pull, at }) => pull?.state === 'TESTING' && pull.changedAt >= at,
    },
  },
  getSubmittedPullRequest: {
    line: 'pr get 7',
    body: `{${on},"pr":{"number":7}}`,
    options: { pr: 7 },
    response: pullRequest,
  },
  setImpactedTargets: {
    line: `pr targets 7 //a //b --sha ${head}`,
    body: `{${on},"pr":{"number":7,"sha":"${head}"},"impactedTargets":["//a","//b"]}`,
    options: { pr: 7, targets: ['//a', '//b'], sha: head },
    response: 'OK',
    change: { name: 'The target upload of #7' },
  },
  getMergeQueueTestingDetails: {
    line: `pr testing ${testId}`,
    body: `{${on},"testRunId":"${testId}"}`,
    options: { run: testId },
    response: {
      id: testId,
      status: 'failed',
      testBranch: `trunk-merge/pr-7/${testId}`,
      testBranchSha: '4f2a9c1',
      checkSuites: [
        {
          name: 'ci',
          checkRuns: [
            { name: 'build', conclusion: 'FAILURE', status: 'COMPLETED', url: 'https://ci.test/1' },
          ],
        },
      ],
      statusChecks: [{ context: 'deploy', state: 'ERROR', url: 'https://ci.test/2', description: 'failed' }],
      testedPullRequests: [{ prNumber: 7, prUrl: 'https://github.com/acme/web/pull/7', title: 'Fix cart' }],
      impactedTargets: ['//a'],
    },
  },
  createQueue: {
    line: 'queue create --mode parallel --concurrency 3',
    body: `{${on},"mode":"parallel","concurrency":3}`,
    options: { mode: 'parallel', concurrency: 3 },
    response: 'OK',
    change: {
      name: 'The creation of the queue for main',
      stage: { queues: {} },
      isSo: hasSettings,
      isUndated: true,
    },
  },
  getQueue: { line: 'queue get', body: `{${on}}`, options: {}, response: queue },
  updateQueue: {
    line: 'queue update --concurrency 5 --batch',
    body: `{${on},"concurrency":5,"batch":true}`,
    options: { concurrency: 5, batch: true },
    response: queue,
    change: {
      name: 'The update of the queue for main',
      sentByOthers: { concurrency: 5 },
      isSo: hasSettings,
      isUndated: true,
    },
  },
  deleteQueue: {
    line: 'queue delete --yes',
    body: `{${on}}`,
    options: {},
    response: 'OK',
    change: {
      name: 'The deletion of the queue for main',
      isSo: ({ queue }) => queue === undefined,
    },
  },
  getMergeQueueMetrics: {
    line: 'metrics -b main',
    options: {},
    response:
      '# HELP mq_depth_current Depth\n# TYPE mq_depth_current gauge\n' +
      'mq_depth_current{repo="acme/web",branch="main"} 3\nmq_depth_current{branch="other"} 4\n',
  },
  'flaky-tests/list-failing-tests': {
    line: 'flaky list --since 2026-01-01 --until 2026-01-02',
    options: { since: new Date('2026-01-01'), until: '2026-01-02' },
    response: { tests: [flakyTest], page },
  },
  'flaky-tests/get-test-details': {
    line: `flaky get ${testId}`,
    body: `{${repo},"org_url_slug":"acme","test_id":"${testId}"}`,
    options: { testId },
    response: { test: flakyTest },
  },
  listPullRequests: {
    line: 'pr list',
    options: {},
    response: { pullRequests: [pullRequest, { ...pullRequest, prNumber: 8 }], nextCursor: null },
  },
  listMergeQueueTestingResults: {
    line: 'queue runs',
    options: {},
    response: {
      testingResults: [testResult, { ...testResult, prNumber: 8 }],
      totalItems: 2,
      enqueuedPullRequests: [],
    },
  },
  'flaky-tests/list-quarantined-tests': {
    line: 'flaky quarantined',
    options: {},
    response: {
      quarantined_tests: [
        {
          name: 'cart total',
          status: 'FLAKY',
          quarantine_setting: 'AUTO_QUARANTINE',
          codeowners: ['@acme/web'],
        },
      ],
      page,
    },
  },
  'flaky-tests/list-unhealthy-tests': {
    line: 'flaky unhealthy',
    options: {},
    response: { tests: [flakyTest], page },
  },
  'flaky-tests/link-ticket-to-test-case': {
    line: `flaky link ${testId} KAN-123 --yes`,
    // No organization: public clients send none.
    body: `{${repo},"test_case_id":"${testId}","external_ticket_id":"KAN-123"}`,
    options: { testId, ticket: 'KAN-123' },
    response: 'OK',
    change: { name: 'The linking of the ticket' },
  },
  status: {
    line: 'api status',
    options: {},
    response: {
      overallStatus: { type: 'up', color: 'green', overallStatusDescription: 'All systems operational' },
      statuses: [{ name: 'Merge queue', type: 'up' }],
    },
  },
} as const satisfies Record<OperationName, OperationExample>

interface NamedOperation extends OperationExample {
  readonly name: OperationName
  readonly operation: Operation
}

/** All of them, with what the program knows of them. */
export const operationExamples: readonly NamedOperation[] = serviceOperations.map(
  (operation: Operation): NamedOperation => {
    const name = operationName(operation.route) as OperationName
    return { name, operation, ...operations[name] }
  },
)

/** Those that change something. */
export const changeExamples = operationExamples.filter(({ operation }) => operation.change !== undefined)

/** The changes of a pull request or a queue, which the line names by default: #7 or the queue for main. */
export const queueChanges = changeExamples.filter(({ operation }) => 'targetBranch' in operation.params)

/** The text of a response. */
export const responseText = ({ response }: OperationExample): string =>
  typeof response === 'string' ? response : JSON.stringify(response)

/** The name of the method of an operation: it follows from the path, except of one. */
export function methodName({ route }: Operation): string {
  const name = route.replace(/^.*\//, '').replace(/-(.)/g, (_, letter: string) => letter.toUpperCase())
  return name === 'listMergeQueueTestingResults' ? 'listTestRuns' : name
}
