import { type CallOptions, callOperation } from '../../../api/call.ts'
import type { Operation } from '../../../api/operation.ts'
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
 * Reads the test run that a record names. While the pull request is tested, the test run of this CI job is
 * the default. If the tests failed and nothing names their run, the service is asked by pull request. Only
 * some services support that, so an error of this request is ignored.
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
  if (id === undefined) {
    if (!failedStates.includes(state)) return {}
    const { document } = await readDocument(getMergeQueueTestingDetails, { ...queue, pr }, context, options)
    const branch = getString(document, 'testBranch') ?? ''
    return document === undefined || branch === '' || !testsPullRequest(document, pr)
      ? {}
      : { run: parseTestRun(branch.slice(branch.lastIndexOf('/') + 1), document) }
  }
  const { document, failure } = await readDocument(
    getMergeQueueTestingDetails,
    { ...queue, testRun: id },
    context,
    options,
  )
  if (document === undefined) return { unread: { what: 'test run', why: failure?.message ?? '' } }
  // The test branch of this CI job may belong to another pull request.
  return testsPullRequest(document, pr) ? { run: parseTestRun(id, document) } : {}
}
