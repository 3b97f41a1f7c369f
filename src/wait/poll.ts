// The loop of every wait: it reads again and again, with its delays, until all is known or the time is over.

import type { RequestLimits, ServiceClient } from '../api/service-client.ts'
import type { WaitTime } from '../api/wait-time.ts'
import { isPassing, isPermanent, MergeqError, withPeriod } from '../base/errors.ts'
import type { Host } from '../host/host.ts'
import { formatAge } from '../values/format.ts'
import type { Reading } from './read-each.ts'
import type { Judgement, Seen, WaitEnd } from './wait-state.ts'

/** A failed request of a poll is not retried, as the next round repeats it; but with the limit 0 there is one round. */
export const limitsOfReading = ({ waitLimit }: WaitTime): RequestLimits =>
  waitLimit === 0 ? {} : { maxRetries: 0 }

/** Returns how long readings may fail: without retries, and in a wait that reads once, the first failure ends it. */
export const giveUpLimit = (
  giveUpAfter: number,
  { waitLimit }: WaitTime,
  { maxRetries }: Pick<ServiceClient, 'maxRetries'>,
): number => (maxRetries === 0 || waitLimit === 0 ? 0 : giveUpAfter)

/** Times are in milliseconds. */
interface PollOptions<T, R, J extends Judgement<T>> {
  /** What is waited for. */
  readonly items: readonly T[]
  /**
   * Reads the items. Returns their readings in their order; an item without one was not read. Throws only when a
   * signal interrupts the command.
   */
  read(items: readonly T[]): Promise<readonly (Reading<R> | undefined)[]>
  /** Says what a value means for an item, whose readings failed for `outage` before; without side effects. */
  judge(item: T, value: R, outage: number): J
  /** Says how the wait for an item ends that was to end so; as it was to by default. */
  end?(item: T, end: WaitEnd): Judgement<T>
  /** Returns the time until the next reading of an item; `failures` is how many readings failed in a row. */
  schedule(item: T, failures: number): number
  /** After it no reading begins. */
  readonly limit: WaitTime
  /** How long the readings of an item may fail without interruption; 0 ends with the first failure. */
  readonly giveUpAfter: number
  /** Whether the service has answered already, so that its address is right. */
  readonly hasAnswered?: boolean
  /** Whether a token that was rejected for one item (401, 403) may be accepted for others; false by default. */
  readonly differInAccess?: boolean
  /** Its signal ends the wait. */
  readonly host: Pick<Host, 'clock' | 'random' | 'interrupted'>
  /**
   * Called after each round with all items that were waited for, and once more where the wait ends for the rest.
   * Resolves to whether the wait goes on.
   */
  onChange(judgements: readonly (J | Judgement<T>)[]): Promise<boolean>
  /** Returns the end of the sentence that says that an outage begins; by default `Still waiting.` */
  describeWaiting?(): string
  /** Called when an outage begins and when it is over, with a sentence that says so. */
  onOutage(text: string, isOver: boolean): Promise<void>
  /** Runs the rounds after the first. */
  during?(rounds: () => Promise<void>): Promise<void>
  /** Sleeps between two rounds, in the place of the clock; rejects when the signal is aborted. */
  readonly sleep?: ((delay: number) => Promise<void>) | undefined
}

/**
 * The times until the next reading with the interval `auto`, in milliseconds. The first ones follow a change: a queue
 * that merges in seconds is seen in seconds. `max` is the longest after failures.
 */
export const pollDelays = { first: [2_000, 5_000, 10_000], usual: 30_000, notReady: 60_000, max: 5 * 60_000 }

/** Returns the time until the next reading with the interval `auto`, in milliseconds. */
export const automaticDelay = ({ state, unchanged = 0 }: Pick<Seen, 'state' | 'unchanged'>): number =>
  pollDelays.first[unchanged] ?? (state === 'NOT_READY' ? pollDelays.notReady : pollDelays.usual)

/** How often in a row a connection is tried again that cannot be made, while nothing has answered yet. */
const maxConnectionFailures = 3

/** Doubles a delay with each failure in a row, up to the longest, and varies it by 10%. */
export function backOff(delay: number, failures: number, random: number): number {
  const longest = Math.max(delay, pollDelays.max)
  const doubled = Math.min(longest, delay * 2 ** Math.min(failures, 10))
  return Math.min(longest, Math.round(doubled * (0.9 + 0.2 * random)))
}

/**
 * Returns the longest delay that the service asks for (`Retry-After`), up to 20% longer: so many clients do not return
 * at the same time. 0 where it asks for none.
 */
function requestedDelay(failures: readonly MergeqError[], random: number): number {
  const longest = Math.max(0, ...failures.map(({ details }) => (details.retryAfter ?? 0) * 1_000))
  return Math.round(longest * (1 + 0.2 * random))
}

interface Waiting<T> {
  readonly item: T
  /** How many readings failed in a row. */
  readonly failures: number
  /** Since when they fail, in milliseconds since the wait began. */
  readonly failingSince: number
}

/**
 * Reads items again and again until each has ended, the time is over, `onChange` ends the wait, or reading has
 * failed for too long (docs/reference/cli.md, "Waiting"). An error that does not pass ends the item at once, and
 * one that every request would have ends all of them. Rejects when the signal is aborted.
 */
