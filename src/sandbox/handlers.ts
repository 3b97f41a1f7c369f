import type { Operation, ParamValues } from '../api/operation.ts'
import type { OperationName, serviceOperations } from '../api/operations/index.ts'
import type { TargetsValue } from '../api/operations/pull-requests.ts'
import { maxWindow } from '../domain/limits.ts'
import { pullRequestStates } from '../domain/states.ts'
import { maxPullRequestNumber } from '../domain/values/pull-request.ts'
import { type Repository, repositoryName } from '../domain/values/repository.ts'
import { boolean, choice, integer } from '../domain/values/types.ts'
import type { JsonObject } from '../json.ts'
import type { Dialect } from './dialects.ts'
import { cancel, configure, restart, setTargets, submit } from './engine/actions.ts'
import { finalStates } from './engine/queries.ts'
import type { PullRequest, Queue, SandboxTestRun, TargetSet } from './engine/queue.ts'
import { filterQueues, renderMetrics } from './metrics-text.ts'
import {
  findPriority,
  formatPullRequest,
  formatQueue,
  formatQueueSettings,
  formatTest,
  formatTestRun,
  getHeadBranch,
} from './records.ts'
import {
  anyText,
  checkValue,
  getField,
  nonEmptyText,
  readOptional,
  readParams,
  statusError,
  time,
} from './requests.ts'
import { createHex, createUuid } from './sample-data.ts'
import type { SandboxState } from './state.ts'
import { listTestsFailedBetween, type SandboxTest } from './test-history.ts'

/** A request with a valid token; `body` has what no param describes. */
interface HandlerRequest {
  readonly body: JsonObject
  readonly query: ReadonlyMap<string, string>
}

/** A JSON document, the text of the metrics, or undefined for the empty response of a change. */
type HandlerResult = { readonly document: JsonObject } | { readonly text: string } | undefined

/** The values of an operation's params. */
type ParamsOf<Name extends OperationName> = ParamValues<
  Extract<(typeof serviceOperations)[number], { readonly route: `${string} /${Name}` }>['params']
>

/** Performs an operation. Throws a status error if the service would refuse the request. */
type Handler<Name extends OperationName> = (
  sandbox: SandboxState,
  params: ParamsOf<Name>,
  request: HandlerRequest,
) => HandlerResult

/** Checks the params of a request, and performs the operation. */
export function performOperation<Name extends OperationName>(
  { name, params }: { readonly name: Name } & Pick<Operation, 'params'>,
  sandbox: SandboxState,
  request: HandlerRequest,
): HandlerResult {
  return handlers[name](sandbox, readParams(params, request.body) as ParamsOf<Name>, request)
}

function findPullRequest(
  queue: Queue,
  { pr, head }: { readonly pr?: number | undefined; readonly head?: string | undefined },
): PullRequest {
  if ((pr === undefined) === (head === undefined))
    throw statusError(400, 'The body must contain exactly one of pr.number and pr.branch.')
  const pullRequest =
    pr === undefined
      ? [...queue.pullRequests.values()].find(({ number }) => getHeadBranch(number) === head)
      : queue.pullRequests.get(pr)
  if (pullRequest === undefined) throw notSubmittedError(head ?? `#${pr}`)
  return pullRequest
}

const notSubmittedError = (pullRequest: string) =>
  statusError(404, `${pullRequest} was never submitted to this queue.`)

const uuidLength = 36

/**
 * Finds a test run by its id, or the latest run of a pull request. An id may be followed by the suffix that a
 * bisection run has in its branch name (docs/reference/service.md, "getMergeQueueTestingDetails").
 */
function findTestRun(
  { runs, pullRequests }: Queue,
  { run: id, pr }: { readonly run?: string | undefined; readonly pr?: number | undefined },
): SandboxTestRun {
  if (id !== undefined) {
    const run = runs.get(id.toLowerCase().slice(0, uuidLength))
    if (run === undefined) throw statusError(404, `There is no test run ${id}.`)
    return run
  }
  if (pr === undefined) throw statusError(400, 'The body must contain testRunId or pr.number.')
  const run = pullRequests.get(pr)?.lastRun
  if (run === undefined) throw statusError(404, 'The pull request has no test run.')
  return run
}

const targetSetOf = (targets: TargetsValue): TargetSet => (Array.isArray(targets) ? new Set(targets) : 'ALL')

/**
 * Returns one page of a list. An empty token asks for the first page; in `page` an empty token means that
 * there is no such page. The sandbox's own: a token is valid only for the same query and page size; any other
 * is refused with 400.
 *
 * @param query identifies the query; the same for all its pages
 */
