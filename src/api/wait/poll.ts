import { attemptLimit } from '../../domain/limits.ts'
import { mapConcurrent, maxConcurrent } from '../../domain/map-concurrent.ts'
import { queueEntries } from '../../domain/queue-entries.ts'
import type { RequestedPullRequest } from '../../domain/values/pull-request.ts'
import { queueName } from '../../domain/values/repository.ts'
import {
  advance,
  isPaused,
  type StateChange,
  type WaitEnd,
  type WaitObservation,
  type WaitOptions,
  type WaitState,
} from '../../domain/wait-state.ts'
import { isNotFound, isPermanent, MergeqError, toFailure, withPeriod } from '../../errors.ts'
import { getString, type JsonObject } from '../../json.ts'
import { callOperation } from '../call.ts'
import type { BodyOverride } from '../operation.ts'
import { getSubmittedPullRequest } from '../operations/pull-requests.ts'
import { getQueue } from '../operations/queues.ts'
import type { RequestLimits, ServiceClient } from '../service-client.ts'

export interface Wait<O = WaitOptions> {
  readonly options: O
  readonly client: ServiceClient
  /** How long the wait has lasted, in milliseconds. */
  elapsed(): number
  /** The milliseconds until the time limit; negative after it. */
  remaining(): number
  /** Whether a reading may begin: a wait with the limit 0 polls once. */
  hasTime(): boolean
  /**
   * A failed poll is not retried, as the next round repeats it. A wait with the limit 0 polls once: its polls
   * keep the usual retries.
   */
  readonly pollLimits: RequestLimits
  /** For a change before the wait. It keeps the usual retries, because its outcome must be known. */
  readonly changeLimits: RequestLimits
  /** For a read before the wait: only as many retries as fit into the remaining time. */
  limitsBeforeChange(): RequestLimits
  /** The queues that the service refused to show, by name: they are not read again. */
  readonly unreadableQueues: Set<string>
  /** The pull requests whose failing checks were read. */
  readonly failingReads: Set<WaitTarget['request']>
}

/** Every attempt has at least this much time, in milliseconds. */
const minAttemptTime = 1_000

/**
 * Starts a wait. No attempt takes longer than the time that remains when it begins, but at least a second: so
 * a silent service delays the caller by at most a second beyond the wait. The limit 0 limits no attempt.
 *
 * @param configured the time limit of an attempt in milliseconds; undefined is that of the operation
 */
export function startWait<O extends Pick<WaitOptions, 'limit'>>(
  options: O,
  client: ServiceClient,
  configured?: number,
): Wait<O> {
  const { clock } = client.host
  const { limit } = options
  const startedAt = clock.monotonic()
  const elapsed = () => clock.monotonic() - startedAt
  const remaining = () => limit - elapsed()
  const timeout = (usual: number) => {
    const attempt = configured ?? usual
    return limit === 0 ? attempt : Math.min(attempt, Math.max(remaining(), minAttemptTime))
  }
  const withRetries = (retries: number) =>
    limit === 0
      ? { timeout }
      : { timeout, remaining, maxRetries: Math.min(client.maxRetries, Math.max(0, retries)) }
  return {
    options,
    client,
    elapsed,
    remaining,
    hasTime: () => limit === 0 || remaining() > 0,
    pollLimits: withRetries(0),
    changeLimits: limit === 0 ? { timeout } : { timeout, remaining },
    limitsBeforeChange: () => withRetries(Math.floor(remaining() / (configured ?? attemptLimit)) - 1),
    unreadableQueues: new Set(),
    failingReads: new Set(),
  }
}

export interface WaitTarget {
  readonly request: {
    readonly values: RequestedPullRequest
    readonly overrides: readonly BodyOverride[]
  }
  readonly state: WaitState
  readonly errors: number
  /** The record of the last reading; undefined if the service did not know the pull request. */
  readonly record?: JsonObject | undefined
  /** The queue, if the last round read it. */
  readonly queue?: JsonObject | undefined
}

/** What was read of a pull request: an observation, or why there is none. */
export interface TargetReading {
  readonly observation?: WaitObservation | undefined
  /** Why the read failed; with an observation, that the service does not know the pull request. */
  readonly failure?: MergeqError
  readonly queue?: JsonObject | undefined
}

/**
 * Reads the states of pull requests: one request for a queue and all pull requests that the queue lists, and
 * one request for each pull request that no queue lists. A single pull request is read without its queue,
 * unless its state has not changed and only the queue shows why (docs/reference/cli.md, "Waiting"). When the
 * service refuses to show a queue, each pull request is read by itself. Returns a reading for each target, in
 * their order, but fewer when the time is over. Throws only when a signal interrupts the command.
 */
