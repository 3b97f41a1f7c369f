import type { RequestLimits } from '../../../api/service-client.ts'
import type { CommandContext } from '../../../cli/context.ts'
import type { FailingCheck } from '../../../domain/explain/test-run.ts'
import type { WaitTarget } from './read-targets.ts'

/** The time for the test run of a pull request that failed, in milliseconds: the result is known already. */
const timeLimit = 5_000

/**
 * Reads the failing checks of a pull request that failed, once, within `limits` and five seconds. Undefined if
 * they are not known or if the request fails; never rejects.
 */
export async function readFailingChecks(
  { invocation, record }: WaitTarget,
  limits: RequestLimits,
  context: CommandContext,
): Promise<readonly FailingCheck[] | undefined> {
  if (record === undefined) return undefined
  const timeout = (usual: number) => Math.min(limits.timeout?.(usual) ?? usual, timeLimit)
  try {
    const { readTestRun } = await import('../test-run/read-test-run.ts')
    const { run } = await readTestRun(record, invocation.values, context, { limits: { ...limits, timeout } })
    return run?.failingChecks
  } catch {
    return undefined
  }
}
