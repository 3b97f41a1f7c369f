import { callOperation } from '../api/call.ts'
import type { BodyOverride } from '../api/operation.ts'
import { getSubmittedPullRequest } from '../api/operations/pull-requests.ts'
import { getQueue } from '../api/operations/queues.ts'
import type { ServiceClient } from '../api/service-client.ts'
import { mapConcurrent, maxConcurrent } from '../domain/map-concurrent.ts'
import { queueEntries } from '../domain/queue-entries.ts'
import type { RequestedPullRequest } from '../domain/values/pull-request.ts'
import { queueName } from '../domain/values/repository.ts'
import type { WaitObservation, WaitOptions, WaitState } from '../domain/wait-state.ts'
import { failureOrThrow, isNotFound, isPermanent, type MergeqError, withPeriod } from '../errors.ts'
import type { JsonObject } from '../json.ts'
import { limitsOfWait, startWaitTime, type WaitLimits, type WaitTime } from './limits.ts'
import type { Reading } from './poll.ts'

/** A wait for pull requests while it lasts. */
export interface Wait {
  readonly options: WaitOptions
  readonly client: ServiceClient
  readonly time: WaitTime
  readonly limits: WaitLimits
  /** The queues that the service refused to show, by name: they are not read again. */
  readonly unreadableQueues: Set<string>
  /** The pull requests whose failing checks were read. */
  readonly failingReads: Set<WaitTarget['request']>
}

/** @param attemptTimeout the time-out of one attempt in milliseconds; undefined is that of the operation */
export function startWait(options: WaitOptions, client: ServiceClient, attemptTimeout?: number): Wait {
  const time = startWaitTime(options.waitLimit, client.host.clock)
  const limits = limitsOfWait(time, client, attemptTimeout)
  return { options, client, time, limits, unreadableQueues: new Set(), failingReads: new Set() }
}

/** A pull request that is waited for. */
export interface WaitTarget {
  readonly request: {
    readonly values: RequestedPullRequest
    readonly overrides: readonly BodyOverride[]
  }
  readonly state: WaitState
  /** The record of the last reading; undefined if the service did not know the pull request. */
  readonly record?: JsonObject | undefined
  /** The queue, if the last round read it. */
  readonly queue?: JsonObject | undefined
}

/** What was read of a pull request. */
export interface TargetRecord {
  readonly observation: WaitObservation
  /** That the service does not know the pull request. */
  readonly notFound?: MergeqError
  readonly queue?: JsonObject | undefined
}

/**
 * Reads the states of pull requests: one request for a queue and all pull requests that the queue lists, and
 * one request for each pull request that no queue lists. A single pull request is read without its queue,
 * unless its state has not changed and only the queue shows why (docs/reference/cli.md, "Waiting"). When the
 * service refuses to show a queue, each pull request is read by itself. Returns a reading for each target, in
 * their order, but fewer when the time is over or a request is rejected. Throws only when a signal interrupts the
 * command.
 */
export async function readTargets(
  targets: readonly WaitTarget[],
  wait: Wait,
): Promise<readonly Reading<TargetRecord>[]> {
  const { time, options, unreadableQueues } = wait
  const listings = new Map<WaitTarget, Listing>()
  for (const name of new Set(targets.map(({ request }) => queueName(request.values)))) {
    const inQueue = targets.filter(target => queueName(target.request.values) === name)
    const isNeeded =
      inQueue.length > 1 ||
      options.failOnPaused ||
      inQueue.some(
        ({ state: { missingSince, unchanged = 0, state } }) =>
          missingSince === undefined && unchanged > 0 && state !== 'TESTING',
      )
    if (isNeeded && !unreadableQueues.has(name) && time.hasTime())
      for (const [target, listing] of await readListing(name, inQueue, wait)) listings.set(target, listing)
  }
  const readTarget = async (target: WaitTarget): Promise<Reading<TargetRecord>> => {
    const { failure, observation, queue } = listings.get(target) ?? {}
    if (failure !== undefined) return { failure }
    if (observation !== undefined) return { value: { observation, queue } }
    return readTargetRecord(target, queue, wait)
  }
  const readings: Reading<TargetRecord>[] = []
  let isRejected = false
  const mayStart = () => time.hasTime() && !isRejected
  for await (const reading of mapConcurrent(targets, maxConcurrent, readTarget, mayStart)) {
    readings.push(reading)
    isRejected ||= 'failure' in reading && isPermanent(reading.failure)
  }
  return readings
}

/** What a queue says of a pull request, or why it could not be read. */
interface Listing {
  readonly queue?: JsonObject
  readonly observation?: WaitObservation | undefined
  readonly failure?: MergeqError
}

/**
 * Reads a queue. Returns what it says about each target, with an error if none of them can be read, or nothing
 * where they can be read one by one instead.
 */
async function readListing(
  name: string,
  targets: readonly WaitTarget[],
  { client, options: { failOnPaused }, limits, unreadableQueues, time }: Wait,
): Promise<readonly (readonly [WaitTarget, Listing])[]> {
  const { host, logger } = client
  const [first] = targets
  if (first === undefined) return []
  const { repo, targetBranch } = first.request.values
  try {
    const options = { limits: limits.ofReading }
    const { response } = await callOperation(client, getQueue, { repo, targetBranch }, options)
    const [queue = {}] = response.records
    const times = { at: host.clock.now(), waited: time.elapsed() }
    const observations = new Map(
      queueEntries(queue).map(({ pr, record, position }) => [pr, { record, position, ...times }]),
    )
    return targets.map(target => [target, { queue, observation: observations.get(target.request.values.pr) }])
  } catch (error) {
    const failure = failureOrThrow(error)
    const message = withPeriod(failure.message)
    if (failure.kind === 'not-found' || failure.kind === 'refused') {
      unreadableQueues.add(name)
      const text = `${message} Checking each pull request separately`
      if (failOnPaused) await logger.warn(`${text}; a paused queue cannot be detected.`)
      else await logger.info(`${text}.`)
      return []
    }
    if (targets.length > 1 || (failOnPaused && isPermanent(failure)))
      return targets.map(target => [target, { failure }])
    if (failOnPaused)
      await logger.warnOnce(`${message} Until the queue can be read, a pause cannot be detected.`)
    return []
  }
}

/** Reads the record of a pull request. An unknown pull request is an observation without a record. */
async function readTargetRecord(
  { request: { values, overrides } }: WaitTarget,
  queue: JsonObject | undefined,
  { client, limits, time }: Wait,
): Promise<Reading<TargetRecord>> {
  const { clock } = client.host
  const askedAt = clock.now()
  try {
    const options = { limits: limits.ofReading, overrides }
    const { response, date } = await callOperation(client, getSubmittedPullRequest, values, options)
    const [record = {}] = response.records
    return {
      value: { queue, observation: { record, at: clock.now(), waited: time.elapsed(), askedAt, date } },
    }
  } catch (error) {
    const failure = failureOrThrow(error)
    if (!isNotFound(failure)) return { failure }
    const observation = { record: undefined, at: clock.now(), waited: time.elapsed() }
    return { value: { queue, observation, notFound: failure } }
  }
}
