import type { Operation } from '../api/operation.ts'
import { type OperationName, serviceOperations } from '../api/operations/index.ts'
import { getSubmittedPullRequests } from '../api/operations/several-pull-requests.ts'
import type { ParamValues } from '../api/params.ts'
import { get, isObject, type JsonObject } from '../base/json.ts'
import { maxWindow } from '../values/limits.ts'
import { maxPullRequestNumber } from '../values/pull-request.ts'
import { repositoryName } from '../values/repository.ts'
import { integer } from '../values/types.ts'
import type { Dialect } from './dialects.ts'
import { cancel, restart, setTargets, submit } from './engine/actions.ts'
import { finalStates, type PullRequest, type Queue, type SandboxTestRun } from './engine/queue.ts'
import { configure } from './engine/settings.ts'
import { renderMetrics } from './metrics-text.ts'
import {
  findByHead,
  findPriority,
  formatPullRequest,
  formatQueue,
  formatQueueSettings,
  formatTestRun,
  formatTimeline,
  listTestingResults,
} from './records.ts'
import { checkValue, readParams, requireText, statusError } from './requests.ts'
import { createHex, createUuid } from './sample-data.ts'
import type { SandboxState } from './state.ts'
import { listTestsFailedBetween, type SandboxTest } from './test-history.ts'

/** A request with a valid token; `body` has what no param describes. */
interface HandlerRequest {
  readonly body: JsonObject
  readonly query: ReadonlyMap<string, string>
}

/** A JSON document, the text of the metrics, or undefined for the empty response of a change. */
type HandlerResult = JsonObject | string | undefined

/** What the sandbox answers: also what the program sends as a part of other commands, or not yet. */
export const sandboxOperations = [...serviceOperations, getSubmittedPullRequests] as const

export type SandboxOperationName = OperationName | 'getSubmittedPullRequests'

type ParamsOf<Name extends SandboxOperationName> = ParamValues<
  Extract<(typeof sandboxOperations)[number], { readonly route: `${string} /${Name}` }>['params']
>

type Handler<Name extends SandboxOperationName> = (
  sandbox: SandboxState,
  params: ParamsOf<Name>,
  request: HandlerRequest,
) => HandlerResult

export function performOperation<Name extends SandboxOperationName>(
  { name, params }: { readonly name: Name } & Pick<Operation, 'params'>,
  sandbox: SandboxState,
  request: HandlerRequest,
): HandlerResult {
  return handlers[name](sandbox, readParams(params, request.body) as ParamsOf<Name>, request)
}

/**
 * Finds a test run by its id, or the latest run of a pull request. An id may be followed by the suffix that a
 * bisection run has in its branch name (docs/reference/service.md, "getMergeQueueTestingDetails").
 */
function findTestRun({ runs, pullRequests }: Queue, id: string | undefined, pr = -1): SandboxTestRun {
  if (id === undefined && pr < 0) throw statusError(400, 'The body must contain testRunId or pr.number.')
  const uuid = id?.toLowerCase().slice(0, 36)
  const run = uuid === undefined ? pullRequests.get(pr)?.lastRun : runs.get(uuid)
  if (run === undefined) throw statusError(404, 'There is no such test run.')
  return run
}

/**
 * Returns one page of a list. An empty token asks for the first page; in `page` an empty token means that
 * there is no such page. The sandbox's own: a token is valid only for the same query and page size; any other
 * is refused with 400.
 *
 * @param query identifies the query; the same for all its pages
 */
function paginate<T>(
  allItems: readonly T[],
  { pageSize, pageToken: token = '' }: { readonly pageSize: number; readonly pageToken?: string | undefined },
  query: readonly unknown[],
): { readonly items: readonly T[]; readonly page: JsonObject } {
  checkPageSize(pageSize)
  const pageCount = Math.ceil(allItems.length / pageSize)
  const createToken = (index: number) =>
    index < 0 || index >= pageCount
      ? ''
      : `${index.toString(36)}-${createHex(20, 'page', JSON.stringify(query), pageSize, index)}`
  const index = token === '' ? 0 : Number.parseInt(token, 36)
  if (token !== '' && token !== createToken(index))
    throw statusError(400, 'page_token is not valid for this request.')
  return {
    items: allItems.slice(index * pageSize, (index + 1) * pageSize),
    page: {
      total_rows: allItems.length,
      total_pages: pageCount,
      next_page_token: createToken(index + 1),
      prev_page_token: createToken(index - 1),
      last_page_token: createToken(pageCount - 1),
      page_index: index,
    },
  }
}

/** The API document has no `status.value` (docs/reference/service.md, "Test records"). */
const formatTest = ({ record, health }: SandboxTest, withHealth: boolean): JsonObject => {
  const status = get(record, 'status')
  return withHealth && isObject(status) ? { ...record, status: { value: health, ...status } } : record
}

const defaultTake = 50
const maxPageSize = 100

