// The loop of a wait for pull requests: it submits, reads and reports. What follows from that is in machine.ts.

import { isPassing, toMergeqError } from '../base/errors.ts'
import { getString } from '../base/json.ts'
import { mergeDoubtTime } from '../domain/reasons/reasons.ts'
import { describeBase, isStacked } from '../domain/stacks.ts'
import { isKnownState, kindOfOutcome, queueStateMessage, stateOf } from '../domain/states.ts'
import { formatDuration, joinTruncated, shorten } from '../values/format.ts'
import { queueName } from '../values/repository.ts'
import { afterOutage, afterReading, endWait } from './machine.ts'
import { automaticDelay, backOff, giveUpLimit, poll } from './poll.ts'
import type { Reading } from './read-each.ts'
import { readPullRequests } from './readings.ts'
import { interruptedWaitError } from './results.ts'
import type { createSubmitter } from './submissions.ts'
import type { Wait, WaitObserver } from './wait.ts'
import { absenceOf, isDue, type Step, type TrackedPullRequest, type WaitObservation } from './wait-state.ts'

/** What a round brought of a pull request. */
interface RoundReading {
  /** How it stands after a try to submit it; undefined if there was none. */
  readonly tried: Step | undefined
  readonly observation?: WaitObservation | undefined
}

/**
 * Submits pull requests, if the wait does, and waits until every one has reached the requested state or a final state
 * (docs/reference/cli.md, "Waiting"): in one poll, so that a submission that was certainly not made is repeated like a
 * reading that failed. With `stopsOnError` the first end without success ends the whole wait. Throws an `interrupted`
 * error after a signal; the pull requests stay in the queue.
 */
export async function waitForPullRequests(
  all: readonly TrackedPullRequest[],
  wait: Wait,
  observer: WaitObserver,
): Promise<void> {
  const { options, client, time, submitOptions } = wait
  const { clock, interrupted } = client.host
  const submitDue =
    submitOptions && (await import('./submissions.ts')).createSubmitter({ ...wait, submitOptions }, observer)
  let waiting = all
  let rounds = 0
  try {
    await poll<TrackedPullRequest, RoundReading, Step>({
      items: all,
      read(items) {
        rounds++
        return readRound(items, wait, submitDue)
      },
      judge(before, { tried, observation }, lasted) {
        const step = tried ?? { item: afterOutage(before, lasted) }
        if (observation === undefined || isDue(step.item)) return step
        return afterReading(step.item, observation, rounds === 1, wait)
      },
      end: (item, told) => endWait(item, told, wait),
      schedule: (tracked, failures) => delayUntilNext(tracked, failures, wait),
      limit: time,
      giveUpAfter: giveUpLimit(options.giveUpAfter, time, client),
      hasAnswered: all.some(({ attempt }) => attempt.sent !== undefined),
      host: client.host,
      async onChange(steps) {
        waiting = steps.flatMap(({ item, end }) => (end === undefined ? item : []))
        return reportRound(steps, wait, observer)
      },
      onOutage: (text, isOver) => observer.reportOutage(text, isOver),
      during: rounds => observer.during?.(() => waiting, rounds) ?? rounds(),
      sleep: delay => observer.sleep?.(delay, waiting) ?? clock.sleep(delay, interrupted),
    })
  } catch (error) {
    const failure = toMergeqError(error)
    if (failure.kind !== 'interrupted') throw failure
    // Where a change was in progress, the error names it.
    const isOfChange = failure.details.delivery !== undefined
    const stopped = isOfChange ? failure : interruptedWaitError(failure, waiting, wait)
    throw (await observer.interrupted?.(stopped, waiting)) ?? stopped
  }
}

/** Submits what is due, and reads it and the others. Of what was neither submitted nor read there is nothing. */
async function readRound(
  items: readonly TrackedPullRequest[],
  wait: Wait,
  submitDue: ReturnType<typeof createSubmitter> | undefined,
): Promise<readonly (Reading<RoundReading> | undefined)[]> {
  const tries = await submitDue?.(items)
  const stepOf = (item: TrackedPullRequest): Reading<Step> => tries?.get(item) ?? { value: { item } }
  const readable = items.flatMap(before => {
    const tried = stepOf(before)
    if ('failure' in tried || tried.value.end !== undefined || isDue(tried.value.item)) return []
    return tried.value.item
  })
  const readings = await readPullRequests(readable, wait)
  return items.map(before => {
    const step = stepOf(before)
    if ('failure' in step) return step
    const tried = tries?.has(before) === true ? step.value : undefined
    const { item } = step.value
    const reading = isDue(item) ? undefined : readings.get(item)
    if (reading === undefined) return tried && { value: { tried } }
    if ('value' in reading) return { value: { tried, observation: reading.value } }
    if (tried === undefined) return reading
    // The submission must not be forgotten; the next round repeats the reading.
    const { failure } = reading
    if (isPassing(failure)) return { value: { tried } }
    return { value: { tried: endWait(tried.item, { outcome: 'error', failure }, wait) } }
  })
}

