// What a wait that submits pull requests concludes from its submissions.
import { callOperation } from '../api/call.ts'
import { cancelPullRequest } from '../api/operations/pull-requests.ts'
import type { ServiceClient } from '../api/service-client.ts'
import { outcomeOfRecord } from '../domain/states.ts'
import type { WaitEnd, WaitOptions, WaitState } from '../domain/wait-state.ts'
import { failureOrThrow, MergeqError, withPeriod } from '../errors.ts'
import { getString, type JsonObject } from '../json.ts'
import type { Attempt, WaitTarget } from './readings.ts'

/** Whether a pull request whose attempt ended so may be submitted again. */
export const maySubmitAgain = (
  { number }: Attempt,
  { outcome }: WaitEnd,
  { attempts = 1, waitLimit }: WaitOptions,
): boolean => number < attempts && waitLimit > 0 && (outcome === 'failed' || outcome === 'cancelled')

/**
 * Returns what a reading says of a submission: the first that shows it settles whether it was made. A pull request that
 * has merged may have merged before.
 */
export function attemptAfter(
  { attempt, state: { recordBeforeSubmit } }: WaitTarget,
  { state }: WaitState,
  record: JsonObject | undefined,
): Attempt | undefined {
  if (attempt === undefined || state === undefined) return attempt
  const wasQueued = recordBeforeSubmit?.isCurrentlySubmittedToQueue === true
  const submitted = attempt.submitted ?? (wasQueued || state === 'MERGED' ? null : true)
  return { ...attempt, submitted, head: attempt.head ?? getString(record, 'prSha') }
}

/** Says how the wait for a pull request ends, given what is known of its submission. */
export async function concludeAttempt(
  item: WaitTarget,
  end: WaitEnd,
  client: ServiceClient,
): Promise<{ readonly item: WaitTarget; readonly end: WaitEnd }> {
  const { attempt } = item
  if (attempt === undefined) return { item, end }
  if (attempt.isDue) return { item, end: endBeforeSubmission(item, attempt, end) }
  if (attempt.submitted === true) return { item, end: await endAfterSubmission(item, end, client) }
  if (attempt.submitted === null && attempt.unknown !== undefined) {
    // It did not appear within the grace period.
    if (end.failure?.kind === 'not-found')
      return { item: { ...item, attempt: { ...attempt, submitted: false } }, end: notSubmitted(item) }
    if (['timed-out', 'pending', 'error'].includes(end.outcome))
      return { item, end: { outcome: 'error', failure: attempt.unknown } }
  }
  return { item, end }
}

/** Returns the end of a wait before the submission that was due: that of the attempt before, if there was one. */
function endBeforeSubmission({ request }: WaitTarget, { lastEnd }: Attempt, end: WaitEnd): WaitEnd {
  const { outcome, failure } = end
  if (lastEnd !== undefined && (outcome === 'timed-out' || failure?.kind === 'unavailable')) return lastEnd
  if (outcome === 'pending') return { ...end, isSkipped: true }
  if (outcome !== 'timed-out') return end
  const message = `Timed out before #${request.values.pr} was submitted.`
  return { outcome: 'error', failure: new MergeqError('timed-out', message) }
}

/** The end of a pull request whose submission got no response and did not appear. */
const notSubmitted = ({ request }: WaitTarget): WaitEnd => ({
  outcome: 'error',
  failure: new MergeqError(
    'unavailable',
    `#${request.values.pr} was not submitted: the request got no response.`,
    { delivery: 'not-applied', hint: 'It is safe to run the command again.' },
  ),
})

async function endAfterSubmission(item: WaitTarget, end: WaitEnd, client: ServiceClient): Promise<WaitEnd> {
  const { values } = item.request
  const { outcome, failure } = end
  if (outcome === 'stale') return cancelOutdated(item, end, client)
  if (failure?.kind !== 'unavailable') return end
  // The exit code 7 would mean that nothing was changed.
  const wait = client.settings.commandLine(['pr', 'wait', values.pr], values, [client.nameOf('until')])
  const message = `#${values.pr} was submitted, but its result is unknown. ${failure.message}`
  const hint = `To continue waiting, run: ${wait}`
  return { outcome: 'timed-out', failure: new MergeqError('timed-out', message, { hint }) }
}

/** Cancels a submission of this wait whose head moved, and says what became of it. */
async function cancelOutdated(
  { request, state, record }: WaitTarget,
  end: WaitEnd,
  client: ServiceClient,
): Promise<WaitEnd> {
  const { repo, targetBranch, pr } = request.values
  const wasQueued = state.recordBeforeSubmit?.isCurrentlySubmittedToQueue === true
  if (wasQueued || outcomeOfRecord(record ?? {}) !== 'pending') return end
  try {
    await callOperation(client, cancelPullRequest, { repo, targetBranch, pr })
    return { ...end, note: 'Its submission was cancelled.' }
  } catch (error) {
    const { message } = failureOrThrow(error)
    return { ...end, note: `Its submission was not cancelled: ${withPeriod(message)}` }
  }
}
