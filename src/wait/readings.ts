// What a round of a wait reads: the queues of the pull requests, the records of several at a time, and single records.
import { callOperation } from '../api/call.ts'
import { getSubmittedPullRequest } from '../api/operations/pull-requests.ts'
import { tryRead } from '../api/reads/extra-reads.ts'
import { neverSubmittedError, partsToRead } from '../api/reads/several-pull-requests.ts'
import { withoutMessages } from '../api/service-client.ts'
import { changeTime, isOutdated } from '../api/service-clock.ts'
import { failureOrThrow, isNotFound, isPermanent, withPeriod } from '../base/errors.ts'
import { getString, type JsonObject } from '../base/json.ts'
import { mapConcurrent, maxConcurrent } from '../base/scheduling.ts'
import { describeSplit } from '../domain/batches.ts'
import { queueEntries } from '../domain/queue-entries.ts'
import { isFailedOrCancelled, outcomeOfRecord, stateOf, terminalOutcome } from '../domain/states.ts'
import type { PullRequest } from '../values/pull-request.ts'
import { queueName } from '../values/repository.ts'
import { automaticDelay, type Reading } from './poll.ts'
import { requestQueue } from './shared-queues.ts'
import type { Wait } from './wait.ts'
import { absenceOf, isPendingAgain, type TrackedPullRequest, type WaitObservation } from './wait-state.ts'

/**
 * Reads the states of pull requests: each queue once, then, 50 at a time, the pull requests that no queue lists; one at a
 * time if the service does not tell of several. A single pull request is read without its queue, unless its state has not
 * changed and only the queue shows why (docs/reference/cli.md, "Waiting"). When the service refuses to show a queue, each
 * pull request is read by itself. Returns a reading for each, but fewer when the time is over or a request is rejected.
 * Throws only when a signal interrupts the command.
 */
export async function readPullRequests(
  all: readonly TrackedPullRequest[],
  wait: Wait,
): Promise<ReadonlyMap<TrackedPullRequest, Reading<WaitObservation>>> {
  const { time } = wait
  const queues = new Map<string, JsonObject>()
  const seen = new Map<TrackedPullRequest, Reading<WaitObservation>>()
  const names = all.map(({ pullRequest }) => queueName(pullRequest))
  for (const name of new Set(names)) {
    const inQueue = all.filter((_, index) => names[index] === name)
    if (!isQueueNeeded(name, inQueue, wait)) continue
    const listed = await readQueue(name, inQueue, wait)
    if (listed === undefined) continue
    if (listed.queue !== undefined) queues.set(name, listed.queue)
    for (const [tracked, reading] of listed.readings) seen.set(tracked, reading)
    const unlisted = inQueue.filter(tracked => !seen.has(tracked))
    for (const [tracked, reading] of await readUnlisted(unlisted, wait)) seen.set(tracked, reading)
  }
  const readOne = async (tracked: TrackedPullRequest): Promise<Reading<WaitObservation>> => {
    const queue = queues.get(queueName(tracked.pullRequest))
    const reading = seen.get(tracked)
    if (reading === undefined) return readRecord(tracked, queue, undefined, wait)
    if ('failure' in reading) return reading
    const observation = { queue, ...reading.value }
    if (observation.notFound !== undefined) return { value: observation }
    // What a queue lists has not ended.
    return observation.position === undefined
      ? readRecord(tracked, queue, observation, wait)
      : { value: await withReason(tracked, observation, wait) }
  }
  const readings = new Map<TrackedPullRequest, Reading<WaitObservation>>()
  let isRejected = false
  const mayStart = () => time.hasTime() && !isRejected
  const read = async (tracked: TrackedPullRequest) => ({ tracked, reading: await readOne(tracked) })
  for await (const { tracked, reading } of mapConcurrent(all, maxConcurrent, read, mayStart)) {
    readings.set(tracked, reading)
    isRejected ||= 'failure' in reading && isPermanent(reading.failure)
  }
  return readings
}

function isQueueNeeded(
  name: string,
  inQueue: readonly TrackedPullRequest[],
  { options, unreadableQueues, sharing, time }: Wait,
): boolean {
  const isUnexplained = (tracked: TrackedPullRequest) =>
    absenceOf(tracked) === undefined && (tracked.seen.unchanged ?? 0) > 0 && tracked.seen.state !== 'TESTING'
  const isNeeded =
    inQueue.length > 1 ||
    sharing?.isShared(name) === true ||
    options.failOnPaused ||
    inQueue.some(isUnexplained)
  return isNeeded && !unreadableQueues.has(name) && time.hasTime()
}

