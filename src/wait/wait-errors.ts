// The errors with which a wait for a pull request ends, and the commands that go on from there.
import type { ServiceClient } from '../api/service-client.ts'
import { extendError, MergeqError, withPeriod } from '../base/errors.ts'
import { getString } from '../base/json.ts'
import { absenceOf, type TrackedPullRequest, type WaitOptions } from './wait-state.ts'

/** What a wait for a certain head says when it ends before the pull request does. */
export const unwatchedNote = 'Its head is no longer watched.'

export type WaitErrors = ReturnType<typeof createWaitErrors>

/** Creates the errors of a wait, which name the options and commands of its caller. */
export function createWaitErrors({ nameOf, advice }: ServiceClient, { head }: Pick<WaitOptions, 'head'>) {
  const waitLonger = () => `To wait longer for a submission to appear, increase ${nameOf('grace')}.`
  return {
    /** The service did not know the pull request within the grace period. */
    notInQueue({ pullRequest }: TrackedPullRequest, notFound: MergeqError): MergeqError {
      const submit = `If it was not submitted: ${advice.toSubmit(pullRequest)}`
      const check = `Check the number, ${nameOf('repo')} and ${nameOf('targetBranch')}.`
      return extendError(notFound, { hint: [submit, check, waitLonger()].join('\n') })
    },
    /** The submission did not show within the grace period, only an earlier attempt. */
    onlyEarlierAttempt(tracked: TrackedPullRequest): MergeqError {
      const { pullRequest, attempt } = tracked
      const record = absenceOf(tracked)?.ignored ?? attempt.recordBefore ?? {}
      const commands = advice.toInspect([pullRequest])
      const inspect = commands.map(command => `To check the current state, run: ${command}`)
      const [state, since] = ['state', 'stateChangedAt'].map(key => getString(record, key))
      const time = since === undefined ? '' : ` since ${since}`
      const previous = state === undefined ? '' : ` (${state}${time})`
      return new MergeqError(
        'not-found',
        `#${pullRequest.pr} was submitted, but the service still shows only the previous attempt${previous}.`,
        { hint: [...inspect, waitLonger()].join('\n') },
      )
    },
    /** Its submission got no response and did not appear. */
    notSubmitted({ pullRequest: { pr } }: TrackedPullRequest): MergeqError {
      const message = `#${pr} was not submitted: the request got no response.`
      return new MergeqError('unavailable', message, {
        delivery: 'not-applied',
        hint: 'It is safe to try again.',
      })
    },
    notInTime: ({ pullRequest: { pr } }: TrackedPullRequest): MergeqError =>
      new MergeqError('timed-out', `Timed out before #${pr} was submitted.`),
    /** It was submitted, and the service did not return. */
    resultUnknown({ pullRequest }: TrackedPullRequest, { message: reason }: MergeqError): MergeqError {
      const [command = ''] = advice.toWait([pullRequest])
      const unwatched = head === undefined ? '' : ` ${unwatchedNote}`
      const message = `#${pullRequest.pr} was submitted, but its result is unknown. ${reason}${unwatched}`
      return new MergeqError('timed-out', message, { hint: `To continue waiting, run: ${command}` })
    },
    /** Its head moved, and its cancellation is not confirmed: it may merge a commit that was not meant. */
    mayStillBeQueued({ pullRequest }: TrackedPullRequest, { message: reason }: MergeqError): MergeqError {
      const [cancel] = advice.toCancel([pullRequest])
      return new MergeqError(
        'unknown-outcome',
        `The head of #${pullRequest.pr} moved, but its submission may still be in the queue: ${withPeriod(reason)}`,
        { delivery: 'unknown', hint: `To cancel it, run: ${cancel}` },
      )
    },
  }
}
