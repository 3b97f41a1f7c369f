import { getSubmittedPullRequest } from '../../../api/operations/pull-requests.ts'
import { resourceCommand } from '../../../api/resource-command.ts'
import type { CommandContext } from '../../../cli/context.ts'
import { outcomeOfRecord } from '../../../domain/states.ts'
import type { Repository } from '../../../domain/values/repository.ts'
import { extendError, type MergeqError } from '../../../errors.ts'

/** The pull request of a request. */
interface RequestedPullRequest {
  readonly repo: Repository
  readonly targetBranch: string
  readonly pr: number
}

const sentences = { ok: 'is already merged', failed: 'has already failed', cancelled: 'is already cancelled' }

/**
 * Returns the error of a change that the service rejected because its pull request has already merged, failed
 * or been cancelled, with this state before its message, after reading its record once; for any other reason
 * the same error.
 *
 * @param outcomes the outcomes that explain the rejection
 */
export const explainFinished =
  (outcomes: readonly (keyof typeof sentences)[]) =>
  async (
    failure: MergeqError,
    { repo, targetBranch, pr }: RequestedPullRequest,
    context: CommandContext,
  ): Promise<MergeqError> => {
    if (failure.kind !== 'not-found' && failure.kind !== 'refused') return failure
    const { callOperation } = await import('../../../api/call.ts')
    const { withMaxRetries } = await import('../../../api/service-client.ts')
    const client = context.client()
    const limits = withMaxRetries(client, 0)
    const resource = { repo, targetBranch, pr }
    const { response } = await callOperation(client, getSubmittedPullRequest, resource, { limits })
    const outcome = outcomes.find(name => name === outcomeOfRecord(response.records[0] ?? {}))
    if (outcome === undefined) return failure
    const hint = `Nothing was changed. For details, run: ${resourceCommand('mergeq pr get', resource)}`
    const sentence = `#${pr} ${sentences[outcome]}.`
    const message = failure.message.includes(sentence) ? failure.message : `${sentence} ${failure.message}`
    return extendError(failure, { hint }, message)
  }
