import { formatDuration, joinTruncated } from '../../domain/format.ts'
import { isKnownState, kindOfOutcome, queueStateMessage, stateOf } from '../../domain/states.ts'
import { commandLinesByQueue } from '../../domain/suggested-command.ts'
import { queueName } from '../../domain/values/repository.ts'
import {
  describeChange,
  pollDelay,
  requestedDelay,
  type StateChange,
  type WaitEnd,
  type WaitOptions,
} from '../../domain/wait-state.ts'
import { extendError, type MergeqError, toMergeqError, withPeriod } from '../../errors.ts'
import { getString } from '../../json.ts'
import type { ServiceClient } from '../service-client.ts'
import { readTargets, startWait, updateTarget, type Wait, type WaitTarget } from './poll.ts'
import { createResult, type WaitResult } from './result.ts'

/** What a caller does with the events of a wait. */
export interface WaitObserver {
  /** `isEnd` is whether the change ends the wait of the pull request. */
  reportChange(target: WaitTarget, change: StateChange, isEnd: boolean): Promise<void>
  reportEnd(target: WaitTarget, end: WaitEnd): Promise<void>
  /** Sleeps between two rounds; rejects when the wait is interrupted. */
  sleep(delay: number, waiting: readonly WaitTarget[]): Promise<void>
  /** Returns the error of a wait that a signal ended. */
  interrupted(failure: MergeqError, waiting: readonly WaitTarget[]): Promise<MergeqError>
  /** Runs the rounds after the first; `waiting` returns the pull requests that the wait still waits for. */
  during(waiting: () => readonly WaitTarget[], work: () => Promise<void>): Promise<void>
}

/**
 * Waits until every pull request has reached the requested state or a final state
 * (docs/reference/cli.md, "Waiting"). After the time limit no reading begins. With `stopsOnError` the first
 * end without success ends the whole wait. Throws an `interrupted` error after a signal; the pull requests
 * stay in the queue.
 */
export async function waitForTargets(
  targets: readonly WaitTarget[],
  wait: Wait,
  observer: WaitObserver,
): Promise<void> {
  const { options, remaining } = wait
  let waiting = targets
  /** Runs a round; returns the milliseconds until the next round, or undefined when the wait is over. */
  const runRound = async (): Promise<number | undefined> => {
    const round = await runPollRound(waiting, wait, observer)
    waiting = round.waiting
    const isOver = remaining() <= 0
    if (isOver || (round.hasFailure && options.stopsOnError)) {
      const outcome = isOver && options.limit > 0 ? 'timed-out' : 'pending'
      for (const target of waiting) await observer.reportEnd(target, { outcome })
      return undefined
    }
    return waiting.length === 0 ? undefined : Math.min(round.delay, remaining())
  }
  try {
    let delay = waiting.length === 0 ? undefined : await runRound()
    if (delay !== undefined)
      await observer.during(
        () => waiting,
        async () => {
          while (delay !== undefined) {
            await observer.sleep(delay, waiting)
            delay = await runRound()
          }
        },
      )
  } catch (error) {
    const failure = toMergeqError(error)
    throw failure.kind === 'interrupted' ? await observer.interrupted(failure, waiting) : failure
  }
}

/**
 * Waits for pull requests and returns their results in their order; logs what `pr wait` says on the way. Throws
 * the error of a reading that shows a mistake of the caller or of mergeq; other errors are results.
 */
export async function waitForResults(
  targets: readonly WaitTarget[],
  options: WaitOptions,
  client: ServiceClient,
): Promise<readonly WaitResult[]> {
  const { host, logger } = client
  const wait = startWait(options, client, client.options.timeout)
  const results = new Map<WaitTarget['request'], WaitResult>()
  await waitForTargets(targets, wait, {
    reportChange: ({ request }, change) => logger.info(describeChange(request.values.pr, change)),
    async reportEnd(target, end) {
      const { failure } = end
      if (failure?.kind === 'usage' || failure?.kind === 'internal') throw failure
      if (failure !== undefined) await logger.warn(failure.message)
      results.set(target.request, await createResult(target, end, wait))
    },
    sleep: delay => host.clock.sleep(delay, host.interrupted),
    interrupted: async (failure, waiting) => interruptedWaitError(failure, waiting, client),
    during: (_, work) => work(),
  })
  return targets.flatMap(({ request }) => results.get(request) ?? [])
}

