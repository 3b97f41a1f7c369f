import { getQueue } from '../../api/operations/queues.ts'
import { read } from '../../cli/calls.ts'
import type { Cli } from '../../cli/cli.ts'
import { printRequests } from '../../cli/dry-run.ts'
import { each } from '../../cli/each.ts'
import { inputContext } from '../../cli/requests.ts'
import { joinList, pluralize } from '../../domain/format.ts'
import { stateOf } from '../../domain/states.ts'
import { repositoryName, shortRepositoryName } from '../../domain/values/repository.ts'
import { extendError, toMergeqError } from '../../errors.ts'
import type { JsonObject } from '../../json.ts'
import { type SettableState, type StateRequest, setQueueState, stateRequest } from './change-state.ts'
import type { QueueParams, QueueRequest } from './live-queue.ts'
import { stateChangeRecord, suggestReturn } from './state-words.ts'

/** One of several queues whose state changes. */
export interface StateChange {
  readonly name: string
  /** The request of the change, or of the reading if there is no change. */
  readonly request: StateRequest | QueueRequest
}

export interface StateChangeResult {
  readonly outcome: 'changed' | 'unchanged'
  readonly before: string
  readonly after: string
}

/** The request for one of several queues, as if it had been named. */
export function requestFor(
  state: SettableState,
  { repo, targetBranch }: QueueParams,
  cli: Cli,
): Promise<StateRequest> {
  const args = new Map(cli.args).set('--repo', [repositoryName(repo)]).set('--target-branch', [targetBranch])
  return stateRequest(state).read(args, { ...inputContext(cli), settings: cli.settings.withArgs(args) })
}

const queueOf = ({ repo, targetBranch }: QueueParams): QueueParams => ({ repo, targetBranch })

/** Prints the requests that read the queues first, for a dry run. Returns exit code 0. */
export const printReads = (changes: readonly StateChange[], cli: Cli): Promise<number> =>
  printRequests(
    cli,
    getQueue,
    changes.map(({ request }) => queueOf(request.values)),
  )

/** Reads the state of a queue; empty if the service says none. */
export async function readState({ request }: StateChange, cli: Cli): Promise<string> {
  const { response } = await read(cli, getQueue, queueOf(request.values))
  return stateOf(response.records[0])
}

interface ChangeOptions {
  /** What limits the queues. */
  readonly limit?: readonly string[]
  /** What is said after the number of queues. */
  readonly note?: string
  /** The file that was written. */
  readonly record?: string | undefined
}

/** Changes several queues at a time, and prints a row for each and a summary. Returns the exit code. */
export async function changeStates<T extends StateChange>(
  cli: Cli,
  changes: readonly T[],
  change: (item: T) => Promise<StateChangeResult>,
  { limit = [], note = '', record }: ChangeOptions = {},
): Promise<number> {
  const work = (item: T) =>
    change(item).catch(error => {
      const failure = toMergeqError(error)
      // The row has the message of any other error.
      const isShown = cli.results === 'screen' && !['interrupted', 'stale'].includes(failure.kind)
      throw isShown ? extendError(failure, { isShown }) : failure
    })
  const { outcomes, report } = await each(cli, setQueueState, changes, work, {
    resource: ({ request }) => request.values,
    name: ({ name }) => name,
    // A token may have access to some repositories only.
    differInAccess: true,
  })
  const recordsWith = (nameRepository: typeof repositoryName): readonly JsonObject[] =>
    outcomes.map(({ item, result, failure }) => {
      const { repo, targetBranch } = item.request.values
      const place = { repo: nameRepository(repo), targetBranch }
      if (result !== undefined) return { ...place, ok: true, ...result }
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
  for (const text of limit) await cli.logger.info(text)
  await cli.logger.info(`${count}: ${joinList(counts)}. ${note}`.trim())
  if (records.some(({ outcome }) => outcome === 'changed')) await suggestReturn(cli, record)
  return report()
}
