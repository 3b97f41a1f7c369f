import { type CallOptions, callOperation } from '../../api/call.ts'
import { callIfAvailable } from '../../api/extra-reads.ts'
import type { Operation, Params, ParamValues } from '../../api/operation.ts'
import { getMergeQueueTestingDetails, getPartialPullRequest } from '../../api/operations/pull-requests.ts'
import { addTimeline } from '../../api/timeline.ts'
import type { CommandRequest, RunContext } from '../../cli/command.ts'
import type { CommandContext } from '../../cli/context.ts'
import { reportResults } from '../../cli/run-requests.ts'
import type { UnreadSource } from '../../domain/explain/explain-pull-request.ts'
import { isUnderTest, normalizeState } from '../../domain/states.ts'
import { parseTestRun, type TestRun, testRunOf, testsPullRequest } from '../../domain/test-run.ts'
import type { Repository } from '../../domain/values/repository.ts'
import { extendError, isPermanent, type MergeqError, toMergeqError } from '../../errors.ts'
import { get, getString, type JsonObject } from '../../json.ts'
import type { RequestedPullRequest } from './record.ts'

/** Reads a document. Returns the error of a failed read, but throws an error that every read would have. */
export async function readDocument<P extends Params>(
  operation: Operation<P>,
  params: ParamValues<P>,
  context: CommandContext,
  options: CallOptions = {},
): Promise<{ readonly document?: JsonObject; readonly failure?: MergeqError }> {
  try {
    const { response } = await callOperation(context.client(), operation, params, options)
    const [document = {}] = response.records
    return { document }
  } catch (error) {
    const failure = toMergeqError(error)
    if (isPermanent(failure)) throw failure
    return { failure }
  }
}

/** The states of a pull request whose tests failed. */
const failedStates: readonly string[] = ['FAILED', 'PENDING_FAILURE']

/**
 * Reads the test run of a pull request whose record names none: by pull request, and if the service refuses
 * that, by the timeline of the record. A failed read is ignored.
 */
async function readUnnamedRun(
  record: JsonObject,
  tested: RequestedPullRequest,
  context: CommandContext,
  options: CallOptions,
): Promise<{ readonly id: string; readonly document: JsonObject } | undefined> {
  const { pr, repo, targetBranch } = tested
  const queue = { repo, targetBranch }
  const client = context.client()
  const byNumber = await callIfAvailable(
    client,
    getMergeQueueTestingDetails,
    { ...queue, run: undefined, pr },
    { ...options, feature: 'by pull request', missingStatuses: [400] },
  )
  if (byNumber.failure !== undefined) return undefined
  if (byNumber.result !== undefined) {
    const [document = {}] = byNumber.result.response.records
    const id = testRunOf({ testRun: { branch: get(document, 'testBranch') ?? null } })
    return id === undefined ? undefined : { id, document }
  }
  const id = testRunOf(await addTimeline(client, record, tested, options))
  if (id === undefined) return undefined
  const params = { ...queue, run: id }
  const { document } = await readDocument(getMergeQueueTestingDetails, params, context, options)
  return document === undefined ? undefined : { id, document }
}

/**
 * Reads the test run that a record names. While the pull request is tested, the test run of this CI job is
 * the default. If the tests failed and the record does not name their run, other ways to find it are tried.
 */
export async function readTestRun(
  record: JsonObject,
  tested: RequestedPullRequest,
  context: CommandContext,
  options: CallOptions = {},
): Promise<{ readonly run?: TestRun; readonly unread?: UnreadSource }> {
  const { pr, repo, targetBranch } = tested
  const state = normalizeState(getString(record, 'state') ?? '')
  const id = testRunOf(record) ?? (isUnderTest(state) ? await context.settings.read('testRun') : undefined)
  if (id === undefined) {
    const found = failedStates.includes(state)
      ? await readUnnamedRun(record, tested, context, options)
      : undefined
    return found === undefined || !testsPullRequest(found.document, pr)
      ? {}
      : { run: parseTestRun(found.id, found.document) }
  }
  const { document, failure } = await readDocument(
    getMergeQueueTestingDetails,
    { repo, targetBranch, run: id },
    context,
    options,
  )
  if (document === undefined) return { unread: { what: 'test run', why: failure?.message ?? '' } }
  // The test branch of this CI job may belong to another pull request.
  return testsPullRequest(document, pr) ? { run: parseTestRun(id, document) } : {}
}

/** What names a test run. */
type TestRunValues = {
  readonly repo: Repository
  readonly targetBranch: string
  readonly pr: number | undefined
  readonly run: string | undefined
}

/**
 * Prints a test run and its checks. A service that finds no run by pull request refuses with 400; then the
 * record of the pull request, or its timeline, may name the newest run
 * (docs/reference/service.md, "getMergeQueueTestingDetails"). Returns the exit code.
 */
export async function printTestRun<V extends TestRunValues>(
  requests: readonly CommandRequest<V>[],
  context: RunContext<V>,
): Promise<number> {
  const results = await context.execute(requests)
  const [request] = requests
  const { pr } = request?.values ?? {}
  const failure = results[0]?.failure
  if (request === undefined || pr === undefined || failure?.details.status !== 400)
    return reportResults(getMergeQueueTestingDetails, requests, results, context)
  const { repo, targetBranch } = request.values
  const { document: record = {} } = await readDocument(
    getPartialPullRequest,
    { repo, targetBranch, pr },
    context,
    { overrides: [{ path: ['includeTimeline'], value: true }] },
  )
  const run = testRunOf(record)
  if (run === undefined) {
    const state = normalizeState(getString(record, 'state') ?? '')
    const command = context.settings.commandLine(['pr', 'explain', pr], request.values)
    const explained = explainMissingRun(failure, pr, state, command)
    const result = { code: explained.exit, failure: explained }
    return reportResults(getMergeQueueTestingDetails, requests, [result], context)
  }
  const source = getString(record, 'verifiedByTestRun') === run ? 'verifiedByTestRun' : 'timeline'
  await context.logger.debug(
    `The service does not find test runs by pull request. Using test run ${run}, from the field ${source} of #${pr}.`,
  )
  return context.send([{ ...request, values: { ...request.values, pr: undefined, run } }])
}

/** The error where neither the service nor the record of the pull request leads to a test run. */
function explainMissingRun(failure: MergeqError, pr: number, state: string, command: string): MergeqError {
  if (state === 'NOT_READY' || state === 'PENDING')
    return extendError(
      failure,
      { hint: `To see what #${pr} is waiting for, run: ${command}` },
      `#${pr} has no test run yet (${state.toLowerCase().replaceAll('_', ' ')}).`,
    )
  const hint = `The service finds a test run only by its ID. The record of #${pr} contains no test run ID. A test branch name ends in the ID. To list the test branches, run: git ls-remote origin 'refs/heads/trunk-merge/pr-${pr}/*'`
  return extendError(failure, { hint })
}
