// What a round of a wait reads: the queues of the pull requests, the records of several at a time, and single records.
import { callOperation } from '../api/call.ts'
import { getSubmittedPullRequest } from '../api/operations/pull-requests.ts'
import { tryRead } from '../api/reads/extra-reads.ts'
import { neverSubmittedError, partsToRead } from '../api/reads/several-pull-requests.ts'
import { withoutMessages } from '../api/service-client.ts'
import { changeTime, isOutdated } from '../api/service-clock.ts'
import { isNotFound, isPermanent, type MergeqError, withPeriod } from '../base/errors.ts'
import { getString, type JsonObject } from '../base/json.ts'
import { mapConcurrent, maxConcurrent } from '../base/scheduling.ts'
import { describeSplit } from '../domain/batches.ts'
import { queueEntries } from '../domain/queue-entries.ts'
import { isFailedOrCancelled, outcomeOfRecord, stateOf, terminalOutcome } from '../domain/states.ts'
import type { PullRequest } from '../values/pull-request.ts'
import { queueName } from '../values/repository.ts'
import { automaticDelay } from './poll.ts'
import { type Reading, readingOf } from './read-each.ts'
import { requestQueue } from './shared-queues.ts'
import type { Wait } from './wait.ts'
import { absenceOf, isPendingAgain, type ReadPullRequest, type WaitObservation } from './wait-state.ts'

type Readings = Map<ReadPullRequest, Reading<WaitObservation>>

/**
 * Reads the states of pull requests: each queue once, then, 50 at a time, the pull requests that no queue lists; one at a
 * time if the service does not tell of several. A single pull request is read without its queue, unless its state has not
 * changed and only the queue shows why (docs/reference/cli.md, "Waiting"). When the service refuses to show a queue, each
 * pull request is read by itself. Returns a reading for each, but fewer when the time is over or a request is rejected.
 * Throws only when a signal interrupts the command.
 */
export async function readPullRequests(
  all: readonly ReadPullRequest[],
  wait: Wait,
): Promise<ReadonlyMap<ReadPullRequest, Reading<WaitObservation>>> {
  const { time } = wait
  const queues = new Map<string, JsonObject>()
  const noted: Readings = new Map()
  const names = all.map(({ pullRequest }) => queueName(pullRequest))
  for (const name of new Set(names)) {
    const inQueue = all.filter((_, index) => names[index] === name)
    if (!isQueueNeeded(name, inQueue, wait)) continue
    const queue = await readQueue(name, inQueue, noted, wait)
    if (queue === undefined) continue
    queues.set(name, queue)
    const unlisted = inQueue.filter(tracked => !noted.has(tracked))
    // What the caller adds to the body belongs to the request for one pull request.
    if (wait.client.added?.route !== getSubmittedPullRequest.route) await readSeveral(unlisted, noted, wait)
  }
  const readOne = async (tracked: ReadPullRequest): Promise<Reading<WaitObservation>> => {
    const queue = queues.get(queueName(tracked.pullRequest))
    const reading = noted.get(tracked) ?? (await observe(tracked, wait))
    return 'failure' in reading
      ? reading
      : { value: await withWords(tracked, { ...reading.value, queue }, wait) }
  }
  const readings: Readings = new Map()
  let isRejected = false
  const mayStart = () => time.hasTime() && !isRejected
  const read = async (tracked: ReadPullRequest) => ({ tracked, reading: await readOne(tracked) })
  for await (const { tracked, reading } of mapConcurrent(all, maxConcurrent, read, mayStart)) {
    readings.set(tracked, reading)
    isRejected ||= 'failure' in reading && isPermanent(reading.failure)
  }
  return readings
}

function isQueueNeeded(
  name: string,
  inQueue: readonly ReadPullRequest[],
  { options, unreadableQueues, sharing, time }: Wait,
): boolean {
  const isUnexplained = (tracked: ReadPullRequest) =>
    absenceOf(tracked) === undefined && (tracked.seen.unchanged ?? 0) > 0 && tracked.seen.state !== 'TESTING'
  const isNeeded =
    inQueue.length > 1 ||
    sharing?.isShared(name) === true ||
    options.failOnPaused ||
    inQueue.some(isUnexplained)
  return isNeeded && !unreadableQueues.has(name) && time.hasTime()
}

/** Returns since when a reading of another wait counts: half of a delay ago, and not before a submission. */
function sharedSince(all: readonly ReadPullRequest[], { options: { interval }, client }: Wait): number {
  const delays = all.map(({ seen }) => (interval === 'auto' ? automaticDelay(seen) : interval))
  return Math.max(
    client.host.clock.now() - Math.min(...delays) / 2,
    ...all.flatMap(({ attempt }) => attempt.sent?.to ?? []),
  )
}

/** Reads the queue of pull requests, and notes each that it lists; undefined if it could not be read. */
async function readQueue(
  name: string,
  inQueue: readonly ReadPullRequest[],
  noted: Readings,
  wait: Wait,
): Promise<JsonObject | undefined> {
  const { client, limits, time, sharing } = wait
  const [first] = inQueue
  if (first === undefined) return undefined
  const ask = () => requestQueue(client, first.pullRequest, { limits })
  const since = sharedSince(inQueue, wait)
  const reading = await readingOf(async () => sharing?.read(name, since, ask, client, time) ?? ask())
  if ('failure' in reading) {
    await noteUnreadable(name, reading.failure, inQueue, noted, wait)
    return undefined
  }
  if (reading.value === undefined) return undefined
  const { queue, ...times } = reading.value
  const entries = new Map(queueEntries(queue).map(entry => [entry.pr, entry]))
  for (const tracked of inQueue) {
    const { record, position } = entries.get(tracked.pullRequest.pr) ?? {}
    if (record !== undefined)
      noted.set(tracked, { value: { record, position, ...times, waited: time.elapsed() } })
  }
  return queue
}

