import type { ServiceClient } from '../api/service-client.ts'
import { formatDuration, joinTruncated } from '../domain/format.ts'
import { explainState, mergeDoubtTime } from '../domain/reasons.ts'
import { describeBase, isStacked } from '../domain/stacks.ts'
import {
  isKnownState,
  kindOfOutcome,
  queueStateMessage,
  stateOf,
  type WaitOutcome,
} from '../domain/states.ts'
import { queueName } from '../domain/values/repository.ts'
import {
  isPaused,
  isPendingAgain,
  type Judgement,
  judgePullRequest,
  type StateChange,
  type WaitEnd,
  type WaitObservation,
} from '../domain/wait-state.ts'
import { extendError, isPassing, isPermanent, MergeqError, toMergeqError } from '../errors.ts'
import { getString, type JsonObject } from '../json.ts'
import { attemptAfter, concludeAttempt, maySubmitAgain } from './attempts.ts'
import { automaticDelay, backOff, giveUpLimit, poll, type Reading } from './poll.ts'
import { readPullRequests } from './readings.ts'
import type { TrackedPullRequest, Wait, WaitObserver } from './wait.ts'

/** How a pull request stands in a round: after its submission and its reading, then with what that means. */
interface Standing extends Judgement<TrackedPullRequest> {
  /** Undefined if only the submission succeeded. */
  readonly observation?: WaitObservation | undefined
  readonly change?: StateChange | undefined
  /** Whether the service did not find it for the first time, and no command has just submitted it. */
  readonly isNewlyMissing?: boolean
}

/**
 * Submits pull requests, if the wait has a submission, and waits until every one has reached the requested state or a
 * final state (docs/reference/cli.md, "Waiting"): in one poll, so that a submission that was certainly not made is
 * repeated like a reading that failed. With `stopsOnError` the first end without success ends the whole wait. Throws an
 * `interrupted` error after a signal; the pull requests stay in the queue.
 */
export async function waitForPullRequests(
  all: readonly TrackedPullRequest[],
  wait: Wait,
  observer: WaitObserver,
): Promise<void> {
  const { options, client, time } = wait
  let waiting = all
  let rounds = 0
  try {
    await poll<TrackedPullRequest, Standing, Standing>({
      items: all,
      read(items) {
        rounds++
        return readRound(items, wait, observer)
      },
      judge(before, read, outage) {
        const item = read.item === before ? afterOutage(before, outage) : read.item
        return judgeStanding({ ...read, item }, rounds === 1, wait)
      },
      schedule: (tracked, failures) => delayUntilNext(tracked, failures, wait),
      limit: time,
      giveUpAfter: giveUpLimit(options.giveUpAfter, time, client),
      hasAnswered: all.some(({ state }) => state.submission !== undefined),
      host: client.host,
      async onChange(standings) {
        waiting = standings.flatMap(({ item, end }) => (end === undefined ? item : []))
        return reportRound(standings, wait, observer)
      },
      onOutage: (text, isOver) => observer.reportOutage(text, isOver),
      during: rounds => observer.during(() => waiting, rounds),
      sleep: delay => observer.sleep(delay, waiting),
    })
  } catch (error) {
    const failure = toMergeqError(error)
    throw failure.kind === 'interrupted' ? await observer.interrupted(failure, waiting) : failure
  }
}

/** Submits what is due, and reads it and the others. What was not read has no standing. */
async function readRound(
  items: readonly TrackedPullRequest[],
  wait: Wait,
  observer: WaitObserver,
): Promise<readonly (Reading<Standing> | undefined)[]> {
  const { submission } = wait
  const submissions =
    submission && (await (await import('./submissions.ts')).submitDue(items, submission, wait, observer))
  const standingOf = (item: TrackedPullRequest): Reading<Standing> =>
    submissions?.get(item) ?? { value: { item } }
  const readable = items.flatMap(before => {
    const standing = standingOf(before)
    if ('failure' in standing || standing.value.end !== undefined) return []
    const { item } = standing.value
    return item.attempt.isDue ? [] : item
  })
  const readings = await readPullRequests(readable, wait)
  return items.map(before => {
    const standing = standingOf(before)
    if ('failure' in standing) return standing
    const { item, end } = standing.value
    const isSubmitted = submissions?.has(before) === true
    const reading = readings.get(item)
    if (reading === undefined) return isSubmitted ? standing : undefined
    if ('value' in reading) return { value: { item, observation: reading.value } }
    if (!isSubmitted) return reading
    // The submission must not be forgotten; the next round repeats the reading.
    const { failure } = reading
    return { value: { item, end: isPassing(failure) ? end : { outcome: 'error', failure } } }
  })
}

