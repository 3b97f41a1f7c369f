import { getMergeQueueMetrics } from '../../api/operations/metrics.ts'
import { getQueue } from '../../api/operations/queues.ts'
import { isSameState } from '../../domain/states.ts'
import { type Queue, repositoryName } from '../../domain/values/repository.ts'
import { fileName } from '../../domain/values/types.ts'
import { toMergeqError, usageError } from '../../errors.ts'
import type { Cli } from '../../run/command.ts'
import { canPrompt, confirm, promptError } from '../../run/confirm.ts'
import { withoutDryRun } from '../../run/dry-run.ts'
import { receiptRecord } from '../../run/fields.ts'
import { flag, option } from '../../run/inputs.ts'
import { sendChange } from '../../run/send.ts'
import { queueInput } from '../../run/values.ts'
import { printSelection, selectQueues, severalQueues, unlessSeveral } from './all-queues.ts'
import { changeState, type SettableState, setOfState, setQueueState } from './change-state.ts'
import { changeStates, readState, type StateChange, type StateChangeResult } from './state-changes.ts'
import { lockRecord, openRecord, readEarlierRecord, type StateRecord } from './state-record.ts'
import { describeChanges, recordAdvice, stateChangeRecord, verbs } from './state-words.ts'

interface SeveralOptions {
  /** The files that name the queues; undefined for every queue that the metrics name. */
  readonly file: string | undefined
  readonly record?: string | undefined
  readonly yes: boolean
}

/** What pause, resume and drain have in common. */
export const stateCommand = {
  operation: setQueueState,
  alsoSends: [getQueue, getMergeQueueMetrics],
  exits: ['output'] as const,
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
  fields: (typed: ReadonlyMap<string, unknown>) =>
    ['--all', '--file', '--from'].some(name => typed.has(name)) ? stateChangeRecord : receiptRecord,
  prints: {
    table:
      'one sentence (on a pipe, the row pr, ok, delivery (how sure the result is), message); with --all or --file, one row per queue',
    json: 'the result of the change (a receipt): {"operation","repo","targetBranch","pr","ok","delivery"}; with --all or --file, a list of {"repo","targetBranch","ok","result","before","after","exit","message"}',
    ndjson: 'the same, one per line',
  },
}

interface StateOptions extends SeveralOptions {
  /** Undefined for several queues. */
  readonly queue: Queue | undefined
}

/** Changes the state of a queue, or of all queues. Returns the exit code. */
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

/** Changes the states of several queues. Returns the exit code. */
async function changeAllStates(cli: Cli, state: SettableState, options: SeveralOptions): Promise<number> {
  const { record: path, yes } = options
  requireAnswer(yes, cli)
  if (path === undefined || cli.options.dryRun) return changeAll(cli, state, options, undefined)
  const release = await lockRecord(path, cli)
  try {
    return await changeAll(cli, state, options, path)
  } finally {
    await release()
  }
}

async function changeAll(
  cli: Cli,
  state: SettableState,
  { file, yes }: Omit<SeveralOptions, 'record'>,
  path: string | undefined,
): Promise<number> {
  const earlier = path === undefined ? [] : await readEarlierRecord(path, yes, cli)
  if (cli.options.dryRun && cli.results === 'screen') {
    const named = await selectQueues(file, withoutDryRun(cli)).catch(() => undefined)
    cli.host.interrupted.throwIfAborted()
    if (named !== undefined) {
      await cli.logger.info(describeChanges(verbs[state], named.queues, named.note))
      for (const text of named.limit) await cli.logger.info(text)
    }
  }
  if (cli.options.dryRun) return printSelection(file, cli)
  const { queues, limit, note } = await selectQueues(file, cli)
  const description = describeChanges(verbs[state], queues, note)
  const statement = [description, ...limit, ...recordAdvice(state, path)]
  if (!yes) await confirm({ statement, question: 'Continue?', expectedInput: 'y' }, cli)
  const record = path === undefined ? undefined : await openRecord(path, earlier, cli)
  await record?.save()
  return changeStates(cli, queues, item => setState(item, state, record, cli), {
    limit,
    note,
    record: path,
    file,
  })
}

/** Reads the state of a queue and, where it is another one, changes it. */
async function setState(
  item: StateChange,
  state: SettableState,
  record: StateRecord | undefined,
  cli: Cli,
): Promise<StateChangeResult> {
  const { repo, targetBranch } = item.queue
  const before = await readState(item, cli)
  const change = { repo: repositoryName(repo), targetBranch, before, after: state }
  await record?.add(change)
  if (isSameState(before, state)) return { result: 'unchanged', before, after: state }
  try {
    await sendChange(cli, setQueueState, { repo, targetBranch, state })
  } catch (error) {
    if (toMergeqError(error).details.delivery !== 'unknown') await record?.remove(change)
    throw error
  }
  return { result: 'changed', before, after: state }
}
