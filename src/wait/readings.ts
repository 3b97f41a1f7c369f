import { callOperation } from '../api/call.ts'
import type { BodyOverride } from '../api/operation.ts'
import { getSubmittedPullRequest } from '../api/operations/pull-requests.ts'
import { getQueue } from '../api/operations/queues.ts'
import type { RequestLimits, ServiceClient } from '../api/service-client.ts'
import { mapConcurrent, maxConcurrent } from '../domain/map-concurrent.ts'
import { queueEntries } from '../domain/queue-entries.ts'
import { isFailedOrCancelled, outcomeOfRecord, stateOf, terminalOutcome } from '../domain/states.ts'
import type { RequestedPullRequest } from '../domain/values/pull-request.ts'
import { queueName } from '../domain/values/repository.ts'
import {
  isOutdated,
  type Judgement,
  type WaitEnd,
  type WaitObservation,
  type WaitOptions,
  type WaitState,
} from '../domain/wait-state.ts'
import type { WaitTime } from '../domain/wait-time.ts'
import {
  failureOrThrow,
  isNotFound,
  isPassing,
  isPermanent,
  type MergeqError,
  withPeriod,
} from '../errors.ts'
import { getString, type JsonObject } from '../json.ts'
import { limitsOfReading, type Reading, readingOf } from './poll.ts'

/** A wait for pull requests while it lasts. */
export interface Wait {
  readonly options: WaitOptions
  readonly client: ServiceClient
  readonly time: WaitTime
  /** Of the requests of a poll. */
  readonly limits: RequestLimits
  /** The queues that the service refused to show, by name: they are not read again. */
  readonly unreadableQueues: Set<string>
  /** The pull requests whose failing checks were read. */
  readonly failingReads: Set<WaitTarget['request']>
}

/** Starts a wait whose time is that of its client. */
export function startWait(options: WaitOptions, client: ServiceClient, time: WaitTime): Wait {
  const limits = limitsOfReading(time)
  return { options, client, time, limits, unreadableQueues: new Set(), failingReads: new Set() }
}

/** What a wait that submits pull requests knows of the submissions of one. */
export interface Attempt {
  /** How many there were for this wait, with one that was in the queue already. */
  readonly number: number
  /** Whether the next round submits the pull request. */
  readonly isDue: boolean
  /** When the pause before the next submission ends, in milliseconds since the wait began. */
  readonly notBefore?: number | undefined
  /** Whether this wait submitted it, in any attempt; null if that is not known. */
  readonly submitted: boolean | null
  /** Why it is not known whether the last submission was made. */
  readonly unknown?: MergeqError | undefined
  /** How the last attempt ended that has ended: what counts if a later one cannot be made or read. */
  readonly lastEnd?: WaitEnd | undefined
  /** The head commit that was submitted, if it is known. */
  readonly head?: string | undefined
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
  readonly attempt?: Attempt | undefined
}

/** A pull request that the next round submits. */
export type DueTarget = WaitTarget & { readonly attempt: Attempt }

/**
 * Submits a pull request, and says how it stands then; its wait may have ended. Rejects if nothing was sent: then a later
 * round may try again.
 */
export type Submit = (target: DueTarget) => Promise<Judgement<WaitTarget>>

/** What was read of a pull request. */
export interface TargetRecord {
  /** How the pull request stands after its submission, if this round submitted it. */
  readonly target?: WaitTarget
  /** Undefined if only the submission succeeded. */
  readonly observation?: WaitObservation
  /** The end of the wait, if the submission shows it. */
  readonly end?: WaitEnd | undefined
  /** That the service does not know the pull request. */
  readonly notFound?: MergeqError
  readonly queue?: JsonObject | undefined
}

/** Whether a pull request is to be submitted, now or after a pause: until then it is not read. */
const isDue = (target: WaitTarget): target is DueTarget => target.attempt?.isDue === true

/** Submits the pull requests whose submission is due, one after the other, and reads these and the others. */
export async function submitAndRead(
  targets: readonly WaitTarget[],
  wait: Wait,
  submit: Submit,
): Promise<readonly (Reading<TargetRecord> | undefined)[]> {
  const now = wait.time.elapsed()
  const due = targets.filter(isDue).filter(({ attempt: { notBefore = 0 } }) => notBefore <= now)
  const submissions = await submitDue(due, wait, submit)
  const readable = targets.flatMap(target => {
    const submission = submissions.get(target)
    if (submission === undefined) return isDue(target) ? [] : target
    if ('failure' in submission || submission.value.end !== undefined) return []
    return isDue(submission.value.item) ? [] : submission.value.item
  })
  const readings = await readTargets(readable, wait)
  return targets.map(target => {
    const submission = submissions.get(target)
    if (submission === undefined) return readings.get(target)
    if ('failure' in submission) return submission
    const { item, end } = submission.value
    const reading = readings.get(item)
    if (reading === undefined) return { value: { target: item, end } }
    if ('value' in reading) return { value: { target: item, ...reading.value } }
    // The submission must not be forgotten; the next round repeats the reading.
    const { failure } = reading
    return { value: { target: item, end: isPassing(failure) ? undefined : { outcome: 'error', failure } } }
  })
}

