// What a wait submits: each pull request, and again those that left the queue by a failure that does not count; and what it
// cancels of it. What follows from that is in machine.ts.
import { callOperation } from '../api/call.ts'
import {
  cancelPullRequest,
  getSubmittedPullRequest,
  submitPullRequest,
} from '../api/operations/pull-requests.ts'
import { tryRead } from '../api/reads/extra-reads.ts'
import { findHead, otherHead } from '../api/reads/head-commit.ts'
import { readTestRunOf } from '../api/reads/test-run.ts'
import { isOutdated } from '../api/service-clock.ts'
import { startWaitTime } from '../api/wait-time.ts'
import {
  failureOrThrow,
  isNotFound,
  isPassing,
  isPermanent,
  type MergeqError,
  toMergeqError,
} from '../base/errors.ts'
import { getString, type JsonObject } from '../base/json.ts'
import { describeResubmission } from '../domain/priorities.ts'
import { explainState, isSubmittedAgain, pauseBeforeAgain } from '../domain/reasons/reasons.ts'
import { stateOf } from '../domain/states.ts'
import { isOtherCommit } from '../values/commit.ts'
import { formatInstant } from '../values/format.ts'
import type { PullRequest } from '../values/pull-request.ts'
import { hasLeft, nameOfRecord } from './evidence.ts'
import { afterSubmission, beginAttempt, type SubmissionEvent } from './machine.ts'
import { giveUpLimit } from './poll.ts'
import { type Reading, readingOf } from './read-each.ts'
import type { SubmitOptions, Wait, WaitObserver } from './wait.ts'
import { type DuePullRequest, isDue, type Step, type TrackedPullRequest, type WaitEnd } from './wait-state.ts'

/** The record of a pull request from before a submission, and the speed of a sandbox. */
interface Current {
  readonly record?: JsonObject | undefined
  readonly sandboxSpeed?: number | undefined
}

/** A wait that submits its pull requests. */
interface SubmittingWait extends Wait {
  readonly submitOptions: SubmitOptions
}

/** The shortest pause against a sandbox, whose speed divides pauses, in milliseconds. */
const minSandboxPause = 1_000

/** Returns the function that submits the pull requests of a wait. */
export function createSubmitter(wait: SubmittingWait, observer: WaitObserver) {
  const { client, options, submitOptions, time, tried } = wait
  const { attempts, params } = submitOptions
  /** The last attempt of each pull request that was reported: what was certainly not made is tried again. */
  const reported = new Map<PullRequest, number>()

  /**
   * Submits the pull requests that are due, one after the other. Returns how each that it tried stands then, or its error if
   * nothing was sent: then a later round may try again. The error of an outage counts for the rest, too.
   */
  async function submitDue(
    all: readonly TrackedPullRequest[],
  ): Promise<ReadonlyMap<TrackedPullRequest, Reading<Step>>> {
    const now = time.elapsed()
    const due = all.filter(isDue).filter(({ phase }) => (phase.pause?.until ?? 0) <= now)
    const tries = new Map<TrackedPullRequest, Reading<Step>>()
    let outage: Reading<never> | undefined
    for (const tracked of due) {
      client.host.interrupted.throwIfAborted()
      if (!time.hasTime()) break
      const reading = outage ?? (await readingOf(() => submit(tracked)))
      tries.set(tracked, reading)
      if ('value' in reading) continue
      if (isPassing(reading.failure)) outage = reading
      else if (options.stopsOnError || isPermanent(reading.failure)) break
    }
    return tries
  }

  async function submit(tracked: DuePullRequest): Promise<Step> {
    const { pullRequest } = tracked
    try {
      const { failure, ...step } = await submitUnlessDone(tracked)
      tried.set(pullRequest, { sent: step.item.attempt.sent, failure })
      return step
    } catch (error) {
      const failed = toMergeqError(error)
      const failure = (await observer.explainFailure?.(failed, pullRequest)) ?? failed
      tried.set(pullRequest, { failure })
      const isLast = isPermanent(failure) || (options.stopsOnError && !isPassing(failure))
      if (isLast) await observer.reportUnfinished?.(tried)
      throw failure
    }
  }

  /**
   * Reads the record of a pull request, and submits it, unless that says otherwise. Returns how it stands then, with the record
   * that was read or with a new attempt, and the error that ended it.
   */
  async function submitUnlessDone(
    tracked: DuePullRequest,
  ): Promise<Step & { readonly failure?: MergeqError | undefined }> {
    const current = await readCurrent(tracked, wait)
    const { record } = current
    const withRecord = { ...tracked, record: record ?? tracked.record }
    const decision = await decide(tracked, current, wait)
    if ('event' in decision) {
      if (decision.told !== undefined) await observer.reportPause(decision.told)
      return afterSubmission(withRecord, decision.event, wait)
    }
    const isQueued = isInQueue(record)
    const begun = beginAttempt(withRecord, record, isQueued, wait)
    if (isQueued && attempts !== undefined) {
      await reportAttempt(begun, 'It was in the queue already.')
      const before = isSubmittedBefore(tracked) ? tracked.record : undefined
      return afterSubmission(begun, { type: 'in the queue', record, before }, wait)
    }
    // The time is over: it stays as it was before the reading.
    if (!time.hasTime()) return { item: tracked }
    await reportAttempt(begun, decision.reason)
    const event = await sendSubmission(begun, record, wait)
    const step = afterSubmission(begun, event, wait)
    if (isQueued && record !== undefined && step.end === undefined)
      await client.logger.info(describeResubmission(tracked.pullRequest, record, params))
    const isLast = event.type === 'refused' || (event.type === 'unanswered' && event.isLast)
    return { ...step, failure: isLast ? event.failure : undefined }
  }

  async function reportAttempt({ pullRequest, attempt }: DuePullRequest, reason: string): Promise<void> {
    const { number } = attempt
    if (attempts === undefined || reported.get(pullRequest) === number) return
    reported.set(pullRequest, number)
    await observer.reportAttempt(pullRequest, number, reason)
  }

  return submitDue
}

