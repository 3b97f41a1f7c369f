// What a wait submits: each pull request, and again those that left the queue by a failure that does not count.
import { callOperation } from '../api/call.ts'
import { tryRead } from '../api/extra-reads.ts'
import { findHead, findOtherHead } from '../api/head-commit.ts'
import { getSubmittedPullRequest, submitPullRequest } from '../api/operations/pull-requests.ts'
import { readTestRunOf } from '../api/test-run-reads.ts'
import { formatInstant } from '../domain/format.ts'
import { describeResubmission } from '../domain/priorities.ts'
import { explainState, isSubmittedAgain, pauseBeforeAgain } from '../domain/reasons.ts'
import { outcomeOfRecord, stateOf } from '../domain/states.ts'
import { isOtherCommit, isOutdated, type Judgement, stateInQueue } from '../domain/wait-state.ts'
import {
  failureOrThrow,
  isNotFound,
  isPassing,
  isPermanent,
  type MergeqError,
  toMergeqError,
} from '../errors.ts'
import { getString, type JsonObject } from '../json.ts'
import { giveUpLimit, type Reading, readingOf } from './poll.ts'
import type { Submission, TrackedPullRequest, Wait, WaitObserver } from './wait.ts'

/**
 * Submits the pull requests that are due, one after the other. Returns how each that it tried stands then, or its error if
 * nothing was sent: then a later round may try again. The error of an outage counts for the rest, too.
 */
export async function submitDue(
  all: readonly TrackedPullRequest[],
  submission: Submission,
  wait: Wait,
  observer: WaitObserver,
): Promise<ReadonlyMap<TrackedPullRequest, Reading<Judgement<TrackedPullRequest>>>> {
  const { client, time, options } = wait
  const now = time.elapsed()
  const due = all.filter(({ attempt: { isDue, notBefore = 0 } }) => isDue && notBefore <= now)
  const readings = new Map<TrackedPullRequest, Reading<Judgement<TrackedPullRequest>>>()
  let outage: Reading<never> | undefined
  for (const tracked of due) {
    client.host.interrupted.throwIfAborted()
    if (!time.hasTime()) break
    const reading = outage ?? (await readingOf(() => submit(tracked, submission, wait, observer)))
    readings.set(tracked, reading)
    if ('value' in reading) continue
    if (isPassing(reading.failure)) outage = reading
    else if (options.stopsOnError || isPermanent(reading.failure)) break
  }
  return readings
}

async function submit(
  tracked: TrackedPullRequest,
  submission: Submission,
  wait: Wait,
  observer: WaitObserver,
): Promise<Judgement<TrackedPullRequest>> {
  const { pullRequest } = tracked
  try {
    const judgement = await submitUnlessDone(tracked, submission, wait, observer)
    wait.submitted.set(pullRequest, { value: judgement })
    return judgement
  } catch (error) {
    const failure = await observer.explainFailure(toMergeqError(error), pullRequest)
    wait.submitted.set(pullRequest, { failure })
    const isLast = isPermanent(failure) || (wait.options.stopsOnError && !isPassing(failure))
    if (isLast) await observer.reportUnfinished(wait.submitted)
    throw failure
  }
}

/**
 * What happens before each submission: the record is read, and only a pull request that has not merged, is not in the
 * queue, may be submitted (again) and still has the head that is meant is submitted.
 */
