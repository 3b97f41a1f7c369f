import { callOperation } from '../../api/call.ts'
import { cancelPullRequest, submitPullRequest } from '../../api/operations/pull-requests.ts'
import { call, runRequests } from '../../cli/calls.ts'
import type { Cli } from '../../cli/cli.ts'
import type { RequestValues } from '../../cli/presentation.ts'
import { type RequestResult, warnUnfinished, withResource } from '../../cli/report.ts'
import { nextCommands } from '../../config/next-commands.ts'
import { outcomeOfRecord, stateOf } from '../../domain/states.ts'
import type { RequestedPullRequest } from '../../domain/values/pull-request.ts'
import { isOtherCommit, type Judgement, type WaitEnd, type WaitOptions } from '../../domain/wait-state.ts'
import {
  failureOrThrow,
  isPassing,
  isPermanent,
  MergeqError,
  toMergeqError,
  withPeriod,
} from '../../errors.ts'
import { getString, type JsonObject } from '../../json.ts'
import type { ServiceRequest } from '../../methods/resolve.ts'
import { giveUpLimit } from '../../wait/limits.ts'
import type { Attempt, Submitter, Wait, WaitTarget } from '../../wait/readings.ts'
import { findHead, findOtherHead } from './head.ts'
import { readRecord } from './reads.ts'
import { waitCommand } from './wait-options.ts'
import { startCommandWait, WaitReporter } from './wait-report.ts'

type SubmitRequest = ServiceRequest<RequestedPullRequest & RequestValues>

/** Which failures `pr land` submits again after. */
export type Resubmit = 'safe' | 'any'

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
  if (cli.options.dryRun) return runRequests(cli, requests, { atOnce: 1 })
  const wait = await startCommandWait(options, cli)
  const targets = requests.map(({ values }): WaitTarget => {
    const attempt = { number: 0, isDue: true, submitted: false }
    return { request: { values, overrides: [] }, state: {}, attempt }
  })
  const byTarget = new Map(targets.map(({ request }, index) => [request, requests[index]]))
  const submitter = new CommandSubmitter(byTarget, wait, cli, resubmit, (pr, attempt, reason) =>
    reporter.reportAttempt(pr, attempt, reason),
  )
  const reporter = new WaitReporter([...byTarget.keys()], { ...wait, submitter }, cli)
  return reporter.waitFor(targets)
}

class CommandSubmitter implements Submitter {
  private readonly requests: ReadonlyMap<WaitTarget['request'], SubmitRequest | undefined>
  private readonly wait: Wait
  private readonly cli: Cli
  private readonly resubmit: Resubmit
  private readonly reportAttempt: (pr: number, attempt: number, reason: string) => Promise<void>
  private readonly results = new Map<WaitTarget['request'], RequestResult>()

  constructor(
    requests: CommandSubmitter['requests'],
    wait: Wait,
    cli: Cli,
    resubmit: Resubmit,
    reportAttempt: CommandSubmitter['reportAttempt'],
  ) {
    this.requests = requests
    this.wait = wait
    this.cli = cli
    this.resubmit = resubmit
    this.reportAttempt = reportAttempt
  }

  async submit(target: WaitTarget): Promise<Judgement<WaitTarget>> {
    const { request } = target
    try {
      const judgement = await this.submitUnlessDone(target)
      this.results.set(request, { code: 0, failure: judgement.end?.failure })
      return judgement
    } catch (error) {
      const failure = toMergeqError(error)
      const named = this.requests.size > 1 ? withResource(failure, `#${request.values.pr}`) : failure
      this.results.set(request, { code: failure.exit, failure: named })
      const isLast = isPermanent(failure) || (this.wait.options.stopsOnError && !isPassing(failure))
      if (isLast && this.requests.size > 1) await this.warnUnfinished()
      throw named
    }
  }

  mayFollow({ attempt }: WaitTarget, { outcome }: WaitEnd): boolean {
    const { attempts = 1, waitLimit } = this.wait.options
    const hasAttempt = attempt !== undefined && attempt.number < attempts && waitLimit > 0
    return hasAttempt && (outcome === 'failed' || outcome === 'cancelled')
  }

