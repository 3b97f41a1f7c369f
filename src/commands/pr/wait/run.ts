import { submitPullRequest } from '../../../api/operations/pull-requests.ts'
import type { RequestLimits } from '../../../api/service-client.ts'
import type { CommandRequest, RunContext } from '../../../cli/command.ts'
import type { CommandContext } from '../../../cli/context.ts'
import { reportResults } from '../../../cli/run-requests.ts'
import { formatDuration, joinTruncated } from '../../../domain/format.ts'
import { attemptLimit } from '../../../domain/limits.ts'
import { isKnownState } from '../../../domain/states.ts'
import { commandLinesByQueue } from '../../../domain/suggested-command.ts'
import type { FailingCheck } from '../../../domain/test-run.ts'
import { queueName } from '../../../domain/values/repository.ts'
import { kindOfOutcome } from '../../../domain/wait-outcomes.ts'
import { pollDelay, requestedDelay } from '../../../domain/wait-state.ts'
import { extendError, MergeqError, toMergeqError, withPeriod } from '../../../errors.ts'
import { getString, type JsonObject } from '../../../json.ts'
import { type RequestedPullRequest, readRecord } from '../record.ts'
import { readTestRun } from '../test-run.ts'
import { withLiveLine } from './live-line.ts'
import type { WaitOptions } from './options.ts'
import {
  type PollOptions,
  readTargets,
  type TargetReading,
  type TargetUpdate,
  updateTarget,
  type WaitTarget,
} from './poll.ts'
import { WaitReporter } from './report.ts'

/** A pull request to wait for, or the error that rules the wait out. */
interface WaitCandidate extends Pick<WaitTarget, 'request'> {
  /** The record that was read before it was submitted. */
  readonly recordBeforeSubmit?: WaitTarget['state']['recordBeforeSubmit']
  /** When this command submitted it; undefined where it was submitted before. */
  readonly submission?: WaitTarget['state']['submission']
  readonly failure?: MergeqError | undefined
}

/**
 * Submits pull requests and waits for them. Each record is read before the submission, because an old record
 * is not the result of the new one. `--timeout` limits everything: when it is over, nothing more is
 * submitted. Returns the exit code.
 */
export async function submitAndWait<V extends RequestedPullRequest>(
  requests: readonly CommandRequest<V>[],
  options: WaitOptions,
  context: RunContext<V>,
): Promise<number> {
  const { clock, interrupted } = context.host
  const startedAt = clock.now()
  const remaining = () => startedAt + options.limit - clock.now()
  const limits = await createWaitLimits(options.limit, remaining, context)
  const recordsBefore = new Map<CommandRequest<V>, JsonObject | undefined>()
  const sentAt = new Map<CommandRequest<V>, number>()
  const results = await context.execute(requests, {
    // The output of a wait is its results: receipts of the submissions would be further documents.
    isSilent: true,
    limits: limits.change,
    async beforeSend(request) {
      if (options.limit > 0 && remaining() <= 0)
        throw new MergeqError('timed-out', `Timed out before #${request.values.pr} was submitted.`)
      recordsBefore.set(request, await readRecord(request.values, context, { limits: limits.forRead() }))
      sentAt.set(request, clock.now())
    },
  })
  const to = clock.now()
  const candidates = requests.map((request, index) => ({
    request: { values: request.values, overrides: [] },
    recordBeforeSubmit: recordsBefore.get(request),
    submission: { from: sentAt.get(request) ?? startedAt, to },
    failure: results[index]?.failure,
  }))
  const failures = results.flatMap(({ failure }) => failure ?? [])
  const isStopped = options.stopsOnError && failures.length > 0
  if (isStopped && !interrupted.aborted) await reportUnwaited(candidates, startedAt, context)
  if (isStopped || interrupted.aborted) return reportResults(submitPullRequest, requests, results, context)
  if (failures.length < requests.length)
    for (const { message } of failures) await context.logger.info(message)
  return waitForAll(candidates, options, context, startedAt)
}

/** Prints a result for each pull request without a wait: a failed submission stopped the command. */
async function reportUnwaited(
  candidates: readonly WaitCandidate[],
  startedAt: number,
  context: CommandContext,
): Promise<void> {
  const requests = candidates.map(({ request }) => request)
  const reporter = new WaitReporter(requests, startedAt, context)
  for (const { request, failure } of candidates)
    await reporter.reportEnd(
      { request, state: {}, errors: 0 },
      failure === undefined
        ? { outcome: 'pending', isSkipped: true }
        : { outcome: 'error', failure, isSkipped: true },
    )
  await reporter.flush()
}

/**
 * Waits until every pull request has reached the requested state or a final state, and returns the most
 * severe exit code (docs/reference/cli.md, "Waiting"). The time limit counts from `startedAt`, in
 * milliseconds since 1970; after it no reading begins. With --stop-on-error the first end without success
 * ends the whole wait. Throws an `interrupted` error after a signal; the pull requests stay in the queue.
 */
