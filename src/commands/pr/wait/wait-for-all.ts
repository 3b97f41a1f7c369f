import type { CommandContext } from '../../../cli/context.ts'
import { commandLinesByQueue } from '../../../domain/suggested-command.ts'
import { extendError, type MergeqError, toMergeqError } from '../../../errors.ts'
import { getString } from '../../../json.ts'
import { runPollRound } from './poll-round.ts'
import { readFailingChecks } from './read-failing-checks.ts'
import type { WaitTarget } from './read-targets.ts'
import { createReporter, type WaitReporter } from './reporter.ts'
import { createWaitLimits, type WaitOptions } from './time-limits.ts'
import { withLiveLine } from './with-live-line.ts'

/** A pull request to wait for, or the error that rules the wait out. */
export interface WaitCandidate extends Pick<WaitTarget, 'request'> {
  /** The record that was read before it was submitted. */
  readonly recordBeforeSubmit?: WaitTarget['state']['recordBeforeSubmit']
  /** When this command submitted it; undefined where it was submitted before. */
  readonly submission?: WaitTarget['state']['submission']
  readonly failure?: MergeqError | undefined
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
  const requests = candidates.map(({ request }) => request)
  const remaining = () => startedAt + options.limit - clock.now()
  const readOptions = {
    needsQueue: options.failOnPaused,
    unreadableQueues: new Set<string>(),
    hasTime: () => options.limit === 0 || remaining() > 0,
    limits: (await createWaitLimits(options.limit, remaining, context)).poll,
  }
  const reporter = createReporter(requests, startedAt, context, async target =>
    readOptions.hasTime() ? readFailingChecks(target, readOptions.limits, context) : undefined,
  )
  let waiting: readonly WaitTarget[] = []
  for (const { request, recordBeforeSubmit, submission, failure } of candidates) {
    const target = { request, state: { recordBeforeSubmit, submission }, errors: 0 }
    if (failure === undefined) waiting = [...waiting, target]
    else await reporter.reportEnd(target, { outcome: 'error', failure, isSkipped: true })
  }
  /** Runs a round; returns the milliseconds until the next round, or undefined when the wait is over. */
  const runRound = async (): Promise<number | undefined> => {
    const result = await runPollRound(waiting, options, readOptions, reporter, context)
    waiting = result.waiting
    const isOver = remaining() <= 0
    if (isOver || (result.hasFailure && options.stopsOnError)) {
      const outcome = isOver && options.limit > 0 ? 'timed-out' : 'pending'
      for (const target of waiting) {
        const isPaused = getString(target.queue, 'state') === 'PAUSED'
        await reporter.reportEnd(target, { outcome, isPaused })
      }
      return undefined
    }
    return waiting.length === 0 ? undefined : Math.min(result.delay, remaining())
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

/** Prints a result for each pull request without a wait: a failed submission stopped the command. */
export async function reportUnwaited(
  candidates: readonly WaitCandidate[],
  startedAt: number,
  context: CommandContext,
): Promise<void> {
  const reporter = createReporter(
    candidates.map(({ request }) => request),
    startedAt,
    context,
  )
  for (const { request, failure } of candidates)
    await reporter.reportEnd(
      { request, state: {}, errors: 0 },
      failure === undefined
        ? { outcome: 'pending', isSkipped: true }
        : { outcome: 'error', failure, isSkipped: true },
    )
  await reporter.flush()
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
