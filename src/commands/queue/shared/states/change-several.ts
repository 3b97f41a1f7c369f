import {
  failureFields,
  type Infer,
  oneOf,
  ownRecord,
  queueNameFields,
} from '../../../../api/operations/fields.ts'
import { getQueue } from '../../../../api/operations/queues.ts'
import { extendError, MergeqError, toMergeqError } from '../../../../base/errors.ts'
import type { Cli } from '../../../../command/command.ts'
import { each } from '../../../../command/each.ts'
import { read } from '../../../../command/send.ts'
import { type NamedQueue, queueNameColumns } from '../../../../command/several-queues.ts'
import { isSameState, stateOf, stateWords } from '../../../../domain/states.ts'
import { columns } from '../../../../output/view.ts'
import { joinList, joinTruncated, pluralize } from '../../../../values/format.ts'
import { queueFieldsOf } from '../../../../values/repository.ts'
import { setQueueState } from './change-one.ts'

export const stateChangeRecord = ownRecord({
  ...queueNameFields,
  ok: 'boolean',
  result: oneOf('changed', 'unchanged', 'skipped', 'error'),
  before: 'string | null',
  after: 'string | null',
  ...failureFields,
})

export const stateChangeColumns = columns(
  'repo',
  'targetBranch',
  'result',
  ['before', { format: 'state' }],
  'after',
  'message',
)

/** The columns that a person sees: the message of an error stands in the place of its word. */
const stateChangeScreen = [
  ...queueNameColumns(),
  ...columns(
    [
      'result',
      { format: 'prose', show: ({ result, message = '' }) => (result === 'error' ? message : result) },
    ],
    ['before', { format: 'state', priority: 2 }],
    ['after', { priority: 1 }],
  ),
]

export const describeChanges = (
  does: string,
  queues: readonly { readonly name: string }[],
  note: string,
): string =>
  `This ${does} ${pluralize(queues.length, 'queue')}: ${joinTruncated(queues.map(({ name }) => name))}. ${note}`.trim()

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

export const staleError = ({ name }: NamedQueue, problem: string, advice = ''): MergeqError =>
  new MergeqError('stale', `The queue for ${name} ${problem}; it was not changed.${advice}`)

/** Throws a `stale` error if a queue is not in a state that a record has. */
export function requireState(item: NamedQueue, now: string, recorded: string, advice?: string): void {
  if (isSameState(now, recorded)) return
  const problem = `is ${stateWords(now) || 'in no known state'}, not ${stateWords(recorded)} as in the record`
  throw staleError(item, problem, advice)
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
