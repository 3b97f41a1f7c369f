import { callOperation } from '../../api/call.ts'
import { tryRead } from '../../api/extra-reads.ts'
import type { BodyOverride } from '../../api/operation.ts'
import { getSubmittedPullRequest, submitPullRequest } from '../../api/operations/pull-requests.ts'
import { readTestRun } from '../../api/test-run-reads.ts'
import { formatInstant } from '../../domain/format.ts'
import { explainState, isSubmittedAgain, pauseBeforeAgain } from '../../domain/reasons.ts'
import { outcomeOfRecord, stateOf } from '../../domain/states.ts'
import type { PullRequest } from '../../domain/values/pull-request.ts'
import { isOtherCommit, isOutdated, type Judgement, type WaitOptions } from '../../domain/wait-state.ts'
import {
  failureOrThrow,
  isNotFound,
  isPassing,
  isPermanent,
  type MergeqError,
  toMergeqError,
} from '../../errors.ts'
import { getString, type JsonObject } from '../../json.ts'
import type { Cli } from '../../run/command.ts'
import { printRequests } from '../../run/dry-run.ts'
import { type RequestResult, warnUnfinished, withResource } from '../../run/each.ts'
import { read } from '../../run/send.ts'
import { giveUpLimit } from '../../wait/poll.ts'
import type { DueTarget, Submit } from '../../wait/readings.ts'
import type { Wait, WaitTarget } from '../../wait/wait-target.ts'
import { findHead, findOtherHead } from './head.ts'
import { describeResubmission } from './resubmission.ts'
import { startCommandWait, WaitReporter } from './wait-report.ts'

/** What is submitted: pull requests, how, and what `--set` adds to the requests. */
export interface Submission {
  readonly pullRequests: readonly PullRequest[]
  readonly priority: string | number | undefined
  readonly noBatch: boolean | undefined
  readonly set: readonly BodyOverride[]
}

/** Which failures `pr land` submits again after. */
export type Resubmit = 'safe' | 'any'

/** What all submissions of a command have in common. */
interface Submitting {
  readonly cli: Cli
  readonly wait: Wait
  readonly resubmit: Resubmit
  readonly submission: Submission
  readonly reporter: WaitReporter
}

/**
 * Submits pull requests and waits for them, in one poll: a submission that was certainly not made is repeated like a
 * reading that failed. With `options.attempts` a pull request is submitted again after a failure that is not its own.
 * Returns the exit code.
 */
export async function submitAndWait(
  submission: Submission,
  options: WaitOptions,
  cli: Cli,
  resubmit: Resubmit = 'safe',
): Promise<number> {
  // Equal priority is first come, first served (docs/reference/service.md, "Priorities").
  const { pullRequests, priority, noBatch, set } = submission
  if (cli.options.dryRun) {
    const values = pullRequests.map(each => ({ ...each, priority, noBatch }))
    return printRequests(cli, submitPullRequest, values, set)
  }
  const wait = startCommandWait(options, cli)
  const requests = pullRequests.map(values => ({ values, overrides: [] }))
  const reporter = new WaitReporter(requests, wait, cli)
  const submitting: Submitting = {
    cli,
    wait,
    resubmit,
    submission,
    reporter,
  }
  const results = new Map<WaitTarget['request'], RequestResult>()
  const submit: Submit = async target => {
    const { request } = target
    try {
      const judgement = await submitUnlessDone(target, submitting)
      results.set(request, { code: 0, failure: judgement.end?.failure })
      return judgement
    } catch (error) {
      const failure = toMergeqError(error)
      const named = requests.length > 1 ? withResource(failure, `#${request.values.pr}`) : failure
      results.set(request, { code: failure.exit, failure: named })
      const isLast = isPermanent(failure) || (options.stopsOnError && !isPassing(failure))
      if (isLast && requests.length > 1) {
        const names = pullRequests.map(({ pr }) => `#${pr}`)
        const soFar = requests.map(request => results.get(request))
        await warnUnfinished(submitPullRequest, names, soFar, cli)
      }
      throw named
    }
  }
  const attempt = { number: 0, isDue: true, submitted: false }
  const waiting = requests.map((request): WaitTarget => ({ request, state: {}, attempt }))
  return reporter.waitFor(waiting, submit)
}

/**
 * What happens before each submission: the record is read, and only a pull request that has not merged, is not in the
 * queue, may be submitted (again) and still has the head that is meant is submitted.
 */