/** Whether this wait submitted it before, and it left the queue. */
const isSubmittedBefore = ({ attempt }: DuePullRequest): boolean => attempt.previous !== undefined

/**
 * Reads the record of a pull request, of one that left the queue with its timeline. There is none if the service does not
 * know it, and if it is older than the end of the attempt before: then it says nothing, but a merge.
 */
async function readCurrent(tracked: DuePullRequest, { client, limits }: Wait): Promise<Current> {
  const includeTimeline = isSubmittedBefore(tracked)
  const params = { ...tracked.pullRequest, ...(includeTimeline && { includeTimeline }) }
  try {
    const { response, sandboxSpeed } = await callOperation(client, getSubmittedPullRequest, params, {
      limits,
    })
    const [read] = response.records
    if (isOutdated(read, tracked.seen.newestChange) && stateOf(read) !== 'MERGED') return { sandboxSpeed }
    // That it has no timeline is known, too.
    const record = includeTimeline && read !== undefined ? { timeline: [], ...read } : read
    return { record, sandboxSpeed }
  } catch (error) {
    if (isNotFound(toMergeqError(error))) return {}
    throw error
  }
}

/**
 * Says why a pull request is submitted, or else what happens to it, and what is told of that: only one that has not merged,
 * may be submitted (again) and still has the head that is meant is submitted, and after its pause.
 */
async function decide(
  tracked: DuePullRequest,
  { record, sandboxSpeed }: Current,
  wait: SubmittingWait,
): Promise<
  { readonly event: SubmissionEvent; readonly told?: string | undefined } | { readonly reason: string }
> {
  const { attempt, pullRequest, phase } = tracked
  const { client, time } = wait
  if (stateOf(record) === 'MERGED') return { event: { type: 'merged before', record } }
  const why =
    isSubmittedBefore(tracked) && !isInQueue(record)
      ? await whyAgain(tracked, record, wait)
      : { reason: 'It was submitted.', pause: 0 }
  if (why === undefined) return { event: { type: 'not again', record } }
  const head = await findMovedHead(tracked, record, wait)
  if (head !== undefined) return { event: { type: 'head moved', head, note: 'Nothing was sent.' } }
  const after = nameOfRecord(record ?? {})
  if (why.pause === 0 || phase.pause?.after === after) return why
  const pause = sandboxSpeed === undefined ? why.pause : Math.max(why.pause / sandboxSpeed, minSandboxPause)
  const until = formatInstant(client.host.clock.now() + pause)
  if (pause >= time.remaining()) {
    const note = `The time limit is before the next attempt. Submit it again after ${until}`
    return { event: { type: 'not again', record, note } }
  }
  const next = `attempt ${attempt.number + 1} of ${wait.submitOptions.attempts}, at ${until}.`
  return {
    event: { type: 'pause', pause: { until: time.elapsed() + pause, after } },
    told: `#${pullRequest.pr}: ${why.reason} It is not in the queue until ${next}`,
  }
}

