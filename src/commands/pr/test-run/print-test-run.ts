import { getMergeQueueTestingDetails } from '../../../api/operations/testing-details.ts'
import type { CommandContext } from '../../../cli/context.ts'
import { type RunResult, reportResults } from '../../../cli/report-results.ts'
import { executeAll, runInvocations } from '../../../cli/run-invocations.ts'
import { extendError } from '../../../errors.ts'
import { findTestRun } from './read-test-run.ts'
import { type TestingInvocation, testingRequest } from './testing-request.ts'

const untestedStates: readonly string[] = ['NOT_READY', 'PENDING']

/** The error where neither the service nor the record of the pull request leads to a test run. */
function explainResult(result: RunResult, pr: number, state: string, command: string): RunResult {
  const { failure } = result
  if (failure === undefined) return result
  if (untestedStates.includes(state)) {
    const hint = `To see what #${pr} is waiting for, run: ${command}`
    const text = `#${pr} has no test run yet (${state.toLowerCase().replaceAll('_', ' ')}).`
    return { ...result, failure: extendError(failure, { hint }, text) }
  }
  const hint = `The service finds a test run only by its ID. The record of #${pr} contains no test run ID. A test branch name ends in the ID. To list the test branches, run: git ls-remote origin 'refs/heads/trunk-merge/pr-${pr}/*'`
  return { ...result, failure: extendError(failure, { hint }) }
}

/**
 * Prints a test run and its checks. A service that finds no run by pull request refuses with 400; then the
 * record of the pull request may name the run
 * (docs/reference/service.md, "getMergeQueueTestingDetails"). Returns the exit code.
 */
export async function printTestRun(
  invocations: readonly TestingInvocation[],
  context: CommandContext,
): Promise<number> {
  const results = await executeAll(testingRequest, invocations, context)
  const [invocation] = invocations
  const { pr } = invocation?.values ?? {}
  if (invocation === undefined || pr === undefined || results[0]?.failure?.details.status !== 400)
    return reportResults(getMergeQueueTestingDetails, invocations, results, context)
  const { run: found, state = '' } = await findTestRun({ ...invocation.values, pr }, context)
  if (found === undefined) {
    const command = context.settings.commandLine(['pr', 'explain', pr], invocation.values)
    const explained = results.map(result => explainResult(result, pr, state, command))
    return reportResults(getMergeQueueTestingDetails, invocations, explained, context)
  }
  await context.logger.debug(
    `The service does not find test runs by pull request. Using test run ${found.id}, from the field ${found.source} of #${pr}.`,
  )
  const values = { ...invocation.values, pr: undefined, testRun: found.id }
  return runInvocations(testingRequest, [{ ...invocation, values }], context)
}
