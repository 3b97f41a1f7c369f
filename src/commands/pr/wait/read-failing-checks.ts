import type { RequestLimits } from '../../../api/service-client.ts'
import type { CommandContext } from '../../../cli/context.ts'
import type { FailingCheck } from '../../../domain/test-run.ts'
import type { WaitTarget } from './read-targets.ts'

/** The time for all requests, in milliseconds: the result is known already. */
const timeLimit = 5_000

/**
 * Reads the failing checks of a pull request that failed, once, within `limits` and five seconds. Undefined
 * if they are not known or if a request fails; never rejects.
 */
export async function readFailingChecks(
  { request, record }: WaitTarget,
  limits: RequestLimits,
  context: CommandContext,
): Promise<readonly FailingCheck[] | undefined> {
  if (record === undefined) return undefined
  const { clock } = context.host
  const deadline = clock.now() + timeLimit
  const timeout = (usual: number) =>
    Math.min(limits.timeout?.(usual) ?? usual, Math.max(1, deadline - clock.now()))
  try {
    const { readTestRun } = await import('../test-run.ts')
    const { run } = await readTestRun(record, request.values, context, { limits: { ...limits, timeout } })
    return run?.failingChecks
  } catch {
    return undefined
  }
}