/** Returns the time until the next round for a pull request, `failures` readings of which failed in a row. */
function delayUntilNext(
  { state, attempt, age = 0 }: TrackedPullRequest,
  failures: number,
  { options, client, time }: Wait,
): number {
  if (attempt.isDue && failures === 0) return Math.max(0, (attempt.notBefore ?? 0) - time.elapsed())
  const usual =
    options.interval === 'auto'
      ? backOff(automaticDelay(state), failures, client.host.random())
      : options.interval
  // Waits that share a reading share the next one, too.
  const delay = failures === 0 ? Math.max(0, usual - age) : usual
  // The last reading is when the grace period of a missing pull request ends, or the doubt about a merge.
  const { missingSince = Infinity, mayBeMergedSince = Infinity } = state
  const end = Math.min(missingSince + options.grace, mayBeMergedSince + mergeDoubtTime)
  const rest = end - time.elapsed()
  return rest > 0 ? Math.min(delay, rest) : delay
}

/** An outage is no part of the time for which a pull request was not found. */
function afterOutage(tracked: TrackedPullRequest, outage: number): TrackedPullRequest {
  const { missingSince } = tracked.state
  return missingSince === undefined
    ? tracked
    : { ...tracked, state: { ...tracked.state, missingSince: missingSince + outage } }
}

/** Says what a reading means for a pull request: how it stands now, what changed, and the end of its wait. */
function judgeStanding(
  { item: before, observation, end }: Standing,
  isFirstRound: boolean,
  wait: Wait,
): Standing {
  if (observation === undefined || end !== undefined) return { item: before, end }
  const { options, submission, client } = wait
  const { notFound, queue, age, waited } = observation
  // `--match-head` ends a wait with any other head; a head that `pr land` submitted must not merge as another one.
  const keptHead = submission?.attempts === undefined ? undefined : before.attempt.head
  const judgement = judgePullRequest(before.state, observation, { ...options, keptHead })
  const { state, isOutdated } = judgement
  // That it is not found says nothing of whether it merged.
  const staysInDoubt = observation.record === undefined && state.mayBeMergedSince !== undefined
  const record = isOutdated || staysInDoubt ? before.record : observation.record
  const outcome = staysInDoubt ? outcomeInDoubt(record) : judgement.outcome
  const change = judgement.change && { ...judgement.change, why: whyPendingAgain(judgement.change, record) }
  const attempt = submission === undefined ? before.attempt : attemptAfter(before, judgement, record)
  const item = { ...before, state, queue, age, record, attempt }
  if (outcome === 'error') {
    const failure =
      notFound === undefined
        ? submissionNotVisibleError(item, client)
        : notSubmittedError(notFound, item, client)
    return { item, change, end: { outcome, failure } }
  }
  const mayBeMerged =
    (outcome === 'failed' || outcome === 'cancelled') && explainState(record ?? {}).words.mayBeMerged
  if (mayBeMerged && options.waitLimit > 0) {
    const mayBeMergedSince = before.state.mayBeMergedSince ?? waited
    if (waited - mayBeMergedSince < mergeDoubtTime)
      return { item: { ...item, state: { ...state, mayBeMergedSince } }, change }
  }
  const isStuck = options.failOnPaused && isPaused(queue)
  const isUnseen = before.state.state === undefined && before.state.missingSince === undefined
  const isNewlyMissing = isUnseen && state.missingSince !== undefined && state.submission === undefined
  if (outcome === undefined && !isStuck) return { item, change, isNewlyMissing }
  const isFirstReading = isFirstRound && state.submission === undefined
  const lastEnd = { outcome: outcome ?? 'pending', isFirstReading }
  if (mayBeMerged || !maySubmitAgain(item, lastEnd, wait)) return { item, change, end: lastEnd }
  return { item: { ...item, attempt: { ...item.attempt, isDue: true, lastEnd, lastRecord: record } }, change }
}

/** Returns why a pull request waits again, if the service says it. */
function whyPendingAgain({ from, to }: StateChange, record: JsonObject | undefined): string | undefined {
  if (!isPendingAgain(from, to) || record === undefined) return undefined
  const { words, sentence } = explainState(record)
  return words.serviceReason === null || words.serviceReason === 'merge_item_now_ready'
    ? undefined
    : (sentence ?? undefined)
}

