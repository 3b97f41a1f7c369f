// What one request tells of many pull requests that are waited for: their queue, or the records of several.
import { callOperation } from '../api/call.ts'
import { getQueue } from '../api/operations/queues.ts'
import { neverSubmittedError, partsToRead } from '../api/several-pull-requests.ts'
import { queueEntries } from '../domain/queue-entries.ts'
import type { WaitObservation, WaitOptions } from '../domain/wait-state.ts'
import { failureOrThrow, isPermanent, type MergeqError, withPeriod } from '../errors.ts'
import type { JsonObject } from '../json.ts'
import { automaticDelay } from './poll.ts'
import type { QueueReading, Wait, WaitTarget } from './wait-target.ts'

/** What is known of a pull request before it is read alone, or why it cannot be read. */
export interface Listing {
  readonly queue?: JsonObject | undefined
  readonly observation?: WaitObservation | undefined
  /** Whether the queue lists it: then it has not ended. */
  readonly isOfQueue?: boolean
  /** That it was never submitted. */
  readonly notFound?: MergeqError
  /** How old the queue was when it was taken from another wait, in milliseconds. */
  readonly age?: number | undefined
  readonly failure?: MergeqError
}

/** Returns since when a reading of another wait counts: half of a delay ago, and not before a submission. */
function sharedSince(targets: readonly WaitTarget[], { interval }: WaitOptions, now: number): number {
  const delays = targets.map(({ state }) => (interval === 'auto' ? automaticDelay(state) : interval))
  return Math.max(
    now - Math.min(...delays) / 2,
    ...targets.flatMap(({ state }) => state.submission?.to ?? []),
  )
}

type Listings = readonly (readonly [WaitTarget, Listing])[]

/**
 * Reads a queue. Returns what it says about each target, with an error if none of them can be read, or nothing
 * where they can be read one by one instead.
 */
export async function readListing(
  name: string,
  targets: readonly WaitTarget[],
  { client, options, limits, unreadableQueues, time, sharing }: Wait,
): Promise<Listings> {
  const { host, logger } = client
  const { failOnPaused } = options
  const isShared = sharing?.isShared(name) === true
  const [first] = targets
  if (first === undefined) return []
  const { repo, targetBranch } = first.request.values
  const ask = async (): Promise<QueueReading> => {
    const askedAt = host.clock.now()
    const { response, date } = await callOperation(client, getQueue, { repo, targetBranch }, { limits })
    return { queue: response.records[0] ?? {}, at: host.clock.now(), askedAt, date }
  }
  try {
    const since = sharedSince(targets, options, host.clock.now())
    const reading = sharing === undefined ? await ask() : await sharing.read(name, since, ask)
    if (reading === undefined) return []
    const { queue, age, at, askedAt, date } = reading
    const times = { at, waited: time.elapsed(), askedAt, date }
    const observations = new Map(
      queueEntries(queue).map(({ pr, record, position }) => [pr, { record, position, ...times }]),
    )
    return targets.map(target => {
      const observation = observations.get(target.request.values.pr)
      return [target, { queue, age, observation, isOfQueue: observation !== undefined }]
    })
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
    if (targets.length > 1 || isShared || (failOnPaused && isPermanent(failure)))
      return targets.map(target => [target, { failure }])
    if (failOnPaused)
      await logger.warnOnce(`${message} Until the queue can be read, a pause cannot be detected.`)
    return []
  }
}

/**
 * Reads the pull requests that a queue does not list, several in one request. Returns what that says of them; the others
 * are read alone.
 */
export async function readUnlisted(listings: Listings, wait: Wait): Promise<Listings> {
  const unlisted = listings.filter(
    ([{ request }, { observation, failure }]) =>
      // What the caller adds to the body belongs to the request for one pull request.
      observation === undefined && failure === undefined && request.overrides.length === 0,
  )
  const read = []
  for (const part of partsToRead(unlisted)) {
    if (!wait.time.hasTime()) break
    read.push(...(await readPart(part, wait)))
  }
  return read
}

async function readPart(part: Listings, { client, limits, readSeveral, time }: Wait): Promise<Listings> {
  const { clock } = client.host
  const [[first] = []] = part
  if (first === undefined) return []
  const askedAt = clock.now()
  const prs = part.map(([{ request }]) => request.values.pr)
  try {
    const several = await readSeveral(first.request.values, prs, { limits })
    if (several === undefined) return []
    const times = { at: clock.now(), waited: time.elapsed(), askedAt, date: several.date }
    return part.flatMap(([target, listing]): Listings => {
      const { values } = target.request
      const record = several.records.get(values.pr)
      if (record !== undefined) return [[target, { ...listing, observation: { record, ...times } }]]
      if (!several.notFound.has(values.pr)) return []
      const { at, waited } = times
      const observation = { record: undefined, at, waited }
      return [[target, { ...listing, notFound: neverSubmittedError(values, client), observation }]]
    })
  } catch (error) {
    const failure = failureOrThrow(error)
    return part.map(([target]) => [target, { failure }])
  }
}
