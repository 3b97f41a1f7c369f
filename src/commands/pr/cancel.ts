import { readIfFound } from '../../api/call.ts'
import { changeSentence } from '../../api/change-sentence.ts'
import { cancelPullRequest, getSubmittedPullRequest } from '../../api/operations/pull-requests.ts'
import { MergeqError } from '../../base/errors.ts'
import type { JsonObject } from '../../base/json.ts'
import { mapConcurrent, maxConcurrent } from '../../base/scheduling.ts'
import { type Cli, command } from '../../command/command.ts'
import { canPrompt, confirm, isListedAsQueued, pullRequestLines } from '../../command/confirm.ts'
import { pullRequests } from '../../command/pull-request-inputs.ts'
import { forEach, send, show } from '../../command/send.ts'
import { setOf } from '../../command/set-option.ts'
import { yesOption } from '../../command/shared-inputs.ts'
import { outcomeOfRecord } from '../../domain/states.ts'
import { joinList, pluralize } from '../../values/format.ts'
import type { PullRequest } from '../../values/pull-request.ts'
import { explainFinished } from './shared/explain-finished.ts'

/** The records that a prompt reads at most: it must not take long. */
const maxRead = 100

const ends = { ok: 'merged', failed: 'failed', cancelled: 'was cancelled', pending: 'is queued' } as const

const endOf = (record: JsonObject | undefined): string =>
  record === undefined ? 'is not in the queue' : ends[outcomeOfRecord(record)]

/** Returns what a prompt says before its question, or why nothing is queued. The records are read as far as that is possible. */
async function describeCancellation(pullRequests: readonly PullRequest[], cli: Cli) {
  const once = { limits: { maxRetries: 0 } }
  const read = ({ repo, targetBranch, pr }: PullRequest) =>
    readIfFound(cli.client(), getSubmittedPullRequest, { repo, targetBranch, pr }, once).catch(() => ({}))
  const records: (JsonObject | undefined)[] = []
  for await (const record of mapConcurrent(pullRequests.slice(0, maxRead), maxConcurrent, read))
    records.push(record)
  const listed = pullRequests.map(({ pr }, index) => ({ pr, record: index < maxRead ? records[index] : {} }))
  const queued = listed.filter(isListedAsQueued).length
  if (queued === 0) {
    const ends = listed.map(({ pr, record }) => `#${pr} ${endOf(record)}`)
    return `Nothing to cancel: ${joinList(ends)}.`
  }
  const rest = listed.length - queued
  const total = pluralize(listed.length, 'pull request')
  const statement =
    rest === 0 || listed.length > maxRead
      ? `This cancels ${total}:`
      : `This cancels ${queued} of ${total}; ${rest} ${rest === 1 ? 'is' : 'are'} not queued:`
  return { statement, list: pullRequestLines(listed) }
}

export const definition = command({
  name: 'pr cancel',
  summary: 'Remove pull requests from the queue',
  operation: cancelPullRequest,
  alsoSends: [getSubmittedPullRequest],
  destructive: true,
  options: { pullRequests, yes: yesOption },
  set: setOf(cancelPullRequest),
  examples: ['mergeq pr cancel 123', 'mergeq pr cancel 123 124 --yes'],
  async run({ pullRequests, yes }, cli) {
    const isSeveral = pullRequests.length > 1
    if (isSeveral && !yes && !cli.options.dryRun) {
      const described = canPrompt(cli) ? await describeCancellation(pullRequests, cli) : {}
      if (typeof described === 'string') throw new MergeqError('not-found', described)
      await confirm({ ...described, question: 'Continue?', expectedInput: 'y' }, cli)
    }
    return forEach(cli, cancelPullRequest, pullRequests, async pullRequest => {
      const sent = await send(cli, cancelPullRequest, pullRequest).catch(
        explainFinished(cli, pullRequest, ['ok', 'failed', 'cancelled']),
      )
      return show(sent, `${changeSentence(cancelPullRequest, pullRequest)}.`)
    })
  },
})