/**
 * Runs one round of a wait: reads the pull requests, reports state changes, and reports the end of each wait
 * that is over. Returns the pull requests to wait for, the milliseconds until the next round, and whether a
 * wait ended without success. Throws only when a signal interrupts it.
 */
async function runPollRound(targets: readonly WaitTarget[], wait: Wait, observer: WaitObserver) {
  const { options, client } = wait
  const { logger, host } = client
  const readings = await readTargets(targets, wait)
  const updates = targets.map((target, index) => updateTarget(target, readings[index], wait))
  for (const { target, change, end } of updates) {
    const message = end === undefined ? queueStateMessage(stateOf(target.queue)) : undefined
    if (message !== undefined)
      await logger.warnOnce(message.replace('The queue', `The queue for ${queueName(target.request.values)}`))
    if (change !== undefined && !isKnownState(change.to))
      await logger.warnOnce(`Unknown state ${change.to}; still waiting.`)
    if (change !== undefined)
      await observer.reportChange(target, change, end !== undefined || options.limit === 0)
    if (end !== undefined) await observer.reportEnd(target, end)
  }
  const continued = updates.filter(({ end }) => end === undefined)
  const missing = continued.flatMap(({ target, isMissing }) =>
    isMissing ? [`#${target.request.values.pr}`] : [],
  )
  if (missing.length > 0 && options.limit > 0)
    await logger.info(
      `${joinTruncated(missing)} ${missing.length === 1 ? 'is' : 'are'} not in the queue yet; waiting up to ${formatDuration(Math.min(options.grace, options.limit))} (${client.nameOf(options.grace < options.limit ? 'grace' : 'timeout')}).`,
    )
  const hasUnknownHead = readings.some(
    ({ observation }) =>
      observation?.record !== undefined && (getString(observation.record, 'prSha') ?? '') === '',
  )
  if (options.head !== undefined && hasUnknownHead)
    await logger.warnOnce(
      `The service does not report the head commit; ${client.nameOf('matchHead')} is not checked.`,
    )
  const waiting = continued.map(({ target }) => target)
  const failures = readings.flatMap(({ observation, failure = [] }) =>
    observation === undefined ? failure : [],
  )
  if (waiting.length > 0) await reportPollErrors(failures, waiting, wait)
  const random = host.random()
  const delays = waiting.map(({ state, errors }) => {
    const delay = options.interval === 'auto' ? pollDelay(state, errors, random) : options.interval
    // The last poll for a missing pull request is at the end of its grace period.
    const rest = (state.missingSince ?? Infinity) + options.grace - wait.elapsed()
    return rest > 0 ? Math.min(delay, rest) : delay
  })
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
  { client, options: { maxErrors } }: Wait,
): Promise<void> {
  const errors = Math.max(...waiting.map(target => target.errors))
  const count = errors > 1 ? ` (${errors} failed polls in a row; the wait ends after ${maxErrors})` : ''
  for (const message of new Set(failures.map(failure => failure.message)))
    await client.logger.info(`${withPeriod(message)} Still waiting${count}.`)
}

/** Creates the error for a wait that a signal ended, with the commands that cancel the pull requests. */
export function interruptedWaitError(
  failure: MergeqError,
  waiting: readonly WaitTarget[],
  { settings }: ServiceClient,
): MergeqError {
  const pullRequests = waiting.map(({ request }) => request.values)
  const cancelCommands = commandLinesByQueue(['pr', 'cancel'], pullRequests, settings.commandLine)
  const isSeen = waiting.every(({ state }) => state.state !== undefined)
  const subject = waiting.length === 1 ? 'The pull request stays' : 'The pull requests stay'
  const note = isSeen ? `${subject} in the queue.` : 'Queued pull requests stay in the queue.'
  return extendError(
    failure,
    { hint: `To cancel, run:\n${cancelCommands.join('\n')}` },
    `${failure.message} Only the wait has ended; mergeq cancelled nothing. ${note}`,
  )
}
