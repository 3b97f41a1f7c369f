import { getMergeQueueMetrics } from '../../api/operations/metrics.ts'
import { getQueue } from '../../api/operations/queues.ts'
import { call } from '../../cli/calls.ts'
import type { Cli } from '../../cli/cli.ts'
import { canPrompt, confirm, promptError } from '../../cli/confirm.ts'
import { withoutDryRun } from '../../cli/dry-run.ts'
import { each } from '../../cli/each.ts'
import { receiptRecord } from '../../cli/fields.ts'
import { flag, option } from '../../cli/inputs.ts'
import { inputContext } from '../../cli/requests.ts'
import { joinList, pluralize } from '../../domain/format.ts'
import { stateOf, stateWords } from '../../domain/states.ts'
import {
  parseRepository,
  queueName,
  repositoryName,
  shortRepositoryName,
} from '../../domain/values/repository.ts'
import { fileName } from '../../domain/values/types.ts'
import { extendError, MergeqError, toMergeqError, usageError } from '../../errors.ts'
import type { JsonObject } from '../../json.ts'
import { allQueues, unlessSeveral } from './all-queues.ts'
import {
  changeState,
  isSettable,
  type SettableState,
  type StateRequest,
  setQueueState,
  stateRequest,
} from './change-state.ts'
import type { QueueParams } from './live-queue.ts'
import {
  type ChangeRecord,
  createRecord,
  type RecordedChange,
  readEarlierRecord,
  readRecord,
} from './state-record.ts'
import {
  describeChanges,
  noteOfAll,
  recordAdvice,
  stateChangeRecord,
  suggestReturn,
  verbs,
} from './state-words.ts'

/** A change of the state of one of several queues. */
interface StateChange {
  readonly name: string
  readonly request: StateRequest
  /** The state that the queue must be in; undefined for any. */
  readonly expected?: string
}

interface SeveralOptions {
  readonly record?: string | undefined
  readonly yes: boolean
}

/** What pause, resume and drain have in common. */
export const stateCommand = (state: SettableState) => ({
  operation: setQueueState,
  alsoSends: [getQueue, getMergeQueueMetrics],
  exits: ['output'] as const,
  options: {
    request: unlessSeveral(stateRequest(state)),
    all: flag('Change every queue that the metrics name: of the organization, or of --repo'),
    record: option(
      fileName('file'),
      'Write the states before and after to this file, for queue resume --from (--all)',
    ),
    yes: flag('Skip the confirmation prompt (--all)', { short: 'y' }),
  },
  fields: (typed: ReadonlyMap<string, unknown>) =>
    typed.has('--all') || typed.has('--from') ? stateChangeRecord : receiptRecord,
  prints: {
    table: 'one sentence (on a pipe, the row pr, ok, delivery, message); with --all, one row per queue',
    json: 'a receipt: {"operation","repo","targetBranch","pr","ok","delivery"}; with --all, a list of {"repo","targetBranch","ok","outcome","before","after"}',
    ndjson: 'the same, one per line',
  },
})

interface StateOptions extends SeveralOptions {
  readonly request: StateRequest | undefined
}

/** Changes the state of a queue, or of all queues. Returns the exit code. */
export function runStateCommand(
  cli: Cli,
  state: SettableState,
  { request, ...options }: StateOptions,
): Promise<number> {
  if (request === undefined) return changeAllStates(cli, state, options)
  if (options.record !== undefined)
    throw usageError('--record requires --all.', 'Add --all, or omit --record.')
  return changeState(cli, request)
}

/** The request for one of several queues, as if it had been named. */
function requestFor(
  state: SettableState,
  { repo, targetBranch }: QueueParams,
  cli: Cli,
): Promise<StateRequest> {
  const args = new Map(cli.args).set('--repo', [repositoryName(repo)]).set('--target-branch', [targetBranch])
  return stateRequest(state).read(args, { ...inputContext(cli), settings: cli.settings.withArgs(args) })
}

/** Changes the state of every queue that the metrics name. Returns the exit code. */
async function changeAllStates(cli: Cli, state: SettableState, options: SeveralOptions): Promise<number> {
  await checkOptions(options, cli)
  const earlier = await readEarlierRecord(options.record, cli)
  if (cli.options.dryRun && cli.results === 'screen') {
    const named = await allQueues(withoutDryRun(cli)).catch(() => [])
    cli.host.interrupted.throwIfAborted()
    if (named.length > 0) await cli.logger.info(describeChanges(verbs[state], named, noteOfAll))
  }
  const queues = await allQueues(cli)
  const changes: StateChange[] = []
  for (const { name, request } of queues)
    changes.push({ name, request: await requestFor(state, request.values, cli) })
  const description = describeChanges(verbs[state], changes, noteOfAll)
  const statement = [description, ...recordAdvice(state, options.record)]
  return changeStates(cli, changes, { ...options, statement, note: noteOfAll, earlier })
}

