import { tryRead } from '../../api/extra-reads.ts'
import { getSubmittedPullRequest } from '../../api/operations/pull-requests.ts'
import { call } from '../../cli/calls.ts'
import type { Cli } from '../../cli/cli.ts'
import { each } from '../../cli/each.ts'
import type { RequestValues } from '../../cli/presentation.ts'
import type { RequestedPullRequest } from '../../domain/values/pull-request.ts'
import type { WaitOptions } from '../../domain/wait-state.ts'
import { failureOrThrow, isNotFound, isOutage, MergeqError } from '../../errors.ts'
import type { JsonObject } from '../../json.ts'
import type { ServiceRequest } from '../../methods/resolve.ts'
import type { Wait, WaitTarget } from '../../wait/readings.ts'
import { explainFinished } from './reads.ts'
import { startCommandWait, WaitReporter } from './wait-report.ts'

type SubmitRequest = ServiceRequest<RequestedPullRequest & RequestValues>

interface Submission {
  /** The record before the submission: it is not the result of the new one. */
  readonly recordBefore: JsonObject | undefined
  /** In milliseconds since 1970. */
  readonly sentAt: number
}

/**
 * Submits pull requests and waits for them. The limit of the wait limits everything: when it is over, nothing more
 * is submitted. Where an error stops the submissions, there is no wait. Returns the exit code.
 */
export async function submitAndWait(
  requests: readonly SubmitRequest[],
  options: WaitOptions,
  cli: Cli,
): Promise<number> {
  const { clock, interrupted } = cli.host
  const wait = await startCommandWait(options, cli)
  const { outcomes, report } = await each(cli, requests, request => submit(request, wait, cli), {
    atOnce: 1,
    stopOnError: options.stopsOnError,
  })
  const to = clock.now()
  const targets = requests.map((request, index) => {
    const { result, failure } = outcomes[index] ?? {}
    return {
      request: { values: request.values, overrides: [] },
      state: {
        recordBeforeSubmit: result?.recordBefore,
        submission: { from: result?.sentAt ?? to, to },
      },
      failure,
    }
  })
  const failures = targets.flatMap(({ failure }) => failure ?? [])
  const isStopped = failures.some(({ kind }) => options.stopsOnError || kind === 'auth')
  // A signal after the last submission ends the wait, which reports it.
  const isInterrupted =
    (interrupted.aborted && outcomes.length < requests.length) ||
    failures.some(({ kind }) => kind === 'interrupted')
  const reporter = new WaitReporter(
    targets.map(({ request }) => request),
    wait,
    cli,
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
    return report()
  }
  if (waiting.length > 0) for (const { message } of failures) await cli.logger.info(message)
  return reporter.waitFor(waiting)
}

/** Submits a pull request while the wait has time. */
async function submit(request: SubmitRequest, wait: Wait, cli: Cli): Promise<Submission> {
  const { repo, targetBranch, pr } = request.values
  const checkTime = () => {
    if (!wait.time.hasTime()) throw new MergeqError('timed-out', `Timed out before #${pr} was submitted.`)
  }
  checkTime()
  const { record: recordBefore, failure: unread } = await tryRead(
    cli.client(),
    getSubmittedPullRequest,
    { repo, targetBranch, pr },
    { limits: wait.limits.ofReadBeforeChange() },
  )
  if (unread !== undefined && !isNotFound(unread)) throw unread
  checkTime()
  const sentAt = cli.host.clock.now()
  try {
    await call(cli, request, { limits: wait.limits.ofChange, explain: explainFinished(cli, ['ok']) })
  } catch (error) {
    if (isOutage(failureOrThrow(error))) checkTime()
    throw error
  }
  return { recordBefore, sentAt }
}