/** Throws the error of the hosted service for a larger page. */
function checkPageSize(pageSize: number): void {
  if (pageSize > maxPageSize) throw statusError(400, `A page has at most ${maxPageSize} records.`)
}

const maxResultsWindow = 45 * 24 * 3_600_000

/** The record that a read shows now: a new submission takes a moment to appear. */
function findShown(sandbox: SandboxState, queue: Queue, pullRequest: PullRequest | undefined) {
  const isVisible = pullRequest !== undefined && queue.now >= pullRequest.submittedAt + sandbox.readDelay
  return isVisible ? pullRequest : pullRequest?.previousAttempt
}

const formatAttempt = (queue: Queue, shown: PullRequest, dialect: Dialect, includeTimeline?: boolean) => ({
  ...formatPullRequest(queue, shown, dialect),
  ...(includeTimeline === true && { timeline: formatTimeline(queue, shown, dialect) }),
})

/** Of an operation that the document does not show, all dialects have the observed fields. */
const observed = ({ dialect }: SandboxState): Dialect => ({ ...dialect, hasObservedFields: true })

const handlers: { readonly [Name in SandboxOperationName]: Handler<Name> } = {
  submitPullRequest(sandbox, { pr, priority, noBatch, ...ref }, { body }) {
    const priorityNumber = typeof priority === 'string' ? findPriority(priority) : priority
    submit(sandbox.getQueue(ref), {
      number: pr,
      // In a request, null is the default priority (docs/reference/service.md, "submitPullRequest").
      priority: body.priority === null ? 'default' : priorityNumber,
      noBatch,
    })
    return undefined
  },

  cancelPullRequest(sandbox, { pr, ...ref }) {
    cancel(sandbox.getQueue(ref), pr)
    return undefined
  },

  restartTestsOnPullRequest(sandbox, { pr, ...ref }) {
    restart(sandbox.getQueue(ref), pr)
    return undefined
  },

  getSubmittedPullRequest(sandbox, { pr, head, includeTimeline, ...ref }) {
    if ((pr === undefined) === (head === undefined))
      throw statusError(400, 'The body must contain exactly one of pr.number and pr.branch.')
    const queue = sandbox.getQueue(ref)
    const pullRequest = head === undefined ? queue.pullRequests.get(pr ?? 0) : findByHead(queue, head)
    const shown = findShown(sandbox, queue, pullRequest)
    if (shown === undefined) throw statusError(404, 'Not Found')
    return formatAttempt(queue, shown, sandbox.dialect, includeTimeline)
  },

  /** The sandbox's own: the form of the answer. */
  getSubmittedPullRequests(sandbox, { prs, includeTimeline, ...ref }) {
    const queue = sandbox.getQueue(ref)
    const found = [...new Set(prs)].map(number => ({
      number,
      shown: findShown(sandbox, queue, queue.pullRequests.get(number)),
    }))
    return {
      pullRequests: found.flatMap(({ shown }) =>
        shown === undefined ? [] : formatAttempt(queue, shown, observed(sandbox), includeTimeline),
      ),
      notFound: found.flatMap(({ number, shown }) => (shown === undefined ? number : [])),
    }
  },

  /** The sandbox's own: it keeps everything that it played. */
  listMergeQueueTestingResults(sandbox, params) {
    const { since, until, pageToken = '', pageSize = defaultTake, ...ref } = params
    checkPageSize(pageSize)
    const offset = Number(pageToken)
    const queue = sandbox.getQueue(ref)
    const end = until ?? sandbox.now()
    const start = since ?? end - maxResultsWindow
    if (end - start > maxResultsWindow) throw statusError(400, 'since must be within 45 days of until.')
    const rows = listTestingResults(queue, start, end, sandbox.dialect)
    return { testingResults: rows.slice(offset, offset + pageSize), totalItems: rows.length }
  },

  setImpactedTargets(sandbox, { pr, sha, targets, ...ref }) {
    const queue = sandbox.getQueue(ref)
    // Other operations accept 0 (docs/reference/service.md, "Common fields").
    checkValue(pr, 'pr.number', integer(1, maxPullRequestNumber))
    if (sandbox.dialect.hasObservedFields) requireText(sha, 'pr.sha')
    const targetSet = Array.isArray(targets) ? new Set<string>(targets) : 'ALL'
    setTargets(queue, pr, targetSet, sha === false ? undefined : sha)
    return undefined
  },

  getMergeQueueTestingDetails(sandbox, { run: id, pr, ...ref }) {
    const queue = sandbox.getQueue(ref)
    if (sandbox.dialect.hasObservedFields) requireText(id, 'testRunId')
    return formatTestRun(queue, findTestRun(queue, id, pr), sandbox.dialect)
  },

  createQueue(sandbox, { repo, targetBranch, ...settings }) {
    sandbox.createQueue({ repo, targetBranch }, settings)
    return undefined
  },

  getQueue: (sandbox, ref) => formatQueue(sandbox.getQueue(ref), sandbox.dialect),

  updateQueue(sandbox, ref, { body }) {
    const queue = sandbox.getQueue(ref)
    configure(queue, body)
    return formatQueueSettings(queue, sandbox.dialect)
  },

  deleteQueue(sandbox, ref) {
    sandbox.deleteQueue(ref)
    return undefined
  },

  /** Without `repo`, of all queues (docs/reference/service.md, "Metrics"). */
  getMergeQueueMetrics(sandbox, _, { query }) {
    const [wanted, wantedHost] = [query.get('repo'), query.get('repoHost')]
    if ((wanted === undefined) !== (wantedHost === undefined))
      throw statusError(400, 'repo and repoHost must be given together.')
    const queues = sandbox
      .listQueues()
      .filter(
        ({ repo: { host, owner, name } }) =>
          wanted === undefined || (host === wantedHost && `${owner}/${name}` === wanted),
      )
    return renderMetrics(queues)
  },

  'flaky-tests/list-failing-tests'(sandbox, params) {
    const { repo, start, end } = params
    if (Math.abs(end - start) > maxWindow)
      throw statusError(400, 'start_time must be within 7 days of end_time.')
    if (start > end) throw statusError(400, 'start_time must not be after end_time.')
    const failedTests = listTestsFailedBetween(sandbox.getTests(repo), start, end)
    const { items, page } = paginate(failedTests, params, [repositoryName(repo), start, end])
    return { tests: items.map(test => formatTest(test, sandbox.dialect.hasObservedFields)), page }
  },

  'flaky-tests/get-test-details': (sandbox, { repo, testId }) => ({
    test: formatTest(sandbox.getTest(repo, testId), sandbox.dialect.hasObservedFields),
  }),

  /** The sandbox's own: the latest submission comes first, and `since` and `until` include both ends. */
  listPullRequests(sandbox, params) {
    const { state, since, until, pageToken, pageSize = defaultTake } = params
    const queue = sandbox.getQueue(params)
    const isWanted = (pullRequest: PullRequest) =>
      (state === undefined || pullRequest.state === state) &&
      ((since === undefined && until === undefined) || finalStates.includes(pullRequest.state)) &&
      pullRequest.stateChangedAt >= (since ?? 0) &&
      pullRequest.stateChangedAt <= (until ?? Number.POSITIVE_INFINITY)
    const found = [...queue.pullRequests.values()]
      .filter(isWanted)
      .sort((one, other) => other.submitOrder - one.submitOrder)
    const query = [repositoryName(queue.repo), queue.targetBranch, state, since, until]
    const { items, page } = paginate(found, { pageSize, pageToken }, query)
    return {
      pullRequests: items.map(pullRequest => formatPullRequest(queue, pullRequest, observed(sandbox))),
      nextCursor: page.next_page_token || undefined,
    }
  },

  /** The sandbox's own: a broken test is always quarantined by hand, and `test_case_id` is an id of its own. */
  'flaky-tests/list-quarantined-tests'(sandbox, params) {
    const tests = sandbox.getTests(params.repo).filter(({ isQuarantined }) => isQuarantined)
    const { items, page } = paginate(tests, params, [repositoryName(params.repo), 'quarantined'])
    return {
      quarantined_tests: items.map(({ id, health, record }) => ({
        name: record.name,
        parent: record.parent,
        file: record.file_path,
        classname: record.classname,
        variant: record.variant,
        status: health.toUpperCase(),
        codeowners: record.codeowners,
        quarantine_setting: health === 'broken' ? 'ALWAYS_QUARANTINE' : 'AUTO_QUARANTINE',
        status_last_updated_at: get(record, 'status.timestamp'),
        test_case_id: createUuid('quarantined test', id),
      })),
      page,
    }
  },

  'flaky-tests/list-unhealthy-tests'(sandbox, params) {
    const { repo, status } = params
    const tests = sandbox.getTests(repo).filter(({ health }) => health.toUpperCase() === status)
    const { items, page } = paginate(tests, params, [repositoryName(repo), 'unhealthy', status])
    const formatWithoutRates = (test: SandboxTest) => {
      const { failure_rate_last_7d: _7d, failure_rate_last_24h: _24h, ...record } = formatTest(test, true)
      return record
    }
    return { tests: items.map(formatWithoutRates), page }
  },

  /** The sandbox's own: the ticket gets an invented address, which the records of the test show from then on. */
  'flaky-tests/link-ticket-to-test-case'(sandbox, { repo, testId, ticket }) {
    const test = sandbox.getTest(repo, testId)
    const url = `https://tickets.sandbox.example/${encodeURIComponent(ticket)}`
    test.record = { ...test.record, ticket: { html_url: url } }
    return undefined
  },

  status: () => ({
    overallStatus: { type: 'up', color: 'green', overallStatusDescription: 'All systems operational' },
    statuses: [],
  }),
}