async function submitUnlessDone(target: DueTarget, submitting: Submitting): Promise<Judgement<WaitTarget>> {
  const { cli, wait, reporter, submission } = submitting
  const { attempt, request } = target
  const { attempts } = wait.options
  const { pr } = request.values
  const isAgain = attempt.lastEnd !== undefined
  const { record, sandboxSpeed } = await readCurrent(target, isAgain, wait)
  const item = {
    ...target,
    record: record ?? target.record,
    attempt: { ...attempt, isDue: false, notBefore: undefined },
  }
  if (stateOf(record) === 'MERGED') return mergedAlready(item, wait.options)
  const isQueued = isInQueue(record)
  const again = isAgain && !isQueued ? await whySubmitAgain(target, record, submitting) : firstTime
  if (again === undefined) return endedFor(item, record)
  const other = await findMovedHead(target, record, submitting)
  if (other !== undefined) {
    // What is in the queue now, at another head, is not a submission of this command.
    const moved = { ...item, state: {}, record: { ...item.record, prSha: other } }
    return { item: moved, end: { outcome: 'stale', note: 'Nothing was sent.' } }
  }
  const hasPaused = attempt.notBefore !== undefined
  if (again.pause > 0 && !hasPaused) return pauseFor(again, { ...target, record }, sandboxSpeed, submitting)
  const next = { ...item.attempt, number: attempt.number + 1, unknown: undefined }
  if (isQueued && attempts !== undefined) {
    await reporter.reportAttempt(pr, next.number, 'It was in the queue already.')
    const head = next.head ?? getString(record, 'prSha')
    const recordBeforeSubmit = isAgain ? target.record : undefined
    return { item: { ...item, state: { recordBeforeSubmit }, attempt: { ...next, head } } }
  }
  if (!wait.time.hasTime()) return { item: target }
  await reporter.reportAttempt(pr, next.number, again.reason)
  const head = next.head ?? (isQueued ? getString(record, 'prSha') : undefined)
  const sent = await send({ ...item, attempt: { ...next, head } }, record, submitting)
  if (isQueued && record !== undefined && sent.end === undefined)
    await cli.logger.info(describeResubmission(pr, record, submission))
  return sent
}

/** Reads the record of a pull request, of one that left the queue with its timeline, and the speed of a sandbox. */
async function readCurrent(
  { request }: DueTarget,
  includeTimeline: boolean,
  { client, limits }: Wait,
): Promise<{ readonly record?: JsonObject | undefined; readonly sandboxSpeed?: number | undefined }> {
  const { repo, targetBranch, pr } = request.values
  const params = { repo, targetBranch, pr, ...(includeTimeline && { includeTimeline }) }
  try {
    const { response, sandboxSpeed } = await callOperation(client, getSubmittedPullRequest, params, {
      limits,
    })
    return { record: response.records[0], sandboxSpeed }
  } catch (error) {
    const failure = toMergeqError(error)
    if (isNotFound(failure)) return {}
    throw failure
  }
}

const isInQueue = (record: JsonObject | undefined): boolean =>
  record !== undefined &&
  record.isCurrentlySubmittedToQueue !== false &&
  outcomeOfRecord(record) === 'pending'

/** Sends the submission of a pull request, whose attempt says whether an earlier one was made. */
async function send(
  item: DueTarget,
  recordBeforeSubmit: JsonObject | undefined,
  { cli, wait, submission }: Submitting,
): Promise<Judgement<WaitTarget>> {
  const { request, attempt } = item
  const { client, limits, options, time } = wait
  const { clock } = cli.host
  const { priority, noBatch, set } = submission
  const startedAt = clock.now()
  const sentItem = (from = startedAt, unknown?: MergeqError): WaitTarget => ({
    ...item,
    state: {
      recordBeforeSubmit,
      submission: { from, to: clock.now(), isUncertain: unknown !== undefined },
      ...(unknown?.details.mayBeVisible === true && { mayBeVisible: true }),
    },
    // A submission of an earlier attempt stays one.
    attempt: { ...attempt, submitted: attempt.submitted || (unknown === undefined ? true : null), unknown },
  })
  try {
    const values = { ...request.values, priority, noBatch }
    const { sentAt, wasQueued } = await read(cli, submitPullRequest, values, {
      overrides: set,
      limits,
      head: options.head ?? attempt.head,
    })
    return { item: wasQueued === true ? { ...item, state: { recordBeforeSubmit } } : sentItem(sentAt) }
  } catch (error) {
    const failure = failureOrThrow(error)
    const { delivery, sentState, sentAt, status } = failure.details
    const end = { outcome: 'error', failure } as const
    if (failure.kind === 'stale') {
      const moved = { ...item, state: {}, record: { ...item.record, prSha: failure.details.head } }
      return { item: moved, end: { outcome: 'stale', note: 'It was not submitted.' } }
    }
    if (delivery === 'unknown') {
      const goesOn = failure.kind === 'unknown-outcome' && giveUpLimit(options.giveUpAfter, time, client) > 0
      return { item: sentItem(sentAt, failure), end: goesOn ? undefined : end }
    }
    if (failure.kind === 'refused') {
      const { repo, targetBranch, pr } = request.values
      const place = { repo, targetBranch, pr }
      const { record } = await tryRead(client, getSubmittedPullRequest, place, { limits })
      if (stateOf(record) === 'MERGED') return mergedAlready({ ...item, record }, options)
    }
    // What was certainly not applied is submitted in a later round; what was replayed already is not.
    const isUnsent = sentState === 'not-sent' || (status === 429 && sentState === undefined)
    if (isPassing(failure) && !isUnsent) return { item, end }
    throw failure
  }
}