async function submitUnlessDone(
  tracked: TrackedPullRequest,
  submission: Submission,
  wait: Wait,
  observer: WaitObserver,
): Promise<Judgement<TrackedPullRequest>> {
  const { pullRequest, attempt } = tracked
  const isAgain = attempt.lastEnd !== undefined
  const { record: read, sandboxSpeed } = await readCurrent(tracked, isAgain, wait)
  // What is older than the end of the attempt before says nothing, but a merge.
  const record = isOutdated(read, tracked.state) && stateOf(read) !== 'MERGED' ? undefined : read
  const item = {
    ...tracked,
    record: record ?? tracked.record,
    attempt: { ...attempt, isDue: false, notBefore: undefined },
  }
  if (stateOf(record) === 'MERGED') return mergedAlready(item, wait)
  const isQueued = isInQueue(record)
  const why =
    isAgain && !isQueued
      ? await whySubmitAgain(tracked, record, submission, wait)
      : { reason: 'It was submitted.', pause: 0 }
  if (why === undefined) return endedFor(item, record)
  const other = await findMovedHead(tracked, record, wait)
  if (other !== undefined) {
    // What is in the queue now, at another head, is not a submission of this wait.
    const moved = { ...item, state: {}, record: { ...item.record, prSha: other } }
    return { item: moved, end: { outcome: 'stale', note: 'Nothing was sent.' } }
  }
  if (why.pause > 0 && attempt.notBefore === undefined) {
    const pause = sandboxSpeed === undefined ? why.pause : Math.max(why.pause / sandboxSpeed, minSandboxPause)
    return pauseBefore({ ...tracked, record }, { ...why, pause }, wait, observer)
  }
  const number = attempt.number + 1
  const head = attempt.head ?? (isQueued ? getString(record, 'prSha') : undefined)
  const next = { ...item, attempt: { ...item.attempt, number, unknown: undefined, head } }
  if (isQueued && submission.attempts !== undefined) {
    await reportAttempt(next, 'It was in the queue already.', wait, observer)
    return { item: { ...next, state: stateInQueue(record, isAgain ? tracked.record : undefined) } }
  }
  if (!wait.time.hasTime()) return { item: tracked }
  await reportAttempt(next, why.reason, wait, observer)
  const sent = await send(next, record, submission, wait)
  if (isQueued && record !== undefined && sent.end === undefined)
    await wait.client.logger.info(describeResubmission(pullRequest.pr, record, submission.params))
  return sent
}

async function reportAttempt(
  { pullRequest, attempt: { number } }: TrackedPullRequest,
  reason: string,
  { submission, reportedAttempts }: Wait,
  observer: WaitObserver,
): Promise<void> {
  if (submission?.attempts === undefined || reportedAttempts.get(pullRequest) === number) return
  reportedAttempts.set(pullRequest, number)
  await observer.reportAttempt(pullRequest, number, reason)
}

/** Reads the record of a pull request, of one that left the queue with its timeline, and the speed of a sandbox. */
async function readCurrent(
  { pullRequest }: TrackedPullRequest,
  includeTimeline: boolean,
  { client, limits }: Wait,
): Promise<{ readonly record?: JsonObject | undefined; readonly sandboxSpeed?: number | undefined }> {
  const params = { ...pullRequest, ...(includeTimeline && { includeTimeline }) }
  try {
    const { response, sandboxSpeed } = await callOperation(client, getSubmittedPullRequest, params, {
      limits,
    })
    return { record: response.records[0], sandboxSpeed }
  } catch (error) {
    const failure = toMergeqError(error)
    if (isNotFound(failure)) return {}
    throw failure
  }
}

const isInQueue = (record: JsonObject | undefined): boolean =>
  record !== undefined &&
  record.isCurrentlySubmittedToQueue !== false &&
  outcomeOfRecord(record) === 'pending'

/** The end of a pull request that had merged before it was submitted, perhaps at another head than the one that is meant. */
const mergedAlready = (
  item: TrackedPullRequest,
  { options }: Pick<Wait, 'options'>,
): Judgement<TrackedPullRequest> => ({
  item: { ...item, state: { state: 'MERGED' } },
  end: isOtherCommit(getString(item.record, 'prSha'), options.head ?? item.attempt.head)
    ? { outcome: 'stale' }
    : { outcome: 'merged', isFirstReading: item.attempt.lastEnd === undefined },
})

/**
 * Returns why a pull request is submitted again, and after which pause in milliseconds; undefined if its record does not
 * say that it left the queue by a failure after which that helps. What a person cancelled is never submitted again.
 */
async function whySubmitAgain(
  { pullRequest, attempt }: TrackedPullRequest,
  record: JsonObject | undefined,
  { resubmit }: Submission,
  { client, limits }: Wait,
): Promise<{ readonly reason: string; readonly pause: number } | undefined> {
  if (record === undefined) return undefined
  const isUnexplained = stateOf(record) === 'FAILED' && explainState(record).known === undefined
  const { run } = isUnexplained ? await readTestRunOf(record, pullRequest, client, limits) : {}
  if (!isSubmittedAgain(record, run, resubmit)) return undefined
  const explained = explainState(record, run)
  return { reason: explained.sentence ?? 'It failed.', pause: pauseBeforeAgain(explained, attempt.number) }
}

