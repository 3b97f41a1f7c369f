import { type CallOptions, callOperation } from '../../../api/call.ts'
import { type Operation, withDecoder } from '../../../api/operation.ts'
import { getSubmittedPullRequest, partialPullRequestDecoder } from '../../../api/operations/pull-requests.ts'
import { getMergeQueueTestingDetails } from '../../../api/operations/testing-details.ts'
import type { Params, ParamValues } from '../../../api/param.ts'
import type { CommandContext } from '../../../cli/context.ts'
import type { UnreadSource } from '../../../domain/explain/explanation.ts'
import { parseTestRun, type TestRun, testRunOf, testsPullRequest } from '../../../domain/explain/test-run.ts'
import { isUnderTest, normalizeState } from '../../../domain/states.ts'
import type { Repository } from '../../../domain/values/repository.ts'
import { isPermanent, type MergeqError, toMergeqError } from '../../../errors.ts'
import { getString, type JsonObject } from '../../../json.ts'

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

/** The pull request whose test run is read. */
interface TestedPullRequest {
  readonly pr: number
  readonly repo: Repository
  readonly targetBranch: string
}

/** The states of a pull request whose tests failed. */
const failedStates: readonly string[] = ['FAILED', 'PENDING_FAILURE']

/**
 * Returns the test run that the complete record of a pull request names, and where; undefined where it names
 * none or cannot be read.
 */
export async function findTestRun(
  { repo, targetBranch, pr }: TestedPullRequest,
  context: Pick<CommandContext, 'client'>,
  options: CallOptions = {},
): Promise<{ readonly id: string; readonly source: string } | undefined> {
  const operation = withDecoder(getSubmittedPullRequest, partialPullRequestDecoder)
  const overrides = [{ path: ['includeTimeline'], value: true }]
  const params = { repo, targetBranch, pr }
  const { document } = await readDocument(operation, params, context, { ...options, overrides })
  const id = document === undefined ? undefined : testRunOf(document)
  if (id === undefined) return undefined
  return { id, source: getString(document, 'verifiedByTestRun') === id ? 'verifiedByTestRun' : 'timeline' }
}

/**
 * Reads the test run that a record names. While the pull request is tested, the test run of this CI job is
 * the default. If the tests failed and nothing names their run, the service is asked by pull request; a
 * service that refuses that with 400 may name the run in the timeline of the record. Errors of these requests
 * are ignored.
 */
export async function readTestRun(
  record: JsonObject,
  { pr, repo, targetBranch }: TestedPullRequest,
  context: Pick<CommandContext, 'client' | 'settings'>,
  options: CallOptions = {},
): Promise<{ readonly run?: TestRun; readonly unread?: UnreadSource }> {
  const queue = { repo, targetBranch }
  const state = normalizeState(getString(record, 'state') ?? '')
  const id = testRunOf(record) ?? (isUnderTest(state) ? await context.settings.read('testRun') : undefined)
  const readRun = (params: Pick<TestedPullRequest, 'pr'> | { readonly testRun: string }) =>
    readDocument(getMergeQueueTestingDetails, { ...queue, ...params }, context, options)
  /** The test run of a document, unless the test branch of this CI job belongs to another pull request. */
  const runIn = (runId: string, document: JsonObject | undefined) =>
    document === undefined || runId === '' || !testsPullRequest(document, pr)
      ? {}
      : { run: parseTestRun(runId, document) }
  if (id !== undefined) {
    const { document, failure } = await readRun({ testRun: id })
    if (document === undefined) return { unread: { what: 'test run', why: failure?.message ?? '' } }
    return runIn(id, document)
  }
  if (!failedStates.includes(state)) return {}
  const { document, failure } = await readRun({ pr })
  if (failure?.details.status === 400) {
    const found = await findTestRun({ ...queue, pr }, context, options)
    return found === undefined ? {} : runIn(found.id, (await readRun({ testRun: found.id })).document)
  }
  const branch = getString(document, 'testBranch') ?? ''
  return runIn(branch.slice(branch.lastIndexOf('/') + 1), document)
}