/** Restores the states of a record. Returns the exit code. */
export async function restoreStates(cli: Cli, path: string, options: SeveralOptions): Promise<number> {
  for (const name of ['--all', '--repo', '--target-branch'])
    if (cli.args.has(name))
      throw usageError(`--from and ${name} cannot be used together.`, 'Use only one of them.')
  await checkOptions(options, cli)
  const changes: StateChange[] = []
  const hint = 'mergeq queue pause --all --record writes one.'
  for (const { repo, targetBranch, before, after } of await readRecord(path, hint, cli)) {
    const values = { repo: parseRepository(repo), targetBranch }
    // A queue that was switching modes runs when it has switched.
    const request = await requestFor(isSettable(before) ? before : 'RUNNING', values, cli)
    changes.push({ name: queueName(values), request, expected: after })
  }
  const statement = [describeChanges('restores the states of', changes, '')]
  return changeStates(cli, changes, { ...options, statement, note: '', earlier: [] })
}

async function checkOptions({ record, yes }: SeveralOptions, cli: Cli): Promise<void> {
  if (yes || cli.options.dryRun) return
  if (record !== undefined && (await cli.host.files.exists(record)))
    throw usageError(
      `${record} already exists.`,
      'Use another file, or add --yes to keep its states and add those of other queues.',
    )
  if (!canPrompt(cli)) throw promptError(cli)
}

interface ChangeOptions extends SeveralOptions {
  /** What the prompt says. */
  readonly statement: readonly string[]
  /** What is said after the number of queues. */
  readonly note: string
  /** What the file of the record has already. */
  readonly earlier: readonly RecordedChange[]
}

async function changeStates(
  cli: Cli,
  changes: readonly StateChange[],
  { record: path, yes, statement, note, earlier }: ChangeOptions,
): Promise<number> {
  if (!yes) await confirm({ statement, question: 'Continue?', expectedInput: 'y' }, cli)
  const record = path === undefined || cli.options.dryRun ? undefined : await createRecord(path, earlier, cli)
  const work = (change: StateChange) =>
    changeOne(cli, change, record).catch(error => {
      const failure = toMergeqError(error)
      // The row has the message of any other error.
      const isShown = cli.results === 'screen' && !['interrupted', 'stale'].includes(failure.kind)
      throw isShown ? extendError(failure, { isShown }) : failure
    })
  const { outcomes, report } = await each(cli, changes, work, {
    name: ({ name }) => name,
    // A token may have access to some repositories only.
    differInAccess: true,
  })
  const recordsWith = (nameRepository: typeof repositoryName): readonly JsonObject[] =>
    outcomes.map(({ item, result, failure }) => {
      const { repo, targetBranch, state } = item.request.values
      const place = { repo: nameRepository(repo), targetBranch }
      if (result !== undefined) return { ...place, ok: true, ...result, after: state }
      const { exit = 1, message = '', kind } = failure ?? {}
      return { ...place, ok: false, outcome: kind === 'stale' ? 'skipped' : 'error', exit, message }
    })
  const records = recordsWith(repositoryName)
  await cli.printer.print({
    records,
    columns: stateChangeRecord.columns,
    screen: () => ({
      columns: stateChangeRecord.columns,
      rows: recordsWith(shortRepositoryName).map(({ message, ...row }) =>
        row.outcome === 'error' ? { ...row, message } : row,
      ),
    }),
  })
  const counts = ['changed', 'unchanged', 'skipped', 'error'].flatMap(word => {
    const count = records.filter(({ outcome }) => outcome === word).length
    return count === 0 ? [] : `${count} ${word}`
  })
  const count = pluralize(changes.length, 'queue')
  await cli.logger.info(`${count}: ${joinList(counts)}. ${note}`.trim())
  if (records.some(({ outcome }) => outcome === 'changed')) await suggestReturn(cli, path)
  return report()
}

/** Reads the state of a queue and, where it is another one, changes it. */
async function changeOne(
  cli: Cli,
  { name, request, expected }: StateChange,
  record: ChangeRecord | undefined,
): Promise<{ readonly outcome: 'changed' | 'unchanged'; readonly before: string }> {
  const { repo, targetBranch, state } = request.values
  const values = { repo, targetBranch }
  const { response } = await call(cli, { operation: getQueue, values, overrides: [] })
  const before = stateOf(response.records[0])
  if (expected !== undefined && before !== expected)
    throw new MergeqError(
      'stale',
      `The queue for ${name} is ${stateWords(before)}, not ${stateWords(expected)} as in the record; it was not changed.`,
    )
  const change = { repo: repositoryName(repo), targetBranch, before, after: state }
  await record?.add(change)
  if (before === state) return { outcome: 'unchanged', before }
  try {
    await call(cli, request)
  } catch (error) {
    if (toMergeqError(error).details.delivery !== 'unknown') await record?.remove(change)
    throw error
  }
  return { outcome: 'changed', before }
}
