// What a wait that submits pull requests concludes from its submissions.
import { callOperation } from '../api/call.ts'
import { cancelPullRequest } from '../api/operations/pull-requests.ts'
import { outcomeOfRecord, stateOf } from '../domain/states.ts'
import type { PullRequestJudgement, WaitEnd } from '../domain/wait-state.ts'
import { startWaitTime } from '../domain/wait-time.ts'
import { failureOrThrow, isPermanent, MergeqError, withPeriod } from '../errors.ts'
import { getString, type JsonObject } from '../json.ts'
import { unwatchedNote } from './results.ts'
import type { Attempt, TrackedPullRequest, Wait } from './wait.ts'

/** Whether a pull request whose attempt ended so may be submitted again. */
export function maySubmitAgain(
  { attempt }: TrackedPullRequest,
  { outcome }: WaitEnd,
  { submission, options }: Wait,
): boolean {
  const hasFailed = outcome === 'failed' || outcome === 'cancelled'
  const isOpen = submission !== undefined && attempt.number < (submission.attempts ?? 1)
  return hasFailed && isOpen && options.waitLimit > 0
}

/**
 * Returns what a reading says of a submission: the first that shows it settles whether it was made, unless the pull
 * request was in the queue before. The head that was submitted is kept.
 */
export function attemptAfter(
  { attempt, state: { recordBeforeSubmit } }: TrackedPullRequest,
  { showsSubmission, hasHead, state }: PullRequestJudgement,
  record: JsonObject | undefined,
): Attempt {
  if (state.state === undefined) return attempt
  const wasQueued = recordBeforeSubmit?.isCurrentlySubmittedToQueue === true
  const isShown = showsSubmission === true && !wasQueued
  return {
    ...attempt,
    ...(isShown && { submitted: true, unknown: undefined }),
    head: attempt.head ?? (hasHead === true ? getString(record, 'prSha') : undefined),
  }
}

/** Says how the wait for a pull request ends, given what is known of its submissions. */
export async function concludeAttempt(
  item: TrackedPullRequest,
  end: WaitEnd,
  wait: Wait,
): Promise<{ readonly item: TrackedPullRequest; readonly end: WaitEnd }> {
  if (wait.submission === undefined) return { item, end }
  const { attempt } = item
  const { lastEnd, unknown } = attempt
  if (unknown !== undefined) {
    // It did not appear within the grace period, and no reading showed anything else.
    const isAbsent = end.failure?.kind === 'not-found' && item.state.mayBeVisible !== true
    if (!isAbsent)
      return ['timed-out', 'pending', 'error'].includes(end.outcome)
        ? { item, end: { outcome: 'error', failure: unknown } }
        : { item, end }
    return lastEnd === undefined
      ? { item: { ...item, attempt: { ...attempt, submitted: false } }, end: notSubmitted(item) }
      : endOfLastAttempt(item, notSubmitted(item), lastEnd)
  }
  if (lastEnd !== undefined && isWithoutResult(item, end)) return endOfLastAttempt(item, end, lastEnd)
  if (attempt.isDue) return { item, end: endBeforeSubmission(item, end) }
  if (attempt.submitted === true) return { item, end: await endAfterSubmission(item, end, wait) }
  return { item, end }
}

/** Whether an attempt could not be made, or could not be read. */
const isWithoutResult = ({ attempt }: TrackedPullRequest, { outcome, failure }: WaitEnd): boolean =>
  failure === undefined ? outcome === 'timed-out' && attempt.isDue : !isPermanent(failure)

/** An attempt before it gives the result, with what became of this one. */
function endOfLastAttempt(item: TrackedPullRequest, { failure }: WaitEnd, lastEnd: WaitEnd) {
  const { state, attempt } = item
  const record = attempt.lastRecord
  const number = attempt.number + (attempt.isDue ? 1 : 0)
  const note = failure === undefined ? {} : { note: `Attempt ${number}: ${failure.message}` }
  const last = { ...item, record, state: { ...state, state: stateOf(record) || undefined } }
  return { item: last, end: { ...lastEnd, ...note } }
}

/** The end of a wait before the first submission. */
function endBeforeSubmission({ pullRequest: { pr } }: TrackedPullRequest, end: WaitEnd): WaitEnd {
  if (end.outcome === 'pending') return { ...end, isSkipped: true }
  if (end.outcome !== 'timed-out') return end
  const message = `Timed out before #${pr} was submitted.`
  return { outcome: 'error', failure: new MergeqError('timed-out', message) }
}

/** The end of a pull request whose submission got no response and did not appear. */
const notSubmitted = ({ pullRequest: { pr } }: TrackedPullRequest): WaitEnd => ({
  outcome: 'error',
  failure: new MergeqError('unavailable', `#${pr} was not submitted: the request got no response.`, {
    delivery: 'not-applied',
    hint: 'It is safe to try again.',
  }),
})

async function endAfterSubmission(item: TrackedPullRequest, end: WaitEnd, wait: Wait): Promise<WaitEnd> {
  const { pullRequest } = item
  const { outcome, failure } = end
  if (outcome === 'stale') return cancelOutdated(item, end, wait)
  if (failure?.kind !== 'unavailable') return end
  // The exit code 7 would mean that nothing was changed.
  const [command = ''] = wait.client.advice.toWait([pullRequest])
  const unwatched = wait.options.head === undefined ? '' : ` ${unwatchedNote}`
  const message = `#${pullRequest.pr} was submitted, but its result is unknown. ${failure.message}${unwatched}`
  const hint = `To continue waiting, run: ${command}`
  return { outcome: 'timed-out', failure: new MergeqError('timed-out', message, { hint }) }
}

/** The time of the cancellation of an outdated submission, in milliseconds, also when that of the wait is over. */
const cancellationTime = 30_000

/**
 * Cancels a submission of this wait whose head moved, and says what became of it: what is not confirmed as cancelled may
 * merge a commit that was not meant.
 */
async function cancelOutdated(
  { pullRequest, state, record }: TrackedPullRequest,
  end: WaitEnd,
  { client }: Wait,
): Promise<WaitEnd> {
  const wasQueued = state.recordBeforeSubmit?.isCurrentlySubmittedToQueue === true
  if (state.submission === undefined || wasQueued || outcomeOfRecord(record ?? {}) !== 'pending') return end
  const time = startWaitTime(cancellationTime, client.host.clock)
  try {
    await callOperation({ ...client, time }, cancelPullRequest, pullRequest)
    return { ...end, note: 'Its submission was cancelled.' }
  } catch (error) {
    const { message } = failureOrThrow(error)
    const [cancel] = client.advice.toCancel([pullRequest])
    const failure = new MergeqError(
      'unknown-outcome',
      `The head of #${pullRequest.pr} moved, but its submission may still be in the queue: ${withPeriod(message)}`,
      { delivery: 'unknown', hint: `To cancel it, run: ${cancel}` },
    )
    return { outcome: 'error', failure }
  }
}
