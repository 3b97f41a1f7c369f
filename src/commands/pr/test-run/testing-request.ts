import { getMergeQueueTestingDetails } from '../../../api/operations/testing-details.ts'
import { defineOperationCommand } from '../../../cli/command.ts'
import { serviceRecord } from '../../../cli/fields/record-fields.ts'
import { type Input, option } from '../../../cli/inputs.ts'
import type { Invocation } from '../../../cli/invocation.ts'
import { argsForPullRequest } from '../../../cli/pull-request-arguments.ts'
import { queueInputs } from '../../../cli/queue-inputs.ts'
import { webInput } from '../../../cli/web-input.ts'
import type { ParsedArgs } from '../../../config/args.ts'
import type { ParseContext } from '../../../config/parse-context.ts'
import { joinCommandLine } from '../../../domain/suggested-command.ts'
import { readChecks } from '../../../domain/test-run-checks.ts'
import { parsePullRequest } from '../../../domain/values/pull-request.ts'
import { textParser } from '../../../domain/values/text.ts'
import { usageError } from '../../../errors.ts'
import { get, getArray, getString } from '../../../json.ts'
import { type ColumnSpec, table } from '../../../output/view.ts'
import { pageOf, testRunView } from './test-run-view.ts'

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
        `To find its test run, run: ${joinCommandLine(['pr', 'testing', '--pr', number])}`,
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

export const testingRequest = defineOperationCommand({
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

export type TestingInvocation = Invocation<typeof testingRequest.inputs>
