import { type CallOptions, callOperation } from '../../../api/call.ts'
import { callIfAvailable } from '../../../api/call-if-available.ts'
import { type Operation, withDecoder } from '../../../api/operation.ts'
import {
  getMergeQueueTestingDetails,
  getSubmittedPullRequest,
  partialPullRequestDecoder,
} from '../../../api/operations/pull-requests.ts'
import type { Params, ParamValues } from '../../../api/param.ts'
import { addTimeline } from '../../../api/read-timeline.ts'
import type { CommandContext } from '../../../cli/context.ts'
import type { UnreadSource } from '../../../domain/explain/explanation.ts'
import { parseTestRun, type TestRun, testRunOf, testsPullRequest } from '../../../domain/explain/test-run.ts'
import { isUnderTest, normalizeState } from '../../../domain/states.ts'
import type { Repository } from '../../../domain/values/repository.ts'
import { isPermanent, type MergeqError, toMergeqError } from '../../../errors.ts'
import { get, getString, type JsonObject } from '../../../json.ts'

/** Reads a document. Returns the error of a failed read, but throws an error that every read would have. */
export async function readDocument<P extends Params>(
  operation: Operation<P>,
  params: ParamValues<P>,
  context: Pick<CommandContext, 'client'>,
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

interface TestedPullRequest {
  readonly pr: number
  readonly repo: Repository
  readonly targetBranch: string
}

/** What the record of a pull request says about its test run. */
interface RecordedRun {
  /** The state of the pull request in upper case; undefined where the record could not be read. */
  readonly state?: string
  /** The newest test run that the record or its timeline names, and which of the two. */
  readonly run?: { readonly id: string; readonly source: string }
}

/** Reads which test run the record of a pull request names. A failed read is ignored. */
export async function findTestRun(
  { pr, repo, targetBranch }: TestedPullRequest,
  context: Pick<CommandContext, 'client'>,
): Promise<RecordedRun> {
  const operation = withDecoder(getSubmittedPullRequest, partialPullRequestDecoder)
  const overrides = [{ path: ['includeTimeline'], value: true }]
  const { document } = await readDocument(operation, { repo, targetBranch, pr }, context, { overrides })
  if (document === undefined) return {}
  const state = normalizeState(getString(document, 'state') ?? '')
  const id = testRunOf(document)
  if (id === undefined) return { state }
  const source = getString(document, 'verifiedByTestRun') === id ? 'verifiedByTestRun' : 'timeline'
  return { state, run: { id, source } }
}

/** The states of a pull request whose tests failed. */
const failedStates: readonly string[] = ['FAILED', 'PENDING_FAILURE']

/**
 * Reads the test run of a pull request whose record names none: by pull request, and if the service refuses
 * that, by the timeline of the record. A failed read is ignored.
 */
async function readUnnamedRun(
  record: JsonObject,
  tested: TestedPullRequest,
  context: Pick<CommandContext, 'client'>,
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
  tested: TestedPullRequest,
  context: Pick<CommandContext, 'client' | 'settings'>,
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
