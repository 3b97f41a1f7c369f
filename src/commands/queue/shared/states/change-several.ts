import { getQueue } from '../../../../api/operations/queues.ts'
import { extendError, toMergeqError } from '../../../../base/errors.ts'
import type { JsonObject } from '../../../../base/json.ts'
import type { Cli } from '../../../../command/command.ts'
import { each } from '../../../../command/each.ts'
import { read } from '../../../../command/send.ts'
import { stateOf, stateWords } from '../../../../domain/states.ts'
import { joinList, pluralize } from '../../../../values/format.ts'
import { type Queue, repositoryName, shortRepositoryName } from '../../../../values/repository.ts'
import { setQueueState } from './change-one.ts'
import { stateChangeColumns, stateChangeScreen, suggestReturn } from './words.ts'

/** One of several queues whose state changes. */
export interface StateChange {
  readonly name: string
  readonly queue: Queue
}

export interface StateChangeResult {
  readonly result: 'changed' | 'unchanged'
  readonly before: string
  readonly after: string
}

const describeResult = ({ name }: StateChange, { result, after }: StateChangeResult): string =>
  `The queue for ${name} ${result === 'changed' ? 'is now' : 'was already'} ${stateWords(after)}.`

/** Reads the state of a queue; empty if the service says none. */
export async function readState({ queue }: StateChange, cli: Cli): Promise<string> {
  const { response } = await read(cli, getQueue, queue)
  return stateOf(response.records[0])
}

interface ChangeOptions {
  /** What limits the queues. */
  readonly limit?: readonly string[]
  /** What is said after the number of queues. */
  readonly note?: string
  /** The file that was written. */
  readonly record?: string | undefined
  /** The files that name the queues. */
  readonly file?: string | undefined
}

/** Changes several queues at a time, and prints a row for each and a summary. Returns the exit code. */
export async function changeStates<T extends StateChange>(
  cli: Cli,
  changes: readonly T[],
  change: (item: T) => Promise<StateChangeResult>,
  { limit = [], note = '', record, file }: ChangeOptions = {},
): Promise<number> {
  const work = (item: T) =>
    change(item).catch(error => {
      const failure = toMergeqError(error)
      // The row has the message of any other error.
      const isShown = cli.results === 'screen' && !['interrupted', 'stale'].includes(failure.kind)
      throw isShown ? extendError(failure, { isShown }) : failure
    })
  const { outcomes, report } = await each(cli, setQueueState, changes, work, {
    resource: ({ queue }) => queue,
    name: ({ name }) => name,
    // A token may have access to some repositories only.
    differInAccess: true,
  })
  const recordsWith = (nameRepository: typeof repositoryName): readonly JsonObject[] =>
    outcomes.map(({ item, result: done, failure }) => {
      const { repo, targetBranch } = item.queue
      const place = { repo: nameRepository(repo), targetBranch }
      if (done !== undefined)
        return { ...place, ok: true, ...done, exit: 0, message: describeResult(item, done) }
      const { exit = 1, message = '', kind } = failure ?? {}
      const result = kind === 'stale' ? 'skipped' : 'error'
      return { ...place, ok: false, result, before: null, after: null, exit, message }
    })
  const records = recordsWith(repositoryName)
  await cli.printer.print({
    records,
    columns: stateChangeColumns,
    screen: () => ({ columns: stateChangeScreen, rows: recordsWith(shortRepositoryName) }),
  })
  const counts = ['changed', 'unchanged', 'skipped', 'error'].flatMap(word => {
    const count = records.filter(({ result }) => result === word).length
    return count === 0 ? [] : `${count} ${word}`
  })
  const count = pluralize(changes.length, 'queue')
  for (const text of limit) await cli.logger.info(text)
  await cli.logger.info(`${count}: ${joinList(counts)}. ${note}`.trim())
  if (records.some(({ result }) => result === 'changed')) await suggestReturn(cli, { record, file })
  return report()
}