/** Returns what came of the submissions that were tried. The error of an outage counts for the rest, too. */
async function submitDue(
  targets: readonly DueTarget[],
  { client, time, options }: Wait,
  submit: Submit,
): Promise<ReadonlyMap<WaitTarget, Reading<Judgement<WaitTarget>>>> {
  const submissions = new Map<WaitTarget, Reading<Judgement<WaitTarget>>>()
  let outage: Reading<never> | undefined
  for (const target of targets) {
    client.host.interrupted.throwIfAborted()
    if (!time.hasTime()) break
    const submission = outage ?? (await readingOf(() => submit(target)))
    submissions.set(target, submission)
    if ('value' in submission) continue
    if (isPassing(submission.failure)) outage = submission
    else if (options.stopsOnError || isPermanent(submission.failure)) break
  }
  return submissions
}

/**
 * Reads the states of pull requests: one request for a queue and all pull requests that the queue lists, and
 * one request for each pull request that no queue lists. A single pull request is read without its queue,
 * unless its state has not changed and only the queue shows why (docs/reference/cli.md, "Waiting"). When the
 * service refuses to show a queue, each pull request is read by itself. Returns a reading for each target, but fewer when
 * the time is over or a request is rejected. Throws only when a signal interrupts the command.
 */
export async function readTargets(
  targets: readonly WaitTarget[],
  wait: Wait,
): Promise<ReadonlyMap<WaitTarget, Reading<TargetRecord>>> {
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
  const readings = new Map<WaitTarget, Reading<TargetRecord>>()
  let isRejected = false
  const mayStart = () => time.hasTime() && !isRejected
  const read = async (target: WaitTarget) => ({ target, reading: await readTarget(target) })
  for await (const { target, reading } of mapConcurrent(targets, maxConcurrent, read, mayStart)) {
    readings.set(target, reading)
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
    const askedAt = host.clock.now()
    const { response, date } = await callOperation(client, getQueue, { repo, targetBranch }, { limits })
    const [queue = {}] = response.records
    const times = { at: host.clock.now(), waited: time.elapsed(), askedAt, date }
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

/** The time for reading why a pull request ended, in milliseconds: that it ended is known already. */
export const causeTime = 5_000

/**
 * Whether the words of the service are wanted for a record, because they say whether a pull request that failed or was
 * cancelled may have merged all the same. Those of an earlier attempt, and those that are known already, are not read.
 */
function wantsWords(
  record: JsonObject,
  { record: last, state: { recordBeforeSubmit } }: WaitTarget,
): boolean {
  if (!isFailedOrCancelled(stateOf(record)) || outcomeOfRecord(record) === 'pending') return false
  return ![last?.timeline === undefined ? undefined : last, recordBeforeSubmit].some(
    known => known !== undefined && isSameEnd(known, record),
  )
}

const isSameEnd = (one: JsonObject | undefined, other: JsonObject): boolean =>
  stateOf(one) === stateOf(other) && getString(one, 'stateChangedAt') === getString(other, 'stateChangedAt')

/** Whether a record has an end that is not older than another one. */
const isEndSince = (record: JsonObject | undefined, other: JsonObject): boolean =>
  terminalOutcome(stateOf(record)) !== undefined &&
  !isOutdated(record, { newestChange: Date.parse(getString(other, 'stateChangedAt') ?? '') })

/**
 * Reads the record of a pull request; of one that ended, once more with its timeline. An unknown pull request is an
 * observation without a record.
 */
async function readTargetRecord(
  target: WaitTarget,
  queue: JsonObject | undefined,
  wait: Wait,
): Promise<Reading<TargetRecord>> {
  const { clock } = wait.client.host
  try {
    const observation = await observe(target, wait)
    const { record: read = {} } = observation
    const last = target.record
    if (wait.time.hasTime() && wantsWords(read, target)) {
      const withWords = await observe(target, wait, true).catch(() => observation)
      const isNewer = isEndSince(withWords.record, read)
      return { value: { queue, observation: isNewer ? withWords : observation } }
    }
    const record = isSameEnd(last, read) && last?.timeline !== undefined ? { ...last, ...read } : read
    return { value: { queue, observation: { ...observation, record } } }
  } catch (error) {
    const failure = failureOrThrow(error)
    if (!isNotFound(failure)) return { failure }
    const observation = { record: undefined, at: clock.now(), waited: wait.time.elapsed() }
    return { value: { queue, observation, notFound: failure } }
  }
}

/** Reads a record once, with the times of the reading. */
async function observe(
  { request: { values, overrides } }: WaitTarget,
  { client, limits, time }: Wait,
  includeTimeline = false,
): Promise<WaitObservation> {
  const { clock } = client.host
  const timeout = (usual: number) => Math.min(limits.timeout?.(usual) ?? usual, causeTime)
  const options = { overrides, limits: includeTimeline ? { ...limits, timeout } : limits }
  const askedAt = clock.now()
  const { response, date } = await callOperation(
    client,
    getSubmittedPullRequest,
    { ...values, ...(includeTimeline && { includeTimeline }) },
    options,
  )
  const [read = {}] = response.records
  // That it has none is known, too.
  const record = includeTimeline ? { timeline: [], ...read } : read
  return { record, at: clock.now(), waited: time.elapsed(), askedAt, date }
}
