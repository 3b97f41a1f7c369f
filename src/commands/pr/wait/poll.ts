import { callOperation } from '../../../api/call.ts'
import { getSubmittedPullRequest } from '../../../api/operations/pull-requests.ts'
import { getQueue } from '../../../api/operations/queues.ts'
import type { RequestLimits } from '../../../api/service-client.ts'
import type { CommandRequest } from '../../../cli/command.ts'
import type { CommandContext } from '../../../cli/context.ts'
import { mapConcurrent, maxConcurrent } from '../../../cli/run-requests.ts'
import type { CommandLine } from '../../../domain/suggested-command.ts'
import { queueName } from '../../../domain/values/repository.ts'
import type { WaitOutcome } from '../../../domain/wait-outcomes.ts'
import {
  advance,
  type StateChange,
  type WaitObservation,
  type WaitState,
} from '../../../domain/wait-state.ts'
import { isNotFound, isPermanent, MergeqError, toMergeqError, withPeriod } from '../../../errors.ts'
import { get, getArray, getString, isObject, type JsonObject } from '../../../json.ts'
import type { RequestedPullRequest } from '../record.ts'
import type { WaitOptions } from './options.ts'

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

export interface PollOptions {
  readonly options: WaitOptions
  readonly limits: RequestLimits
  /** The queues that the service refused to show, by name: `readTargets` adds to them and skips them. */
  readonly unreadableQueues: Set<string>
  hasTime(): boolean
}

type FailedReading = { readonly failure: MergeqError }

/** What was read of a pull request, and its queue, if that was read. */
export type TargetReading = { readonly queue?: JsonObject | undefined } & (
  | { readonly observation: WaitObservation; readonly failure?: MergeqError }
  | FailedReading
)

/**
 * Reads the states of pull requests: one request for a queue and all pull requests that the queue lists, and
 * one request for each pull request that no queue lists. A single pull request is read without its queue,
 * unless its state has not changed and only the queue shows why (docs/reference/cli.md, "Waiting"). When the
 * service refuses to show a queue, each pull request is read by itself. Returns a reading for each target, in
 * their order, but fewer when the time is over. Throws only when a signal interrupts the command.
 */
export async function readTargets(
  targets: readonly WaitTarget[],
  poll: PollOptions,
  context: CommandContext,
): Promise<readonly TargetReading[]> {
  const listings = new Map<string, QueueListing | FailedReading | undefined>()
  for (const name of new Set(targets.map(({ request }) => queueName(request.values)))) {
    const queueTargets = targets.filter(target => queueName(target.request.values) === name)
    if (needsListing(queueTargets, poll) && !poll.unreadableQueues.has(name) && poll.hasTime())
      listings.set(name, await readListing(queueTargets, poll, context))
  }
  const readTarget = async (target: WaitTarget): Promise<TargetReading> => {
    const listing = listings.get(queueName(target.request.values))
    if (listing !== undefined && 'failure' in listing) return listing
    const { pr } = target.request.values
    const reading = listing?.entries.get(pr) ?? (await readTargetRecord(target, poll, context))
    return { ...reading, queue: listing?.record }
  }
  const readings: TargetReading[] = []
  for await (const reading of mapConcurrent(targets, maxConcurrent, readTarget, poll.hasTime))
    readings.push(reading)
  return readings
}

/** The record of a queue, and the readings of the pull requests that the queue lists, by number. */
interface QueueListing {
  readonly record: JsonObject
  readonly entries: ReadonlyMap<number, TargetReading>
}

/** Whether the queue of these targets must be read in this round. */
const needsListing = (queueTargets: readonly WaitTarget[], { options }: PollOptions): boolean =>
  queueTargets.length > 1 ||
  options.failOnPaused ||
  queueTargets.some(({ state }) => state.isStateUnchanged && state.state !== 'TESTING')

/**
 * Reads the queue of these targets. A failure is the reading of each target; undefined if they can be read one
 * by one instead.
 */
async function readListing(
  queueTargets: readonly WaitTarget[],
  poll: PollOptions,
  context: CommandContext,
): Promise<QueueListing | FailedReading | undefined> {
  const [first] = queueTargets
  if (first === undefined) return undefined
  const { repo, targetBranch } = first.request.values
  const { limits } = poll
  try {
    const { response } = await callOperation(context.client(), getQueue, { repo, targetBranch }, { limits })
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
    const failure = toReadingError(error)
    const isRefusal = failure.kind === 'not-found' || failure.kind === 'refused'
    const isOfTargets = queueTargets.length > 1 || (poll.options.failOnPaused && isPermanent(failure))
    if (isOfTargets && !isRefusal) return { failure }
    if (isRefusal) poll.unreadableQueues.add(queueName(first.request.values))
    await reportListingFailure(failure, isRefusal, poll.options, context)
    return undefined
  }
}

