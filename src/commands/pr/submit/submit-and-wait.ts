import { submitPullRequest } from '../../../api/operations/pull-requests.ts'
import type { CommandContext } from '../../../cli/context.ts'
import type { Invocation } from '../../../cli/invocation.ts'
import { reportResults } from '../../../cli/report-results.ts'
import { executeAll } from '../../../cli/run-invocations.ts'
import { MergeqError } from '../../../errors.ts'
import type { JsonObject } from '../../../json.ts'
import { readRecord } from '../state/read-record.ts'
import { createWaitLimits, type WaitOptions } from '../wait/time-limits.ts'
import { reportUnwaited, waitForAll } from '../wait/wait-for-all.ts'
import { type SubmitInvocation, submitRequest } from './submit-request.ts'

/**
 * Submits pull requests and waits for them. Each record is read before the submission, because an old record
 * is not the result of the new one. `--timeout` limits everything: when it is over, nothing more is
 * submitted. Returns the exit code.
 */
export async function submitAndWait(
  invocations: readonly SubmitInvocation[],
  options: WaitOptions,
  context: CommandContext,
): Promise<number> {
  const { clock, interrupted } = context.host
  const startedAt = clock.now()
  const remaining = () => startedAt + options.limit - clock.now()
  const limits = await createWaitLimits(options.limit, remaining, context)
  const recordsBeforeSubmit = new Map<Invocation, JsonObject | undefined>()
  const submittedAt = new Map<Invocation, number>()
  const results = await executeAll(submitRequest, invocations, context, {
    // The output of a wait is its results: receipts of the submissions would be further documents.
    isSilent: true,
    limits: limits.change,
    async beforeSend(invocation) {
      const submission = invocations.find(other => other === invocation)
      if (submission === undefined) return
      if (options.limit > 0 && remaining() <= 0)
        throw new MergeqError('timed-out', `Timed out before #${submission.values.pr} was submitted.`)
      recordsBeforeSubmit.set(submission, await readRecord(submission.values, limits.forRead(), context))
      submittedAt.set(submission, clock.now())
    },
  })
  const to = clock.now()
  const candidates = invocations.map((invocation, index) => ({
    invocation: { values: invocation.values, overrides: [] },
    recordBeforeSubmit: recordsBeforeSubmit.get(invocation),
    submission: { from: submittedAt.get(invocation) ?? startedAt, to },
    failure: results[index]?.failure,
  }))
  const failures = results.flatMap(({ failure }) => failure ?? [])
  const isStopped = options.stopsOnError && failures.length > 0
  if (isStopped && !interrupted.aborted) await reportUnwaited(candidates, startedAt, context)
  if (isStopped || interrupted.aborted) return reportResults(submitPullRequest, invocations, results, context)
  if (failures.length < invocations.length)
    for (const { message } of failures) await context.logger.info(message)
  return waitForAll(candidates, options, context, startedAt)
}
