import { submitPullRequest } from '../../../api/operations/pull-requests.ts'
import type { CommandRequest, RequestResult, RunContext } from '../../../cli/command.ts'
import type { CommandContext } from '../../../cli/context.ts'
import { reportResults, withPullRequest } from '../../../cli/run.ts'
import { formatDuration, joinTruncated } from '../../../domain/format.ts'
import { isKnownState, kindOfOutcome } from '../../../domain/states.ts'
import { commandLinesByQueue } from '../../../domain/suggested-command.ts'
import { queueName } from '../../../domain/values/repository.ts'
import { pollDelay, requestedDelay, type WaitOptions } from '../../../domain/wait-state.ts'
import { extendError, MergeqError, toMergeqError, withPeriod } from '../../../errors.ts'
import { getString, type JsonObject } from '../../../json.ts'
import { type RequestedPullRequest, readRecord } from '../reads.ts'
import { withLiveLine } from './live-line.ts'
import { readTargets, startWait, updateTarget, type Wait, type WaitTarget } from './poll.ts'
import { WaitReporter } from './report.ts'

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
  const wait = await startWait(options, context)
  const results: (RequestResult & {
    readonly recordBefore?: JsonObject | undefined
    readonly sentAt?: number
  })[] = []
  const isOnly = requests.length === 1
  for (const request of requests) {
    if (interrupted.aborted) break
    try {
      if (!wait.hasTime())
        throw new MergeqError('timed-out', `Timed out before #${request.values.pr} was submitted.`)
      const limits = wait.limitsBeforeChange()
      const recordBefore = await readRecord(request.values, context, { limits })
      const sentAt = clock.now()
      const { failure } = await context.sendOne(request, { isOnly, limits: wait.changeLimits })
      results.push({ code: failure?.exit ?? 0, failure, recordBefore, sentAt })
    } catch (error) {
      const original = toMergeqError(error)
      const failure = isOnly ? original : withPullRequest(original, request.values.pr)
      results.push({ code: failure.exit, failure })
    }
    if (options.stopsOnError && results.at(-1)?.failure !== undefined) break
  }
  const to = clock.now()
  const targets = requests.map((request, index) => {
    const result = results[index]
    return {
      request: { values: request.values, overrides: [] },
      state: {
        recordBeforeSubmit: result?.recordBefore,
        submission: { from: result?.sentAt ?? wait.startedAt, to },
      },
      errors: 0,
      failure: result?.failure,
    }
  })
  const failures = targets.flatMap(({ failure }) => failure ?? [])
  const isStopped = options.stopsOnError && failures.length > 0
  // A signal after the last submission ends the wait, which reports it.
  const isInterrupted =
    (interrupted.aborted && results.length < requests.length) ||
    failures.some(({ kind }) => kind === 'interrupted')
  const reporter = new WaitReporter(
    targets.map(({ request }) => request),
    wait,
  )
  const waiting: WaitTarget[] = []
  for (const { failure, ...target } of targets) {
    if (isInterrupted) break
    if (failure !== undefined)
      await reporter.reportEnd(target, { outcome: 'error', failure, isSkipped: true })
    else if (isStopped) await reporter.reportEnd(target, { outcome: 'pending', isSkipped: true })
    else waiting.push(target)
  }
  if (isStopped || isInterrupted) {
    await reporter.flush()
    return reportResults(submitPullRequest, requests, results, context)
  }
  if (waiting.length > 0) for (const { message } of failures) await context.logger.info(message)
  return waitFor(waiting, wait, reporter)
}

/** Waits until every pull request has an outcome, and returns the most severe exit code. */
export async function waitForAll(
  requests: readonly WaitTarget['request'][],
  options: WaitOptions,
  context: CommandContext,
): Promise<number> {
  const wait = await startWait(options, context)
  const targets = requests.map(request => ({ request, state: {}, errors: 0 }))
  return waitFor(targets, wait, new WaitReporter(requests, wait))
}

/**
 * Waits until every pull request has reached the requested state or a final state, and returns the most
 * severe exit code (docs/reference/cli.md, "Waiting"). After the time limit no reading begins. With
 * --stop-on-error the first end without success ends the whole wait. Throws an `interrupted` error after a
 * signal; the pull requests stay in the queue.
 */
