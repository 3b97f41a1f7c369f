import { type CallOptions, callOperation } from '../../../api/call.ts'
import { getSubmittedPullRequest } from '../../../api/operations/pull-requests.ts'
import { getQueue } from '../../../api/operations/queues.ts'
import type { RequestLimits } from '../../../api/service-client.ts'
import type { CommandRequest } from '../../../cli/command.ts'
import type { CommandContext } from '../../../cli/context.ts'
import { mapConcurrent, maxConcurrent } from '../../../cli/run-requests.ts'
import { repositoryName } from '../../../domain/values/repository.ts'
import type { WaitObservation, WaitState } from '../../../domain/wait-state.ts'
import { isNotFound, isPermanent, type MergeqError, toMergeqError, withPeriod } from '../../../errors.ts'
import { get, getArray, isObject, type JsonObject } from '../../../json.ts'
import type { RequestedPullRequest } from '../record.ts'

export interface WaitTarget {
  readonly request: CommandRequest<RequestedPullRequest>
  readonly state: WaitState
  /** How many consecutive readings have failed. */
  readonly errors: number
  /** The record of the last reading; undefined if the service did not know the pull request. */
  readonly record?: JsonObject | undefined
  /** The queue, if the last round read it. */
  readonly queue?: JsonObject | undefined
}

export type TargetReading =
  | { readonly observation: WaitObservation; readonly failure?: MergeqError }
  | { readonly failure: MergeqError }

/** The readings of one round, and the records of the queues that were read, by name. */
export interface TargetReadings {
  /** In the order of the targets; shorter than the targets when the time was over. */
  readonly readings: readonly TargetReading[]
  readonly queues: ReadonlyMap<string, JsonObject>
}

/** Returns the name of the queue of a pull request, as messages show it: `main in github.com/acme/web`. */
export const queueName = ({ request: { values } }: Pick<WaitTarget, 'request'>): string =>
  `${values.targetBranch} in ${repositoryName(values.repo)}`

export interface ReadOptions {
  readonly needsQueue: boolean
  /**
   * The queues that the service refused to show, by name: they are not read again. `readTargets` adds to the
   * set.
   */
  readonly unreadableQueues: Set<string>
  hasTime(): boolean
  readonly limits: RequestLimits
}

/**
 * Reads the states of pull requests: one request for a queue and all pull requests that the queue lists, and
 * one request for each pull request that no queue lists. A single pull request is read without its queue,
 * unless its state has not changed and only the queue shows why (docs/reference/cli.md, "Waiting"). When the
 * service refuses to show a queue, each pull request is read by itself. Throws only when a signal interrupts
 * the command.
 */
export async function readTargets(
  targets: readonly WaitTarget[],
  options: ReadOptions,
  context: CommandContext,
): Promise<TargetReadings> {
  const callOptions = { limits: options.limits }
  const listings = new Map<string, QueueListing | { readonly failure: MergeqError }>()
  for (const name of new Set(targets.map(queueName))) {
    const queueTargets = targets.filter(target => queueName(target) === name)
    if (options.unreadableQueues.has(name) || !needsListing(queueTargets, options) || !options.hasTime())
      continue
    const listing = await readListing(queueTargets, callOptions, context)
    if ('entries' in listing) listings.set(name, listing)
    else if (isRefusal(listing.failure)) {
      options.unreadableQueues.add(name)
      const text = `${withPeriod(listing.failure.message)} Checking each pull request separately`
      if (options.needsQueue) await context.logger.warn(`${text}; a paused queue cannot be detected.`)
      else await context.logger.info(`${text}.`)
    } else if (queueTargets.length > 1 || (options.needsQueue && isPermanent(listing.failure)))
      listings.set(name, listing)
    else if (options.needsQueue)
      await context.logger.warnOnce(
        `${withPeriod(listing.failure.message)} Until the queue can be read, a pause cannot be detected.`,
      )
  }
  const readTarget = async (target: WaitTarget): Promise<TargetReading> => {
    const listing = listings.get(queueName(target))
    if (listing !== undefined && 'failure' in listing) return listing
    const { pr } = target.request.values
    return listing?.entries.get(pr) ?? readTargetRecord(target, callOptions, context)
  }
  const readings: TargetReading[] = []
  for await (const reading of mapConcurrent(targets, maxConcurrent, readTarget, options.hasTime))
    readings.push(reading)
  const queues = [...listings].flatMap(([name, listing]) =>
    'entries' in listing ? [[name, listing.record] as const] : [],
  )
  return { readings, queues: new Map(queues) }
}

/** The record of a queue, and the readings of the pull requests that the queue lists, by number. */
interface QueueListing {
  readonly record: JsonObject
  readonly entries: ReadonlyMap<number, TargetReading>
}

/** Whether the queue of these targets must be read in this round. */
const needsListing = (queueTargets: readonly WaitTarget[], { needsQueue }: ReadOptions): boolean =>
  queueTargets.length > 1 ||
  needsQueue ||
  queueTargets.some(({ state }) => state.isStateUnchanged && state.state !== 'TESTING')

/** Whether the service refuses to show the queue, now and in later rounds. */
const isRefusal = ({ kind }: MergeqError): boolean => kind === 'not-found' || kind === 'refused'

async function readListing(
  [first]: readonly WaitTarget[],
  callOptions: CallOptions,
  context: CommandContext,
): Promise<QueueListing | { readonly failure: MergeqError }> {
  if (first === undefined) return { record: {}, entries: new Map() }
  const { repo, targetBranch } = first.request.values
  try {
    const { response } = await callOperation(context.client(), getQueue, { repo, targetBranch }, callOptions)
    const [record = {}] = response.records
    const now = context.host.clock.now()
    const entries = new Map<number, TargetReading>()
    for (const [index, entry] of getArray(record, 'enqueuedPullRequests').entries()) {
      const pr = get(entry, 'prNumber')
      if (typeof pr === 'number' && isObject(entry))
        entries.set(pr, { observation: { record: entry, position: index + 1, at: now } })
    }
    return { record, entries }
  } catch (error) {
    return { failure: toReadingError(error) }
  }
}

/** Reads the record of a pull request. An unknown pull request is an observation without a record. */
async function readTargetRecord(
  { request: { values, overrides } }: WaitTarget,
  callOptions: CallOptions,
  context: CommandContext,
): Promise<TargetReading> {
  const { clock } = context.host
  const askedAt = clock.now()
  try {
    const options = { ...callOptions, overrides }
    const { response, date } = await callOperation(context.client(), getSubmittedPullRequest, values, options)
    const [record = {}] = response.records
    return { observation: { record, at: clock.now(), askedAt, date } }
  } catch (error) {
    const failure = toReadingError(error)
    return isNotFound(failure)
      ? { observation: { record: undefined, at: clock.now() }, failure }
      : { failure }
  }
}

/** Returns the error of a failed reading; throws an interruption. */
function toReadingError(error: unknown): MergeqError {
  const failure = toMergeqError(error)
  if (failure.kind === 'interrupted') throw failure
  return failure
}