/** Reports what a round brought. Resolves to whether the wait goes on. */
async function reportRound(
  standings: readonly Standing[],
  wait: Wait,
  observer: WaitObserver,
): Promise<boolean> {
  const { options, client } = wait
  const { logger, nameOf } = client
  for (const { item, change, end } of standings) {
    await reportRemarks(item, end, wait)
    if (change !== undefined && !isKnownState(change.to))
      await logger.warnOnce(`Unknown state ${change.to}; still waiting.`)
    if (change !== undefined)
      await observer.reportChange(item, change, end !== undefined || options.waitLimit === 0)
    if (end === undefined) continue
    const last = await concludeAttempt(item, endInDoubt(item, end), wait)
    await observer.reportEnd(last.item, last.end)
  }
  const missing = standings.flatMap(({ item, isNewlyMissing }) =>
    isNewlyMissing === true ? `#${item.pullRequest.pr}` : [],
  )
  if (missing.length > 0 && options.waitLimit > 0) {
    const { grace, waitLimit } = options
    const name = nameOf(grace < waitLimit ? 'grace' : 'timeout')
    await logger.info(
      `${joinTruncated(missing)} ${missing.length === 1 ? 'is' : 'are'} not in the queue yet; waiting up to ${formatDuration(Math.min(grace, waitLimit))} (${name}).`,
    )
  }
  const hasUnknownHead = standings.some(
    ({ item: { record } }) => record !== undefined && (getString(record, 'prSha') ?? '') === '',
  )
  if (options.head !== undefined && hasUnknownHead)
    await logger.warnOnce(
      `The service does not report the head commit; ${nameOf('matchHead')} is not checked.`,
    )
  const isUnsuccessful = ({ end }: Standing) =>
    end !== undefined && (end.outcome === 'error' || kindOfOutcome[end.outcome] !== 'ok')
  return !(options.stopsOnError && standings.some(isUnsuccessful))
}

/** Says once what the queue of a pull request, and its base, mean for it. */
async function reportRemarks(
  { pullRequest, queue, record }: TrackedPullRequest,
  end: WaitEnd | undefined,
  { client: { logger }, submission }: Wait,
): Promise<void> {
  const message = end === undefined ? queueStateMessage(stateOf(queue)) : undefined
  if (message !== undefined)
    await logger.warnOnce(message.replace('The queue', `The queue for ${queueName(pullRequest)}`))
  const { pr, targetBranch } = pullRequest
  const isTold = submission !== undefined || isStacked(record, targetBranch)
  const base = isTold ? describeBase(pr, record, targetBranch) : undefined
  if (base !== undefined) await logger.infoOnce(base)
}

const outcomeInDoubt = (record: JsonObject | undefined): WaitOutcome =>
  stateOf(record) === 'FAILED' ? 'failed' : 'cancelled'

/** A wait that ends while a failed or cancelled pull request may have merged ends as its record says. */
function endInDoubt({ state, record }: TrackedPullRequest, end: WaitEnd): WaitEnd {
  const { outcome, failure } = end
  const isOpen = outcome === 'timed-out' || outcome === 'pending'
  const isUnread = failure !== undefined && !isPermanent(failure)
  if (state.mayBeMergedSince === undefined || !(isOpen || isUnread)) return end
  return { outcome: outcomeInDoubt(record) }
}

const waitLonger = ({ nameOf }: ServiceClient): string =>
  `To wait longer for a submission to appear, increase ${nameOf('grace')}.`

/** Returns the error for a pull request that the service did not know within the grace period. */
function notSubmittedError(
  notFound: MergeqError,
  { pullRequest }: TrackedPullRequest,
  client: ServiceClient,
): MergeqError {
  const { nameOf, advice } = client
  const submit = `If it was not submitted: ${advice.toSubmit(pullRequest)}`
  const check = `Check the number, ${nameOf('repo')} and ${nameOf('targetBranch')}.`
  return extendError(notFound, { hint: [submit, check, waitLonger(client)].join('\n') })
}

/** Creates the error for a submission that did not show within the grace period, only an earlier attempt. */
function submissionNotVisibleError(
  { pullRequest, state: { recordBeforeSubmit = {}, ignoredRecord = recordBeforeSubmit } }: TrackedPullRequest,
  client: ServiceClient,
): MergeqError {
  const commands = client.advice.toInspect([pullRequest])
  const inspect = commands.map(command => `To check the current state, run: ${command}`)
  const [state, since] = ['state', 'stateChangedAt'].map(key => getString(ignoredRecord, key))
  const time = since === undefined ? '' : ` since ${since}`
  const attempt = state === undefined ? '' : ` (${state}${time})`
  return new MergeqError(
    'not-found',
    `#${pullRequest.pr} was submitted, but the service still shows only the previous attempt${attempt}.`,
    { hint: [...inspect, waitLonger(client)].join('\n') },
  )
}
