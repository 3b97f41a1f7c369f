import { tryRead } from '../../api/extra-reads.ts'
import {
  getMergeQueueTestingDetails,
  getPartialPullRequest,
  getSubmittedPullRequest,
} from '../../api/operations/pull-requests.ts'
import type { ServiceRequest } from '../../api/resolve.ts'
import { call, forEach, read, type Sent, show, webPage } from '../../cli/calls.ts'
import type { Cli } from '../../cli/cli.ts'
import { command } from '../../cli/command.ts'
import { argsForPullRequest, pullRequestNumber, webInput } from '../../cli/common-inputs.ts'
import { serviceRecord } from '../../cli/fields.ts'
import { type Input, option, typedInput } from '../../cli/inputs.ts'
import { requestOf } from '../../cli/requests.ts'
import { shorten } from '../../domain/format.ts'
import { stateOf, stateWords } from '../../domain/states.ts'
import {
  failedCheckText,
  isFailedCheck,
  isRequiredCheck,
  readChecks,
  testRunOf,
  unreportedStatuses,
} from '../../domain/test-run.ts'
import {
  isPullRequestReference,
  parsePullRequest,
  urlOfPullRequest,
} from '../../domain/values/pull-request.ts'
import type { Repository } from '../../domain/values/repository.ts'
import { textual } from '../../domain/values/types.ts'
import { extendError, failureOrThrow, type MergeqError, usageError } from '../../errors.ts'
import { get, getArray, getString, type JsonObject } from '../../json.ts'
import {
  linkSpan,
  type Pieces,
  type Span,
  type StyledLine,
  signSpan,
  stateSpan,
  stateStyle,
  wordsSpan,
} from '../../output/styled-text.ts'
import { columns } from '../../output/view.ts'

const { run: runParam } = getMergeQueueTestingDetails.params

/** The test run: typed, or that of the CI job; none where a pull request names it. */
const testRun: Input<string | undefined> = {
  definitions: [{ name: 'run', summary: `${runParam.summary}; or a pull request`, values: 'pull-requests' }],
  setting: 'testRun',
  async read(args, { settings }) {
    if (args.has('pr')) return undefined
    return runParam.type.parse(args.get('run')?.[0] ?? (await settings.require('testRun')))
  },
}

const typedPullRequest = typedInput(
  'pr',
  option(
    textual({
      expected: 'a pull request',
      placeholder: 'n',
      parse: word => parsePullRequest(word).number,
    }),
    'Find the test run of this pull request',
    { values: 'pull-requests' },
  ),
)

/** The pull request: typed, or the current one outside of a test branch. Its URL also names the repository. */
const pullRequest: Input<number | undefined> = {
  ...typedPullRequest,
  async split(args, context) {
    const [[run], [asked]] = [args.get('run') ?? [], args.get('--pr') ?? []]
    if (run !== undefined && asked !== undefined)
      throw usageError('A test run and --pr cannot be used together.', 'Use only one of them.')
    const word = asked ?? (run !== undefined && isPullRequestReference(run) ? run : undefined)
    if (word !== undefined) return [argsForPullRequest(args, word)]
    if (run !== undefined || (await context.settings.read('testRun')) !== undefined) return [args]
    return [argsForPullRequest(args, await context.currentPullRequest(args))]
  },
  read: args => (args.has('pr') ? pullRequestNumber(args) : undefined),
}

const checkColumns = columns(['KIND', 'kind'], ['NAME', 'name'], ['STATE', 'state', 'state'], ['URL', 'url'])

/** Returns the page of a test run: of its first failed check, or else of its first check. */
const pageOf = (checks: readonly JsonObject[]): string | undefined =>
  [...checks.filter(isFailedCheck), ...checks].map(check => getString(check, 'url')).find(Boolean)

/** Returns the pull requests that were tested, each as a link to its page. */
function testedSpans(run: JsonObject, repo: Repository): Pieces {
  const numbers = getArray(run, 'testedPullRequests')
    .map(tested => get(tested, 'prNumber'))
    .filter(pr => typeof pr === 'number')
  if (numbers.length === 0) return ['for unknown pull requests']
  return ['for ', ...joinSpans(numbers.map(pr => linkSpan(`#${pr}`, urlOfPullRequest(repo, pr))))]
}

const joinSpans = (spans: readonly Span[]): Pieces =>
  spans.flatMap((span, index) => (index === 0 ? [span] : [', ', span]))

/**
 * Returns the checks of a test run as lines: each failed check with its page, then the others by their state, and the
 * required statuses that have not reported.
 */
