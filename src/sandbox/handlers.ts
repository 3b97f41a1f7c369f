import type { OperationName } from '../api/operations/index.ts'
import { maxWindow } from '../domain/limits.ts'
import { repositoryName } from '../domain/values/repository.ts'
import type { JsonObject } from '../json.ts'
import { cancel, configure, restart, setTargets, submit } from './engine/actions.ts'
import type { PullRequest, Queue, SandboxTestRun } from './engine/queue.ts'
import type { Handler } from './handler.ts'
import { hostedHandlers } from './hosted-handlers.ts'
import { filterQueues, renderMetrics } from './metrics-text.ts'
import { paginate } from './paginate.ts'
import {
  getField,
  readInteger,
  readOptionalBoolean,
  readOptionalText,
  readPriority,
  readPullRequestNumber,
  readQueueRef,
  readRepository,
  readTargets,
  readText,
  readTime,
} from './request-fields.ts'
import {
  formatPullRequest,
  formatQueue,
  formatQueueSettings,
  formatTest,
  getHeadBranch,
} from './response-records.ts'
import { statusError } from './status-error.ts'
import { listTestsFailedBetween } from './test-history.ts'
import { formatTestRun } from './test-run-record.ts'

const createChangeHandler =
  (change: (queue: Queue, body: JsonObject) => void): Handler =>
  (sandbox, { body }) => {
    change(sandbox.getQueue(readQueueRef(body)), body)
    return undefined
  }

function findPullRequest(queue: Queue, body: JsonObject): PullRequest {
  const branch = readOptionalText(body, 'pr.branch')
  const hasNumber = getField(body, 'pr.number') !== undefined
  if (hasNumber === (branch !== undefined))
    throw statusError(400, 'The body must contain exactly one of pr.number and pr.branch.')
  const pullRequest =
    branch === undefined
      ? queue.pullRequests.get(readPullRequestNumber(body))
      : [...queue.pullRequests.values()].find(({ number }) => getHeadBranch(number) === branch)
  if (pullRequest === undefined) throw notSubmittedError(branch ?? `#${readPullRequestNumber(body)}`)
  return pullRequest
}

const notSubmittedError = (pullRequest: string) =>
  statusError(404, `${pullRequest} was never submitted to this queue.`)

const uuidLength = 36

/**
 * Finds a test run by its id, or the latest run of a pull request. An id may be followed by the suffix that a
 * bisection run has in its branch name (docs/reference/service.md, "getMergeQueueTestingDetails").
 */
function findTestRun({ runs, pullRequests }: Queue, body: JsonObject): SandboxTestRun {
  const id = readOptionalText(body, 'testRunId')
  if (id === undefined && getField(body, 'pr.number') === undefined)
    throw statusError(400, 'The body must contain testRunId or pr.number.')
  const run =
    id === undefined
      ? pullRequests.get(readPullRequestNumber(body))?.lastRun
      : runs.get(id.toLowerCase().slice(0, uuidLength))
  if (run === undefined)
    throw statusError(
      404,
      id === undefined ? 'The pull request has no test run.' : `There is no test run ${id}.`,
    )
  return run
}