function paginate<T>(
  allItems: readonly T[],
  pageSize: number,
  token: string,
  query: readonly unknown[],
): { readonly items: readonly T[]; readonly page: JsonObject; readonly nextToken: string } {
  const pageCount = Math.ceil(allItems.length / pageSize)
  const createToken = (index: number) =>
    index < 0 || index >= pageCount
      ? ''
      : `${index.toString(36)}-${createHex(20, 'page', JSON.stringify(query), pageSize, index)}`
  const index = token === '' ? 0 : Number.parseInt(token, 36)
  if (token !== '' && token !== createToken(index))
    throw statusError(400, 'page_token is not valid for this request.')
  const nextToken = createToken(index + 1)
  return {
    items: allItems.slice(index * pageSize, (index + 1) * pageSize),
    page: {
      total_rows: allItems.length,
      total_pages: pageCount,
      next_page_token: nextToken,
      prev_page_token: createToken(index - 1),
      last_page_token: createToken(pageCount - 1),
      page_index: index,
    },
    nextToken,
  }
}

/** Returns the page of tests that a body asks for. */
const paginateTests = (
  tests: readonly SandboxTest[],
  body: JsonObject,
  repo: Repository,
  ...query: readonly unknown[]
) =>
  paginate(
    tests,
    checkValue(getField(body, 'page_query.page_size'), 'page_query.page_size', integer(1, 100)),
    readOptional(body, 'page_query.page_token', anyText) ?? '',
    [repositoryName(repo), ...query],
  )

/**
 * The handlers of operations that only the hosted service has show the fields that were observed, in both
 * dialects (docs/reference/service.md, "Hosted service only").
 */
const withObservedFields = ({ dialect }: SandboxState): Dialect => ({ ...dialect, hasObservedFields: true })

const defaultTake = 50