/** Why a pull request is submitted, and for how long it waits before that, in milliseconds. */
interface Again {
  readonly reason: string
  readonly pause: number
}

const firstTime: Again = { reason: 'It was submitted.', pause: 0 }

/**
 * Returns why a pull request is submitted again; undefined if its record does not say that it left the queue by a failure
 * after which that helps. What a person cancelled is never submitted again.
 */
async function whySubmitAgain(
  { request, state, attempt }: DueTarget,
  record: JsonObject | undefined,
  { wait: { client, limits }, resubmit }: Submitting,
): Promise<Again | undefined> {
  if (record === undefined || isOutdated(record, state)) return undefined
  const isUnexplained = stateOf(record) === 'FAILED' && explainState(record).known === undefined
  const { run } = isUnexplained ? await readTestRun(record, request.values, client, limits) : {}
  if (!isSubmittedAgain(record, run, resubmit)) return undefined
  const explained = explainState(record, run)
  return { reason: explained.sentence ?? 'It failed.', pause: pauseBeforeAgain(explained, attempt.number) }
}

/** The shortest pause against a sandbox, in milliseconds. */
const minSandboxPause = 1_000

/** Lets a pause begin before the next attempt; one that would end after the time limit ends the wait. */
async function pauseFor(
  { pause, reason }: Again,
  target: DueTarget,
  sandboxSpeed: number | undefined,
  { cli, wait: { time }, reporter }: Submitting,
): Promise<Judgement<WaitTarget>> {
  const { attempt, request } = target
  const { pr } = request.values
  const length = sandboxSpeed === undefined ? pause : Math.max(pause / sandboxSpeed, minSandboxPause)
  const until = formatInstant(cli.host.clock.now() + length)
  if (length >= time.remaining()) {
    const { item, end } = endedFor(target, target.record)
    if (end === undefined) return { item }
    const note = `The time limit is before the next attempt. Submit it again after ${until}`
    return { item: { ...item, attempt: { ...attempt, isDue: false } }, end: { ...end, note } }
  }
  await reporter.reportPause(pr, attempt.number + 1, reason, until)
  return { item: { ...target, attempt: { ...attempt, notBefore: time.elapsed() + length } } }
}

/** The end of a pull request that is not submitted again: as its record says, which may be newer than its attempt. */
function endedFor(item: DueTarget, record: JsonObject | undefined): Judgement<WaitTarget> {
  const outcome = outcomeOfRecord(record ?? {})
  const hasEnded = outcome === 'failed' || outcome === 'cancelled'
  if (!hasEnded || isOutdated(record, item.state)) return { item, end: item.attempt.lastEnd }
  return { item: { ...item, state: { ...item.state, state: stateOf(record) } }, end: { outcome } }
}

/** Returns the head of a pull request if it is not the expected commit, or not that of the attempt before. */
async function findMovedHead(
  { request, attempt }: DueTarget,
  record: JsonObject | undefined,
  { cli, wait }: Submitting,
): Promise<string | undefined> {
  const { head } = wait.options
  if (head !== undefined) return findOtherHead(request.values, record, head, cli)
  if (attempt.head === undefined) return undefined
  const found = await findHead(request.values, record, cli)
  const commit = 'commit' in found ? found.commit : getString(record, 'prSha')
  return isOtherCommit(commit, attempt.head) ? commit : undefined
}

/** The end of a pull request that had merged before it was submitted, perhaps at another head than the one that is meant. */
const mergedAlready = (item: DueTarget, { head }: WaitOptions): Judgement<WaitTarget> => ({
  item: { ...item, state: { state: 'MERGED' } },
  end: isOtherCommit(getString(item.record, 'prSha'), head ?? item.attempt.head)
    ? { outcome: 'stale' }
    : { outcome: 'merged', isFirstReading: item.attempt.lastEnd === undefined },
})