export async function poll<T, R, J extends Judgement<T>>(options: PollOptions<T, R, J>): Promise<void> {
  const { limit, giveUpAfter, host, onChange, onOutage } = options
  const { clock, interrupted, random } = host
  const { sleep = delay => clock.sleep(delay, interrupted), during = rounds => rounds() } = options
  const { end = (item, end) => ({ item, end }) } = options
  let waiting: readonly Waiting<T>[] = options.items.map(item => ({ item, failures: 0, failingSince: 0 }))
  let hasAnswered = options.hasAnswered ?? false
  let connectionFailures = 0
  let outageSince: number | undefined

  /** Returns why a failed reading ends the wait for an item; undefined where it is tried again. */
  const reasonToGiveUp = (failure: MergeqError, failingFor: number): MergeqError | undefined => {
    const mayTryAgain = isPassing(failure) && connectionFailures <= maxConnectionFailures
    if (!mayTryAgain || giveUpAfter === 0) return failure
    return failingFor >= giveUpAfter ? gaveUp(failure, failingFor) : undefined
  }

  /** Whether other items can still be read after a failure that does not pass. */
  const isOfOneItem = ({ kind, details }: MergeqError) =>
    options.differInAccess === true &&
    (kind === 'not-found' || (kind === 'auth' && details.status !== undefined))

  const noteConnection = (readings: readonly Reading<R>[]) => {
    hasAnswered ||= readings.some(reading => 'value' in reading || isAnswer(reading.failure))
    const isUnconnected = readings.some(
      reading => 'failure' in reading && reading.failure.details.failedStep !== undefined,
    )
    connectionFailures = isUnconnected && !hasAnswered ? connectionFailures + 1 : 0
  }

  /** Judges a reading, and returns how the item waits on; it does not if `fatal` ends all of them. */
  const judge = (before: Waiting<T>, reading: Reading<R> | undefined, fatal: MergeqError | undefined) => {
    const now = limit.elapsed()
    const { item, failures } = before
    const failingSince = failures === 0 ? now : before.failingSince
    let judgement: J | Judgement<T> = { item }
    let failure = fatal
    let next = before
    if (reading !== undefined && 'value' in reading) {
      judgement = options.judge(item, reading.value, now - failingSince)
      next = { item: judgement.item, failures: 0, failingSince: 0 }
    } else if (reading !== undefined) {
      failure = reasonToGiveUp(reading.failure, now - failingSince) ?? fatal
      next = { item, failures: failures + 1, failingSince }
    }
    if (failure !== undefined && judgement.end === undefined)
      judgement = { ...judgement, ...end(judgement.item, { outcome: 'error', failure }) }
    return { judgement, next: judgement.end === undefined ? [next] : [] }
  }

  /** Runs a round. Returns the time until the next one, or undefined when the wait is over. */
  const runRound = async (): Promise<number | undefined> => {
    const all = await options.read(waiting.map(({ item }) => item))
    const readings = all.filter(reading => reading !== undefined)
    noteConnection(readings)
    const failures = readings.flatMap(reading => ('failure' in reading ? reading.failure : []))
    const fatal = failures.find(failure => isPermanent(failure) && !isOfOneItem(failure))
    const judged = waiting.map((before, index) => judge(before, all[index], fatal))
    waiting = judged.flatMap(({ next }) => next)
    const [outage] = failures.filter(failure => !isOfOneItem(failure))
    await noteOutage(outage, readings.length > failures.length)
    const goesOn = await onChange(judged.map(({ judgement }) => judgement))
    if (waiting.length === 0) return undefined
    if (!goesOn || limit.remaining() <= 0) {
      const outcome = limit.remaining() <= 0 && limit.waitLimit > 0 ? 'timed-out' : 'pending'
      await onChange(waiting.map(({ item }) => end(item, { outcome })))
      return undefined
    }
    const usual = Math.min(...waiting.map(({ item, failures }) => options.schedule(item, failures)))
    const delay = Math.max(usual, requestedDelay(failures, random()))
    return Math.min(delay, limit.remaining(), ...waiting.map(timeToGiveUp))
  }

  /** The last reading of an item is when the wait gives up. */
  const timeToGiveUp = ({ failures, failingSince }: Waiting<T>): number =>
    failures === 0 ? Number.POSITIVE_INFINITY : Math.max(0, failingSince + giveUpAfter - limit.elapsed())

  const noteOutage = async (failure: MergeqError | undefined, hasValue: boolean) => {
    if (failure !== undefined && outageSince === undefined && waiting.length > 0) {
      outageSince = limit.elapsed()
      const waits = options.describeWaiting?.() ?? 'Still waiting.'
      await onOutage(`${withPeriod(failure.message)} ${waits}`, false)
    } else if (failure === undefined && hasValue && outageSince !== undefined) {
      const duration = formatAge(limit.elapsed() - outageSince)
      outageSince = undefined
      await onOutage(`The service responds again after ${duration}.`, true)
    }
  }

  let delay = waiting.length === 0 ? undefined : await runRound()
  if (delay === undefined) return
  await during(async () => {
    while (delay !== undefined) {
      await sleep(delay)
      delay = await runRound()
    }
  })
}

/** Whether a failed request was answered, by the service or by something in front of it. */
const isAnswer = ({ kind, details }: MergeqError): boolean =>
  details.status !== undefined || kind === 'bad-answer'

/** Returns the error of a wait that gave up: the service was unavailable, whatever it answered last. */
function gaveUp(failure: MergeqError, failingFor: number): MergeqError {
  const message = failure.message.replace(/\.$/, '')
  return new MergeqError(
    'unavailable',
    `${message}; no poll has succeeded for ${formatAge(failingFor)}.`,
    failure.details,
    failure,
  )
}