export async function waitForAll(
  candidates: readonly WaitCandidate[],
  options: WaitOptions,
  context: CommandContext,
  startedAt = context.host.clock.now(),
): Promise<number> {
  const { clock } = context.host
  const remaining = () => startedAt + options.limit - clock.now()
  const { poll: limits } = await createWaitLimits(options.limit, remaining, context)
  const hasTime = () => options.limit === 0 || remaining() > 0
  const poll = { options, limits, hasTime, unreadableQueues: new Set<string>() }
  const requests = candidates.map(({ request }) => request)
  const reporter = new WaitReporter(requests, startedAt, context, async target =>
    hasTime() ? readFailingChecks(target, limits, context) : undefined,
  )
  let waiting: readonly WaitTarget[] = []
  for (const { request, recordBeforeSubmit, submission, failure } of candidates) {
    const target = { request, state: { recordBeforeSubmit, submission }, errors: 0 }
    if (failure === undefined) waiting = [...waiting, target]
    else await reporter.reportEnd(target, { outcome: 'error', failure, isSkipped: true })
  }
  /** Runs a round; returns the milliseconds until the next round, or undefined when the wait is over. */
  const runRound = async (): Promise<number | undefined> => {
    const round = await runPollRound(waiting, poll, reporter, context)
    waiting = round.waiting
    const isOver = remaining() <= 0
    if (isOver || (round.hasFailure && options.stopsOnError)) {
      const outcome = isOver && options.limit > 0 ? 'timed-out' : 'pending'
      for (const target of waiting) {
        const isPaused = getString(target.queue, 'state') === 'PAUSED'
        await reporter.reportEnd(target, { outcome, isPaused })
      }
      return undefined
    }
    return waiting.length === 0 ? undefined : Math.min(round.delay, remaining())
  }
  try {
    let delay = waiting.length === 0 ? undefined : await runRound()
    if (delay !== undefined)
      await withLiveLine(
        () => waiting,
        { startedAt, limit: options.limit },
        context,
        async () => {
          while (delay !== undefined) {
            await sleepBetweenPolls(delay, waiting, reporter, context)
            delay = await runRound()
          }
        },
      )
  } catch (error) {
    const failure = toMergeqError(error)
    if (failure.kind !== 'interrupted') throw failure
    await reporter.flush()
    throw interruptedWaitError(failure, waiting, context)
  }
  return reporter.close()
}

/** Every attempt has at least this much time, in milliseconds. */
const minAttemptTime = 1_000

interface WaitLimits {
  /**
   * For a poll. A failed poll is not retried, as the next round repeats it. A wait with the limit 0 polls
   * once: its polls keep the usual retries.
   */
  readonly poll: RequestLimits
  /** For a change before the wait. It keeps the usual retries, because its outcome must be known. */
  readonly change: RequestLimits
  /** Returns the limits of a read before the wait: only as many retries as fit into the remaining time. */
  forRead(): RequestLimits
}

/**
 * Returns the limits of the requests of a wait; `remaining` returns the milliseconds that remain of it. No
 * attempt takes longer than the time that remains when it begins, but at least a second: so a silent service
 * delays the command by at most a second beyond the wait. `--timeout` limits the wait and not its attempts,
 * which the environment and the settings still limit. The limit 0 limits no attempt.
 */
async function createWaitLimits(
  limit: number,
  remaining: () => number,
  context: CommandContext,
): Promise<WaitLimits> {
  const args = new Map(context.args)
  args.delete('--timeout')
  const configured = (await context.settings.withArgs(args).read('timeout')) || undefined
  const client = context.client()
  if (limit === 0) {
    const limits = { timeout: (usual: number) => configured ?? usual }
    return { poll: limits, change: limits, forRead: () => limits }
  }
  const timeout = (usual: number) => Math.min(configured ?? usual, Math.max(remaining(), minAttemptTime))
  return {
    poll: { timeout, maxRetries: 0 },
    change: { timeout },
    forRead() {
      const attempts = Math.floor(remaining() / (configured ?? attemptLimit))
      return { timeout, maxRetries: Math.min(client.maxRetries, Math.max(0, attempts - 1)) }
    },
  }
}

/**
 * Runs one round of a wait: reads the pull requests, reports state changes, and reports the end of each wait
 * that is over. Returns the pull requests to wait for, the milliseconds until the next round, and whether a
 * wait ended without success. Throws only when a signal interrupts the command.
 */
