import type { CommandContext } from '../../../cli/context.ts'
import { outcomeOfRecord } from '../../../domain/states.ts'
import { extendError, type MergeqError } from '../../../errors.ts'
import type { RequestedPullRequest } from './read-record.ts'

const sentences = { ok: 'is already merged', failed: 'has already failed', cancelled: 'is already cancelled' }

/**
 * Explains why the service rejected a change: reads the record once, and puts the outcome of the pull request
 * before the message of the error. Returns the same error if the pull request has none of the outcomes.
 */
export const explainFinished =
  (outcomes: readonly (keyof typeof sentences)[]) =>
  async (
    failure: MergeqError,
    { repo, targetBranch, pr }: RequestedPullRequest,
    context: CommandContext,
  ): Promise<MergeqError> => {
    if (failure.kind !== 'not-found' && failure.kind !== 'refused') return failure
    const { readRecord } = await import('./read-record.ts')
    const { withMaxRetries } = await import('../../../api/service-client.ts')
    const resource = { repo, targetBranch, pr }
    const record = await readRecord(resource, withMaxRetries(context.client(), 0), context)
    const outcome = outcomes.find(name => name === outcomeOfRecord(record ?? {}))
    if (outcome === undefined) return failure
    const hint = `Nothing was changed. For details, run: ${context.settings.commandLine(['pr', 'get', pr], resource)}`
    const sentence = `#${pr} ${sentences[outcome]}.`
    const message = failure.message.includes(sentence) ? failure.message : `${sentence} ${failure.message}`
    return extendError(failure, { hint }, message)
  }
