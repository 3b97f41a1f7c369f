import { type CallOptions, readIfFound } from '../../api/call.ts'
import { getSubmittedPullRequest } from '../../api/operations/pull-requests.ts'
import type { Cli } from '../../cli/cli.ts'
import { outcomeOfRecord } from '../../domain/states.ts'
import type { RequestedPullRequest } from '../../domain/values/pull-request.ts'
import { extendError, type MergeqError } from '../../errors.ts'
import type { JsonObject } from '../../json.ts'

/** Reads the current record of a pull request; undefined when it was never submitted. */
export const readRecord = (
  { repo, targetBranch, pr }: RequestedPullRequest,
  context: Cli,
  options: CallOptions,
  operation = getSubmittedPullRequest,
): Promise<JsonObject | undefined> =>
  readIfFound(context.client(), operation, { repo, targetBranch, pr }, options)

/** Reads the record without a retry, for what a person at a terminal is told in addition. */
export const readRecordOnce = (
  pullRequest: RequestedPullRequest,
  context: Cli,
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
  context: Cli,
): Promise<MergeqError> {
  if (failure.kind !== 'not-found' && failure.kind !== 'refused') return failure
  const pullRequest = { repo, targetBranch, pr }
  const record = await readRecordOnce(pullRequest, context)
  const outcome = outcomes.find(name => name === outcomeOfRecord(record ?? {}))
  if (outcome === undefined) return failure
  const hint = `Nothing was changed. For details, run: ${context.settings.commandLine(['pr', 'get', pr], pullRequest)}`
  return extendError(failure, { hint }, `#${pr} ${sentences[outcome]}.`)
}
