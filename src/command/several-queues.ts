import { callOperation } from '../api/call.ts'
import { getMergeQueueMetrics, queuesIn } from '../api/operations/metrics.ts'
import { getQueue } from '../api/operations/queues.ts'
import type { ParamValues } from '../api/params.ts'
import { MergeqError } from '../base/errors.ts'
import { getString } from '../base/json.ts'
import type { QueueMetrics } from '../domain/metrics/last-hour.ts'
import { type Column, columns } from '../output/view.ts'
import { defaultHost, type Queue, type Repository } from '../values/repository.ts'
import type { Cli } from './command.ts'
import { type EachOptions, each, type Outcome, reportErrors } from './each.ts'
import { read } from './send.ts'

interface QueueOutcomes<T, R> {
  readonly outcomes: readonly Outcome<T, R>[]
  readonly results: readonly R[]
  readonly failures: readonly MergeqError[]
}

/** One that fails does not stop the others. Throws if a signal arrived or there is no token. */
export async function forEachQueue<T extends { readonly name: string; readonly queue: Queue }, R>(
  cli: Cli,
  items: readonly T[],
  work: (item: T) => Promise<R>,
  options: Pick<EachOptions<T, R>, 'atOnce' | 'print'> = {},
): Promise<QueueOutcomes<T, R>> {
  // A token may have access to some repositories only.
  const { outcomes } = await each(cli, getQueue, items, work, {
    ...options,
    resource: ({ queue }) => queue,
    name: ({ name }) => name,
    differInAccess: true,
  })
  const failures = outcomes.flatMap(({ failure }) => failure ?? [])
  const last = failures.find(
    ({ kind, details }) => kind === 'interrupted' || (kind === 'auth' && details.status === undefined),
  )
  if (last !== undefined) throw last
  cli.host.interrupted.throwIfAborted()
  return { outcomes, results: outcomes.flatMap(({ result }) => result ?? []), failures }
}

export const queueNameColumns = (branch: 'branch' | 'targetBranch' = 'targetBranch'): readonly Column[] =>
  columns(['repo', { show: record => getString(record, 'repo')?.replace(`${defaultHost}/`, '') }], branch)

export interface NamedQueue {
  readonly name: string
  readonly queue: Queue
  /** Undefined if the metrics do not name the queue, or were not read. */
  readonly metrics?: QueueMetrics | undefined
}

/** Returns the repository of queues whose repository the metrics do not say. Its host is the host of all queues. */
export const placeOf = async (
  repo: Repository | undefined,
  { settings }: Cli,
): Promise<Repository | undefined> =>
  // The settings may name several repositories, or none: then the host is the usual one.
  repo ?? (await settings.read('repo').catch(() => undefined))

export async function namedQueues(
  bytes: Uint8Array,
  repo: Repository | undefined,
  cli: Cli,
): Promise<readonly NamedQueue[]> {
  const queues = queuesIn(bytes, await placeOf(repo, cli))
  if (repo !== undefined) return queues
  const { withHosts } = await import('./queue-hosts.ts')
  return withHosts(queues, cli)
}

/** Reads the metrics, and returns the queues that they name; `place` says their host, where it is known. */
export async function queuesOfMetrics(
  params: ParamValues<typeof getMergeQueueMetrics.params>,
  place: Repository | undefined,
  cli: Cli,
): Promise<readonly NamedQueue[]> {
  const { response } = await callOperation(cli.client(), getMergeQueueMetrics, params)
  return namedQueues(response.bytes, place, cli)
}

/** Reads queues, with the time of each response by the service's clock. */
export const readQueues = <T extends { readonly name: string; readonly queue: Queue }>(
  queues: readonly T[],
  cli: Cli,
) =>
  forEachQueue(cli, queues, async item => {
    const { response, date = cli.serviceTime.now() } = await read(cli, getQueue, item.queue)
    return { item, queue: response.records[0] ?? {}, now: date }
  })

/** Logs why queues of a list could not be read. Returns the exit code of an incomplete list. */
export const reportUnread = (failures: readonly MergeqError[], cli: Cli): Promise<number> =>
  reportErrors(
    failures.map(({ message, details }) => new MergeqError('incomplete', message, details)),
    cli,
  )
