import { moment, pullRequest, toggle } from '../domain/values/types.ts'
import { headCommit, waitOptions, watchInterval } from '../domain/wait-options.ts'
import type { WaitOptions } from '../domain/wait-state.ts'
import { usageError } from '../errors.ts'
import {
  clientReaders,
  type GivenSettings,
  type OptionReader,
  readOptions,
  settingReaders,
  withUnit,
} from './options.ts'
import type { WaitForPullRequestsOptions, WatchQueueOptions } from './types.ts'

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
  onChange(value) {
    if (typeof value !== 'function')
      throw usageError('The value must be of type (change: WaitChange) => void.')
    return value
  },
  signal: clientReaders.signal,
}

const watchReaders: Readonly<Record<keyof WatchQueueOptions, OptionReader>> = {
  ...settingReaders,
  since: moment.check,
  interval: value => watchInterval.type.check(withUnit(value)),
  giveUpAfter: waitReaders.giveUpAfter,
  signal: clientReaders.signal,
}

/** The options of a wait after their check. */
interface WaitValues
  extends Pick<WaitOptions, 'until' | 'interval' | 'grace' | 'giveUpAfter'>,
    Pick<WaitForPullRequestsOptions, 'matchHead' | 'failOnPaused' | 'onChange' | 'signal'>,
    GivenSettings {
  readonly prs?: readonly string[]
  readonly timeout: number
}

/** Returns the checked options of a wait; `settings` are those that the call gives. */
export function readWaitOptions(caller: string, callOptions: unknown) {
  const defaults = Object.entries(waitOptions).map(([name, { type, default: text }]) => [
    name,
    type.parse(text),
  ])
  const values = { ...Object.fromEntries(defaults), ...readOptions(caller, callOptions, waitReaders) }
  const {
    prs,
    signal,
    until,
    interval,
    timeout: waitLimit,
    grace,
    giveUpAfter,
    matchHead,
    failOnPaused = false,
    onChange,
    ...settings
  }: WaitValues = values
  if (prs === undefined) throw usageError(`${caller}: prs is required.`, 'Pass the option prs.')
  const options = { until, interval, waitLimit, grace, giveUpAfter, failOnPaused, stopsOnError: false }
  return { prs, signal, settings, matchHead, onChange, options }
}

/** The options of a watch after their check. Times are in milliseconds. */
interface WatchValues extends GivenSettings {
  readonly since?: string
  readonly interval?: number
  readonly giveUpAfter?: number
  readonly signal?: AbortSignal
}

const watchDefaults = {
  interval: watchInterval.type.parse(watchInterval.default),
  giveUpAfter: waitOptions.giveUpAfter.type.parse(waitOptions.giveUpAfter.default),
}

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
