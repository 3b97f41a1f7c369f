import { type CallOptions, callOperation } from '../../../api/call.ts'
import { getSubmittedPullRequest } from '../../../api/operations/pull-requests.ts'
import { getQueue } from '../../../api/operations/queues.ts'
import type { RequestLimits } from '../../../api/service-client.ts'
import type { CommandRequest } from '../../../cli/command.ts'
import type { CommandContext } from '../../../cli/context.ts'
import { mapConcurrent, maxConcurrent } from '../../../cli/run-requests.ts'
import type { CommandLine } from '../../../domain/suggested-command.ts'
import { repositoryName } from '../../../domain/values/repository.ts'
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

/** Returns the name of the queue of a pull request, as messages show it: `main in github.com/acme/web`. */
export const queueName = ({ request: { values } }: Pick<WaitTarget, 'request'>): string =>
  `${values.targetBranch} in ${repositoryName(values.repo)}`

export interface PollOptions {
  readonly options: WaitOptions
  readonly limits: RequestLimits
  /** The queues that the service refused to show, by name: `readTargets` adds to them and skips them. */
  readonly unreadableQueues: Set<string>
  hasTime(): boolean
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

/**
 * Reads the states of pull requests: one request for a queue and all pull requests that the queue lists, and
 * one request for each pull request that no queue lists. A single pull request is read without its queue,
 * unless its state has not changed and only the queue shows why (docs/reference/cli.md, "Waiting"). When the
 * service refuses to show a queue, each pull request is read by itself. Throws only when a signal interrupts
 * the command.
 */
export async function readTargets(
  targets: readonly WaitTarget[],
  poll: PollOptions,
  context: CommandContext,
): Promise<TargetReadings> {
  const callOptions = { limits: poll.limits }
  const listings = new Map<string, QueueListing | { readonly failure: MergeqError }>()
  for (const name of new Set(targets.map(queueName))) {
    const queueTargets = targets.filter(target => queueName(target) === name)
    if (!needsListing(name, queueTargets, poll)) continue
    const listing = await readListing(queueTargets, callOptions, context)
    if (
      'entries' in listing ||
      (await isFailureOfTargets(name, queueTargets, listing.failure, poll, context))
    )
      listings.set(name, listing)
  }
  const readTarget = async (target: WaitTarget): Promise<TargetReading> => {
    const listing = listings.get(queueName(target))
    if (listing !== undefined && 'failure' in listing) return listing
    const { pr } = target.request.values
    return listing?.entries.get(pr) ?? readTargetRecord(target, callOptions, context)
  }
  const readings: TargetReading[] = []
  for await (const reading of mapConcurrent(targets, maxConcurrent, readTarget, poll.hasTime))
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

/** Whether the queue of these targets must and can be read in this round. */
function needsListing(
  name: string,
  queueTargets: readonly WaitTarget[],
  { options, unreadableQueues, hasTime }: PollOptions,
): boolean {
  const isUseful =
    queueTargets.length > 1 ||
    options.failOnPaused ||
    queueTargets.some(({ state }) => state.isStateUnchanged && state.state !== 'TESTING')
  return isUseful && !unreadableQueues.has(name) && hasTime()
}

/**
 * Whether the failed reading of a queue is the reading of its targets; otherwise they are read one by one, and
 * the failure is logged where that loses something.
 */
async function isFailureOfTargets(
  name: string,
  queueTargets: readonly WaitTarget[],
  failure: MergeqError,
  { options: { failOnPaused }, unreadableQueues }: PollOptions,
  { logger }: CommandContext,
): Promise<boolean> {
  const message = withPeriod(failure.message)
  if (failure.kind === 'not-found' || failure.kind === 'refused') {
    unreadableQueues.add(name)
    const text = `${message} Checking each pull request separately`
    if (failOnPaused) await logger.warn(`${text}; a paused queue cannot be detected.`)
    else await logger.info(`${text}.`)
    return false
  }
  if (queueTargets.length > 1 || (failOnPaused && isPermanent(failure))) return true
  if (failOnPaused)
    await logger.warnOnce(`${message} Until the queue can be read, a pause cannot be detected.`)
  return false
}

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
  queue: JsonObject | undefined,
  options: WaitOptions,
  commandLine: CommandLine,
): TargetUpdate {
  if (!('observation' in reading)) {
    const { failure } = reading
    const errors = target.errors + 1
    const isGivenUp = isPermanent(failure) || errors >= options.maxErrors || options.limit === 0
    return { target: { ...target, errors }, end: isGivenUp ? { outcome: 'error', failure } : undefined }
  }
  const { record } = reading.observation
  const { state, change, outcome } = advance(target.state, reading.observation, options)
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
