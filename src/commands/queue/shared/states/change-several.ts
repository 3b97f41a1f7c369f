import type { Infer } from '../../../../api/operations/fields.ts'
import { getQueue } from '../../../../api/operations/queues.ts'
import { extendError, toMergeqError } from '../../../../base/errors.ts'
import type { Cli } from '../../../../command/command.ts'
import { each } from '../../../../command/each.ts'
import { read } from '../../../../command/send.ts'
import type { NamedQueue } from '../../../../command/several-queues.ts'
import { stateOf, stateWords } from '../../../../domain/states.ts'
import { joinList, pluralize } from '../../../../values/format.ts'
import { queueFieldsOf } from '../../../../values/repository.ts'
import { setQueueState } from './change-one.ts'
import { stateChangeColumns, type stateChangeRecord, stateChangeScreen } from './words.ts'

export interface StateChangeResult {
  readonly result: 'changed' | 'unchanged'
  readonly before: string
  readonly after: string
}

const describeResult = ({ name }: NamedQueue, { result, after }: StateChangeResult): string =>
  `The queue for ${name} ${result === 'changed' ? 'is now' : 'was already'} ${stateWords(after)}.`

/** Reads the state of a queue; empty if the service says none. */
export async function readState({ queue }: NamedQueue, cli: Cli): Promise<string> {
  const { response } = await read(cli, getQueue, queue)
  return stateOf(response.records[0])
}

/** Prints a row for each and a summary, with a note behind it. `report` logs the errors. */
export async function changeStates<T extends NamedQueue>(
  cli: Cli,
  changes: readonly T[],
  change: (item: T) => Promise<StateChangeResult>,
  note = '',
) {
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
  const records = outcomes.map(({ item, result: done, failure }): Infer<typeof stateChangeRecord> => {
    const place = queueFieldsOf(item.queue)
    if (done !== undefined)
      return { ...place, ok: true, ...done, exit: 0, message: describeResult(item, done) }
    const { exit = 1, message = '', kind } = failure ?? {}
    const result = kind === 'stale' ? 'skipped' : 'error'
    return { ...place, ok: false, result, before: null, after: null, exit, message }
  })
  await cli.printer.print({
    records,
    columns: stateChangeColumns,
    screen: () => ({ columns: stateChangeScreen, rows: records }),
  })
  const counts = ['changed', 'unchanged', 'skipped', 'error'].flatMap(word => {
    const count = records.filter(({ result }) => result === word).length
    return count === 0 ? [] : `${count} ${word}`
  })
  await cli.logger.info(`${pluralize(changes.length, 'queue')}: ${joinList(counts)}. ${note}`.trim())
  return { hasChanged: records.some(({ result }) => result === 'changed'), report }
}