export async function readTargets(
  targets: readonly WaitTarget[],
  wait: Wait,
): Promise<readonly TargetReading[]> {
  const listings = new Map<WaitTarget, TargetReading>()
  for (const name of new Set(targets.map(({ request }) => queueName(request.values)))) {
    const inQueue = targets.filter(target => queueName(target.request.values) === name)
    const isNeeded =
      inQueue.length > 1 ||
      wait.options.failOnPaused ||
      inQueue.some(
        ({ state: { missingSince, unchanged = 0, state } }) =>
          missingSince === undefined && unchanged > 0 && state !== 'TESTING',
      )
    if (isNeeded && !wait.unreadableQueues.has(name) && wait.hasTime())
      for (const [target, reading] of await readListing(name, inQueue, wait)) listings.set(target, reading)
  }
  const readTarget = async (target: WaitTarget): Promise<TargetReading> => {
    const listed = listings.get(target) ?? {}
    if (listed.failure !== undefined || listed.observation !== undefined) return listed
    return { ...(await readTargetRecord(target, wait)), queue: listed.queue }
  }
  const readings: TargetReading[] = []
  for await (const reading of mapConcurrent(targets, maxConcurrent, readTarget, wait.hasTime))
    readings.push(reading)
  return readings
}

/**
 * Reads a queue. Returns what it says about each target, with an error if none of them can be read, or nothing
 * where they can be read one by one instead.
 */
async function readListing(
  name: string,
  targets: readonly WaitTarget[],
  { client, options: { failOnPaused }, pollLimits, unreadableQueues, elapsed }: Wait,
): Promise<readonly (readonly [WaitTarget, TargetReading])[]> {
  const { host, logger } = client
  const [first] = targets
  if (first === undefined) return []
  const { repo, targetBranch } = first.request.values
  try {
    const options = { limits: pollLimits }
    const { response } = await callOperation(client, getQueue, { repo, targetBranch }, options)
    const [queue = {}] = response.records
    const times = { at: host.clock.now(), waited: elapsed() }
    const observations = new Map(
      queueEntries(queue).map(({ pr, record, position }) => [pr, { record, position, ...times }]),
    )
    return targets.map(target => [target, { queue, observation: observations.get(target.request.values.pr) }])
  } catch (error) {
    const failure = toFailure(error)
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
  { client, pollLimits, elapsed }: Wait,
): Promise<TargetReading> {
  const { clock } = client.host
  const askedAt = clock.now()
  try {
    const options = { limits: pollLimits, overrides }
    const { response, date } = await callOperation(client, getSubmittedPullRequest, values, options)
    const [record = {}] = response.records
    return { observation: { record, at: clock.now(), waited: elapsed(), askedAt, date } }
  } catch (error) {
    const failure = toFailure(error)
    if (!isNotFound(failure)) return { failure }
    return { observation: { record: undefined, at: clock.now(), waited: elapsed() }, failure }
  }
}

/**
 * Returns a target after a reading, what changed, and the end of its wait, if it is over. `isMissing` is
 * whether the service did not find the pull request for the first time; a submission by this command is
 * expected to show late.
 */
export function updateTarget(
  target: WaitTarget,
  reading: TargetReading | undefined,
  { options, client }: Wait,
): {
  readonly target: WaitTarget
  readonly change?: StateChange | undefined
  readonly end?: WaitEnd | undefined
  readonly isMissing?: boolean
} {
  if (reading === undefined) return { target }
  const { observation, failure, queue } = reading
  if (observation === undefined) {
    const errors = target.errors + 1
    const isGivenUp =
      errors >= options.maxErrors || options.limit === 0 || (failure !== undefined && isPermanent(failure))
    return {
      target: { ...target, errors },
      end: isGivenUp ? { outcome: 'error', failure } : undefined,
    }
  }
  const { state, change, outcome, isOutdated } = advance(target.state, observation, options)
  const record = isOutdated ? target.record : observation.record
  const updated = { ...target, state, errors: 0, record, queue }
  if (outcome === 'error') {
    const cause = failure ?? submissionNotVisibleError(updated, client)
    return { target: updated, change, end: { outcome, failure: cause } }
  }
  const isStuck = options.failOnPaused && isPaused(queue)
  const isUnseen =
    target.state.state === undefined &&
    target.state.missingSince === undefined &&
    state.submission === undefined
  if (outcome === undefined && !isStuck)
    return { target: updated, change, isMissing: isUnseen && state.missingSince !== undefined }
  const isFirstReading = isUnseen && target.errors === 0
  return { target: updated, change, end: { outcome: outcome ?? 'pending', isFirstReading } }
}

/** Creates the error for a submission that did not show within the grace period, only an earlier attempt. */
function submissionNotVisibleError(
  { request: { values }, state: { recordBeforeSubmit = {}, ignoredRecord = recordBeforeSubmit } }: WaitTarget,
  { advice, nameOf }: ServiceClient,
): MergeqError {
  const commands = advice.toInspect('submitPullRequest', [values])
  const inspect = commands.map(command => `To check the current state, run: ${command}`)
  const [state, since] = ['state', 'stateChangedAt'].map(key => getString(ignoredRecord, key))
  const time = since === undefined ? '' : ` since ${since}`
  const attempt = state === undefined ? '' : ` (${state}${time})`
  return new MergeqError(
    'not-found',
    `#${values.pr} was submitted, but the service still shows only the previous attempt${attempt}.`,
    {
      hint: [...inspect, `To wait longer for the submission to appear, increase ${nameOf('grace')}.`].join(
        '\n',
      ),
    },
  )
}
