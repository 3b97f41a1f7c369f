import { getMergeQueueTestingDetails } from '../../../api/operations/pull-requests.ts'
import type { CommandRequest, RunContext, RunResult } from '../../../cli/command.ts'
import { reportResults } from '../../../cli/run-requests.ts'
import type { Repository } from '../../../domain/values/repository.ts'
import { extendError } from '../../../errors.ts'
import { findTestRun } from './read-test-run.ts'

/** What names a test run. */
type TestRunValues = {
  readonly repo: Repository
  readonly targetBranch: string
  readonly pr: number | undefined
  readonly run: string | undefined
}

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
export async function printTestRun<V extends TestRunValues>(
  requests: readonly CommandRequest<V>[],
  context: RunContext<V>,
): Promise<number> {
  const results = await context.execute(requests)
  const [request] = requests
  const { pr } = request?.values ?? {}
  if (request === undefined || pr === undefined || results[0]?.failure?.details.status !== 400)
    return reportResults(getMergeQueueTestingDetails, requests, results, context)
  const { run: found, state = '' } = await findTestRun({ ...request.values, pr }, context)
  if (found === undefined) {
    const command = context.settings.commandLine(['pr', 'explain', pr], request.values)
    const explained = results.map(result => explainResult(result, pr, state, command))
    return reportResults(getMergeQueueTestingDetails, requests, explained, context)
  }
  await context.logger.debug(
    `The service does not find test runs by pull request. Using test run ${found.id}, from the field ${found.source} of #${pr}.`,
  )
  const values = { ...request.values, pr: undefined, run: found.id }
  return context.send([{ ...request, values }])
}
