import type { CommandContext } from '../../../cli/context.ts'
import { formatDuration, joinTruncated } from '../../../domain/format.ts'
import { isKnownState } from '../../../domain/states.ts'
import { kindOfOutcome } from '../../../domain/wait-outcomes.ts'
import { advance, pollDelay, requestedDelay, type StateChange } from '../../../domain/wait-state.ts'
import { isPermanent, MergeqError, withPeriod } from '../../../errors.ts'
import { getString, type JsonObject } from '../../../json.ts'
import type { WaitEnd } from './describe-end.ts'
import {
  queueName,
  type ReadOptions,
  readTargets,
  type TargetReading,
  type WaitTarget,
} from './read-targets.ts'
import type { WaitReporter } from './reporter.ts'
import type { WaitOptions } from './time-limits.ts'

export interface PollRoundResult {
  readonly waiting: readonly WaitTarget[]
  /** Milliseconds until the next round. */
  readonly delay: number
  /** Whether the wait for a pull request ended without success. */
  readonly hasFailure: boolean
}

interface TargetUpdate {
  readonly target: WaitTarget
  readonly change?: StateChange
  readonly end?: WaitEnd
}

const isSuccess = ({ outcome }: WaitEnd): boolean => outcome !== 'error' && kindOfOutcome[outcome] === 'ok'

/**
 * Runs one round of a wait: reads the pull requests, reports state changes, and reports the end of each wait
 * that is over. Throws only when a signal interrupts the command.
 */
export async function runPollRound(
  targets: readonly WaitTarget[],
  options: WaitOptions,
  readOptions: ReadOptions,
  reporter: WaitReporter,
  context: CommandContext,
): Promise<PollRoundResult> {
  const { readings, queues } = await readTargets(targets, readOptions, context)
  for (const [name, queue] of queues) await warnQueueState(name, queue, context)
  const updates: readonly TargetUpdate[] = targets.map((target, index) => {
    const reading = readings[index]
    return reading === undefined
      ? { target }
      : updateTarget(target, reading, queues.get(queueName(target)), options, context)
  })
  for (const { target, change, end } of updates) {
    if (change !== undefined) {
      if (!isKnownState(change.to))
        await context.logger.warnOnce(`Unknown state ${change.to}; still waiting.`)
      await reporter.reportChange(target, change, end !== undefined)
    }
    if (end !== undefined) await reporter.reportEnd(target, end)
  }
  const waiting = updates.flatMap(({ target, end }) => (end === undefined ? [target] : []))
  if (options.head !== undefined && readings.some(hasUnknownHead))
    await context.logger.warnOnce('The service does not report the head commit; --match-head is not checked.')
  const failures = readings.flatMap(reading => ('observation' in reading ? [] : [reading.failure]))
  await reportInvisible(targets, waiting, options, context)
  if (waiting.length > 0) await reportPollErrors(failures, waiting, options, context)
  return {
    waiting,
    delay: nextDelay(waiting, failures, options, context.host.random()),
    hasFailure: updates.some(({ end }) => end !== undefined && !isSuccess(end)),
  }
}

const hasUnknownHead = (reading: TargetReading): boolean =>
  'observation' in reading &&
  reading.observation.record !== undefined &&
  (getString(reading.observation.record, 'prSha') ?? '') === ''

function updateTarget(
  target: WaitTarget,
  reading: TargetReading,
  queue: JsonObject | undefined,
  options: WaitOptions,
  { settings }: CommandContext,
): TargetUpdate {
  if (!('observation' in reading)) {
    const { failure } = reading
    const errors = target.errors + 1
    const isGivenUp = isPermanent(failure) || errors >= options.maxErrors || options.limit === 0
    return { target: { ...target, errors }, ...(isGivenUp ? { end: { outcome: 'error', failure } } : {}) }
  }
  const { state, change, outcome } = advance(target.state, reading.observation, options)
  const nextTarget = { ...target, state, errors: 0, record: reading.observation.record, queue }
  const isStuck = options.failOnPaused && getString(queue, 'state') === 'PAUSED'
  const isFirstReading = target.state.state === undefined && target.state.missingSince === undefined
  const end: WaitEnd | undefined =
    outcome === 'error'
      ? { outcome, failure: reading.failure ?? submissionNotVisibleError(nextTarget, settings) }
      : (outcome ?? (isStuck ? 'pending' : undefined)) && {
          outcome: outcome ?? 'pending',
          isPaused: outcome === undefined,
          isFirstReading: isFirstReading && state.submission === undefined,
          head: { expected: options.head, found: getString(reading.observation.record, 'prSha') },
        }
  return { target: nextTarget, ...(change && { change }), ...(end && { end }) }
}

