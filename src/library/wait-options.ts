import type { Infer } from '../api/operations/fields.ts'
import { submissionParams, submitPullRequest } from '../api/operations/pull-requests.ts'
import { type Params, type ParamValues, param, requiredParam } from '../api/params.ts'
import { usageError } from '../base/errors.ts'
import { moment, pullRequest, toggle } from '../values/types.ts'
import { headCommit, landOptions, waitOptions, watchInterval } from '../wait/options.ts'
import type { attemptRecord, changeRecord } from '../wait/records.ts'
import type { SubmitOptions } from '../wait/wait.ts'
import { abortSignal, bodyParams, callback, checkSet, programType, readWithDefaults } from './options.ts'

/** The values of these params among others. */
const valuesOfParams = <P extends Params>(params: P, values: ParamValues<P>): ParamValues<P> =>
  Object.fromEntries(Object.entries(values).filter(([name]) => Object.hasOwn(params, name))) as ParamValues<P>

const pullRequests = programType('readonly PullRequestReference[]', value => {
  if (!Array.isArray(value)) throw usageError('The value must be of type readonly PullRequestReference[].')
  return value.map(pullRequest.check)
})

/** The options of `waitForPullRequests`, besides the settings. */
export const waitParams = {
  prs: requiredParam(pullRequests, 'The pull requests: numbers, `#123` or URLs'),
  until: { ...waitOptions.until, note: 'A later state also counts.' },
  timeout: {
    ...waitOptions.timeout,
    note: '0 reads the state once. The time limit for each request is that of the client.',
  },
  interval: {
    ...waitOptions.interval,
    note: '`auto` is 2 seconds after a change, and longer while nothing changes.',
  },
  giveUpAfter: waitOptions.giveUpAfter,
  grace: waitOptions.grace,
  matchHead: param(
    headCommit,
    'The commit that the head of the only pull request must be: its hash, at least the first 7 digits of the hash of a commit in the checkout, or `HEAD` of the checkout',
  ),
  failOnPaused: param(toggle, 'Whether a paused queue ends the wait, with the outcome `pending`'),
  onChange: param(
    callback<Infer<typeof changeRecord>>('change: WaitChange'),
    'Receives each change of a pull request as it is read',
  ),
  signal: {
    ...param(abortSignal, 'Aborts this wait, as the signal of the client does'),
    note: 'The pull requests stay in the queue.',
  },
}

/** The options of `landPullRequests`, besides those of a wait and of `submitPullRequest`. */
export const landParams = {
  attempts: { ...landOptions.attempts, note: 'One that is in the queue already counts as submitted.' },
  resubmit: {
    ...landOptions.resubmit,
    note: 'What a person cancelled is never submitted again, and neither is another head commit.',
  },
  timeout: {
    ...landOptions.timeout,
    note: 'Pauses are included. The time limit for each request is that of the client.',
  },
  onAttempt: param(
    callback<Infer<typeof attemptRecord>>('attempt: LandAttempt'),
    'Receives each submission before it is sent',
  ),
}

/** The options of `watchQueue`, besides the settings. */
export const watchParams = {
  since: {
    ...param(moment, 'Yield first which pull requests left the queue since then, and are not in it now'),
    note: 'Hosted service only; without the operation there is a notice.',
  },
  interval: watchInterval,
  giveUpAfter: waitOptions.giveUpAfter,
  signal: {
    ...param(abortSignal, 'Aborts this watch, as the signal of the client does'),
    note: 'The next step throws an error of kind `interrupted`.',
  },
}

/** Returns the checked options of a wait; `settings` are those that the call gives. */
export const readWaitCallOptions = (callOptions: unknown) =>
  readWithDefaults('waitForPullRequests', callOptions, waitParams)

/** Returns the checked options of a landing: those of a wait, and how it submits. */
export function readLandOptions(callOptions: unknown) {
  const caller = 'landPullRequests'
  const params = { ...waitParams, ...submissionParams, ...bodyParams, ...landParams }
  const values = readWithDefaults(caller, callOptions, params)
  const { set: fields = [], attempts, resubmit } = values
  checkSet(caller, fields, submitPullRequest.params, values)
  const submitOptions: SubmitOptions = {
    params: valuesOfParams(submissionParams, values),
    attempts,
    resubmit,
  }
  const added = { route: submitPullRequest.route, fields }
  return { ...values, submitOptions, added }
}

/** Returns the checked options of a watch. Times are in milliseconds. */
export const readWatchOptions = (callOptions: unknown) =>
  readWithDefaults('watchQueue', callOptions, watchParams)
