import { submitPullRequest } from '../../../api/operations/pull-requests.ts'
import type { CommandRequest, RunContext } from '../../../cli/command.ts'
import { reportResults } from '../../../cli/run-requests.ts'
import { MergeqError } from '../../../errors.ts'
import type { JsonObject } from '../../../json.ts'
import { type RequestedPullRequest, readRecord } from '../record.ts'
import { createWaitLimits, type WaitOptions } from '../wait/time-limits.ts'
import { reportUnwaited, waitForAll } from '../wait/wait-for-all.ts'

/** A submission that was sent: when, and what the service knew of the pull request before. */
interface Submission {
  readonly recordBefore: JsonObject | undefined
  /** Milliseconds since 1970. */
  readonly sentAt: number
}

/**
 * Submits pull requests and waits for them. Each record is read before the submission, because an old record
 * is not the result of the new one. `--timeout` limits everything: when it is over, nothing more is
 * submitted. Returns the exit code.
 */
export async function submitAndWait<V extends RequestedPullRequest>(
  requests: readonly CommandRequest<V>[],
  options: WaitOptions,
  context: RunContext<V>,
): Promise<number> {
  const { clock, interrupted } = context.host
  const startedAt = clock.now()
  const remaining = () => startedAt + options.limit - clock.now()
  const limits = await createWaitLimits(options.limit, remaining, context)
  const submissions = new Map<CommandRequest<V>, Submission>()
  const results = await context.execute(requests, {
    // The output of a wait is its results: receipts of the submissions would be further documents.
    isSilent: true,
    limits: limits.change,
    async beforeSend(request) {
      if (options.limit > 0 && remaining() <= 0)
        throw new MergeqError('timed-out', `Timed out before #${request.values.pr} was submitted.`)
      const recordBefore = await readRecord(request.values, context, { limits: limits.forRead() })
      submissions.set(request, { recordBefore, sentAt: clock.now() })
    },
  })
  const to = clock.now()
  const candidates = requests.map((request, index) => ({
    request: { values: request.values, overrides: [] },
    recordBeforeSubmit: submissions.get(request)?.recordBefore,
    submission: { from: submissions.get(request)?.sentAt ?? startedAt, to },
    failure: results[index]?.failure,
  }))
  const failures = results.flatMap(({ failure }) => failure ?? [])
  const isStopped = options.stopsOnError && failures.length > 0
  if (isStopped && !interrupted.aborted) await reportUnwaited(candidates, startedAt, context)
  if (isStopped || interrupted.aborted) return reportResults(submitPullRequest, requests, results, context)
  if (failures.length < requests.length)
    for (const { message } of failures) await context.logger.info(message)
  return waitForAll(candidates, options, context, startedAt)
}
