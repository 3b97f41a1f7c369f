// What a wait that submits pull requests concludes from its submissions.
import { callOperation } from '../api/call.ts'
import { cancelPullRequest } from '../api/operations/pull-requests.ts'
import type { ServiceClient } from '../api/service-client.ts'
import { outcomeOfRecord, stateOf } from '../domain/states.ts'
import type { PullRequestJudgement, WaitEnd, WaitOptions } from '../domain/wait-state.ts'
import { startWaitTime } from '../domain/wait-time.ts'
import { failureOrThrow, isPermanent, MergeqError, withPeriod } from '../errors.ts'
import { getString, type JsonObject } from '../json.ts'
import type { Attempt, Wait, WaitTarget } from './wait-target.ts'

/** What a wait for a certain head says when it ends before the pull request does. */
export const unwatchedNote = 'Its head is no longer watched.'

/** Whether an attempt has ended, and the next one has not begun: the pull request is not in the queue. */
export const isBetweenAttempts = ({ attempt }: WaitTarget): boolean =>
  attempt?.isDue === true && attempt.lastEnd !== undefined

/** Whether a pull request whose attempt ended so may be submitted again. */
export const maySubmitAgain = (
  { number }: Attempt,
  { outcome }: WaitEnd,
  { attempts = 1, waitLimit }: WaitOptions,
): boolean => number < attempts && waitLimit > 0 && (outcome === 'failed' || outcome === 'cancelled')

/**
 * Returns what a reading says of a submission: the first that shows it settles whether it was made, unless the pull
 * request was in the queue before. The head that was submitted is kept.
 */
export function attemptAfter(
  { attempt, state: { recordBeforeSubmit } }: WaitTarget,
  { showsSubmission, hasHead, state }: PullRequestJudgement,
  record: JsonObject | undefined,
): Attempt | undefined {
  if (attempt === undefined || state.state === undefined) return attempt
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
  item: WaitTarget,
  end: WaitEnd,
  { client, options }: Pick<Wait, 'client' | 'options'>,
): Promise<{ readonly item: WaitTarget; readonly end: WaitEnd }> {
  const { attempt } = item
  if (attempt === undefined) return { item, end }
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
  if (attempt.submitted === true) return { item, end: await endAfterSubmission(item, end, client, options) }
  return { item, end }
}

/** Whether an attempt could not be made, or could not be read. */
const isWithoutResult = ({ attempt }: WaitTarget, { outcome, failure }: WaitEnd): boolean =>
  failure === undefined
    ? outcome === 'timed-out' && attempt?.isDue === true
    : !isPermanent(failure) && failure.kind !== 'unknown-outcome'

/** An attempt before it gives the result, with what became of this one. */
function endOfLastAttempt(item: WaitTarget, { failure }: WaitEnd, lastEnd: WaitEnd) {
  const { record, state, attempt } = item
  const number = (attempt?.number ?? 0) + (attempt?.isDue === true ? 1 : 0)
  const note = failure === undefined ? {} : { note: `Attempt ${number}: ${failure.message}` }
  const last = { ...item, state: { ...state, state: stateOf(record) || state.state } }
  return { item: last, end: { ...lastEnd, ...note } }
}

/** The end of a wait before the first submission. */
function endBeforeSubmission({ request }: WaitTarget, end: WaitEnd): WaitEnd {
  if (end.outcome === 'pending') return { ...end, isSkipped: true }
  if (end.outcome !== 'timed-out') return end
  const message = `Timed out before #${request.values.pr} was submitted.`
  return { outcome: 'error', failure: new MergeqError('timed-out', message) }
}

/** The end of a pull request whose submission got no response and did not appear. */
const notSubmitted = ({ request }: WaitTarget): WaitEnd => ({
  outcome: 'error',
  failure: new MergeqError(
    'unavailable',
    `#${request.values.pr} was not submitted: the request got no response.`,
    { delivery: 'not-applied', hint: 'It is safe to try again.' },
  ),
})

async function endAfterSubmission(
  item: WaitTarget,
  end: WaitEnd,
  client: ServiceClient,
  { head }: WaitOptions,
): Promise<WaitEnd> {
  const { values } = item.request
  const { outcome, failure } = end
  if (outcome === 'stale') return cancelOutdated(item, end, client)
  if (failure?.kind !== 'unavailable') return end
  // The exit code 7 would mean that nothing was changed.
  const [wait = ''] = client.advice.toWait([values])
  const unwatched = head === undefined ? '' : ` ${unwatchedNote}`
  const message = `#${values.pr} was submitted, but its result is unknown. ${failure.message}${unwatched}`
  const hint = `To continue waiting, run: ${wait}`
  return { outcome: 'timed-out', failure: new MergeqError('timed-out', message, { hint }) }
}

/** The time of the cancellation of an outdated submission, in milliseconds, also when that of the wait is over. */
const cancellationTime = 30_000

/**
 * Cancels a submission of this wait whose head moved, and says what became of it: what is not confirmed as cancelled may
 * merge a commit that was not meant.
 */
async function cancelOutdated(
  { request, state, record }: WaitTarget,
  end: WaitEnd,
  client: ServiceClient,
): Promise<WaitEnd> {
  const { repo, targetBranch, pr } = request.values
  const wasQueued = state.recordBeforeSubmit?.isCurrentlySubmittedToQueue === true
  if (state.submission === undefined || wasQueued || outcomeOfRecord(record ?? {}) !== 'pending') return end
  const time = startWaitTime(cancellationTime, client.host.clock)
  try {
    await callOperation({ ...client, time }, cancelPullRequest, { repo, targetBranch, pr })
    return { ...end, note: 'Its submission was cancelled.' }
  } catch (error) {
    const { message } = failureOrThrow(error)
    const [cancel] = client.advice.toCancel([{ repo, targetBranch, pr }])
    const failure = new MergeqError(
      'unknown-outcome',
      `The head of #${pr} moved, but its submission may still be in the queue: ${withPeriod(message)}`,
      {
        delivery: 'unknown',
        hint: `To cancel it, run: ${cancel}`,
      },
    )
    return { outcome: 'error', failure }
  }
}