/** Returns since when a reading of another wait counts: half of a delay ago, and not before a submission. */
function sharedSince(all: readonly TrackedPullRequest[], { options: { interval }, client }: Wait): number {
  const delays = all.map(({ seen }) => (interval === 'auto' ? automaticDelay(seen) : interval))
  return Math.max(
    client.host.clock.now() - Math.min(...delays) / 2,
    ...all.flatMap(({ attempt }) => attempt.sent?.to ?? []),
  )
}

/**
 * Reads the queue of pull requests. Returns it with a reading of each that it lists, or with an error for each if none of
 * them can be read; undefined where they can be read without it.
 */
async function readQueue(
  name: string,
  inQueue: readonly TrackedPullRequest[],
  wait: Wait,
): Promise<
  | {
      readonly queue?: JsonObject
      readonly readings: ReadonlyMap<TrackedPullRequest, Reading<WaitObservation>>
    }
  | undefined
> {
  const { client, options, limits, unreadableQueues, time, sharing } = wait
  const { logger } = client
  const { failOnPaused } = options
  const [first] = inQueue
  if (first === undefined) return undefined
  const ask = () => requestQueue(client, first.pullRequest, { limits })
  const since = sharedSince(inQueue, wait)
  try {
    const reading = sharing === undefined ? await ask() : await sharing.read(name, since, ask, client, time)
    if (reading === undefined) return undefined
    const { queue, age, at, askedAt, date } = reading
    const entries = new Map(queueEntries(queue).map(entry => [entry.pr, entry]))
    const readings = new Map<TrackedPullRequest, Reading<WaitObservation>>()
    for (const tracked of inQueue) {
      const entry = entries.get(tracked.pullRequest.pr)
      if (entry === undefined) continue
      const { record, position } = entry
      readings.set(tracked, {
        value: { record, position, queue, age, at, askedAt, date, waited: time.elapsed() },
      })
    }
    return { queue, readings }
  } catch (error) {
    const failure = failureOrThrow(error)
    const message = withPeriod(failure.message)
    if (failure.kind === 'not-found' || failure.kind === 'refused') {
      unreadableQueues.add(name)
      const text = `${message} Checking each pull request separately`
      if (failOnPaused) await logger.warn(`${text}; a paused queue cannot be detected.`)
      else await logger.info(`${text}.`)
      return undefined
    }
    const isOnlySource = inQueue.length > 1 || sharing?.isShared(name) === true
    if (isOnlySource || (failOnPaused && isPermanent(failure)))
      return { readings: new Map(inQueue.map(tracked => [tracked, { failure }])) }
    if (failOnPaused)
      await logger.warnOnce(`${message} Until the queue can be read, a pause cannot be detected.`)
    return undefined
  }
}

/** Reads pull requests that a queue does not list, several in one request, and returns what that says of them. */
async function readUnlisted(
  all: readonly TrackedPullRequest[],
  wait: Wait,
): Promise<ReadonlyMap<TrackedPullRequest, Reading<WaitObservation>>> {
  const readings = new Map<TrackedPullRequest, Reading<WaitObservation>>()
  // What the caller adds to the body belongs to the request for one pull request.
  if (wait.client.added?.route === getSubmittedPullRequest.route) return readings
  for (const part of partsToRead(all)) {
    if (!wait.time.hasTime()) break
    for (const [tracked, reading] of await readPart(part, wait)) readings.set(tracked, reading)
  }
  return readings
}

async function readPart(
  part: readonly TrackedPullRequest[],
  wait: Wait,
): Promise<ReadonlyMap<TrackedPullRequest, Reading<WaitObservation>>> {
  const { client, limits, time } = wait
  const { clock } = client.host
  const readings = new Map<TrackedPullRequest, Reading<WaitObservation>>()
  const [first] = part
  if (first === undefined) return readings
  const askedAt = clock.now()
  const prs = part.map(({ pullRequest }) => pullRequest.pr)
  try {
    const several = await wait.readSeveral(first.pullRequest, prs, { limits })
    if (several === undefined) return readings
    const [at, waited] = [clock.now(), time.elapsed()]
    for (const tracked of part) {
      const { pullRequest } = tracked
      const record = several.records.get(pullRequest.pr)
      if (record !== undefined)
        readings.set(tracked, { value: { record, at, waited, askedAt, date: several.date } })
      else if (several.notFound.has(pullRequest.pr)) {
        const notFound = neverSubmittedError(pullRequest, client)
        readings.set(tracked, { value: { record, at, waited, notFound } })
      }
    }
    return readings
  } catch (error) {
    const failure = failureOrThrow(error)
    return new Map(part.map(tracked => [tracked, { failure }]))
  }
}

