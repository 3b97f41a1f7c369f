import type { ServiceClient } from '../api/service-client.ts'
import { formatDuration, joinTruncated } from '../domain/format.ts'
import { explainState, mergeDoubtTime } from '../domain/reasons.ts'
import { describeBase, isStacked } from '../domain/stacks.ts'
import { isKnownState, kindOfOutcome, queueStateMessage, stateOf } from '../domain/states.ts'
import { queueName } from '../domain/values/repository.ts'
import {
  describeChange,
  isPaused,
  isPendingAgain,
  type Judgement,
  judgePullRequest,
  type StateChange,
  type WaitEnd,
  type WaitOptions,
} from '../domain/wait-state.ts'
import type { WaitTime } from '../domain/wait-time.ts'
import { extendError, isPermanent, MergeqError, toMergeqError } from '../errors.ts'
import { getString, type JsonObject } from '../json.ts'
import { attemptAfter, concludeAttempt, isBetweenAttempts, maySubmitAgain } from './attempts.ts'
import { automaticDelay, backOff, giveUpLimit, poll } from './poll.ts'
import { readTargets, type Submit, submitAndRead, type TargetRecord } from './readings.ts'
import { changeRecord, createResult, type WaitResult } from './result.ts'
import type { SharedQueues } from './shared-queues.ts'
import { startWait, type Wait, type WaitTarget } from './wait-target.ts'

/** What a caller does with the events of a wait. */
export interface WaitObserver {
  /** `isEnd` is whether the change ends the wait of the pull request. */
  reportChange(target: WaitTarget, change: StateChange, isEnd: boolean): Promise<void>
  reportEnd(target: WaitTarget, end: WaitEnd): Promise<void>
  /** Reports that an outage of the service begins or is over. */
  reportOutage(text: string, isOver: boolean): Promise<void>
  /** Sleeps between two rounds; rejects when the wait is interrupted. */
  sleep(delay: number, waiting: readonly WaitTarget[]): Promise<void>
  /** Returns the error of a wait that a signal ended. */
  interrupted(failure: MergeqError, waiting: readonly WaitTarget[]): Promise<MergeqError>
  /** Runs the rounds after the first; `waiting` returns the pull requests that the wait still waits for. */
  during(waiting: () => readonly WaitTarget[], rounds: () => Promise<void>): Promise<void>
}

interface TargetJudgement extends Judgement<WaitTarget> {
  readonly change?: StateChange | undefined
  /** Whether the service did not find the pull request for the first time, and no command has just submitted it. */
  readonly isNewlyMissing?: boolean
}

/**
 * Waits until every pull request has reached the requested state or a final state
 * (docs/reference/cli.md, "Waiting"). With `stopsOnError` the first end without success ends the whole wait.
 * Throws an `interrupted` error after a signal; the pull requests stay in the queue.
 *
 * @param submit submits the pull requests whose attempt is due
 */
