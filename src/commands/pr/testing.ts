import { getMergeQueueTestingDetails, getSubmittedPullRequest } from '../../api/operations/pull-requests.ts'
import { defineCommand } from '../../cli/command.ts'
import { webInput } from '../../cli/common-inputs.ts'
import { printDryRun } from '../../cli/confirm.ts'
import { serviceRecord } from '../../cli/fields.ts'
import { type Input, option } from '../../cli/inputs.ts'
import { argsForPullRequest } from '../../cli/pull-request-arguments.ts'
import { readChecks } from '../../domain/test-run-checks.ts'
import { parsePullRequest } from '../../domain/values/pull-request.ts'
import { usageError } from '../../errors.ts'
import { get, getArray, getString } from '../../json.ts'
import { type ColumnSpec, table } from '../../output/view.ts'
import { pageOf, testRunView } from './test-run/test-run-view.ts'

const { run: runParam } = getMergeQueueTestingDetails.params

/** The test run: typed, or that of the CI job; none when --pr was typed. */
const testRun: Input<string | undefined> = {
  definitions: [{ name: 'run', summary: runParam.summary }],
  setting: 'testRun',
  async read(args, context) {
    const [typed] = args.get('run') ?? []
    if (!args.has('--pr')) return runParam.type.parse(typed ?? (await context.require('testRun')))
    if (typed !== undefined)
      throw usageError('A test run and --pr cannot be used together.', 'Use only one of them.')
    return undefined
  },
}

const typedPullRequest = option({
  name: 'pr',
  value: 'n',
  summary: 'Find the test run of this pull request',
  values: 'pull-requests',
  parse: word => parsePullRequest(word).number,
})

/** The pull request of --pr, whose URL also names the repository. */
const pullRequest: Input<number | undefined> = {
  ...typedPullRequest,
  async split(args) {
    const [word] = args.get('--pr') ?? []
    return [word === undefined ? args : argsForPullRequest(args, word)]
  },
}

const columns: readonly ColumnSpec[] = [
  ['KIND', 'kind'],
  ['NAME', 'name'],
  ['STATE', 'state', 'state'],
  ['URL', 'url'],
]

export const prTestingCommand = defineCommand({
  command: 'pr testing',
  summary: 'Show a test run: its checks and pull requests',
  operation: getMergeQueueTestingDetails,
  operations: [getSubmittedPullRequest],
  inputs: { run: testRun, pr: pullRequest },
  options: { web: webInput },
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
  async run(_, context) {
    const requests = await context.requests()
    if (context.options.dryRun) return printDryRun(getMergeQueueTestingDetails, requests, context)
    const { printTestRun } = await import('./test-run/print-test-run.ts')
    return printTestRun(requests, context)
  },
})