/** Logs that a queue could not be read, where something is lost without it. */
async function reportListingFailure(
  failure: MergeqError,
  isRefusal: boolean,
  { failOnPaused }: WaitOptions,
  { logger }: CommandContext,
): Promise<void> {
  const message = withPeriod(failure.message)
  if (isRefusal) {
    const text = `${message} Checking each pull request separately`
    if (failOnPaused) await logger.warn(`${text}; a paused queue cannot be detected.`)
    else await logger.info(`${text}.`)
  } else if (failOnPaused)
    await logger.warnOnce(`${message} Until the queue can be read, a pause cannot be detected.`)
}

/** Reads the record of a pull request. An unknown pull request is an observation without a record. */
async function readTargetRecord(
  { request: { values, overrides } }: WaitTarget,
  { limits }: PollOptions,
  context: CommandContext,
): Promise<TargetReading> {
  const { clock } = context.host
  const askedAt = clock.now()
  try {
    const options = { limits, overrides }
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

/** How the wait for a pull request ended. */
export interface WaitEnd {
  readonly outcome: WaitOutcome
  /** The error that ended the wait, for the outcome `error`. */
  readonly failure?: MergeqError
  /** Whether the wait was ruled out before it began. */
  readonly isSkipped?: boolean
  /** Whether the first reading ended the wait: nothing changed while the command waited. */
  readonly isFirstReading?: boolean
  readonly isPaused?: boolean
  /** The head commit that was expected, and the head commit that the service reports. */
  readonly head?: { readonly expected: string | undefined; readonly found: string | undefined }
}

export interface TargetUpdate {
  readonly target: WaitTarget
  readonly change?: StateChange | undefined
  readonly end?: WaitEnd | undefined
}

/** Returns a target after a reading, what changed, and the end of its wait, if it is over. */
export function updateTarget(
  target: WaitTarget,
  reading: TargetReading,
  options: WaitOptions,
  commandLine: CommandLine,
): TargetUpdate {
  if (!('observation' in reading)) {
    const { failure } = reading
    const errors = target.errors + 1
    const isGivenUp = isPermanent(failure) || errors >= options.maxErrors || options.limit === 0
    return { target: { ...target, errors }, end: isGivenUp ? { outcome: 'error', failure } : undefined }
  }
  const { observation, queue } = reading
  const { record } = observation
  const { state, change, outcome } = advance(target.state, observation, options)
  const updated = { ...target, state, errors: 0, record, queue }
  if (outcome === 'error') {
    const failure = reading.failure ?? submissionNotVisibleError(updated, commandLine)
    return { target: updated, change, end: { outcome, failure } }
  }
  const isStuck = outcome === undefined && options.failOnPaused && getString(queue, 'state') === 'PAUSED'
  if (outcome === undefined && !isStuck) return { target: updated, change }
  const isFirstReading = target.state.state === undefined && target.state.missingSince === undefined
  const end = {
    outcome: outcome ?? 'pending',
    isPaused: isStuck,
    isFirstReading: isFirstReading && state.submission === undefined,
    head: { expected: options.head, found: getString(record, 'prSha') },
  }
  return { target: updated, change, end }
}

/** Creates the error for a submission that did not show within the grace period, only an earlier attempt. */
function submissionNotVisibleError(
  { request: { values }, state: { recordBeforeSubmit = {}, ignoredRecord = recordBeforeSubmit } }: WaitTarget,
  commandLine: CommandLine,
): MergeqError {
  const [state, since] = ['state', 'stateChangedAt'].map(key => getString(ignoredRecord, key))
  const time = since === undefined ? '' : ` since ${since}`
  const attempt = state === undefined ? '' : ` (${state}${time})`
  return new MergeqError(
    'not-found',
    `#${values.pr} was submitted, but the service still shows only the previous attempt${attempt}.`,
    {
      hint: `To check the current state, run: ${commandLine(['pr', 'get', values.pr], values)}\nTo wait longer for the submission to appear, increase --grace.`,
    },
  )
}
