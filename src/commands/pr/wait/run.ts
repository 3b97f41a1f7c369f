import { submitPullRequest } from '../../../api/operations/pull-requests.ts'
import type { Wait, WaitTarget } from '../../../api/wait/poll.ts'
import { waitForTargets } from '../../../api/wait/run.ts'
import type { RequestResult, RunContext } from '../../../cli/command.ts'
import type { CommandContext } from '../../../cli/context.ts'
import { nameOf, reportResults, withResource } from '../../../cli/report.ts'
import type { RequestedPullRequest } from '../../../domain/values/pull-request.ts'
import type { WaitOptions } from '../../../domain/wait-state.ts'
import { MergeqError, toMergeqError } from '../../../errors.ts'
import type { JsonObject } from '../../../json.ts'
import type { ServiceRequest } from '../../../methods/resolve.ts'
import { readRecord } from '../reads.ts'
import { startCommandWait } from './command-wait.ts'
import { WaitReporter } from './report.ts'

/**
 * Submits pull requests and waits for them. Each record is read before the submission, because an old record
 * is not the result of the new one. `--timeout` limits everything: when it is over, nothing more is
 * submitted. Returns the exit code.
 */
export async function submitAndWait<V extends RequestedPullRequest>(
  requests: readonly ServiceRequest<V>[],
  options: WaitOptions,
  context: RunContext<V>,
): Promise<number> {
  const { clock, interrupted } = context.host
  const wait = await startCommandWait(options, context)
  const results: (RequestResult & {
    readonly recordBefore?: JsonObject | undefined
    readonly sentAt?: number
  })[] = []
  const isOnly = requests.length === 1
  for (const request of requests) {
    if (interrupted.aborted) break
    try {
      checkTime(request, wait)
      const limits = wait.limitsBeforeChange()
      const recordBefore = await readRecord(request.values, context, { limits })
      checkTime(request, wait)
      const sentAt = clock.now()
      const { failure } = await context.sendOne(request, { isOnly, limits: wait.changeLimits })
      if (failure?.kind === 'unavailable') checkTime(request, wait)
      results.push({ code: failure?.exit ?? 0, failure, recordBefore, sentAt })
    } catch (error) {
      const original = toMergeqError(error)
      const failure = isOnly ? original : withResource(original, nameOf(request.values))
      results.push({ code: failure.exit, failure })
    }
    if (options.stopsOnError && results.at(-1)?.failure !== undefined) break
  }
  const to = clock.now()
  const targets = requests.map((request, index) => {
    const result = results[index]
    return {
      request: { values: request.values, overrides: [] },
      state: {
        recordBeforeSubmit: result?.recordBefore,
        submission: { from: result?.sentAt ?? to, to },
      },
      errors: 0,
      failure: result?.failure,
    }
  })
  const failures = targets.flatMap(({ failure }) => failure ?? [])
  const isStopped = options.stopsOnError && failures.length > 0
  // A signal after the last submission ends the wait, which reports it.
  const isInterrupted =
    (interrupted.aborted && results.length < requests.length) ||
    failures.some(({ kind }) => kind === 'interrupted')
  const reporter = new WaitReporter(
    targets.map(({ request }) => request),
    wait,
    context,
  )
  const waiting: WaitTarget[] = []
  for (const { failure, ...target } of targets) {
    if (isInterrupted) break
    if (failure !== undefined)
      await reporter.reportEnd(target, { outcome: 'error', failure, isSkipped: true })
    else if (isStopped) await reporter.reportEnd(target, { outcome: 'pending', isSkipped: true })
    else waiting.push(target)
  }
  if (isStopped || isInterrupted) {
    await reporter.flush()
    return reportResults(submitPullRequest, requests, results, context)
  }
  if (waiting.length > 0) for (const { message } of failures) await context.logger.info(message)
  return waitFor(waiting, wait, reporter)
}

/** Throws the error of a pull request that was not submitted within the time limit. */
function checkTime({ values }: ServiceRequest<RequestedPullRequest>, wait: Wait): void {
  if (!wait.hasTime()) throw new MergeqError('timed-out', `Timed out before #${values.pr} was submitted.`)
}

/** Waits until every pull request has an outcome, and returns the most severe exit code. */
export async function waitForAll(
  requests: readonly WaitTarget['request'][],
  options: WaitOptions,
  context: CommandContext,
): Promise<number> {
  const wait = await startCommandWait(options, context)
  const targets = requests.map(request => ({ request, state: {}, errors: 0 }))
  return waitFor(targets, wait, new WaitReporter(requests, wait, context))
}

/** Waits for pull requests and reports them. Returns the most severe exit code. */
async function waitFor(targets: readonly WaitTarget[], wait: Wait, reporter: WaitReporter): Promise<number> {
  await waitForTargets(targets, wait, reporter)
  return reporter.close()
}