  async conclude(item: WaitTarget, end: WaitEnd): Promise<Required<Judgement<WaitTarget>>> {
    const { attempt, request } = item
    const { outcome, failure } = end
    const { pr } = request.values
    if (attempt === undefined) return { item, end }
    const { submitted, isDue, lastEnd, unknown } = attempt
    const isUnavailable = failure?.kind === 'unavailable'
    // A further submission was due, and there was no time for it, or no service: the last result counts.
    if (isDue && lastEnd !== undefined && (outcome === 'timed-out' || isUnavailable))
      return { item, end: lastEnd }
    // Nothing has been submitted.
    if (isDue && outcome === 'timed-out')
      return {
        item,
        end: {
          outcome: 'error',
          failure: new MergeqError('timed-out', `Timed out before #${pr} was submitted.`),
        },
      }
    if (isDue && outcome === 'pending') return { item, end: { ...end, isSkipped: true } }
    // A submission without a response did not appear within the grace period.
    if (submitted === null && unknown !== undefined && failure?.kind === 'not-found')
      return {
        item: { ...item, attempt: { ...attempt, submitted: false } },
        end: {
          outcome: 'error',
          failure: new MergeqError('unavailable', `#${pr} was not submitted: the request got no response.`, {
            delivery: 'not-applied',
            hint: 'It is safe to run the command again.',
          }),
        },
      }
    // Nothing showed whether it was submitted.
    if (submitted === null && unknown !== undefined && ['timed-out', 'pending', 'error'].includes(outcome))
      return { item, end: { outcome: 'error', failure: unknown } }
    // The service went away after the submission: 7 would mean that nothing was changed.
    if (submitted === true && isUnavailable) {
      const hint = `To continue waiting, run: ${waitCommand([request.values], this.cli.settings.commandLine)}`
      const message = `#${pr} was submitted, but its result is unknown. ${failure.message}`
      return { item, end: { outcome: 'timed-out', failure: new MergeqError('timed-out', message, { hint }) } }
    }
    if (outcome === 'stale' && submitted === true) return { item, end: await this.cancel(item, end) }
    return { item, end }
  }

  /** Submits a pull request that has not merged, and whose head is the expected one. */
  private async submitUnlessDone(target: WaitTarget): Promise<Judgement<WaitTarget>> {
    const { request, attempt = { number: 0, isDue: true, submitted: false } } = target
    const { options } = this.wait
    const record = await this.readRecord(target)
    const state = stateOf(record)
    const next: Attempt = { ...attempt, number: attempt.number + 1, isDue: false, lastEnd: undefined }
    const item: WaitTarget = {
      ...target,
      record: record ?? target.record,
      attempt: { ...attempt, isDue: false },
    }
    if (state === 'MERGED')
      return isOtherCommit(getString(record, 'prSha'), options.head)
        ? { item: { ...item, state: { state } }, end: { outcome: 'stale', note: 'It is already merged.' } }
        : mergedAlready(item)
    let reason = 'It was submitted.'
    const isQueued =
      record !== undefined &&
      record.isCurrentlySubmittedToQueue !== false &&
      outcomeOfRecord(record) === 'pending'
    if (!isQueued && attempt.lastEnd !== undefined) {
      const why = await this.whySubmitAgain(target, attempt.lastEnd)
      if (why === undefined) return { item, end: attempt.lastEnd }
      reason = why
    }
    const other = await this.findOtherHead(target, record)
    if (other !== undefined) {
      const moved = { ...item, record: { ...item.record, prSha: other } }
      return { item: moved, end: { outcome: 'stale', note: 'Nothing was sent.' } }
    }
    if (isQueued && options.attempts !== undefined) {
      await this.reportAttempt(request.values.pr, next.number, 'It was in the queue already.')
      return { item: { ...item, state: {}, attempt: next } }
    }
    if (!this.wait.time.hasTime()) return { item: target }
    await this.reportAttempt(request.values.pr, next.number, reason)
    return this.send({ ...item, attempt: next }, record, attempt.submitted)
  }