/**
 * Reads the record of a pull request, unless it was seen in this round; of one that ended, once more with its timeline.
 * An unknown pull request is an observation without a record.
 */
async function readRecord(
  tracked: TrackedPullRequest,
  queue: JsonObject | undefined,
  seen: WaitObservation | undefined,
  wait: Wait,
): Promise<Reading<WaitObservation>> {
  const { clock } = wait.client.host
  try {
    const observation = seen ?? (await observe(tracked, wait))
    const { record: read = {} } = observation
    const last = tracked.record
    if (wait.time.hasTime() && wantsWords(read, tracked)) {
      const withWords = await observe(tracked, wait, true).catch(() => observation)
      const isNewer = isEndSince(withWords.record, read)
      return { value: { ...(isNewer ? withWords : observation), queue } }
    }
    const record = isSameState(last, read) && last?.timeline !== undefined ? { ...last, ...read } : read
    const explained = await withReason(tracked, { ...observation, record }, wait)
    return { value: { ...explained, queue } }
  } catch (error) {
    const failure = failureOrThrow(error)
    if (!isNotFound(failure)) return { failure }
    const [at, waited] = [clock.now(), wait.time.elapsed()]
    return { value: { record: undefined, at, waited, queue, notFound: failure } }
  }
}

/** The time for reading why a pull request ended, in milliseconds: that it ended is known already. */
export const causeTime = 5_000

/** Reads a record once, with the times of the reading. */
async function observe(
  { pullRequest }: TrackedPullRequest,
  { client, limits, time }: Wait,
  includeTimeline = false,
): Promise<WaitObservation> {
  const { clock } = client.host
  const timeout = (usual: number) => Math.min(limits.timeout?.(usual) ?? usual, causeTime)
  const options = { limits: includeTimeline ? { ...limits, timeout } : limits }
  const askedAt = clock.now()
  const { response, date } = await callOperation(
    client,
    getSubmittedPullRequest,
    { ...pullRequest, ...(includeTimeline && { includeTimeline }) },
    options,
  )
  const [read = {}] = response.records
  // That it has none is known, too.
  const record = includeTimeline ? { timeline: [], ...read } : read
  return { record, at: clock.now(), waited: time.elapsed(), askedAt, date }
}

/**
 * Whether the words of the service are wanted for a record, because they say whether a pull request that failed or was
 * cancelled may have merged all the same. Those of an earlier attempt, and those that are known already, are not read.
 */
function wantsWords(
  record: JsonObject,
  { record: last, attempt: { recordBefore } }: TrackedPullRequest,
): boolean {
  if (!isFailedOrCancelled(stateOf(record)) || outcomeOfRecord(record) === 'pending') return false
  return ![last?.timeline === undefined ? undefined : last, recordBefore].some(
    known => known !== undefined && isSameState(known, record),
  )
}

/** Reads the timeline of a pull request that waits again: it says why. What cannot be read is left out. */
async function withReason(
  tracked: TrackedPullRequest,
  observation: WaitObservation,
  wait: Wait,
): Promise<WaitObservation> {
  const { record = {} } = observation
  if (!wait.time.hasTime() || !isPendingAgain(tracked.seen.state, stateOf(record))) return observation
  const { record: read } = await observe(tracked, wait, true).catch(() => observation)
  return read !== undefined && isSameState(read, record) ? { ...observation, record: read } : observation
}

const isSameState = (one: JsonObject | undefined, other: JsonObject): boolean =>
  stateOf(one) === stateOf(other) && getString(one, 'stateChangedAt') === getString(other, 'stateChangedAt')

/** Whether a record has an end that is not older than another one. */
const isEndSince = (record: JsonObject | undefined, other: JsonObject): boolean =>
  terminalOutcome(stateOf(record)) !== undefined && !isOutdated(record, changeTime(other))

/** Reads, for a person, of which batch a pull request was that is split, if its timeline says so. */
export async function readSplit(
  pullRequest: PullRequest,
  { client, limits }: Wait,
): Promise<string | undefined> {
  const values = { ...pullRequest, includeTimeline: true }
  const options = { limits: { ...limits, maxRetries: 0 } }
  const { record = {} } = await tryRead(withoutMessages(client), getSubmittedPullRequest, values, options)
  return describeSplit(record)
}
