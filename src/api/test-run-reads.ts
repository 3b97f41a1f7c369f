import type { UnreadSource } from '../domain/explain/explain-pull-request.ts'
import { isUnderTest, stateOf } from '../domain/states.ts'
import { parseTestRun, type TestRun, testRunOf, testsPullRequest } from '../domain/test-run.ts'
import type { RequestedPullRequest } from '../domain/values/pull-request.ts'
import { isPermanent, type MergeqError, toMergeqError } from '../errors.ts'
import { get, type JsonObject } from '../json.ts'
import { type CallOptions, callOperation } from './call.ts'
import { addTimeline, callIfAvailable } from './extra-reads.ts'
import type { Operation, Params, ParamValues } from './operation.ts'
import { getMergeQueueTestingDetails } from './operations/pull-requests.ts'
import type { ServiceClient } from './service-client.ts'

/** Reads a document. Returns the error of a failed read, but throws an error that every read would have. */
export async function readDocument<P extends Params>(
  operation: Operation<P>,
  params: ParamValues<P>,
  client: ServiceClient,
  options: CallOptions = {},
): Promise<{ readonly document?: JsonObject; readonly failure?: MergeqError }> {
  try {
    const { response } = await callOperation(client, operation, params, options)
    const [document = {}] = response.records
    return { document }
  } catch (error) {
    const failure = toMergeqError(error)
    if (isPermanent(failure)) throw failure
    return { failure }
  }
}

/**
 * Finds the test run of a pull request whose record names none: by pull request, and if the service refuses
 * that, by the timeline of the record. Undefined if it is not found; a failed read is ignored.
 */
async function findTestRun(
  record: JsonObject,
  { pr, repo, targetBranch }: RequestedPullRequest,
  client: ServiceClient,
  options: CallOptions,
): Promise<{ readonly id: string; readonly document: JsonObject } | undefined> {
  const byNumber = await callIfAvailable(
    client,
    getMergeQueueTestingDetails,
    { repo, targetBranch, run: undefined, pr },
    { ...options, feature: 'by pull request', missingStatuses: [400] },
  )
  if (byNumber.failure !== undefined) return undefined
  if (byNumber.result !== undefined) {
    const [document = {}] = byNumber.result.response.records
    const id = testRunOf({ testRun: { branch: get(document, 'testBranch') ?? null } })
    return id === undefined ? undefined : { id, document }
  }
  const id = testRunOf(await addTimeline(client, record, { repo, targetBranch, pr }, options))
  if (id === undefined) return undefined
  const params = { repo, targetBranch, run: id }
  const { document } = await readDocument(getMergeQueueTestingDetails, params, client, options)
  return document === undefined ? undefined : { id, document }
}

/**
 * Reads the test run that a record names. While the pull request is tested, the test run of this CI job is
 * the default. If the tests failed and the record does not name their run, other ways to find it are tried.
 */
export async function readTestRun(
  record: JsonObject,
  pullRequest: RequestedPullRequest,
  client: ServiceClient,
  options: CallOptions = {},
): Promise<{ readonly run?: TestRun; readonly unread?: UnreadSource }> {
  const { pr, repo, targetBranch } = pullRequest
  const state = stateOf(record)
  const id = testRunOf(record) ?? (isUnderTest(state) ? await client.settings.read('testRun') : undefined)
  let found: Awaited<ReturnType<typeof findTestRun>>
  if (id !== undefined) {
    const params = { repo, targetBranch, run: id }
    const { document, failure } = await readDocument(getMergeQueueTestingDetails, params, client, options)
    if (document === undefined) return { unread: { what: 'test run', why: failure?.message ?? '' } }
    found = { id, document }
  } else if (state === 'FAILED' || state === 'PENDING_FAILURE')
    found = await findTestRun(record, pullRequest, client, options)
  // The test branch of this CI job may belong to another pull request.
  return found !== undefined && testsPullRequest(found.document, pr)
    ? { run: parseTestRun(found.id, found.document) }
    : {}
}
