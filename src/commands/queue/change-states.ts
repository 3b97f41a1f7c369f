import type { BodyOverride } from '../../api/operation.ts'
import { getMergeQueueMetrics } from '../../api/operations/metrics.ts'
import { getQueue } from '../../api/operations/queues.ts'
import { isSameState } from '../../domain/states.ts'
import { repositoryName } from '../../domain/values/repository.ts'
import { fileName } from '../../domain/values/types.ts'
import { toMergeqError, usageError } from '../../errors.ts'
import type { Cli } from '../../run/cli.ts'
import { canPrompt, confirm, promptError } from '../../run/confirm.ts'
import { withoutDryRun } from '../../run/dry-run.ts'
import { receiptRecord } from '../../run/fields.ts'
import { flag, option } from '../../run/inputs.ts'
import { read } from '../../run/send.ts'
import { type Queue, queueInput } from '../../run/values.ts'
import { allQueues, printAllRequest, unlessSeveral } from './all-queues.ts'
import { changeState, type SettableState, setOfState, setQueueState } from './change-state.ts'
import { changeStates, readState, type StateChange, type StateChangeResult } from './state-changes.ts'
import { lockRecord, openRecord, readEarlierRecord, type StateRecord } from './state-record.ts'
import { describeChanges, noteOfAll, recordAdvice, stateChangeRecord, verbs } from './state-words.ts'

interface SeveralOptions {
  readonly record?: string | undefined
  readonly yes: boolean
  /** What `--set` adds to the requests. */
  readonly set: readonly BodyOverride[]
}

/** What pause, resume and drain have in common. */
export const stateCommand = {
  operation: setQueueState,
  alsoSends: [getQueue, getMergeQueueMetrics],
  exits: ['output'] as const,
  options: {
    queue: unlessSeveral(queueInput),
    all: flag('Change every queue that the metrics name: of the organization, or of --repo'),
    record: option(
      fileName('file'),
      'Write the states before and after to this file, for queue resume --from (--all)',
    ),
    yes: flag('Skip the confirmation prompt (--all)', { short: 'y' }),
    set: setOfState,
  },
  fields: (typed: ReadonlyMap<string, unknown>) =>
    typed.has('--all') || typed.has('--from') ? stateChangeRecord : receiptRecord,
  prints: {
    table: 'one sentence (on a pipe, the row pr, ok, delivery, message); with --all, one row per queue',
    json: 'a receipt: {"operation","repo","targetBranch","pr","ok","delivery"}; with --all, a list of {"repo","targetBranch","ok","outcome","before","after"}',
    ndjson: 'the same, one per line',
  },
}

interface StateOptions extends SeveralOptions {
  /** Undefined for all queues. */
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
    throw usageError('--record requires --all.', 'Add --all, or omit --record.')
  return changeState(cli, queue, state, options.set)
}

/** Throws a usage error if nobody can be asked, and --yes does not answer. */
export function requireAnswer(yes: boolean, cli: Cli): void {
  if (!yes && !cli.options.dryRun && !canPrompt(cli)) throw promptError(cli)
}

/** Changes the state of every queue that the metrics name. Returns the exit code. */
async function changeAllStates(cli: Cli, state: SettableState, options: SeveralOptions): Promise<number> {
  const { record: path, yes, set } = options
  requireAnswer(yes, cli)
  if (path === undefined || cli.options.dryRun) return changeAll(cli, state, { yes, set }, undefined)
  const release = await lockRecord(path, cli)
  try {
    return await changeAll(cli, state, { yes, set }, path)
  } finally {
    await release()
  }
}

async function changeAll(
  cli: Cli,
  state: SettableState,
  { yes, set }: Omit<SeveralOptions, 'record'>,
  path: string | undefined,
): Promise<number> {
  const earlier = path === undefined ? [] : await readEarlierRecord(path, yes, cli)
  if (cli.options.dryRun && cli.results === 'screen') {
    const named = await allQueues(withoutDryRun(cli)).catch(() => undefined)
    cli.host.interrupted.throwIfAborted()
    if (named !== undefined) {
      await cli.logger.info(describeChanges(verbs[state], named.queues, noteOfAll))
      for (const text of named.limit) await cli.logger.info(text)
    }
  }
  if (cli.options.dryRun) return printAllRequest(cli)
  const { queues, limit } = await allQueues(cli)
  const description = describeChanges(verbs[state], queues, noteOfAll)
  const statement = [description, ...limit, ...recordAdvice(state, path)]
  if (!yes) await confirm({ statement, question: 'Continue?', expectedInput: 'y' }, cli)
  const record = path === undefined ? undefined : await openRecord(path, earlier, cli)
  await record?.save()
  return changeStates(cli, queues, item => setState(item, { state, set }, record, cli), {
    limit,
    note: noteOfAll,
    record: path,
  })
}

/** Reads the state of a queue and, where it is another one, changes it. */
async function setState(
  item: StateChange,
  { state, set }: { readonly state: SettableState; readonly set: readonly BodyOverride[] },
  record: StateRecord | undefined,
  cli: Cli,
): Promise<StateChangeResult> {
  const { repo, targetBranch } = item.queue
  const before = await readState(item, cli)
  const change = { repo: repositoryName(repo), targetBranch, before, after: state }
  await record?.add(change)
  if (isSameState(before, state)) return { outcome: 'unchanged', before, after: state }
  try {
    await read(cli, setQueueState, { repo, targetBranch, state }, { overrides: set })
  } catch (error) {
    if (toMergeqError(error).details.delivery !== 'unknown') await record?.remove(change)
    throw error
  }
  return { outcome: 'changed', before, after: state }
}