export const handlers: Readonly<Record<OperationName, Handler>> = {
  submitPullRequest: createChangeHandler((queue, body) =>
    submit(queue, {
      number: readPullRequestNumber(body),
      priority: readPriority(body),
      noBatch: readOptionalBoolean(body, 'noBatch'),
    }),
  ),

  cancelPullRequest: createChangeHandler((queue, body) => cancel(queue, readPullRequestNumber(body))),

  restartTestsOnPullRequest: createChangeHandler((queue, body) =>
    restart(queue, readPullRequestNumber(body)),
  ),

  getSubmittedPullRequest(sandbox, { body }) {
    const queue = sandbox.getQueue(readQueueRef(body))
    const pullRequest = findPullRequest(queue, body)
    const { number, submittedAt, previousAttempt } = pullRequest
    const isSubmitVisible = queue.now >= submittedAt + sandbox.readDelay
    const visible = isSubmitVisible ? pullRequest : previousAttempt
    if (visible === undefined) throw notSubmittedError(`#${number}`)
    sandbox.reportedStates.add(visible.state)
    const withTimeline = readOptionalBoolean(body, 'includeTimeline') ?? false
    return { document: formatPullRequest(queue, visible, sandbox.dialect, withTimeline) }
  },

  setImpactedTargets(sandbox, { body }) {
    const queue = sandbox.getQueue(readQueueRef(body))
    const number = readPullRequestNumber(body, 1)
    const sha = sandbox.dialect.requiresObservedFields
      ? readText(body, 'pr.sha')
      : readOptionalText(body, 'pr.sha')
    setTargets(queue, number, readTargets(body), sha)
    return undefined
  },

  getMergeQueueTestingDetails(sandbox, { body }) {
    const queue = sandbox.getQueue(readQueueRef(body))
    if (sandbox.dialect.requiresObservedFields) readText(body, 'testRunId')
    return { document: formatTestRun(queue, findTestRun(queue, body), sandbox.dialect) }
  },

  createQueue(sandbox, { body }) {
    const { mode, concurrency } = body
    const settings = {
      ...(mode === undefined ? {} : { mode }),
      ...(concurrency === undefined ? {} : { concurrency }),
    }
    sandbox.createQueue(readQueueRef(body), settings)
    return undefined
  },

  getQueue: (sandbox, { body }) => ({
    document: formatQueue(sandbox.getQueue(readQueueRef(body)), sandbox.dialect),
  }),

  updateQueue(sandbox, { body }) {
    const queue = sandbox.getQueue(readQueueRef(body))
    sandbox.checkStateCase(body)
    configure(queue, body)
    return { document: formatQueueSettings(queue, sandbox.dialect) }
  },

  deleteQueue(sandbox, { body }) {
    sandbox.deleteQueue(readQueueRef(body))
    return undefined
  },

  getMergeQueueMetrics(sandbox, { query }) {
    const [repo, host] = [query.get('repo'), query.get('repoHost')]
    if ((repo === undefined) !== (host === undefined))
      throw statusError(400, 'repo and repoHost must be given together.')
    return { text: renderMetrics(filterQueues(sandbox.listQueues(), repo, host)) }
  },

  'flaky-tests/list-failing-tests'(sandbox, { body }) {
    const repo = readRepository(body)
    const [start, end] = [readTime(body, 'start_time'), readTime(body, 'end_time')]
    const pageSize = readInteger(body, 'page_query.page_size', 1, 100)
    const token = getField(body, 'page_query.page_token') ?? ''
    readText(body, 'org_url_slug')
    if (typeof token !== 'string') throw statusError(400, 'page_query.page_token must be a string.')
    if (Math.abs(end - start) > maxWindow)
      throw statusError(400, 'start_time must be within 7 days of end_time.')
    if (start > end) throw statusError(400, 'start_time must not be after end_time.')
    const failedTests = listTestsFailedBetween(sandbox.getTests(repo), start, end)
    const queryKey = `${repositoryName(repo)} ${start} ${end}`
    const { items, page } = paginate(failedTests, pageSize, token, queryKey)
    return { document: { tests: items.map(test => formatTest(test, repo, sandbox.dialect)), page } }
  },

  'flaky-tests/get-test-details'(sandbox, { body }) {
    const repo = readRepository(body)
    readText(body, 'org_url_slug')
    const id = readText(body, 'test_id').toLowerCase()
    const test = sandbox.getTests(repo).find(other => other.id === id)
    if (test === undefined) throw statusError(404, `There is no test ${id}.`)
    return { document: { test: formatTest(test, repo, sandbox.dialect) } }
  },

  ...hostedHandlers,
}

export const isOperationName = (name: string): name is OperationName => Object.hasOwn(handlers, name)
