import { tryRead } from '../../api/extra-reads.ts'
import { getSubmittedPullRequest, submitPullRequest } from '../../api/operations/pull-requests.ts'
import type { ServiceRequest } from '../../api/resolve.ts'
import { call, forEachRequest, read, show } from '../../cli/calls.ts'
import type { Cli } from '../../cli/cli.ts'
import { type RequestResult, warnUnfinished, withResource } from '../../cli/report.ts'
import { nextCommands } from '../../config/next-commands.ts'
import { outcomeOfRecord, stateOf } from '../../domain/states.ts'
import type { RequestedPullRequest } from '../../domain/values/pull-request.ts'
import { isOtherCommit, isOutdated, type Judgement, type WaitOptions } from '../../domain/wait-state.ts'
import { failureOrThrow, isPassing, isPermanent, type MergeqError, toMergeqError } from '../../errors.ts'
import { getString, type JsonObject } from '../../json.ts'
import { giveUpLimit } from '../../wait/poll.ts'
import type { DueTarget, Submit, Wait, WaitTarget } from '../../wait/readings.ts'
import { findHead, findOtherHead } from './head.ts'
import { readRecord } from './reads.ts'
import { startCommandWait, WaitReporter } from './wait-report.ts'

type SubmitRequest = ServiceRequest<RequestedPullRequest>

/** Which failures `pr land` submits again after. */
export type Resubmit = 'safe' | 'any'

/** What all submissions of a command have in common. */
interface Submitting {
  readonly cli: Cli
  readonly wait: Wait
  readonly resubmit: Resubmit
  readonly requestOf: ReadonlyMap<WaitTarget['request'], SubmitRequest>
  /** Says that a pull request is submitted, or is in the queue already. */
  reportAttempt(pr: number, attempt: number, reason: string): Promise<void>
}

/**
 * Submits pull requests and waits for them, in one poll: a submission that was certainly not made is repeated like a
 * reading that failed. With `options.attempts` a pull request is submitted again after a failure that is not its own.
 * Returns the exit code.
 */
export async function submitAndWait(
  requests: readonly SubmitRequest[],
  options: WaitOptions,
  cli: Cli,
  resubmit: Resubmit = 'safe',
): Promise<number> {
  // Equal priority is first come, first served (docs/reference/service.md, "Priorities").
  if (cli.options.dryRun)
    return forEachRequest(cli, requests, async request => show(await call(cli, request)), { atOnce: 1 })
  const wait = startCommandWait(options, cli)
  const requestOf = new Map(requests.map(request => [{ values: request.values, overrides: [] }, request]))
  const own = [...requestOf.keys()]
  const reporter = new WaitReporter(own, wait, cli)
  const submitting: Submitting = {
    cli,
    wait,
    resubmit,
    requestOf,
    reportAttempt: (pr, attempt, reason) => reporter.reportAttempt(pr, attempt, reason),
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
        const names = own.map(({ values }) => `#${values.pr}`)
        const soFar = own.map(each => results.get(each))
        await warnUnfinished(submitPullRequest, names, soFar, cli)
      }
      throw named
    }
  }
  const attempt = { number: 0, isDue: true, submitted: false }
  const targets = own.map((request): WaitTarget => ({ request, state: {}, attempt }))
  return reporter.waitFor(targets, submit)
}

/**
 * What happens before each submission: the record is read, and only a pull request that has not merged, is not in the
 * queue, may be submitted (again) and still has the head that is meant is submitted.
 */
async function submitUnlessDone(target: DueTarget, submitting: Submitting): Promise<Judgement<WaitTarget>> {
  const { cli, wait, reportAttempt } = submitting
  const { attempt, request } = target
  const { attempts } = wait.options
  const { pr } = request.values
  const record = await readRecord(request.values, cli, { limits: wait.limits })
  const item = { ...target, record: record ?? target.record, attempt: { ...attempt, isDue: false } }
  if (stateOf(record) === 'MERGED') return mergedAlready(item, wait.options)
  const isQueued = isInQueue(record)
  const isAgain = attempt.lastEnd !== undefined
  const reason = isAgain && !isQueued ? await whySubmitAgain(target, record, submitting) : 'It was submitted.'
  if (reason === undefined) return endedFor(item, record)
  const other = await findMovedHead(target, record, submitting)
  if (other !== undefined) {
    // What is in the queue now, at another head, is not a submission of this command.
    const moved = { ...item, state: {}, record: { ...item.record, prSha: other } }
    return { item: moved, end: { outcome: 'stale', note: 'Nothing was sent.' } }
  }
  const next = { ...item.attempt, number: attempt.number + 1, unknown: undefined }
  if (isQueued && attempts !== undefined) {
    await reportAttempt(pr, next.number, 'It was in the queue already.')
    const head = next.head ?? getString(record, 'prSha')
    const recordBeforeSubmit = isAgain ? target.record : undefined
    return { item: { ...item, state: { recordBeforeSubmit }, attempt: { ...next, head } } }
  }
  if (!wait.time.hasTime()) return { item: target }
  await reportAttempt(pr, next.number, reason)
  const head = next.head ?? (isQueued ? getString(record, 'prSha') : undefined)
  return send({ ...item, attempt: { ...next, head } }, record, submitting)
}

const isInQueue = (record: JsonObject | undefined): boolean =>
  record !== undefined &&
  record.isCurrentlySubmittedToQueue !== false &&
  outcomeOfRecord(record) === 'pending'

/** Sends the submission of a pull request, whose attempt says whether an earlier one was made. */
async function send(
  item: DueTarget,
  recordBeforeSubmit: JsonObject | undefined,
  { cli, wait, requestOf }: Submitting,
): Promise<Judgement<WaitTarget>> {
  const { request, attempt } = item
  const { client, limits, options, time } = wait
  const { clock } = cli.host
  const submitRequest = requestOf.get(request)
  if (submitRequest === undefined) throw new Error(`#${request.values.pr} has no request`)
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
    const { sentAt, wasQueued } = await read(cli, submitPullRequest, submitRequest.values, {
      ...submitRequest,
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

/**
 * Returns why a pull request is submitted again; undefined if its record does not say that it left the queue by a failure
 * that was not its own. What a person cancelled is never submitted again.
 */
async function whySubmitAgain(
  { request, state }: DueTarget,
  record: JsonObject | undefined,
  { cli, wait, resubmit }: Submitting,
): Promise<string | undefined> {
  if (isOutdated(record, state)) return undefined
  if (resubmit === 'any' && stateOf(record) === 'FAILED') return 'It failed.'
  const { explain } = await import('../../api/explain.ts')
  const commands = nextCommands(cli.settings, request.values)
  const { verdict, since, reason, submitAgain, ...explanation } = await explain(
    request,
    wait.client,
    commands,
    wait.limits,
  )
  // Its reading may be behind the record, or ahead of it.
  const isSame =
    explanation.state === stateOf(record) && since === (getString(record, 'stateChangedAt') ?? null)
  const isSafe = verdict === 'dropped' && submitAgain.safe === true && !submitAgain.needsChange
  return isSame && isSafe ? (reason ?? submitAgain.why) : undefined
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
