import { getPartialPullRequest } from '../../../api/operations/pull-requests.ts'
import { tryRead } from '../../../api/reads/extra-reads.ts'
import { withoutMessages } from '../../../api/service-client.ts'
import { extendError, type MergeqError } from '../../../base/errors.ts'
import type { JsonObject } from '../../../base/json.ts'
import { type Cli, readsMore } from '../../../command/command.ts'
import { explained } from '../../../command/send.ts'
import { explainState } from '../../../domain/reasons/reasons.ts'
import { outcomeOfRecord } from '../../../domain/states.ts'
import type { PullRequest } from '../../../values/pull-request.ts'

const sentences = {
  ok: 'is already merged',
  failed: 'has already failed',
  cancelled: 'is already cancelled',
  closed: 'is closed',
}

/** Whether a pull request was closed: only the word of the service says it, or its refusal. */
const isClosed = (record: JsonObject, { details }: MergeqError): boolean =>
  explainState(record).words.serviceReason === 'pr_closed' || /\bclosed\b/i.test(details.serviceMessage ?? '')

/**
 * Returns what explains to a person at a terminal, or with `forAll` in every output, why the service rejected a change: it reads the record once, and
 * puts the outcome of the pull request before the message of the error. Another error, or one about a pull request that
 * has none of the outcomes, stays as it is.
 *
 * @param resubmits whether what was wanted of one that failed or was cancelled is reached by submitting it again
 */
export const explainFinished = (
  cli: Cli,
  pullRequest: PullRequest,
  outcomes: readonly (keyof typeof sentences)[],
  { resubmits = false, forAll = false } = {},
) =>
  explained(cli, async failure => {
    const isRejected = failure.kind === 'not-found' || failure.kind === 'refused'
    const isForPerson = forAll || (cli.host.err.terminal && cli.options.format.name === 'table')
    const isUnchanged = failure.details.delivery === 'not-applied'
    // Where `--set` added a field, the service may have rejected that field.
    const hasOwnFields = cli.client().added !== undefined
    if (!isRejected || !isUnchanged || hasOwnFields || !isForPerson || !readsMore(cli)) return failure
    const { repo, targetBranch, pr } = pullRequest
    const params = { repo, targetBranch, pr, includeTimeline: true }
    const client = withoutMessages(cli.client())
    const options = { limits: { maxRetries: 0 } }
    const { record = {} } = await tryRead(client, getPartialPullRequest, params, options)
    const end = outcomeOfRecord(record)
    const ends = end !== 'ok' && isClosed(record, failure) ? ['closed', end] : [end]
    const outcome = outcomes.find(name => ends.includes(name))
    if (outcome === undefined) return failure
    const details = cli.settings.commandLine(['pr', 'get', pr], { repo, targetBranch })
    const again = cli.settings.commandLine(['pr', 'submit', pr], { repo, targetBranch })
    const isOver = outcome === 'failed' || outcome === 'cancelled'
    const hint = [
      `Nothing was changed. For details, run: ${details}`,
      ...(outcome === 'closed' ? ['Open it again before you submit it.'] : []),
      ...(resubmits && isOver ? [`To test it again, submit it: ${again}`] : []),
    ].join('\n')
    return extendError(failure, { hint }, `#${pr} ${sentences[outcome]}.`)
  })
