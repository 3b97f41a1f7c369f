import { list, outline } from '../../../../api/operations/fields.ts'
import { getMergeQueueMetrics } from '../../../../api/operations/metrics.ts'
import { getQueue } from '../../../../api/operations/queues.ts'
import { receiptRecord } from '../../../../api/operations/receipts.ts'
import { MergeqError, toMergeqError, usageError } from '../../../../base/errors.ts'
import type { Cli } from '../../../../command/command.ts'
import { canPrompt, confirm, promptError } from '../../../../command/confirm.ts'
import { withoutDryRun } from '../../../../command/dry-run.ts'
import { outlastRateLimit } from '../../../../command/each.ts'
import { flag, option } from '../../../../command/inputs.ts'
import { forPerson, sendChange } from '../../../../command/send.ts'
import { forEachQueue, type NamedQueue } from '../../../../command/several-queues.ts'
import { queueInput } from '../../../../command/values.ts'
import { isSameState, stateWords } from '../../../../domain/states.ts'
import { receiptColumns } from '../../../../output/view.ts'
import { type Queue, queueFieldsOf } from '../../../../values/repository.ts'
import { fileName } from '../../../../values/types.ts'
import { findQueues, printSelection, severalQueues, unlessSeveral } from '../all-queues.ts'
import { correctRecord, openRecordFile } from '../record-file.ts'
import { changeState, type SettableState, setOfState, setQueueState, settableStates } from './change-one.ts'
import { changeStates, readState, type StateChangeResult } from './change-several.ts'
import { continueRecord, type RecordedChange, readEarlierRecord } from './record.ts'
import {
  describeChanges,
  recordAdvice,
  stateChangeColumns,
  stateChangeRecord,
  suggestReturn,
} from './words.ts'

interface SeveralOptions {
  /** The files that name the queues; undefined for every queue that the metrics name. */
  readonly file: string | undefined
  readonly record?: string | undefined
  readonly yes: boolean
}

export const stateCommand = {
  operation: setQueueState,
  alsoSends: [getQueue, getMergeQueueMetrics],
  exits: ['output', 'stale'] as const,
  options: {
    queue: unlessSeveral(queueInput),
    ...severalQueues('Change'),
    record: option(
      fileName('file'),
      'Write the states before and after to this file, for queue resume --from (--all, --file)',
    ),
    yes: flag('Skip the confirmation prompt (--all, --file)', { short: 'y' }),
  },
  set: setOfState,
  prints: {
    table:
      'one sentence (on a pipe, the row pr, ok, delivery (how sure the result is), message); with --all or --file, one row per queue',
    json: `the result of the change (a receipt): ${outline(receiptRecord)}; with --all or --file, a list of ${outline(stateChangeRecord)}`,
    ndjson: 'the same, one per line',
    documents: [receiptRecord],
    columns: receiptColumns,
    with: {
      options: ['--all', '--file', '--from'],
      documents: [list(stateChangeRecord)],
      columns: stateChangeColumns,
    },
  },
}

interface StateOptions extends SeveralOptions {
  /** Undefined for several queues. */
  readonly queue: Queue | undefined
}

export function runStateCommand(
  cli: Cli,
  state: SettableState,
  { queue, ...options }: StateOptions,
): Promise<number> {
  if (queue === undefined) return changeAllStates(cli, state, options)
  if (options.record !== undefined)
    throw usageError('--record requires --all or --file.', 'Add one of them, or omit --record.')
  return changeState(cli, queue, state)
}

/** Throws a usage error if nobody can be asked, and --yes does not answer. */
export function requireAnswer(yes: boolean, cli: Cli): void {
  if (!yes && !cli.options.dryRun && !canPrompt(cli)) throw promptError(cli)
}

async function changeAllStates(
  cli: Cli,
  state: SettableState,
  { file, record: path, yes }: SeveralOptions,
): Promise<number> {
  requireAnswer(yes, cli)
  const { dryRun } = cli.options
  const record = path === undefined || dryRun ? undefined : await openRecordFile(path, cli)
  const earlier = record === undefined ? [] : await readEarlierRecord(record, yes, cli)
  const note = file === undefined ? 'Queues without metrics are not included.' : ''
  outlastRateLimit(cli)
  if (dryRun) {
    const reading = withoutDryRun(cli)
    const found = await forPerson(reading, () => findQueues(file, reading))
    if (found !== undefined)
      await cli.logger.info(describeChanges(settableStates[state].does, found.queues, note))
    for (const text of found?.limit ?? []) await cli.logger.info(text)
    return printSelection({ queue: undefined, file }, cli)
  }
  const { queues, limit } = await findQueues(file, cli)
  const description = describeChanges(settableStates[state].does, queues, note)
  const statement = [description, ...limit, ...recordAdvice(state, path)]
  if (!yes) await confirm({ statement, question: 'Continue?', expectedInput: 'y' }, cli)
  // A file that cannot be written ends the command before anything is read.
  await record?.write(earlier)
  const { outcomes } = await forEachQueue(cli, queues, item => readState(item, cli))
  const items = outcomes.map(({ item, result: before, failure }) => {
    const row = { ...queueFieldsOf(item.queue), before: before ?? '', after: state }
    return { ...item, row, failure }
  })
  const changes = items.filter(({ failure }) => failure === undefined).map(({ row }) => row)
  const refused = new Set<RecordedChange>()
  await record?.write(continueRecord(earlier, changes))
  const change = async (item: (typeof items)[number]): Promise<StateChangeResult> => {
    const { queue, row, failure } = item
    if (failure !== undefined) throw failure
    const { before, after } = row
    if (isSameState(before, state)) return { result: 'unchanged', before, after }
    try {
      if (record !== undefined) await requireRecorded(item, before, cli)
      await sendChange(cli, setQueueState, { ...queue, state })
    } catch (error) {
      if (toMergeqError(error).details.delivery !== 'unknown') refused.add(row)
      throw error
    }
    return { result: 'changed', before, after }
  }
  for (const text of limit) await cli.logger.info(text)
  try {
    const { hasChanged, report } = await changeStates(cli, items, change, note)
    if (hasChanged) await suggestReturn(cli, { record: path, file })
    return await report()
  } finally {
    if (record !== undefined && refused.size > 0) {
      const corrected = continueRecord(earlier, changes, each => !refused.has(each))
      await correctRecord(record.write(corrected), 'It still names queues that were not changed.', cli)
    }
  }
}

/** Throws a `stale` error if somebody has changed the state of a queue since it was recorded. */
async function requireRecorded(item: NamedQueue, before: string, cli: Cli): Promise<void> {
  const now = await readState(item, cli)
  if (isSameState(now, before)) return
  const found = `is ${stateWords(now) || 'in no known state'}, not ${stateWords(before)} as in the record`
  throw new MergeqError(
    'stale',
    `The queue for ${item.name} ${found}; it was not changed. To change it, run it again.`,
  )
}
