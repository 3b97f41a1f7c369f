import { getQueue } from '../../api/operations/queues.ts'
import { rejectTogether } from '../../command/check-inputs.ts'
import { type Cli, command } from '../../command/command.ts'
import { confirm } from '../../command/confirm.ts'
import { printRequests } from '../../command/dry-run.ts'
import { option } from '../../command/inputs.ts'
import { sendChange } from '../../command/send.ts'
import type { NamedQueue } from '../../command/several-queues.ts'
import { isSameState, stateWords } from '../../domain/states.ts'
import { parseRepository, queueName } from '../../values/repository.ts'
import { toIso } from '../../values/time.ts'
import { fileName } from '../../values/types.ts'
import { openRecordFile } from './shared/record-file.ts'
import { isSettable, type SettableState, setQueueState } from './shared/states/change-one.ts'
import {
  changeStates,
  describeChanges,
  readState,
  requireState,
  type StateChangeResult,
  staleError,
} from './shared/states/change-several.ts'
import { type RecordedChange, readStateRecord } from './shared/states/record.ts'
import { requireAnswer, runStateCommand, stateCommand } from './shared/states/state-command.ts'

interface Restoration extends NamedQueue {
  readonly row: RecordedChange
  /** The state to set; undefined if the state before cannot be set. */
  readonly state: SettableState | undefined
}

/** Restores the states of a record, and notes in it which it has restored. Returns the exit code. */
async function restoreStates(cli: Cli, path: string, yes: boolean): Promise<number> {
  const others = ['--all', '--file', '--repo', '--target-branch', '--record']
  rejectTogether(cli.args, ...others.map(name => ['--from', name] as const))
  requireAnswer(yes, cli)
  const record = await openRecordFile(path, cli)
  const rows = await readStateRecord(path, 'mergeq queue pause --all --record writes one.', cli)
  const restorations = rows.map((row): Restoration => {
    const queue = { repo: parseRepository(row.repo), targetBranch: row.targetBranch }
    // A queue that was switching modes runs when it has switched.
    const state = row.before === 'SWITCHING_MODES' ? 'RUNNING' : row.before
    return { name: queueName(queue), queue, state: isSettable(state) ? state : undefined, row }
  })
  const statement = describeChanges('restores the states of', restorations, '')
  if (cli.options.dryRun) {
    const queues = restorations.map(({ queue }) => queue)
    return printRequests(cli, getQueue, queues)
  }
  if (!yes) await confirm({ statement, question: 'Continue?', expectedInput: 'y' }, cli)
  const restored = new Set<RecordedChange>()
  const restore = async (item: Restoration) => {
    const result = await restoreState(item, cli)
    restored.add(item.row)
    return result
  }
  try {
    const { report } = await changeStates(cli, restorations, restore)
    return await report()
  } finally {
    const at = toIso(cli.host.clock.now())
    const noted = rows.map(row => (restored.has(row) ? { restored: at, ...row } : row))
    if (path !== '-' && restored.size > 0)
      await record.correct(noted, 'The states are restored all the same.')
  }
}

/** Restores the state of a queue, unless somebody has changed it since. */
async function restoreState(item: Restoration, cli: Cli): Promise<StateChangeResult> {
  const { queue, row, state } = item
  const before = await readState(item, cli)
  const isDone = [row.before, state].some(
    wanted => wanted !== undefined && wanted !== '' && isSameState(before, wanted),
  )
  if (isDone) return { result: 'unchanged', before, after: before }
  requireState(item, before, row.after)
  if (row.restored !== undefined)
    throw staleError(item, `is ${stateWords(before)} again since it was restored`)
  if (state === undefined) {
    const words =
      row.before === '' ? 'in no known state before' : `${stateWords(row.before)} before, which cannot be set`
    throw staleError(item, `was ${words}`)
  }
  await sendChange(cli, setQueueState, { ...queue, state })
  return { result: 'changed', before, after: state }
}

const { options, ...shared } = stateCommand

export const definition = command({
  ...shared,
  name: 'queue resume',
  summary: 'Resume testing and merging',
  options: {
    ...options,
    from: option(
      fileName('file'),
      'Restore the states that --record wrote; skip queues whose state has changed since',
    ),
  },
  examples: ['mergeq queue resume', 'mergeq queue resume --from states.json'],
  run({ from, ...values }, cli) {
    if (from === undefined) return runStateCommand(cli, 'RUNNING', values)
    return restoreStates(cli, from, values.yes)
  },
})