/** The end of a pull request that is not submitted again: as its record says, which may be newer than its attempt. */
function endedFor(item: TrackedPullRequest, record: JsonObject | undefined): Judgement<TrackedPullRequest> {
  const outcome = outcomeOfRecord(record ?? {})
  const hasEnded = outcome === 'failed' || outcome === 'cancelled'
  if (!hasEnded) return { item, end: item.attempt.lastEnd }
  return { item: { ...item, state: { ...item.state, state: stateOf(record) } }, end: { outcome } }
}

/** Returns the head of a pull request if it is not the expected commit, or not that of the attempt before. */
async function findMovedHead(
  { pullRequest, attempt }: TrackedPullRequest,
  record: JsonObject | undefined,
  { client, options }: Wait,
): Promise<string | undefined> {
  if (options.head !== undefined) return findOtherHead(pullRequest, record, options.head, client)
  if (attempt.head === undefined) return undefined
  const found = await findHead(pullRequest, record, client)
  const commit = 'commit' in found ? found.commit : getString(record, 'prSha')
  return isOtherCommit(commit, attempt.head) ? commit : undefined
}

/** The shortest pause against a sandbox, whose speed divides pauses, in milliseconds. */
const minSandboxPause = 1_000

/** Lets a pause begin before the next attempt; one that would end after the time limit ends the wait. */
async function pauseBefore(
  tracked: TrackedPullRequest,
  { pause, reason }: { readonly pause: number; readonly reason: string },
  { client, time }: Wait,
  observer: WaitObserver,
): Promise<Judgement<TrackedPullRequest>> {
  const { attempt, pullRequest } = tracked
  const until = formatInstant(client.host.clock.now() + pause)
  if (pause >= time.remaining()) {
    const { item, end } = endedFor(tracked, tracked.record)
    if (end === undefined) return { item }
    const note = `The time limit is before the next attempt. Submit it again after ${until}`
    return { item: { ...item, attempt: { ...attempt, isDue: false } }, end: { ...end, note } }
  }
  await observer.reportPause(pullRequest, attempt.number + 1, reason, until)
  return { item: { ...tracked, attempt: { ...attempt, notBefore: time.elapsed() + pause } } }
}

/** Sends the submission of a pull request, whose attempt says whether an earlier one was made. */
async function send(
  item: TrackedPullRequest,
  recordBeforeSubmit: JsonObject | undefined,
  { params }: Submission,
  { client, limits, options, time }: Wait,
): Promise<Judgement<TrackedPullRequest>> {
  const { pullRequest, attempt } = item
  const { clock } = client.host
  const startedAt = clock.now()
  const sentItem = (from = startedAt, unknown?: MergeqError): TrackedPullRequest => ({
    ...item,
    state: {
      recordBeforeSubmit,
      submission: { from, to: clock.now(), isUncertain: unknown !== undefined },
      ...(unknown?.details.mayBeVisible === true && { mayBeVisible: true }),
    },
    // A submission of an earlier attempt stays one.
    attempt: { ...attempt, submitted: attempt.submitted || (unknown === undefined ? true : null), unknown },
  })
  try {
    const values = { ...pullRequest, ...params }
    const head = options.head ?? attempt.head
    const { sentAt, wasQueued, response } = await callOperation(client, submitPullRequest, values, {
      limits,
      head,
    })
    if (wasQueued !== true) return { item: sentItem(sentAt) }
    return { item: { ...item, state: stateInQueue(response.records[0], recordBeforeSubmit) } }
  } catch (error) {
    const failure = failureOrThrow(error)
    const { delivery, sentState, sentAt, status } = failure.details
    const end = { outcome: 'error', failure } as const
    if (failure.kind === 'stale') {
      const moved = { ...item, state: {}, record: { ...item.record, prSha: failure.details.head } }
      return { item: moved, end: { outcome: 'stale', note: 'It was not submitted.' } }
    }
    if (delivery === 'unknown') {
      const goesOn = failure.kind === 'unknown-outcome' && giveUpLimit(options.giveUpAfter, time, client) > 0
      return { item: sentItem(sentAt, failure), end: goesOn ? undefined : end }
    }
    if (failure.kind === 'refused') {
      const { record } = await tryRead(client, getSubmittedPullRequest, pullRequest, { limits })
      if (stateOf(record) === 'MERGED') return mergedAlready({ ...item, record }, { options })
    }
    // What was certainly not applied is submitted in a later round; what was replayed already is not.
    const isUnsent = sentState === 'not-sent' || (status === 429 && sentState === undefined)
    if (isPassing(failure) && !isUnsent) return { item, end }
    throw failure
  }
}