async function runPollRound(
  targets: readonly WaitTarget[],
  poll: PollOptions,
  reporter: WaitReporter,
  context: CommandContext,
) {
  const { options } = poll
  const { logger, settings, host } = context
  const readings = await readTargets(targets, poll, context)
  const updates = targets.map((target, index): TargetUpdate => {
    const reading = readings[index]
    return reading === undefined ? { target } : updateTarget(target, reading, options, settings.commandLine)
  })
  for (const [index, target] of targets.entries())
    await warnQueueState(queueName(target.request.values), readings[index]?.queue, context)
  for (const { target, change, end } of updates) {
    if (change !== undefined && !isKnownState(change.to))
      await logger.warnOnce(`Unknown state ${change.to}; still waiting.`)
    if (change !== undefined) await reporter.reportChange(target, change, end !== undefined)
    if (end !== undefined) await reporter.reportEnd(target, end)
  }
  const waiting = updates.flatMap(({ target, end }) => (end === undefined ? [target] : []))
  if (options.head !== undefined && readings.some(hasUnknownHead))
    await logger.warnOnce('The service does not report the head commit; --match-head is not checked.')
  const failures = readings.flatMap(reading => ('observation' in reading ? [] : [reading.failure]))
  await reportInvisible(targets, waiting, options, context)
  if (waiting.length > 0) await reportPollErrors(failures, waiting, options, context)
  return {
    waiting,
    delay: nextDelay(waiting, failures, options, host.random()),
    hasFailure: updates.some(
      ({ end }) => end !== undefined && (end.outcome === 'error' || kindOfOutcome[end.outcome] !== 'ok'),
    ),
  }
}

const hasUnknownHead = (reading: TargetReading): boolean =>
  'observation' in reading &&
  reading.observation.record !== undefined &&
  (getString(reading.observation.record, 'prSha') ?? '') === ''

/** What a queue state that holds pull requests back means for them. */
const queueStateEffects = new Map([
  ['PAUSED', 'no tests start and nothing merges until the queue is resumed'],
  ['DRAINING', 'no new tests start'],
])

/** Warns once in a run that a queue in this state holds pull requests back. */
async function warnQueueState(
  name: string,
  queue: JsonObject | undefined,
  { logger }: CommandContext,
): Promise<void> {
  const state = getString(queue, 'state') ?? ''
  const effect = queueStateEffects.get(state)
  if (effect !== undefined) await logger.warnOnce(`The queue for ${name} is ${state}: ${effect}.`)
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
  const earlier = new Map(before.map(({ request, state }) => [request, state]))
  const invisible = waiting.filter(
    ({ request, state: { state, missingSince, submission } }) =>
      state === undefined &&
      submission === undefined &&
      missingSince !== undefined &&
      earlier.get(request)?.missingSince === undefined,
  )
  const numbers = invisible.map(({ request }) => `#${request.values.pr}`)
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
  const errors = Math.max(...waiting.map(target => target.errors))
  const count = errors > 1 ? ` (${errors} failed polls in a row; the wait ends after ${maxErrors})` : ''
  for (const message of new Set(failures.map(failure => failure.message)))
    await logger.info(`${withPeriod(message)} Still waiting${count}.`)
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

/** The time for all requests that read failing checks, in milliseconds: the result is known already. */
const failingChecksTime = 5_000

/**
 * Reads the failing checks of a pull request that failed, once, within `limits` and five seconds. Undefined
 * if they are not known or if a request fails; never rejects.
 */
async function readFailingChecks(
  { request, record }: WaitTarget,
  limits: RequestLimits,
  context: CommandContext,
): Promise<readonly FailingCheck[] | undefined> {
  if (record === undefined) return undefined
  const { clock } = context.host
  const deadline = clock.now() + failingChecksTime
  const timeout = (usual: number) =>
    Math.min(limits.timeout?.(usual) ?? usual, Math.max(1, deadline - clock.now()))
  try {
    const { run } = await readTestRun(record, request.values, context, { limits: { ...limits, timeout } })
    return run?.failingChecks
  } catch {
    return undefined
  }
}

/** Sleeps `delay` milliseconds, with heartbeats elsewhere than on a terminal. */
async function sleepBetweenPolls(
  delay: number,
  waiting: readonly WaitTarget[],
  reporter: WaitReporter,
  { host: { clock, interrupted } }: CommandContext,
): Promise<void> {
  const wakeAt = clock.now() + delay
  await reporter.heartbeat(waiting)
  for (let remaining = delay; remaining > 0; remaining = wakeAt - clock.now()) {
    await clock.sleep(Math.min(remaining, reporter.heartbeatDelay()), interrupted)
    await reporter.heartbeat(waiting)
  }
}

/** Creates the error for a wait that a signal ended, with the commands that cancel the pull requests. */
function interruptedWaitError(
  failure: MergeqError,
  waiting: readonly WaitTarget[],
  { settings }: CommandContext,
): MergeqError {
  const pullRequests = waiting.map(({ request }) => request.values)
  const cancelCommands = commandLinesByQueue(['pr', 'cancel'], pullRequests, settings.commandLine)
  const isSeen = waiting.every(({ state }) => state.state !== undefined)
  const subject = waiting.length === 1 ? 'The pull request stays' : 'The pull requests stay'
  const note = isSeen ? `${subject} in the queue.` : 'Queued pull requests stay in the queue.'
  const hint = `${note} To cancel, run:\n${cancelCommands.join('\n')}`
  return extendError(
    failure,
    { hint },
    `${failure.message} Only the wait has ended; mergeq cancelled nothing.`,
  )
}