export async function waitForTargets(
  targets: readonly WaitTarget[],
  wait: Wait,
  observer: WaitObserver,
  submit?: Submit,
): Promise<void> {
  const { options, client, time } = wait
  const { random } = client.host
  let waiting = targets
  let rounds = 0
  try {
    await poll<WaitTarget, TargetRecord, TargetJudgement>({
      items: targets,
      async read(items) {
        rounds++
        if (submit !== undefined) return submitAndRead(items, wait, submit)
        const readings = await readTargets(items, wait)
        return items.map(item => readings.get(item))
      },
      judge: (target, read, outage) => judgeTarget(afterOutage(target, outage), read, rounds === 1, wait),
      schedule(target, failures) {
        const { state, attempt, age = 0 } = target
        if (attempt?.isDue === true && failures === 0)
          return Math.max(0, (attempt.notBefore ?? 0) - time.elapsed())
        const usual =
          options.interval === 'auto' ? backOff(automaticDelay(state), failures, random()) : options.interval
        // Waits that share a reading share the next one, too.
        const delay = failures === 0 ? Math.max(0, usual - age) : usual
        // The last reading is when the grace period of a missing pull request ends, or the doubt about a merge.
        const { missingSince = Infinity, mayBeMergedSince = Infinity } = state
        const end = Math.min(missingSince + options.grace, mayBeMergedSince + mergeDoubtTime)
        const rest = end - time.elapsed()
        return rest > 0 ? Math.min(delay, rest) : delay
      },
      limit: time,
      giveUpAfter: giveUpLimit(options.giveUpAfter, time, client),
      hasAnswered: targets.some(({ state }) => state.submission !== undefined),
      host: client.host,
      async onChange(judgements) {
        waiting = judgements.flatMap(({ item, end }) => (end === undefined ? item : []))
        return reportRound(judgements, wait, observer)
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

/**
 * Waits for pull requests and returns their results in their order; logs what `pr wait` says on the way, and hands each
 * change to `onChange`. Throws the error of a reading that shows a mistake of the caller or of mergeq; other errors are
 * results.
 */
export async function waitForResults(
  targets: readonly WaitTarget[],
  options: WaitOptions,
  client: ServiceClient & { readonly time: WaitTime },
  shared: SharedQueues,
  onChange: (change: ReturnType<typeof changeRecord>) => void,
): Promise<readonly WaitResult[]> {
  const { host, logger, time } = client
  const names = new Set(targets.map(({ request }) => queueName(request.values)))
  const sharing = shared.join([...names], client, time)
  const wait = startWait(options, client, time, sharing)
  const results = new Map<WaitTarget['request'], WaitResult>()
  const observer: WaitObserver = {
    reportChange({ request: { values } }, change) {
      onChange(changeRecord(values.pr, change, host.clock.now()))
      return logger.info(describeChange(values.pr, change))
    },
    async reportEnd(target, end) {
      const { failure } = end
      if (failure?.kind === 'usage' || failure?.kind === 'internal') throw failure
      if (failure !== undefined) await logger.warn(failure.message)
      results.set(target.request, await createResult(target, end, wait))
    },
    reportOutage: logger.info,
    sleep: delay => host.clock.sleep(delay, host.interrupted),
    interrupted: async (failure, waiting) => interruptedWaitError(failure, waiting, client),
    during: (_, rounds) => rounds(),
  }
  await waitForTargets(targets, wait, observer).finally(() => sharing.leave())
  return targets.flatMap(({ request }) => results.get(request) ?? [])
}

/** An outage is no part of the time for which a pull request was not found. */
function afterOutage(target: WaitTarget, outage: number): WaitTarget {
  const { missingSince } = target.state
  return missingSince === undefined
    ? target
    : { ...target, state: { ...target.state, missingSince: missingSince + outage } }
}

/** Says what a reading means for a pull request: how it stands now, what changed, and the end of its wait. */
function judgeTarget(
  before: WaitTarget,
  { target = before, observation, notFound, queue, age, end }: TargetRecord,
  isFirstRound: boolean,
  { options, client }: Wait,
): TargetJudgement {
  if (observation === undefined || end !== undefined) return { item: target, end }
  // `--match-head` ends a wait with any other head; a head that `pr land` submitted must not merge as another one.
  const keptHead = options.attempts === undefined ? undefined : target.attempt?.head
  const judgement = judgePullRequest(target.state, observation, { ...options, keptHead })
  const { state, outcome, isOutdated } = judgement
  const record = isOutdated ? target.record : observation.record
  const change = judgement.change && { ...judgement.change, why: whyPendingAgain(judgement.change, record) }
  const item = { ...target, state, queue, age, record, attempt: attemptAfter(target, judgement, record) }
  if (outcome === 'error') {
    const failure =
      notFound === undefined
        ? submissionNotVisibleError(item, client)
        : extendError(notFound, {
            hint: `If it was not submitted: ${client.advice.toSubmit(item.request.values)}\n${checkNames(client)}\n${waitLonger(client)}`,
          })
    return { item, change, end: { outcome, failure } }
  }
  const mayBeMerged =
    (outcome === 'failed' || outcome === 'cancelled') && explainState(record ?? {}).words.mayBeMerged
  if (mayBeMerged && options.waitLimit > 0) {
    const { waited } = observation
    const mayBeMergedSince = target.state.mayBeMergedSince ?? waited
    if (waited - mayBeMergedSince < mergeDoubtTime)
      return { item: { ...item, state: { ...state, mayBeMergedSince } }, change }
  }
  const isStuck = options.failOnPaused && isPaused(queue)
  const isUnseen = target.state.state === undefined && target.state.missingSince === undefined
  const isNewlyMissing = isUnseen && state.missingSince !== undefined && state.submission === undefined
  if (outcome === undefined && !isStuck) return { item, change, isNewlyMissing }
  const isFirstReading = isFirstRound && state.submission === undefined
  const lastEnd = { outcome: outcome ?? 'pending', isFirstReading }
  if (mayBeMerged || item.attempt === undefined || !maySubmitAgain(item.attempt, lastEnd, options))
    return { item, change, end: lastEnd }
  return { item: { ...item, attempt: { ...item.attempt, isDue: true, lastEnd } }, change }
}

/** Returns why a pull request waits again, if the service says it. */
function whyPendingAgain({ from, to }: StateChange, record: JsonObject | undefined): string | undefined {
  if (!isPendingAgain(from, to) || record === undefined) return undefined
  const { words, sentence } = explainState(record)
  return words.serviceReason === null || words.serviceReason === 'merge_item_now_ready'
    ? undefined
    : (sentence ?? undefined)
}

/** A wait that ends while a failed or cancelled pull request may have merged ends as its record says. */
function endInDoubt({ state, record }: WaitTarget, end: WaitEnd): WaitEnd {
  const { outcome, failure } = end
  const isOpen = outcome === 'timed-out' || outcome === 'pending'
  const isUnread = failure !== undefined && !isPermanent(failure)
  if (state.mayBeMergedSince === undefined || !(isOpen || isUnread)) return end
  return { outcome: stateOf(record) === 'FAILED' ? 'failed' : 'cancelled' }
}

/** Reports what a round brought. Resolves to whether the wait goes on. */
async function reportRound(
  judgements: readonly TargetJudgement[],
  wait: Wait,
  observer: WaitObserver,
): Promise<boolean> {
  const { options, client } = wait
  const { logger, nameOf } = client
  for (const { item, change, end } of judgements) {
    const message = end === undefined ? queueStateMessage(stateOf(item.queue)) : undefined
    if (message !== undefined)
      await logger.warnOnce(message.replace('The queue', `The queue for ${queueName(item.request.values)}`))
    const { pr, targetBranch } = item.request.values
    const isTold = item.attempt !== undefined || isStacked(item.record, targetBranch)
    const base = isTold ? describeBase(pr, item.record, targetBranch) : undefined
    if (base !== undefined) await logger.infoOnce(base)
    if (change !== undefined && !isKnownState(change.to))
      await logger.warnOnce(`Unknown state ${change.to}; still waiting.`)
    if (change !== undefined)
      await observer.reportChange(item, change, end !== undefined || options.waitLimit === 0)
    if (end === undefined) continue
    const last = await concludeAttempt(item, endInDoubt(item, end), wait)
    await observer.reportEnd(last.item, last.end)
  }
  const missing = judgements.flatMap(({ item, isNewlyMissing }) =>
    isNewlyMissing === true ? `#${item.request.values.pr}` : [],
  )
  if (missing.length > 0 && options.waitLimit > 0) {
    const { grace, waitLimit } = options
    const name = nameOf(grace < waitLimit ? 'grace' : 'timeout')
    await logger.info(
      `${joinTruncated(missing)} ${missing.length === 1 ? 'is' : 'are'} not in the queue yet; waiting up to ${formatDuration(Math.min(grace, waitLimit))} (${name}).`,
    )
  }
  const hasUnknownHead = judgements.some(
    ({ item: { record } }) => record !== undefined && (getString(record, 'prSha') ?? '') === '',
  )
  if (options.head !== undefined && hasUnknownHead)
    await logger.warnOnce(
      `The service does not report the head commit; ${nameOf('matchHead')} is not checked.`,
    )
  const isUnsuccessful = ({ end }: TargetJudgement) =>
    end !== undefined && (end.outcome === 'error' || kindOfOutcome[end.outcome] !== 'ok')
  return !(options.stopsOnError && judgements.some(isUnsuccessful))
}

const checkNames = ({ nameOf }: ServiceClient): string =>
  `Check the number, ${nameOf('repo')} and ${nameOf('targetBranch')}.`

const waitLonger = ({ nameOf }: ServiceClient): string =>
  `To wait longer for a submission to appear, increase ${nameOf('grace')}.`

/** Creates the error for a submission that did not show within the grace period, only an earlier attempt. */
function submissionNotVisibleError(
  { request: { values }, state: { recordBeforeSubmit = {}, ignoredRecord = recordBeforeSubmit } }: WaitTarget,
  client: ServiceClient,
): MergeqError {
  const commands = client.advice.toInspect([values])
  const inspect = commands.map(command => `To check the current state, run: ${command}`)
  const [state, since] = ['state', 'stateChangedAt'].map(key => getString(ignoredRecord, key))
  const time = since === undefined ? '' : ` since ${since}`
  const attempt = state === undefined ? '' : ` (${state}${time})`
  return new MergeqError(
    'not-found',
    `#${values.pr} was submitted, but the service still shows only the previous attempt${attempt}.`,
    { hint: [...inspect, waitLonger(client)].join('\n') },
  )
}

/** Creates the error for a wait that a signal ended, with the commands that go on waiting, and those that cancel. */
export function interruptedWaitError(
  failure: MergeqError,
  all: readonly WaitTarget[],
  { advice }: ServiceClient,
): MergeqError {
  const between = all
    .filter(isBetweenAttempts)
    .map(({ request }) => `#${request.values.pr} is not in the queue.`)
  const waiting = all.filter(target => !isBetweenAttempts(target))
  const valuesOf = (targets: readonly WaitTarget[]) => targets.map(({ request }) => request.values)
  const isSubmitted = ({ attempt }: WaitTarget) => attempt === undefined || attempt.number > 0
  const hints = [
    ['To continue waiting, run:', ...advice.toWait(valuesOf(waiting.filter(isSubmitted)))],
    ['To cancel, run:', ...advice.toCancel(valuesOf(waiting))],
  ].filter(({ length }) => length > 1)
  const isSeen = waiting.every(({ state }) => state.state !== undefined)
  const subject = waiting.length === 1 ? 'The pull request stays' : 'The pull requests stay'
  const stays = isSeen ? `${subject} in the queue.` : 'Queued pull requests stay in the queue.'
  const note = [...(waiting.length > 0 || between.length === 0 ? [stays] : []), ...between].join(' ')
  return extendError(
    failure,
    hints.length === 0 ? {} : { hint: hints.flat().join('\n') },
    `${failure.message} Only the wait has ended; mergeq cancelled nothing. ${note}`,
  )
}