async function waitFor(targets: readonly WaitTarget[], wait: Wait, reporter: WaitReporter): Promise<number> {
  const { options, remaining, context } = wait
  let waiting = targets
  /** Runs a round; returns the milliseconds until the next round, or undefined when the wait is over. */
  const runRound = async (): Promise<number | undefined> => {
    const round = await runPollRound(waiting, wait, reporter)
    waiting = round.waiting
    const isOver = remaining() <= 0
    if (isOver || (round.hasFailure && options.stopsOnError)) {
      const outcome = isOver && options.limit > 0 ? 'timed-out' : 'pending'
      for (const target of waiting) await reporter.reportEnd(target, { outcome })
      return undefined
    }
    return waiting.length === 0 ? undefined : Math.min(round.delay, remaining())
  }
  try {
    let delay = waiting.length === 0 ? undefined : await runRound()
    if (delay !== undefined)
      await withLiveLine(
        () => waiting,
        wait,
        async () => {
          while (delay !== undefined) {
            await reporter.sleep(delay, waiting)
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

/** What a queue state that holds pull requests back means for them. */
const queueStateEffects = new Map([
  ['PAUSED', 'no tests start and nothing merges until the queue is resumed'],
  ['DRAINING', 'no new tests start'],
])

/**
 * Runs one round of a wait: reads the pull requests, reports state changes, and reports the end of each wait
 * that is over. Returns the pull requests to wait for, the milliseconds until the next round, and whether a
 * wait ended without success. Throws only when a signal interrupts the command.
 */
async function runPollRound(targets: readonly WaitTarget[], wait: Wait, reporter: WaitReporter) {
  const { options, context } = wait
  const { logger, host } = context
  const readings = await readTargets(targets, wait)
  const updates = targets.map((target, index) => updateTarget(target, readings[index], wait))
  for (const [index, { request }] of targets.entries()) {
    const queueState = getString(readings[index]?.queue, 'state') ?? ''
    const effect = queueStateEffects.get(queueState)
    if (effect !== undefined)
      await logger.warnOnce(`The queue for ${queueName(request.values)} is ${queueState}: ${effect}.`)
  }
  for (const { target, change, end } of updates) {
    if (change !== undefined && !isKnownState(change.to))
      await logger.warnOnce(`Unknown state ${change.to}; still waiting.`)
    if (change !== undefined) await reporter.reportChange(target, change, end !== undefined)
    if (end !== undefined) await reporter.reportEnd(target, end)
  }
  const continued = updates.filter(({ end }) => end === undefined)
  const missing = continued.flatMap(({ target, isMissing }) =>
    isMissing ? [`#${target.request.values.pr}`] : [],
  )
  if (missing.length > 0)
    await logger.info(
      `${joinTruncated(missing)} ${missing.length === 1 ? 'is' : 'are'} not in the queue yet; waiting up to ${formatDuration(options.grace)} (--grace).`,
    )
  const hasUnknownHead = readings.some(
    ({ observation }) =>
      observation?.record !== undefined && (getString(observation.record, 'prSha') ?? '') === '',
  )
  if (options.head !== undefined && hasUnknownHead)
    await logger.warnOnce('The service does not report the head commit; --match-head is not checked.')
  const waiting = continued.map(({ target }) => target)
  const failures = readings.flatMap(({ observation, failure = [] }) =>
    observation === undefined ? failure : [],
  )
  if (waiting.length > 0) await reportPollErrors(failures, waiting, wait)
  const random = host.random()
  const delays = waiting.map(({ state, errors }) =>
    options.interval === 'auto' ? pollDelay(state, errors, random) : options.interval,
  )
  return {
    waiting,
    delay: Math.max(Math.min(...delays), requestedDelay(failures)),
    hasFailure: updates.some(
      ({ end }) => end !== undefined && (end.outcome === 'error' || kindOfOutcome[end.outcome] !== 'ok'),
    ),
  }
}

/** Logs the errors of failed polls, each message once in a round. */
async function reportPollErrors(
  failures: readonly MergeqError[],
  waiting: readonly WaitTarget[],
  { context, options: { maxErrors } }: Wait,
): Promise<void> {
  const errors = Math.max(...waiting.map(target => target.errors))
  const count = errors > 1 ? ` (${errors} failed polls in a row; the wait ends after ${maxErrors})` : ''
  for (const message of new Set(failures.map(failure => failure.message)))
    await context.logger.info(`${withPeriod(message)} Still waiting${count}.`)
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