/** Returns the time until the next round for a pull request, `failures` readings of which failed in a row. */
function delayUntilNext(
  tracked: TrackedPullRequest,
  failures: number,
  { options, client, time }: Wait,
): number {
  const { phase, seen, age = 0 } = tracked
  if (phase.name === 'due' && failures === 0) return Math.max(0, (phase.pause?.until ?? 0) - time.elapsed())
  const usual =
    options.interval === 'auto'
      ? backOff(automaticDelay(seen), failures, client.host.random())
      : options.interval
  // Waits that share a reading share the next one, too.
  const delay = failures === 0 ? Math.max(0, usual - age) : usual
  // The last reading is when the grace period of a missing pull request ends, or the doubt about a merge.
  const graceEnd = (absenceOf(tracked)?.since ?? Infinity) + options.grace
  const doubtEnd = phase.name === 'doubtful' ? phase.since + mergeDoubtTime : Infinity
  const rest = Math.min(graceEnd, doubtEnd) - time.elapsed()
  return rest > 0 ? Math.min(delay, rest) : delay
}

/** Reports what a round brought. Resolves to whether the wait goes on. */
async function reportRound(steps: readonly Step[], wait: Wait, observer: WaitObserver): Promise<boolean> {
  const { options, client } = wait
  const { logger, nameOf } = client
  const cancel = async (item: TrackedPullRequest) =>
    (await import('./submissions.ts')).cancelSubmission(item, wait)
  for (const step of steps) {
    const { item, change, end, mustBeCancelled } = step
    await reportRemarks(step, wait)
    if (change !== undefined && !isKnownState(change.to))
      await logger.warnOnce(`Unknown state ${shorten(change.to, 200)}; still waiting.`)
    if (change !== undefined)
      await observer.reportChange(item, change, end !== undefined || options.waitLimit === 0)
    if (end !== undefined) await observer.reportEnd(item, mustBeCancelled ? await cancel(item) : end)
  }
  const missing = steps.flatMap(({ item, isNewlyAbsent }) =>
    isNewlyAbsent === true ? `#${item.pullRequest.pr}` : [],
  )
  if (missing.length > 0 && options.waitLimit > 0) {
    const { grace, waitLimit } = options
    const name = nameOf(grace < waitLimit ? 'grace' : 'timeout')
    await logger.info(
      `${joinTruncated(missing)} ${missing.length === 1 ? 'is' : 'are'} not in the queue yet; waiting up to ${formatDuration(Math.min(grace, waitLimit))} (${name}).`,
    )
  }
  const hasUnknownHead = steps.some(
    ({ item: { record } }) => record !== undefined && (getString(record, 'prSha') ?? '') === '',
  )
  if (options.head !== undefined && hasUnknownHead)
    await logger.warnOnce(
      `The service does not report the head commit; ${nameOf('matchHead')} is not checked.`,
    )
  const isUnsuccessful = ({ end }: Step) =>
    end !== undefined && (end.outcome === 'error' || kindOfOutcome[end.outcome] !== 'ok')
  return !(options.stopsOnError && steps.some(isUnsuccessful))
}

/** Says once what the queue of a pull request, and its base, mean for it. */
async function reportRemarks(
  { item: { pullRequest, queue, record }, end }: Step,
  { client: { logger }, submitOptions }: Wait,
): Promise<void> {
  const message = end === undefined ? queueStateMessage(stateOf(queue)) : undefined
  if (message !== undefined)
    await logger.warnOnce(message.replace('The queue', `The queue for ${queueName(pullRequest)}`))
  const { pr, targetBranch } = pullRequest
  const isTold = submitOptions !== undefined || isStacked(record, targetBranch)
  const base = isTold ? describeBase(pr, record, targetBranch) : undefined
  if (base !== undefined) await logger.infoOnce(base)
}
