// What one request tells of many pull requests that are waited for: their queue, or the records of several.
import { callOperation } from '../api/call.ts'
import { getQueue } from '../api/operations/queues.ts'
import { neverSubmittedError, partsToRead } from '../api/several-pull-requests.ts'
import { queueEntries } from '../domain/queue-entries.ts'
import type { WaitObservation } from '../domain/wait-state.ts'
import { failureOrThrow, isPermanent, type MergeqError, withPeriod } from '../errors.ts'
import type { JsonObject } from '../json.ts'
import type { Wait, WaitTarget } from './wait-target.ts'

/** What is known of a pull request before it is read alone, or why it cannot be read. */
export interface Listing {
  readonly queue?: JsonObject | undefined
  readonly observation?: WaitObservation | undefined
  /** Whether the queue lists it: then it has not ended. */
  readonly isOfQueue?: boolean
  /** That it was never submitted. */
  readonly notFound?: MergeqError
  readonly failure?: MergeqError
}

type Listings = readonly (readonly [WaitTarget, Listing])[]

/**
 * Reads a queue. Returns what it says about each target, with an error if none of them can be read, or nothing
 * where they can be read one by one instead.
 */
export async function readListing(
  name: string,
  targets: readonly WaitTarget[],
  { client, options: { failOnPaused }, limits, unreadableQueues, time }: Wait,
): Promise<Listings> {
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
    return targets.map(target => {
      const observation = observations.get(target.request.values.pr)
      return [target, { queue, observation, isOfQueue: observation !== undefined }]
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
    if (targets.length > 1 || (failOnPaused && isPermanent(failure)))
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
