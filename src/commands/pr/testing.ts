import { getSubmittedPullRequest } from '../../api/operations/pull-requests.ts'
import { getMergeQueueTestingDetails } from '../../api/operations/testing-details.ts'
import { defineCommand, defineOperationCommand } from '../../cli/command.ts'
import { serviceRecord } from '../../cli/fields/record-fields.ts'
import { type Input, option } from '../../cli/inputs.ts'
import { argsForPullRequest } from '../../cli/pull-request-arguments.ts'
import { queueInputs } from '../../cli/queue-inputs.ts'
import { repeatedOptionsOf } from '../../cli/repeated-options.ts'
import { type RunResult, reportResults } from '../../cli/report-results.ts'
import { executeAll, runInvocations } from '../../cli/run-invocations.ts'
import { webInput } from '../../cli/web-input.ts'
import type { ParsedArgs } from '../../config/args.ts'
import type { ParseContext } from '../../config/parse-context.ts'
import { readChecks } from '../../domain/test-run-checks.ts'
import { parsePullRequest } from '../../domain/values/pull-request.ts'
import { textParser } from '../../domain/values/text.ts'
import { extendError, usageError } from '../../errors.ts'
import { get, getArray, getString } from '../../json.ts'
import { type ColumnSpec, table } from '../../output/view.ts'
import { findTestRun } from './test-run/read-test-run.ts'
import { pageOf, testRunView } from './test-run/test-run-view.ts'

/** The test run: an id, or a test branch that ends with an id; none when --pr was typed. */
const testRunInput: Input<string | undefined> = {
  definitions: [{ name: 'run', summary: 'Test run ID, or a test branch whose name ends in the ID' }],
  setting: 'testRun',
  async read(args: ParsedArgs, context: ParseContext) {
    const [typed] = args.get('run') ?? []
    if (args.has('--pr')) {
      if (typed !== undefined)
        throw usageError('A test run and --pr cannot be used together.', 'Use only one of them.')
      return undefined
    }
    const [, number] = /^(?:#|https?:\/\/\S+\/pull\/)?(\d{1,10})$/.exec(typed ?? '') ?? []
    if (number !== undefined)
      throw usageError(
        `'${typed}' is a pull request, not a test run.`,
        `To find its test run, run: mergeq pr testing --pr ${number}`,
      )
    const run = typed ?? (await context.require('testRun'))
    return textParser('test run')(run.slice(run.lastIndexOf('/') + 1))
  },
}

const typedPullRequest = option({
  name: 'pr',
  value: 'n',
  summary: 'Find the test run of this pull request',
  values: 'pull-requests',
  parse: word => parsePullRequest(word).number,
})

const columns: readonly ColumnSpec[] = [
  ['KIND', 'kind'],
  ['NAME', 'name'],
  ['STATE', 'state', 'state'],
  ['URL', 'url'],
]

/** The request of `pr testing`. */
const testingRequest = defineOperationCommand({
  command: 'pr testing',
  summary: 'Show a test run: its checks and pull requests',
  operation: getMergeQueueTestingDetails,
  inputs: {
    ...queueInputs,
    testRun: testRunInput,
    pr: {
      ...typedPullRequest,
      async split(args) {
        const [word] = args.get('--pr') ?? []
        return [word === undefined ? args : argsForPullRequest(args, word)]
      },
    } satisfies Input<number | undefined>,
    web: webInput,
  },
  // A row is made from several fields: a check run and a status have other names for the same thing.
  fields: serviceRecord(getMergeQueueTestingDetails, columns, 'checkSuites'),
  view({ records: [run = {}] }, { repo }) {
    const tested = getArray(run, 'testedPullRequests').map(pr => `#${get(pr, 'prNumber') ?? '?'}`)
    const checks = readChecks(run)
    const page = pageOf(checks)
    return {
      ...table(checks, columns),
      heading: [
        `Test run: ${getString(run, 'status') ?? 'unknown status'}, on ${getString(run, 'testBranch') ?? 'an unknown branch'}, for ${tested.join(', ') || 'unknown pull requests'}`,
      ],
      ...(page === undefined ? {} : { page }),
      terminalView: () => testRunView(run, checks, repo),
    }
  },
  examples: ['mergeq pr testing 6e1d9f0a-52b1-4a6e-9a44-0d7f0c1f2b3c', 'mergeq pr testing --pr 123 --json'],
})

/** The states of a pull request whose tests have not begun. */
const untestedStates: readonly string[] = ['NOT_READY', 'PENDING']

/** The error where neither the service nor the record of the pull request leads to a test run. */
function explainResult(result: RunResult, pr: number, state: string, options: string): RunResult {
  const { failure } = result
  if (failure === undefined) return result
  if (untestedStates.includes(state)) {
    const hint = `To see what it waits for, run: mergeq pr explain ${pr}${options}`
    const text = `#${pr} has no test run yet (${state.toLowerCase().replaceAll('_', ' ')}).`
    return { ...result, failure: extendError(failure, { hint }, text) }
  }
  const hint = `The service finds a test run only by its ID. The record of #${pr} contains no test run ID. A test branch name ends in the ID. To list the test branches, run: git ls-remote origin 'refs/heads/trunk-merge/pr-${pr}/*'`
  return { ...result, failure: extendError(failure, { hint }) }
}

/**
 * `mergeq pr testing`: a test run and its checks. A service that finds no run by pull request refuses with
 * 400; then the record of the pull request may name the run
 * (docs/reference/service.md, "getMergeQueueTestingDetails").
 */
export const prTestingCommand = defineCommand({
  ...testingRequest,
  request: testingRequest,
  operations: [getSubmittedPullRequest],
  inputs: {},
  async run(_, context, invocations) {
    const results = await executeAll(testingRequest, invocations, context)
    const [invocation] = invocations
    const { pr } = invocation?.values ?? {}
    if (invocation === undefined || pr === undefined || results[0]?.failure?.details.status !== 400)
      return reportResults(getMergeQueueTestingDetails, invocations, results, context)
    const { run: found, state = '' } = await findTestRun({ ...invocation.values, pr }, context)
    if (found === undefined) {
      const options = repeatedOptionsOf(invocation.values, context.args)
      const explained = results.map(result => explainResult(result, pr, state, options))
      return reportResults(getMergeQueueTestingDetails, invocations, explained, context)
    }
    await context.logger.debug(
      `The service does not find test runs by pull request. Using test run ${found.id}, from the field ${found.source} of #${pr}.`,
    )
    const values = { ...invocation.values, pr: undefined, testRun: found.id }
    return runInvocations(testingRequest, [{ ...invocation, values }], context)
  },
})
