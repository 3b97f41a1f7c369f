import { changeSentence } from '../../api/change-sentence.ts'
import { cancelPullRequest } from '../../api/operations/pull-requests.ts'
import { deleteQueue, getQueue } from '../../api/operations/queues.ts'
import { MergeqError, toMergeqError } from '../../base/errors.ts'
import { type Cli, command } from '../../command/command.ts'
import { canPrompt, confirm, pullRequestLines } from '../../command/confirm.ts'
import { printRequests, saysChanges } from '../../command/dry-run.ts'
import { each } from '../../command/each.ts'
import { flag } from '../../command/inputs.ts'
import { paramsOf } from '../../command/param-inputs.ts'
import { explained, forOne, read, send, sendChange, show } from '../../command/send.ts'
import { setOf } from '../../command/set-option.ts'
import { yesOption } from '../../command/shared-inputs.ts'
import { type QueueEntry, queueEntries } from '../../domain/queue-entries.ts'
import { joinList, pluralize } from '../../values/format.ts'
import type { PullRequest } from '../../values/pull-request.ts'
import { type Queue, queueName } from '../../values/repository.ts'

async function readQueued(values: Queue, cli: Cli): Promise<readonly QueueEntry[]> {
  const { response } = await read(cli, getQueue, values)
  return queueEntries(response.records[0] ?? null)
}

const joinNumbers = (numbers: readonly number[]): string => joinList(numbers.map(number => `#${number}`))

type CancelResult = 'cancelled' | 'gone'

async function cancel(pullRequest: PullRequest, cli: Cli): Promise<CancelResult> {
  try {
    await sendChange(cli, cancelPullRequest, pullRequest)
    return 'cancelled'
  } catch (error) {
    if (toMergeqError(error).kind === 'not-found') return 'gone'
    throw error
  }
}

async function cancelAll(values: Queue, cli: Cli): Promise<number> {
  const queued = (await readQueued(values, cli)).map(({ pr }) => ({ ...values, pr }))
  const { outcomes, report } = await each(cli, cancelPullRequest, queued, each => cancel(each, cli), {
    atOnce: 1,
    resource: pullRequest => pullRequest,
  })
  const numbersOf = (wanted: CancelResult) =>
    outcomes.flatMap(({ item, result }) => (result === wanted ? item.pr : []))
  const [cancelled, gone] = [numbersOf('cancelled'), numbersOf('gone')]
  const code = await report()
  if (code !== 0) return code
  if (cancelled.length > 0)
    await cli.logger.info(`Cancelled ${joinNumbers(cancelled)} in the queue for ${queueName(values)}.`)
  if (gone.length > 0) await cli.logger.info(`No longer in the queue: ${joinNumbers(gone)}.`)
  return 0
}

async function explainError(failure: MergeqError, values: Queue, cli: Cli): Promise<MergeqError> {
  const { status, delivery } = failure.details
  // An unknown outcome is not a refusal, whatever status the last response had.
  if (delivery === 'unknown' || (status !== 400 && status !== 409)) return failure
  const queued = await readQueued(values, cli)
  const isListed = queued.length > 0
  const listed = isListed
    ? `${pluralize(queued.length, 'pull request')} queued: ${joinNumbers(queued.map(({ pr }) => pr))}`
    : 'no pull requests are listed, but pull requests that are not ready are never listed'
  const text = failure.message.replace(/\.$/, '')
  const problem = /the queue is not empty$/i.test(text) ? text : `${text}. The queue is not empty`
  return new MergeqError('refused', `${problem} (${listed}).`, {
    ...failure.details,
    hint: isListed
      ? 'To cancel the queued pull requests first, add --cancel-all.'
      : 'Cancel them by number with pr cancel, then try again.',
  })
}

export const definition = command({
  name: 'queue delete',
  destructive: true,
  summary: 'Delete an empty queue',
  operation: deleteQueue,
  alsoSends: [getQueue, cancelPullRequest],
  options: {
    ...paramsOf(deleteQueue),
    yes: yesOption,
    cancelAll: flag('Cancel all queued pull requests first, except those that are not ready'),
  },
  set: setOf(deleteQueue),
  examples: ['mergeq queue delete --target-branch release --yes', 'mergeq queue delete --cancel-all --yes'],
  async run({ yes, cancelAll: cancels, ...queue }, cli) {
    const name = queueName(queue)
    let cancellation = ''
    let list: readonly string[] = []
    // A person who can answer is asked only about a queue that exists.
    if (!yes && canPrompt(cli) && !cli.options.dryRun) {
      const queued = await readQueued(queue, cli)
      if (cancels) {
        cancellation = `cancels ${pluralize(queued.length, 'queued pull request')} and `
        list = pullRequestLines(queued)
      }
    }
    const statement = `This ${cancellation}deletes the queue for ${name}.`
    const question = `Type ${queue.targetBranch} to confirm:`
    if (!yes) await confirm({ statement, list, question, expectedInput: queue.targetBranch }, cli)
    if (cancels && cli.options.dryRun) {
      if (!saysChanges(cli)) return printRequests(cli, getQueue, [queue])
      await cli.host.out.write(`Would cancel all queued pull requests of ${name}.\n`)
      return printRequests(cli, deleteQueue, [queue])
    }
    const exitCode = cancels ? await cancelAll(queue, cli) : 0
    if (exitCode !== 0) return exitCode
    return forOne(cli, deleteQueue, queue, async () => {
      const sent = await send(cli, deleteQueue, queue).catch(
        explained(cli, failure => explainError(failure, queue, cli)),
      )
      return show(sent, `${changeSentence(deleteQueue, queue)}.`)
    })
  },
})