/** Returns the state of an earlier attempt in parentheses, and since when, as far as they are known. */
function describeAttempt(record: JsonObject): string {
  const [state, since] = ['state', 'stateChangedAt'].map(key => getString(record, key))
  if (state === undefined) return ''
  return ` (${state}${since === undefined ? '' : ` since ${since}`})`
}

/** Creates the error for a submission that did not show within the grace period, only an earlier attempt. */
const submissionNotVisibleError = (
  { request: { values }, state: { recordBeforeSubmit = {}, ignoredRecord = recordBeforeSubmit } }: WaitTarget,
  { commandLine }: CommandContext['settings'],
): MergeqError =>
  new MergeqError(
    'not-found',
    `#${values.pr} was submitted, but the service still shows only the previous attempt${describeAttempt(ignoredRecord)}.`,
    {
      hint: `To check the current state, run: ${commandLine(['pr', 'get', values.pr], values)}\nTo wait longer for the submission to appear, increase --grace.`,
    },
  )

/** What a queue state that holds pull requests back means for them. */
const queueStateEffects = new Map([
  ['PAUSED', 'no tests start and nothing merges until the queue is resumed'],
  ['DRAINING', 'no new tests start'],
])

/** Warns once in a run that a queue in this state holds pull requests back. */
async function warnQueueState(name: string, queue: JsonObject, context: CommandContext): Promise<void> {
  const state = getString(queue, 'state') ?? ''
  const effect = queueStateEffects.get(state)
  if (effect !== undefined) await context.logger.warnOnce(`The queue for ${name} is ${state}: ${effect}.`)
}

/**
 * Logs which pull requests the service did not find for the first time in this round, and how long the wait
 * bears that. A submission by this command is expected to show late.
 */
async function reportInvisible(
  before: readonly WaitTarget[],
  waiting: readonly WaitTarget[],
  { grace }: WaitOptions,
  { logger }: CommandContext,
): Promise<void> {
  if (grace <= 0) return
  const known = new Set(
    before.flatMap(({ request, state }) => (state.missingSince === undefined ? [] : [request])),
  )
  const numbers = waiting.flatMap(({ request, state: { missingSince, state, submission } }) =>
    missingSince === undefined || state !== undefined || submission !== undefined || known.has(request)
      ? []
      : [`#${request.values.pr}`],
  )
  if (numbers.length > 0)
    await logger.info(
      `${joinTruncated(numbers)} ${numbers.length === 1 ? 'is' : 'are'} not visible yet; waiting up to ${formatDuration(grace)} (--grace).`,
    )
}

/** Logs the errors of failed polls, each message once in a round. */
async function reportPollErrors(
  failures: readonly MergeqError[],
  waiting: readonly WaitTarget[],
  { maxErrors }: WaitOptions,
  { logger }: CommandContext,
): Promise<void> {
  const maxErrorCount = Math.max(...waiting.map(({ errors }) => errors))
  const countNote =
    maxErrorCount > 1 ? ` (${maxErrorCount} failed polls in a row; the wait ends after ${maxErrors})` : ''
  for (const message of new Set(failures.map(({ message }) => message)))
    await logger.info(`${withPeriod(message)} Still waiting${countNote}.`)
}

/** Returns the shortest delay of all targets, but at least what the service requested, in milliseconds. */
function nextDelay(
  waiting: readonly WaitTarget[],
  failures: readonly MergeqError[],
  { interval }: WaitOptions,
  random: number,
): number {
  const delays = waiting.map(({ state, errors }) =>
    interval === 'auto' ? pollDelay(state, errors, random) : interval,
  )
  return Math.max(Math.min(...delays), requestedDelay(failures))
}
