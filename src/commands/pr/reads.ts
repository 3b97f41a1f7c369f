import { type CallOptions, callOperation } from '../../api/call.ts'
import { addTimeline, callIfAvailable } from '../../api/extra-reads.ts'
import type { Operation, Params, ParamValues } from '../../api/operation.ts'
import { getMergeQueueTestingDetails, getSubmittedPullRequest } from '../../api/operations/pull-requests.ts'
import type { CommandContext } from '../../cli/context.ts'
import type { UnreadSource } from '../../domain/explain/explain-pull-request.ts'
import { isUnderTest, outcomeOfRecord, stateOf } from '../../domain/states.ts'
import { parseTestRun, type TestRun, testRunOf, testsPullRequest } from '../../domain/test-run.ts'
import type { Repository } from '../../domain/values/repository.ts'
import { extendError, isNotFound, isPermanent, type MergeqError, toMergeqError } from '../../errors.ts'
import { get, type JsonObject } from '../../json.ts'

export type RequestedPullRequest = {
  readonly repo: Repository
  readonly targetBranch: string
  readonly pr: number
}

/** Reads the current record of a pull request; undefined when it was never submitted. */
export async function readRecord(
  { repo, targetBranch, pr }: RequestedPullRequest,
  context: CommandContext,
  options: CallOptions,
  operation = getSubmittedPullRequest,
): Promise<JsonObject | undefined> {
  try {
    const { response } = await callOperation(context.client(), operation, { repo, targetBranch, pr }, options)
    return response.records[0]
  } catch (error) {
    const failure = toMergeqError(error)
    if (isNotFound(failure)) return undefined
    throw failure
  }
}

/** Reads the record without a retry, for what a person at a terminal is told in addition. */
export const readRecordOnce = (
  pullRequest: RequestedPullRequest,
  context: CommandContext,
): Promise<JsonObject | undefined> => readRecord(pullRequest, context, { limits: { maxRetries: 0 } })

const sentences = { ok: 'is already merged', failed: 'has already failed', cancelled: 'is already cancelled' }

/**
 * Explains why the service rejected a change: reads the record once, and puts the outcome of the pull request
 * before the message of the error. Returns the same error if the pull request has none of the outcomes.
 */
export async function explainFinished(
  outcomes: readonly (keyof typeof sentences)[],
  failure: MergeqError,
  { repo, targetBranch, pr }: RequestedPullRequest,
  context: CommandContext,
): Promise<MergeqError> {
  if (failure.kind !== 'not-found' && failure.kind !== 'refused') return failure
  const pullRequest = { repo, targetBranch, pr }
  const record = await readRecordOnce(pullRequest, context)
  const outcome = outcomes.find(name => name === outcomeOfRecord(record ?? {}))
  if (outcome === undefined) return failure
  const hint = `Nothing was changed. For details, run: ${context.settings.commandLine(['pr', 'get', pr], pullRequest)}`
  const sentence = `#${pr} ${sentences[outcome]}.`
  const message = failure.message.includes(sentence) ? failure.message : `${sentence} ${failure.message}`
  return extendError(failure, { hint }, message)
}

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

/**
 * Finds the test run of a pull request whose record names none: by pull request, and if the service refuses
 * that, by the timeline of the record. Undefined if it is not found; a failed read is ignored.
 */
async function findTestRun(
  record: JsonObject,
  { pr, repo, targetBranch }: RequestedPullRequest,
  context: CommandContext,
  options: CallOptions,
): Promise<{ readonly id: string; readonly document: JsonObject } | undefined> {
  const client = context.client()
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
  const { document } = await readDocument(getMergeQueueTestingDetails, params, context, options)
  return document === undefined ? undefined : { id, document }
}

/**
 * Reads the test run that a record names. While the pull request is tested, the test run of this CI job is
 * the default. If the tests failed and the record does not name their run, other ways to find it are tried.
 */
export async function readTestRun(
  record: JsonObject,
  pullRequest: RequestedPullRequest,
  context: CommandContext,
  options: CallOptions = {},
): Promise<{ readonly run?: TestRun; readonly unread?: UnreadSource }> {
  const { pr, repo, targetBranch } = pullRequest
  const state = stateOf(record)
  const id = testRunOf(record) ?? (isUnderTest(state) ? await context.settings.read('testRun') : undefined)
  let found: Awaited<ReturnType<typeof findTestRun>>
  if (id !== undefined) {
    const params = { repo, targetBranch, run: id }
    const { document, failure } = await readDocument(getMergeQueueTestingDetails, params, context, options)
    if (document === undefined) return { unread: { what: 'test run', why: failure?.message ?? '' } }
    found = { id, document }
  } else if (state === 'FAILED' || state === 'PENDING_FAILURE')
    found = await findTestRun(record, pullRequest, context, options)
  // The test branch of this CI job may belong to another pull request.
  return found !== undefined && testsPullRequest(found.document, pr)
    ? { run: parseTestRun(found.id, found.document) }
    : {}
}
