import { submitPullRequest } from '../../api/operations/pull-requests.ts'
import type { RunContext } from '../../cli/define-command.ts'
import { nameOf, type RequestResult, reportResults, withResource } from '../../cli/report.ts'
import type { RequestedPullRequest } from '../../domain/values/pull-request.ts'
import type { WaitOptions } from '../../domain/wait-state.ts'
import { isOutage, MergeqError, toMergeqError } from '../../errors.ts'
import type { JsonObject } from '../../json.ts'
import type { ServiceRequest } from '../../methods/resolve.ts'
import type { WaitTarget } from '../../wait/readings.ts'
import { readRecord } from './reads.ts'
import { startCommandWait, WaitReporter } from './wait-report.ts'

/**
 * Submits pull requests and waits for them. Each record is read before the submission, because an old record
 * is not the result of the new one. The limit of the wait limits everything: when it is over, nothing more is
 * submitted. Returns the exit code.
 */
export async function submitAndWait<V extends RequestedPullRequest>(
  requests: readonly ServiceRequest<V>[],
  options: WaitOptions,
  context: RunContext<V>,
): Promise<number> {
  const { clock, interrupted } = context.host
  const wait = await startCommandWait(options, context)
  /** Throws the error of a pull request that was not submitted within the time limit. */
  const checkTime = ({ values }: ServiceRequest<V>) => {
    if (wait.time.hasTime()) return
    throw new MergeqError('timed-out', `Timed out before #${values.pr} was submitted.`)
  }
  const results: (RequestResult & {
    readonly recordBefore?: JsonObject | undefined
    readonly sentAt?: number
  })[] = []
  const isOnly = requests.length === 1
  for (const request of requests) {
    if (interrupted.aborted) break
    try {
      checkTime(request)
      const limits = wait.limits.ofReadBeforeChange()
      const recordBefore = await readRecord(request.values, context, { limits })
      checkTime(request)
      const sentAt = clock.now()
      const { failure } = await context.sendOne(request, { isOnly, limits: wait.limits.ofChange })
      if (failure !== undefined && isOutage(failure)) checkTime(request)
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
  return reporter.waitFor(waiting)
}