function checkLines(run: JsonObject, checks: readonly JsonObject[]): readonly StyledLine[] {
  const nameOf = (check: JsonObject) => shorten(getString(check, 'name') ?? 'an unnamed check')
  const stateOfCheck = (check: JsonObject) => getString(check, 'state') ?? ''
  const isRequired = (check: JsonObject) => isRequiredCheck(run, check)
  const failing = checks.filter(isFailedCheck)
  const failed = [...failing.filter(isRequired), ...failing.filter(check => !isRequired(check))].flatMap(
    (check): readonly StyledLine[] => {
      const [url, state] = [getString(check, 'url'), stateOfCheck(check)]
      const note = isRequired(check) ? '' : ' (not required)'
      return [
        ['  ', signSpan(state), ` ${failedCheckText(nameOf(check), state)}${note}`],
        ...(url === undefined ? [] : [['    ', linkSpan(url, url)]]),
      ]
    },
  )
  const others = checks.filter(check => !isFailedCheck(check))
  const groups = [...new Set(others.map(stateOfCheck))].map((state): StyledLine => {
    const links = others
      .filter(check => stateOfCheck(check) === state)
      .map(check => linkSpan(nameOf(check), getString(check, 'url')))
    const words = stateStyle(state)?.style === 'green' ? '' : ` ${wordsSpan(state).text}`
    return ['  ', signSpan(state), ' ', ...joinSpans(links), words]
  })
  const unreported = unreportedStatuses(run).map(name => `  ? ${shorten(name)} has not reported`)
  return [...failed, ...groups, ...unreported]
}

function testRunLines(
  run: JsonObject,
  checks: readonly JsonObject[],
  repo: Repository,
): readonly StyledLine[] {
  const branch = getString(run, 'testBranch')
  return [
    ['Test run ', stateSpan(getString(run, 'status') ?? 'unknown status'), ' ', ...testedSpans(run, repo)],
    ...(branch === undefined ? [] : [`  on ${branch}`]),
    ...checkLines(run, checks),
  ]
}

type TestRunValues = {
  readonly repo: Repository
  readonly targetBranch: string
  readonly pr: number | undefined
  readonly run: string | undefined
}

/**
 * Reads a test run. A service that finds no run by pull request refuses with 400; then the record of the pull request,
 * or its timeline, may name the newest run (docs/reference/service.md, "getMergeQueueTestingDetails").
 */
async function readTestRun(cli: Cli, request: ServiceRequest<TestRunValues>): Promise<Sent<TestRunValues>> {
  const { repo, targetBranch, pr } = request.values
  try {
    return await read(cli, request)
  } catch (error) {
    const failure = failureOrThrow(error)
    if (pr === undefined || failure.details.status !== 400) throw failure
    const params = { repo, targetBranch, pr, includeTimeline: true }
    const { record = {} } = await tryRead(cli.client(), getPartialPullRequest, params)
    const run = testRunOf(record)
    if (run === undefined) {
      const command = cli.settings.commandLine(['pr', 'explain', pr], request.values)
      throw explainMissingRun(failure, pr, stateOf(record), command)
    }
    const source = getString(record, 'verifiedByTestRun') === run ? 'verifiedByTestRun' : 'timeline'
    await cli.logger.debug(
      `The service does not find test runs by pull request. Using test run ${run}, from the field ${source} of #${pr}.`,
    )
    return read(cli, { ...request, values: { ...request.values, pr: undefined, run } })
  }
}

function explainMissingRun(failure: MergeqError, pr: number, state: string, command: string): MergeqError {
  if (state === 'NOT_READY' || state === 'PENDING')
    return extendError(
      failure,
      { hint: `To see what #${pr} is waiting for, run: ${command}` },
      `#${pr} has no test run yet (${stateWords(state)}).`,
    )
  const hint = `The service finds a test run only by its ID, in which the name of a test branch ends. To list the test branches, run:\ngit ls-remote origin 'refs/heads/trunk-merge/pr-${pr}/*'\nTo check the state of the pull request, run: ${command}`
  return extendError(failure, { hint }, `No test run of #${pr} is known.`)
}

export const prTestingCommand = command({
  name: 'pr testing',
  summary: 'Show a test run: its checks and pull requests',
  operation: getMergeQueueTestingDetails,
  alsoSends: [getSubmittedPullRequest],
  options: {
    request: requestOf(getMergeQueueTestingDetails, { run: testRun, pr: pullRequest }),
    web: webInput,
  },
  // A row is made from several fields: a check run and a status have other names for the same thing.
  fields: serviceRecord(getMergeQueueTestingDetails, checkColumns),
  examples: ['mergeq pr testing 6e1d9f0a-52b1-4a6e-9a44-0d7f0c1f2b3c', 'mergeq pr testing 123 --json'],
  run: ({ request, web }, cli) =>
    forEach(cli, [request], async () => {
      const sent = cli.options.dryRun ? await call(cli, request) : await readTestRun(cli, request)
      if (sent === 'printed') return sent
      const [run = {}] = sent.response.records
      const checks = readChecks(run)
      const screen = () => ({ heading: testRunLines(run, checks, request.values.repo) })
      const opens = web ? await webPage(cli, pageOf(checks)) : undefined
      return { ...show(sent, { columns: checkColumns, rows: checks, screen }), opens }
    }),
})
