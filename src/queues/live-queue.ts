import { readIfFound } from '../api/call.ts'
import { getQueue } from '../api/operations/queues.ts'
import { MergeqError, mostSevere } from '../errors.ts'
import type { Cli } from '../run/command.ts'
import { each, type Outcome, reportErrors } from '../run/each.ts'
import { type Queue, queueName } from '../values/repository.ts'
import { type LiveSettings, liveSettings } from './files/queue-file.ts'

/** Reads the live settings of a queue. Throws a `not-found` error if the branch has no queue. */
export async function requireLive(queue: Queue, includesState: boolean, cli: Cli): Promise<LiveSettings> {
  const live = await readLive(queue, includesState, cli)
  if (live !== undefined) return live
  throw new MergeqError('not-found', `The queue for ${queueName(queue)} does not exist.`, {
    hint: 'To use another queue, name it with --repo and --target-branch.',
    status: 404,
  })
}

/** Reads the live settings of a queue; undefined if the branch has no queue. */
export async function readLive(
  queue: Queue,
  includesState: boolean,
  cli: Cli,
): Promise<LiveSettings | undefined> {
  const record = await readIfFound(cli.client(), getQueue, queue)
  return record && liveSettings(record, includesState)
}

export interface Failed {
  readonly failure: MergeqError
}

interface QueueOutcomes<T, R> {
  readonly outcomes: readonly Outcome<T, R>[]
  readonly results: readonly R[]
  readonly failed: readonly (T & Failed)[]
}

/**
 * Works on several queues at a time; one that fails does not stop the others. Returns the results, and the errors with
 * their items, both in the order of the items. Throws if a signal arrived or there is no token.
 */
export async function forEachQueue<T extends { readonly name: string; readonly queue: Queue }, R>(
  cli: Cli,
  items: readonly T[],
  work: (item: T) => Promise<R>,
): Promise<QueueOutcomes<T, R>> {
  // A token may have access to some repositories only.
  const { outcomes } = await each(cli, getQueue, items, work, {
    resource: ({ queue }) => queue,
    name: ({ name }) => name,
    differInAccess: true,
  })
  const failed = outcomes.flatMap(({ item, failure }) =>
    failure === undefined ? [] : [{ ...item, failure }],
  )
  const last = failed
    .map(({ failure }) => failure)
    .find(({ kind, details }) => kind === 'interrupted' || (kind === 'auth' && details.status === undefined))
  if (last !== undefined) throw last
  cli.host.interrupted.throwIfAborted()
  return { outcomes, results: outcomes.flatMap(({ result }) => result ?? []), failed }
}

/** Logs the errors of queues that failed. Returns the most severe exit code. */
export async function reportFailures(failed: readonly Failed[], cli: Cli): Promise<number> {
  const failures = failed.map(({ failure }) => failure)
  await reportErrors(failures, cli)
  return mostSevere(failures.map(({ exit }) => exit))
}
