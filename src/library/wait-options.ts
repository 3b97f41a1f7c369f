import {
  type BodyOverride,
  checkOverrides,
  isAlwaysSent,
  type Param,
  valuesOfParams,
} from '../api/operation.ts'
import {
  type SubmissionValues,
  submissionParams,
  submitPullRequest,
} from '../api/operations/pull-requests.ts'
import { usageError } from '../base/errors.ts'
import { moment, pullRequest, type Type, toggle } from '../values/types.ts'
import { headCommit, landOptions, waitOptions, watchInterval } from '../wait/options.ts'
import type { SubmitOptions } from '../wait/wait.ts'
import type { WaitOptions } from '../wait/wait-state.ts'
import {
  callback,
  clientReaders,
  type GivenSettings,
  type OptionReader,
  paramReaders,
  readOptions,
  readSet,
  settingReaders,
  settingsIn,
  withUnit,
} from './options.ts'
import type { LandPullRequestsOptions, WaitForPullRequestsOptions, WatchQueueOptions } from './types.ts'

const waitReaders: Readonly<Record<keyof WaitForPullRequestsOptions, OptionReader>> = {
  ...settingReaders,
  prs(value) {
    if (!Array.isArray(value)) throw usageError('The value must be of type readonly PullRequestReference[].')
    return value.map(pullRequest.check)
  },
  until: waitOptions.until.type.check,
  timeout: value => waitOptions.timeout.type.check(withUnit(value)),
  interval: value => waitOptions.interval.type.check(withUnit(value)),
  grace: value => waitOptions.grace.type.check(withUnit(value)),
  giveUpAfter: value => waitOptions.giveUpAfter.type.check(withUnit(value)),
  matchHead: headCommit.check,
  failOnPaused: toggle.check,
  onChange: callback('change: WaitChange'),
  signal: clientReaders.signal,
}

const watchReaders: Readonly<Record<keyof WatchQueueOptions, OptionReader>> = {
  ...settingReaders,
  since: moment.check,
  interval: value => watchInterval.type.check(withUnit(value)),
  giveUpAfter: waitReaders.giveUpAfter,
  signal: clientReaders.signal,
}

const landReaders: Readonly<Record<keyof LandPullRequestsOptions, OptionReader>> = {
  ...waitReaders,
  ...paramReaders(submissionParams),
  set: readSet,
  attempts: landOptions.attempts.type.check,
  resubmit: landOptions.resubmit.type.check,
  onAttempt: callback('attempt: LandAttempt'),
}

/** The options of a wait after their check. */
interface WaitValues
  extends Pick<WaitOptions, 'until' | 'interval' | 'grace' | 'giveUpAfter'>,
    Pick<WaitForPullRequestsOptions, 'matchHead' | 'failOnPaused' | 'onChange' | 'signal'>,
    GivenSettings {
  readonly prs?: readonly string[]
  readonly timeout: number
}

/** The options of a landing after their check. */
interface LandValues extends WaitValues, SubmissionValues, Pick<SubmitOptions, 'attempts' | 'resubmit'> {
  readonly set?: readonly BodyOverride[]
  readonly onAttempt?: LandPullRequestsOptions['onAttempt']
}

const defaultOf = <T>(option: { readonly type: Type<T>; readonly default: string }): T =>
  option.type.parse(option.default)

const waitDefaults = {
  until: defaultOf(waitOptions.until),
  interval: defaultOf(waitOptions.interval),
  grace: defaultOf(waitOptions.grace),
  giveUpAfter: defaultOf(waitOptions.giveUpAfter),
  timeout: defaultOf(waitOptions.timeout),
}

const landDefaults = {
  ...waitDefaults,
  timeout: defaultOf(landOptions.timeout),
  attempts: defaultOf(landOptions.attempts),
  resubmit: defaultOf(landOptions.resubmit),
}

/** Returns the checked options of a wait; `settings` are those that the call gives. */
export function readWaitCallOptions(callOptions: unknown) {
  const caller = 'waitForPullRequests'
  return waitOf(caller, { ...waitDefaults, ...readOptions(caller, callOptions, waitReaders) })
}

/** Returns the checked options of a landing: those of a wait, and how it submits. */
export function readLandOptions(callOptions: unknown) {
  const caller = 'landPullRequests'
  const values: LandValues = { ...landDefaults, ...readOptions(caller, callOptions, landReaders) }
  const { set: fields = [], attempts, resubmit, onAttempt } = values
  const setters = Object.entries<Param<unknown>>(submitPullRequest.params)
    .filter(([name, param]) => isAlwaysSent(name, param) || Object.hasOwn(values, name))
    .map(([name, param]) => ({ name, param }))
  checkOverrides(`${caller}: set`, fields, setters)
  const submitOptions: SubmitOptions = {
    params: valuesOfParams(submissionParams, values),
    attempts,
    resubmit,
  }
  const added = { route: submitPullRequest.route, fields }
  return { ...waitOf(caller, values), onAttempt, submitOptions, added }
}

function waitOf(caller: string, values: WaitValues) {
  const { prs, signal, until, interval, timeout, grace, giveUpAfter, failOnPaused = false, ...more } = values
  const { matchHead, onChange, ...others } = more
  if (prs === undefined) throw usageError(`${caller}: prs is required.`, 'Pass the option prs.')
  const options = {
    until,
    interval,
    waitLimit: timeout,
    grace,
    giveUpAfter,
    failOnPaused,
    stopsOnError: false,
  }
  return { prs, signal, settings: settingsIn(others), matchHead, onChange, options }
}

/** The options of a watch after their check. Times are in milliseconds. */
interface WatchValues extends GivenSettings {
  readonly since?: string
  readonly interval?: number
  readonly giveUpAfter?: number
  readonly signal?: AbortSignal
}

const watchDefaults = { interval: defaultOf(watchInterval), giveUpAfter: waitDefaults.giveUpAfter }

/** Returns the checked options of a watch; `settings` are those that the call gives. */
export function readWatchOptions(caller: string, callOptions: unknown) {
  const values: WatchValues = readOptions(caller, callOptions, watchReaders)
  const { since, signal, interval, giveUpAfter, ...settings } = values
  return {
    since,
    signal,
    interval: interval ?? watchDefaults.interval,
    giveUpAfter: giveUpAfter ?? watchDefaults.giveUpAfter,
    settings,
  }
}