  /** @param before whether an earlier attempt was submitted */
  private async send(
    item: WaitTarget & { readonly attempt: Attempt },
    recordBeforeSubmit: JsonObject | undefined,
    before: boolean | null,
  ): Promise<Judgement<WaitTarget>> {
    const { request, attempt } = item
    const { client, limits, options, time } = this.wait
    const { clock } = this.cli.host
    const submitRequest = this.requests.get(request)
    if (submitRequest === undefined) throw new Error(`#${request.values.pr} has no request`)
    const from = clock.now()
    const sentItem = (submitted: boolean | null, unknown?: MergeqError): WaitTarget => ({
      ...item,
      state: {
        recordBeforeSubmit,
        submission: { from, to: clock.now(), isUncertain: submitted === null },
      },
      attempt: { ...attempt, submitted, unknown },
    })
    try {
      await call(this.cli, submitRequest, { limits })
      return { item: sentItem(true) }
    } catch (error) {
      const failure = failureOrThrow(error)
      const { delivery, sentState, status } = failure.details
      const end = { outcome: 'error', failure } as const
      if (delivery === 'unknown') {
        const goesOn =
          failure.kind === 'unknown-outcome' && giveUpLimit(options.giveUpAfter, time, client) > 0
        return { item: sentItem(null, failure), end: goesOn ? undefined : end }
      }
      if (failure.kind === 'refused' && stateOf(await this.readRecord(item)) === 'MERGED')
        return mergedAlready({ ...item, attempt: { ...attempt, submitted: before } })
      // What was certainly not applied is submitted in a later round; what was replayed already is not.
      const isUnsent = sentState === 'not-sent' || (status === 429 && sentState === undefined)
      if (isPassing(failure) && !isUnsent) return { item, end }
      throw failure
    }
  }

  private readRecord({ request }: WaitTarget): Promise<JsonObject | undefined> {
    return readRecord(request.values, this.cli, { limits: this.wait.limits })
  }

  /** Returns why a pull request is submitted again; undefined if its failure was its own or a person cancelled it. */
  private async whySubmitAgain({ request }: WaitTarget, { outcome }: WaitEnd): Promise<string | undefined> {
    if (this.resubmit === 'any' && outcome === 'failed') return 'It failed.'
    const { explain } = await import('../../methods/explain.ts')
    const commands = nextCommands(this.cli.settings, request.values)
    const { submitAgain } = await explain(request, this.wait.client, commands)
    return submitAgain.safe === true && !submitAgain.needsChange ? submitAgain.why : undefined
  }

  /** Returns the head of a pull request if it is not the expected commit, or not that of the attempt before. */
  private async findOtherHead(
    { request, attempt }: WaitTarget,
    record: JsonObject | undefined,
  ): Promise<string | undefined> {
    const { head } = this.wait.options
    if (head !== undefined) return findOtherHead(request.values, record, head, this.cli)
    if (attempt?.head === undefined) return undefined
    const found = await findHead(request.values, record, this.cli)
    const commit = 'commit' in found ? found.commit : getString(record, 'prSha')
    return isOtherCommit(commit, attempt.head) ? commit : undefined
  }

  /** Cancels a submission of this command whose head moved, and says what became of it. */
  private async cancel({ request, state, record }: WaitTarget, end: WaitEnd): Promise<WaitEnd> {
    const { repo, targetBranch, pr } = request.values
    const wasQueued = state.recordBeforeSubmit?.isCurrentlySubmittedToQueue === true
    if (wasQueued || outcomeOfRecord(record ?? {}) !== 'pending') return end
    try {
      await callOperation(this.wait.client, cancelPullRequest, { repo, targetBranch, pr })
      return { ...end, note: 'Its submission was cancelled.' }
    } catch (error) {
      const { message } = failureOrThrow(error)
      return { ...end, note: `Its submission was not cancelled: ${withPeriod(message)}` }
    }
  }

  private warnUnfinished(): Promise<void> {
    const names = [...this.requests.keys()].map(({ values }) => `#${values.pr}`)
    const results = [...this.requests.keys()].map(request => this.results.get(request))
    return warnUnfinished(submitPullRequest, names, results, this.cli)
  }
}

/** The end of a pull request that had merged before it was submitted. */
const mergedAlready = (item: WaitTarget): Judgement<WaitTarget> => ({
  item: { ...item, state: { state: 'MERGED' } },
  end: { outcome: 'merged', isFirstReading: true },
})