/**
 * Returns why a pull request is submitted again, and after which pause in milliseconds; undefined if its record does not
 * say that it left the queue by a failure after which that helps. What a person cancelled is never submitted again.
 */
async function whyAgain(
  { pullRequest, attempt }: DuePullRequest,
  record: JsonObject | undefined,
  { client, limits, submitOptions }: SubmittingWait,
): Promise<{ readonly reason: string; readonly pause: number } | undefined> {
  if (record === undefined) return undefined
  const isUnexplained = stateOf(record) === 'FAILED' && explainState(record).known === undefined
  const { run } = isUnexplained ? await readTestRunOf(record, pullRequest, client, limits) : {}
  if (!isSubmittedAgain(record, run, submitOptions.resubmit)) return undefined
  const explained = explainState(record, run)
  return { reason: explained.sentence ?? 'It failed.', pause: pauseBeforeAgain(explained, attempt.number) }
}

/** Returns the head of a pull request if it is not the expected commit, or not that of the attempt before. */
async function findMovedHead(
  { pullRequest, attempt }: DuePullRequest,
  record: JsonObject | undefined,
  { client, options }: Wait,
): Promise<string | undefined> {
  if (options.head === undefined && attempt.head === undefined) return undefined
  const found = await findHead(pullRequest, record, client)
  if (options.head !== undefined) return otherHead(options.head, found, pullRequest, client)
  const commit = 'commit' in found ? found.commit : getString(record, 'prSha')
  return isOtherCommit(commit, attempt.head) ? commit : undefined
}

/** Sends the submission of a pull request. Returns what came of it; throws if it is to be sent in a later round. */
async function sendSubmission(
  tracked: DuePullRequest,
  before: JsonObject | undefined,
  { client, limits, options, submitOptions, time }: SubmittingWait,
): Promise<SubmissionEvent> {
  const { pullRequest, attempt } = tracked
  const { clock } = client.host
  const startedAt = clock.now()
  // The head before the first submission may be that of a record that does not follow it.
  const head = options.head ?? (isSubmittedBefore(tracked) ? attempt.head : attempt.queuedHead)
  try {
    const values = { ...pullRequest, ...submitOptions.params }
    const sent = await callOperation(client, submitPullRequest, values, { limits, head })
    if (sent.wasQueued === true) return { type: 'in the queue', record: sent.response.records[0], before }
    return { type: 'accepted', before, sent: { from: sent.sentAt ?? startedAt, to: clock.now() } }
  } catch (error) {
    const failure = failureOrThrow(error)
    const { delivery, sentState, sentAt: from = startedAt, status } = failure.details
    if (failure.kind === 'stale')
      return { type: 'head moved', head: failure.details.head, note: 'It was not submitted.' }
    if (delivery === 'unknown') {
      const isLast = failure.kind !== 'unknown-outcome' || giveUpLimit(options.giveUpAfter, time, client) <= 0
      return { type: 'unanswered', before, sent: { from, to: clock.now() }, failure, isLast }
    }
    if (failure.kind === 'refused') {
      const { record } = await tryRead(client, getSubmittedPullRequest, pullRequest, { limits })
      if (stateOf(record) === 'MERGED') return { type: 'merged before', record }
    }
    // What was certainly not applied is submitted in a later round; what was replayed already is not.
    const isUnsent = sentState === 'not-sent' || (status === 429 && sentState === undefined)
    if (isPassing(failure) && !isUnsent) return { type: 'refused', failure }
    throw failure
  }
}

const isInQueue = (record: JsonObject | undefined): boolean => record !== undefined && !hasLeft(record)

/** The time of the cancellation of an outdated submission, in milliseconds, also when that of the wait is over. */
const cancellationTime = 30_000

/** Cancels a submission whose head moved. Returns how the wait for it ends. */
export async function cancelSubmission(
  tracked: TrackedPullRequest,
  { client, errors }: Wait,
): Promise<WaitEnd> {
  const time = startWaitTime(cancellationTime, client.host.clock)
  const { pullRequest } = tracked
  const tried = await readingOf(() => callOperation({ ...client, time }, cancelPullRequest, pullRequest))
  return 'failure' in tried
    ? { outcome: 'error', failure: errors.mayStillBeQueued(tracked, tried.failure) }
    : { outcome: 'stale', note: 'Its submission was cancelled.' }
}