/** Says that a queue cannot be read; none of its pull requests is read where only the queue tells of them. */
async function noteUnreadable(
  name: string,
  failure: MergeqError,
  inQueue: readonly ReadPullRequest[],
  noted: Readings,
  { client: { logger }, options: { failOnPaused }, unreadableQueues, sharing }: Wait,
): Promise<void> {
  const message = withPeriod(failure.message)
  const isOnlySource = inQueue.length > 1 || sharing?.isShared(name) === true
  if (failure.kind === 'not-found' || failure.kind === 'refused') {
    unreadableQueues.add(name)
    const text = `${message} Checking each pull request separately`
    if (failOnPaused) await logger.warn(`${text}; a paused queue cannot be detected.`)
    else await logger.info(`${text}.`)
  } else if (isOnlySource || (failOnPaused && isPermanent(failure))) {
    for (const tracked of inQueue) noted.set(tracked, { failure })
  } else if (failOnPaused)
    await logger.warnOnce(`${message} Until the queue can be read, a pause cannot be detected.`)
}

/** Reads pull requests that a queue does not list, several in one request, and notes what that says of them. */
async function readSeveral(all: readonly ReadPullRequest[], noted: Readings, wait: Wait): Promise<void> {
  const { client, limits, time } = wait
  const { clock } = client.host
  for (const part of partsToRead(all)) {
    const [first] = part
    if (first === undefined || !time.hasTime()) return
    const askedAt = clock.now()
    const prs = part.map(({ pullRequest }) => pullRequest.pr)
    const reading = await readingOf(() => wait.readSeveral(first.pullRequest, prs, { limits }))
    const [at, waited] = [clock.now(), time.elapsed()]
    for (const tracked of part) {
      if ('failure' in reading) {
        noted.set(tracked, reading)
        continue
      }
      const { pr } = tracked.pullRequest
      const record = reading.value?.records.get(pr)
      const isUnknown = reading.value?.notFound.has(pr) === true
      const notFound = isUnknown ? neverSubmittedError(tracked.pullRequest, client) : undefined
      if (record !== undefined || isUnknown)
        noted.set(tracked, { value: { record, at, waited, askedAt, date: reading.value?.date, notFound } })
    }
  }
}

/** The time for reading why a pull request ended, in milliseconds: that it ended is known already. */
export const causeTime = 5_000

/** Reads a record once. An unknown pull request is an observation without one. */
async function observe(
  { pullRequest }: ReadPullRequest,
  { client, limits, time }: Wait,
  includeTimeline = false,
): Promise<Reading<WaitObservation>> {
  const { clock } = client.host
  const timeout = (usual: number) => Math.min(limits.timeout?.(usual) ?? usual, causeTime)
  const options = { limits: includeTimeline ? { ...limits, timeout } : limits }
  const params = { ...pullRequest, ...(includeTimeline && { includeTimeline }) }
  const askedAt = clock.now()
  const reading = await readingOf(() => callOperation(client, getSubmittedPullRequest, params, options))
  const times = { at: clock.now(), waited: time.elapsed(), askedAt }
  if ('failure' in reading) {
    const notFound = reading.failure
    return isNotFound(notFound) ? { value: { record: undefined, ...times, notFound } } : reading
  }
  const { response, date } = reading.value
  const [read = {}] = response.records
  // That it has none is known, too.
  return { value: { record: includeTimeline ? { timeline: [], ...read } : read, ...times, date } }
}

/**
 * Reads a record once more with its timeline where its words are wanted: they say whether a pull request that failed or was
 * cancelled may have merged all the same, and why one waits again. What cannot be read is left out.
 */
async function withWords(
  tracked: ReadPullRequest,
  observation: WaitObservation,
  wait: Wait,
): Promise<WaitObservation> {
  const { record, queue } = observation
  if (record === undefined) return observation
  if (wait.time.hasTime() && wantsWords(observation, record, tracked)) {
    const reading = await observe(tracked, wait, true)
    const read = 'value' in reading ? reading.value.record : undefined
    if (read === undefined) return observation
    if (isSameState(read, record)) return { ...observation, record: read }
    const isEndSince = terminalOutcome(stateOf(read)) !== undefined && !isOutdated(read, changeTime(record))
    return isEndSince && 'value' in reading ? { ...reading.value, queue } : observation
  }
  const last = tracked.record
  const hasWords = last?.timeline !== undefined && isSameState(last, record)
  return hasWords ? { ...observation, record: { ...last, ...record } } : observation
}

/** Whether the words are wanted: not those of an earlier attempt, nor those that are known already. */
function wantsWords(
  { position }: WaitObservation,
  record: JsonObject,
  { record: last, attempt: { recordBefore }, seen }: ReadPullRequest,
): boolean {
  if (isPendingAgain(seen.state, stateOf(record))) return true
  // What a queue lists has not ended.
  if (
    position !== undefined ||
    !isFailedOrCancelled(stateOf(record)) ||
    outcomeOfRecord(record) === 'pending'
  )
    return false
  return ![last?.timeline === undefined ? undefined : last, recordBefore].some(
    known => known !== undefined && isSameState(known, record),
  )
}

const isSameState = (one: JsonObject, other: JsonObject): boolean =>
  stateOf(one) === stateOf(other) && getString(one, 'stateChangedAt') === getString(other, 'stateChangedAt')

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
