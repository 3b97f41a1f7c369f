import { list, outline } from '../../../../api/operations/fields.ts'
import { getMergeQueueMetrics } from '../../../../api/operations/metrics.ts'
import { getQueue } from '../../../../api/operations/queues.ts'
import { receiptRecord } from '../../../../api/receipts.ts'
import { toMergeqError, usageError } from '../../../../base/errors.ts'
import type { Cli } from '../../../../command/command.ts'
import { canPrompt, confirm, promptError } from '../../../../command/confirm.ts'
import { withoutDryRun } from '../../../../command/dry-run.ts'
import { outlastRateLimit } from '../../../../command/each.ts'
import { flag, type OptionValues, option } from '../../../../command/inputs.ts'
import { forPerson, sendChange } from '../../../../command/send.ts'
import { forEachQueue } from '../../../../command/several-queues.ts'
import { queueInput } from '../../../../command/shared-inputs.ts'
import { isSameState } from '../../../../domain/states.ts'
import { receiptColumns } from '../../../../output/view.ts'
import { queueFieldsOf } from '../../../../values/repository.ts'
import { fileName } from '../../../../values/types.ts'
import { findQueues, printSelection, severalQueues, unlessSeveral } from '../all-queues.ts'
import { openRecordFile } from '../record-file.ts'
import { changeState, type SettableState, setOfState, setQueueState, settableStates } from './change-one.ts'
import {
  changeStates,
  describeChanges,
  readState,
  requireState,
  type StateChangeResult,
  stateChangeColumns,
  stateChangeRecord,
} from './change-several.ts'
import { continueRecord, type RecordedChange, readEarlierRecord } from './record.ts'

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

type StateOptions = OptionValues<typeof stateCommand.options>

export function runStateCommand(cli: Cli, state: SettableState, options: StateOptions): Promise<number> {
  const { queue, record } = options
  if (queue === undefined) return changeAllStates(cli, state, options)
  if (record !== undefined)
    throw usageError('--record requires --all or --file.', 'Add one of them, or omit --record.')
  return changeState(cli, queue, state)
}

/** Throws a usage error if nobody can be asked, and --yes does not answer. */
export function requireAnswer(yes: boolean, cli: Cli): void {
  if (!yes && !cli.options.dryRun && !canPrompt(cli)) throw promptError(cli)
}

/**
 * Changes the state of several queues. The file of `--record` is written up to three times: with what it has already, to
 * find out whether it can be written; with the states before the first change, so that `queue resume --from` knows them
 * even if the command is killed; and after the changes, without the queues that were not changed.
 */
async function changeAllStates(cli: Cli, state: SettableState, options: StateOptions): Promise<number> {
  const { file, record: path, yes } = options
  requireAnswer(yes, cli)
  const { dryRun } = cli.options
  const record = await openRecordFile(dryRun ? undefined : path, cli)
  const earlier = await readEarlierRecord(record, yes, cli)
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
  await record.write(earlier)
  const { outcomes } = await forEachQueue(cli, queues, item => readState(item, cli))
  const items = outcomes.map(({ item, result: before, failure }) => {
    const row = { ...queueFieldsOf(item.queue), before: before ?? '', after: state }
    return { ...item, row, failure }
  })
  const changes = items.filter(({ failure }) => failure === undefined).map(({ row }) => row)
  // A queue whose change may have been applied (its delivery is unknown) stays in the record.
  const refused = new Set<RecordedChange>()
  // Before the first change: what is changed must be in the record, however the command ends.
  await record.write(continueRecord(earlier, changes))
  const change = async (item: (typeof items)[number]): Promise<StateChangeResult> => {
    const { queue, row, failure } = item
    if (failure !== undefined) throw failure
    const { before, after } = row
    if (isSameState(before, state)) return { result: 'unchanged', before, after }
    try {
      // Somebody may have changed it since it was recorded.
      if (path !== undefined)
        requireState(item, await readState(item, cli), before, ' To change it, run it again.')
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
    if (hasChanged) await suggestReturn(options, cli)
    return await report()
  } finally {
    // Also after an interruption: the record must not promise changes that were refused.
    if (refused.size > 0) {
      const corrected = continueRecord(earlier, changes, each => !refused.has(each))
      await record.correct(corrected, 'It still names queues that were not changed.')
    }
  }
}

function recordAdvice(state: SettableState, record: string | undefined): readonly string[] {
  if (state === 'RUNNING')
    return ['To resume only those that an earlier pause --record paused, use --from <file>.']
  return record === undefined
    ? ['Without --record <file>, nothing keeps which queues are paused already.']
    : []
}

async function suggestReturn({ record, file }: StateOptions, cli: Cli): Promise<void> {
  if (cli.messages !== 'person') return
  const { commandLine } = cli.settings
  if (record !== undefined) {
    const line = commandLine(['queue', 'resume', '--from', record], { repo: null, targetBranch: null })
    await cli.logger.info(`To restore the states from before, run: ${line}`)
  } else if (cli.command !== 'queue resume') {
    const queues = file === undefined ? ['--all'] : ['-f', file]
    await cli.logger.info(`To resume all of them, run: ${commandLine(['queue', 'resume', ...queues])}`)
    await cli.logger.info('To keep which queues were paused before, add --record <file> next time.')
  }
}
