import { callOperation } from '../api/call.ts'
import { getSubmittedPullRequest } from '../api/operations/pull-requests.ts'
import { mapConcurrent, maxConcurrent } from '../domain/scheduling.ts'
import { isFailedOrCancelled, outcomeOfRecord, stateOf, terminalOutcome } from '../domain/states.ts'
import { queueName } from '../domain/values/repository.ts'
import {
  isOutdated,
  isPendingAgain,
  type Judgement,
  type WaitEnd,
  type WaitObservation,
} from '../domain/wait-state.ts'
import { failureOrThrow, isNotFound, isPassing, isPermanent, type MergeqError } from '../errors.ts'
import { getString, type JsonObject } from '../json.ts'
import { type Listing, readListing, readUnlisted } from './listings.ts'
import { type Reading, readingOf } from './poll.ts'
import type { Attempt, Wait, WaitTarget } from './wait-target.ts'

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
  readonly notFound?: MergeqError | undefined
  readonly queue?: JsonObject | undefined
  readonly age?: number | undefined
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
 * Reads the states of pull requests: each queue once, then, 50 at a time, the pull requests that no queue lists; one at a
 * time if the service does not tell of several. A single pull request is read without its queue, unless its state has not
 * changed and only the queue shows why (docs/reference/cli.md, "Waiting"). When the service refuses to show a queue, each pull request is read by itself. Returns a reading for each target, but fewer when
 * the time is over or a request is rejected. Throws only when a signal interrupts the command.
 */
export async function readTargets(
  targets: readonly WaitTarget[],
  wait: Wait,
): Promise<ReadonlyMap<WaitTarget, Reading<TargetRecord>>> {
  const { time, options, unreadableQueues, sharing } = wait
  const listings = new Map<WaitTarget, Listing>()
  for (const name of new Set(targets.map(({ request }) => queueName(request.values)))) {
    const inQueue = targets.filter(target => queueName(target.request.values) === name)
    const isNeeded =
      inQueue.length > 1 ||
      sharing?.isShared(name) === true ||
      options.failOnPaused ||
      inQueue.some(
        ({ state: { missingSince, unchanged = 0, state } }) =>
          missingSince === undefined && unchanged > 0 && state !== 'TESTING',
      )
    if (!isNeeded || unreadableQueues.has(name) || !time.hasTime()) continue
    const listed = await readListing(name, inQueue, wait)
    for (const [target, listing] of listed) listings.set(target, listing)
    for (const [target, listing] of await readUnlisted(listed, wait)) listings.set(target, listing)
  }
  const readTarget = async (target: WaitTarget): Promise<Reading<TargetRecord>> => {
    const { failure, observation, notFound, isOfQueue, queue, age } = listings.get(target) ?? {}
    if (failure !== undefined) return { failure }
    if (observation?.record !== undefined && isOfQueue === true)
      return { value: { observation: await withReason(target, observation, wait), queue, age } }
    if (observation !== undefined && notFound !== undefined)
      return { value: { observation, notFound, queue } }
    return readTargetRecord(target, queue, observation, wait)
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
    known => known !== undefined && isSameState(known, record),
  )
}

/** Reads the timeline of a pull request that waits again: it says why. What cannot be read is left out. */
async function withReason(
  target: WaitTarget,
  observation: WaitObservation,
  wait: Wait,
): Promise<WaitObservation> {
  const { record = {} } = observation
  if (!wait.time.hasTime() || !isPendingAgain(target.state.state, stateOf(record))) return observation
  const { record: read } = await observe(target, wait, true).catch(() => observation)
  return read !== undefined && isSameState(read, record) ? { ...observation, record: read } : observation
}

const isSameState = (one: JsonObject | undefined, other: JsonObject): boolean =>
  stateOf(one) === stateOf(other) && getString(one, 'stateChangedAt') === getString(other, 'stateChangedAt')

/** Whether a record has an end that is not older than another one. */
const isEndSince = (record: JsonObject | undefined, other: JsonObject): boolean =>
  terminalOutcome(stateOf(record)) !== undefined &&
  !isOutdated(record, { newestChange: Date.parse(getString(other, 'stateChangedAt') ?? '') })

/**
 * Reads the record of a pull request, unless it was seen in this round; of one that ended, once more with its timeline.
 * An unknown pull request is an observation without a record.
 */
async function readTargetRecord(
  target: WaitTarget,
  queue: JsonObject | undefined,
  seen: WaitObservation | undefined,
  wait: Wait,
): Promise<Reading<TargetRecord>> {
  const { clock } = wait.client.host
  try {
    const observation = seen ?? (await observe(target, wait))
    const { record: read = {} } = observation
    const last = target.record
    if (wait.time.hasTime() && wantsWords(read, target)) {
      const withWords = await observe(target, wait, true).catch(() => observation)
      const isNewer = isEndSince(withWords.record, read)
      return { value: { queue, observation: isNewer ? withWords : observation } }
    }
    const record = isSameState(last, read) && last?.timeline !== undefined ? { ...last, ...read } : read
    const seenNow = await withReason(target, { ...observation, record }, wait)
    return { value: { queue, observation: seenNow } }
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