const handlers: { readonly [Name in OperationName]: Handler<Name> } = {
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

  getSubmittedPullRequest(sandbox, params, { body }) {
    const queue = sandbox.getQueue(params)
    const pullRequest = findPullRequest(queue, params)
    const { number, submittedAt, previousAttempt } = pullRequest
    const isSubmitVisible = queue.now >= submittedAt + sandbox.readDelay
    const visible = isSubmitVisible ? pullRequest : previousAttempt
    if (visible === undefined) throw notSubmittedError(`#${number}`)
    sandbox.reportedStates.add(visible.state)
    const withTimeline = readOptional(body, 'includeTimeline', boolean) ?? false
    return { document: formatPullRequest(queue, visible, sandbox.dialect, withTimeline) }
  },

  setImpactedTargets(sandbox, { pr, sha, targets, ...ref }) {
    const queue = sandbox.getQueue(ref)
    // Other operations accept 0 (docs/reference/service.md, "Common fields").
    checkValue(pr, 'pr.number', integer(1, maxPullRequestNumber))
    if (sandbox.dialect.requiresObservedFields) checkValue(sha, 'pr.sha', nonEmptyText)
    setTargets(queue, pr, targetSetOf(targets), sha === false ? undefined : sha)
    return undefined
  },

  getMergeQueueTestingDetails(sandbox, params) {
    const queue = sandbox.getQueue(params)
    if (sandbox.dialect.requiresObservedFields) checkValue(params.run, 'testRunId', nonEmptyText)
    return { document: formatTestRun(queue, findTestRun(queue, params), sandbox.dialect) }
  },

  createQueue(sandbox, { mode, concurrency, ...ref }) {
    sandbox.createQueue(ref, { mode, concurrency })
    return undefined
  },

  getQueue: (sandbox, ref) => ({ document: formatQueue(sandbox.getQueue(ref), sandbox.dialect) }),

  updateQueue(sandbox, ref, { body }) {
    const queue = sandbox.getQueue(ref)
    sandbox.checkStateCase(body)
    configure(queue, body)
    return { document: formatQueueSettings(queue, sandbox.dialect) }
  },

  deleteQueue(sandbox, ref) {
    sandbox.deleteQueue(ref)
    return undefined
  },

  getMergeQueueMetrics(sandbox, _, { query }) {
    const [repo, host] = [query.get('repo'), query.get('repoHost')]
    if ((repo === undefined) !== (host === undefined))
      throw statusError(400, 'repo and repoHost must be given together.')
    return { text: renderMetrics(filterQueues(sandbox.listQueues(), repo, host)) }
  },

  'flaky-tests/list-failing-tests'(sandbox, { repo }, { body }) {
    const start = checkValue(body.start_time, 'start_time', time)
    const end = checkValue(body.end_time, 'end_time', time)
    if (Math.abs(end - start) > maxWindow)
      throw statusError(400, 'start_time must be within 7 days of end_time.')
    if (start > end) throw statusError(400, 'start_time must not be after end_time.')
    const failedTests = listTestsFailedBetween(sandbox.getTests(repo), start, end)
    const { items, page } = paginateTests(failedTests, body, repo, start, end)
    return { document: { tests: items.map(test => formatTest(test, repo, sandbox.dialect)), page } }
  },

  'flaky-tests/get-test-details'(sandbox, { repo, testId }) {
    const id = testId.toLowerCase()
    const test = sandbox.getTests(repo).find(other => other.id === id)
    if (test === undefined) throw statusError(404, `There is no test ${id}.`)
    return { document: { test: formatTest(test, repo, sandbox.dialect) } }
  },

  /** The sandbox's own: the latest submission comes first, and `since` and `until` include both ends. */
  listPullRequests(sandbox, ref, { body }) {
    const queue = sandbox.getQueue(ref)
    sandbox.checkStateCase(body)
    const state = readOptional(body, 'state', choice(pullRequestStates, 'state'))
    const since = readOptional(body, 'since', time)
    const until = readOptional(body, 'until', time)
    const take = readOptional(body, 'take', integer(1, 100)) ?? defaultTake
    const isWanted = (pullRequest: PullRequest) =>
      (state === undefined || pullRequest.state === state) &&
      ((since === undefined && until === undefined) || finalStates.includes(pullRequest.state)) &&
      pullRequest.stateChangedAt >= (since ?? 0) &&
      pullRequest.stateChangedAt <= (until ?? Number.POSITIVE_INFINITY)
    const found = [...queue.pullRequests.values()]
      .filter(isWanted)
      .sort((one, other) => other.submitOrder - one.submitOrder)
    const query = [repositoryName(queue.repo), queue.targetBranch, state, since, until]
    const { items, nextToken } = paginate(found, take, readOptional(body, 'cursor', anyText) ?? '', query)
    const dialect = withObservedFields(sandbox)
    return {
      document: {
        pullRequests: items.map(pullRequest => formatPullRequest(queue, pullRequest, dialect, false)),
        ...(nextToken === '' ? {} : { nextCursor: nextToken }),
      },
    }
  },

  /** The sandbox's own: a broken test is always quarantined by hand, and `test_case_id` is an id of its own. */
  'flaky-tests/list-quarantined-tests'(sandbox, { repo }, { body }) {
    const tests = sandbox.getTests(repo).filter(({ isQuarantined }) => isQuarantined)
    const { items, page } = paginateTests(tests, body, repo, 'quarantined')
    return {
      document: {
        quarantined_tests: items.map(test => ({
          name: test.name,
          parent: test.parent,
          file: test.filePath,
          classname: test.className,
          variant: test.variant,
          status: test.health.toUpperCase(),
          codeowners: test.owners,
          quarantine_setting: test.health === 'broken' ? 'ALWAYS_QUARANTINE' : 'AUTO_QUARANTINE',
          status_last_updated_at: sandbox.dialect.formatTime(test.healthSince),
          test_case_id: createUuid('quarantined test', test.id),
        })),
        page,
      },
    }
  },

  'flaky-tests/list-unhealthy-tests'(sandbox, { repo }, { body }) {
    const status = checkValue(body.status, 'status', choice(['flaky', 'broken'], 'status'))
    const tests = sandbox.getTests(repo).filter(({ health }) => health === status)
    const { items, page } = paginateTests(tests, body, repo, 'unhealthy', status)
    const dialect = withObservedFields(sandbox)
    const withoutRates = ({
      failure_rate_last_7d: _7d,
      failure_rate_last_24h: _24h,
      ...record
    }: JsonObject): JsonObject => record
    return { document: { tests: items.map(test => withoutRates(formatTest(test, repo, dialect))), page } }
  },

  /** The sandbox's own: the ticket gets an invented address, which the records of the test show from then on. */
  'flaky-tests/link-ticket-to-test-case'(sandbox, { repo, testId, ticket }) {
    sandbox.linkTicket(repo, testId.toLowerCase(), ticket)
    return undefined
  },

  status: () => ({
    document: {
      overallStatus: {
        type: 'up',
        color: 'green',
        overallStatusDescription: 'All systems operational',
      },
      statuses: [],
    },
  }),
}
