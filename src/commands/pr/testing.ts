import type { CallResult } from '../../api/call.ts'
import {
  getMergeQueueTestingDetails,
  getPartialPullRequest,
  getSubmittedPullRequest,
} from '../../api/operations/pull-requests.ts'
import { tryRead } from '../../api/reads/extra-reads.ts'
import { extendError, failureOrThrow, type MergeqError } from '../../base/errors.ts'
import { get, getString, type JsonObject } from '../../base/json.ts'
import { type Cli, command } from '../../command/command.ts'
import { printRequests } from '../../command/dry-run.ts'
import type { Definition, Input } from '../../command/inputs.ts'
import { argsForPullRequest, pullRequestOf, pullRequestOption } from '../../command/pull-request-inputs.ts'
import { forOne, read, show, webPage } from '../../command/send.ts'
import { setOf } from '../../command/set-option.ts'
import { queueOfSettings, webOption } from '../../command/shared-inputs.ts'
import { stateOf, stateWords } from '../../domain/states.ts'
import {
  failedCheckText,
  isAwaitingApproval,
  isFailedCheck,
  isRequiredCheck,
  missingStatuses,
  readChecks,
  testedBy,
  testRunOf,
  unreportedStatuses,
} from '../../domain/test-run.ts'
import {
  linkSpan,
  type Pieces,
  type Span,
  type StyledLine,
  signSpan,
  stateStyle,
  wordsSpan,
} from '../../output/styled-text.ts'
import { columns } from '../../output/view.ts'
import { elapsedSince, formatAge, shorten } from '../../values/format.ts'
import { isPullRequestReference, urlOfPullRequest } from '../../values/pull-request.ts'
import type { Queue, Repository } from '../../values/repository.ts'

const { run: runParam } = getMergeQueueTestingDetails.params

const runArgument: Definition = {
  name: 'run',
  summary: `${runParam.summary}; or a pull request`,
  values: 'pull-requests',
}

const flagPullRequest = pullRequestOption('Find the test run of this pull request')

interface WantedRun extends Queue {
  readonly run: string | undefined
  readonly pr: number | undefined
}

/** The test run: typed or that of the CI job, else that of a pull request, which is typed or the current one. */
const wantedRun: Input<WantedRun> = {
  definitions: [runArgument, ...flagPullRequest.definitions],
  setting: 'testRun',
  async read(args, context) {
    const [[run], [asked]] = [args.get('run') ?? [], args.get('--pr') ?? []]
    const word = asked ?? (run !== undefined && isPullRequestReference(run) ? run : undefined)
    if (word !== undefined)
      return { ...(await pullRequestOf(argsForPullRequest(args, word), context)), run: undefined }
    const id = run ?? (await context.settings.read('testRun'))
    if (id === undefined) return { ...(await context.currentPullRequest(args)), run: undefined }
    const queue = await queueOfSettings(context.settings)
    return { ...queue, pr: undefined, run: runParam.type.parse(id) }
  },
}

const checkColumns = columns('kind', 'name', 'state', 'url', 'since')

const missingRows = (run: JsonObject): readonly JsonObject[] =>
  missingStatuses(run).map(name => ({
    kind: 'status',
    name,
    state: 'MISSING',
    url: undefined,
    since: get(run, 'createdAt'),
  }))

/** Returns the page of a test run: of its first failed check, or else of its first check. */
const pageOf = (checks: readonly JsonObject[]): string | undefined =>
  [...checks.filter(isFailedCheck), ...checks].map(check => getString(check, 'url')).find(Boolean)

function testedSpans(run: JsonObject, repo: Repository): Pieces {
  const numbers = testedBy(run)
  if (numbers.length === 0) return ['of unknown pull requests']
  return ['of ', ...joinSpans(numbers.map(pr => linkSpan(`#${pr}`, urlOfPullRequest(repo, pr))))]
}

const joinSpans = (spans: readonly Span[]): Pieces =>
  spans.flatMap((span, index) => (index === 0 ? [span] : [', ', span]))

/** Each failed check with its page, the others by their state, and the statuses that have not reported. */
function checkLines(run: JsonObject, checks: readonly JsonObject[], now: number): readonly StyledLine[] {
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
  const groupLine = (state: string, group: readonly JsonObject[], words: string): StyledLine => {
    const links = group.map(check => linkSpan(nameOf(check), getString(check, 'url')))
    return ['  ', signSpan(state), ' ', ...joinSpans(links), words]
  }
  const awaiting = checks.filter(isAwaitingApproval)
  const wait = `${awaiting.length === 1 ? 'waits' : 'wait'} for a manual approval`
  const others = checks.filter(check => !isFailedCheck(check) && !isAwaitingApproval(check))
  const groups = [...new Set(others.map(stateOfCheck))].map((state): StyledLine => {
    const group = others.filter(check => stateOfCheck(check) === state)
    return groupLine(state, group, stateStyle(state)?.style === 'green' ? '' : ` ${wordsSpan(state).text}`)
  })
  const age = missingStatuses(run).length === 0 ? undefined : elapsedSince(getString(run, 'createdAt'), now)
  const duration = age === undefined ? '' : ` for ${formatAge(age)}`
  const unreported = unreportedStatuses(run).map(name => `  ? ${shorten(name)} has not reported${duration}`)
  return [
    ...failed,
    ...(awaiting.length === 0 ? [] : [groupLine('PENDING', awaiting, ` ${wait}`)]),
    ...groups,
    ...unreported,
  ]
}

function testRunLines(
  run: JsonObject,
  checks: readonly JsonObject[],
  repo: Repository,
  now: number,
): readonly StyledLine[] {
  const [branch, commit = ''] = [getString(run, 'testBranch'), getString(run, 'testBranchSha')]
  const status = getString(run, 'status') ?? 'unknown status'
  const sign = signSpan(status)
  const at = /^[\da-f]{7,64}$/i.test(commit) ? ` at ${commit.slice(0, 7)}` : ''
  return [
    [sign, sign.text === '' ? 'Test run ' : ' Test run ', ...testedSpans(run, repo), ' ', wordsSpan(status)],
    ...(branch === undefined ? [] : [`  on ${branch}${at}`]),
    ...checkLines(run, checks, now),
  ]
}

/** Where the service finds no run by pull request (400), its record or timeline may name the newest one. */
async function readWantedRun(cli: Cli, wanted: WantedRun): Promise<CallResult> {
  const { repo, targetBranch, pr } = wanted
  try {
    return await read(cli, getMergeQueueTestingDetails, wanted)
  } catch (error) {
    const failure = failureOrThrow(error)
    if (pr === undefined || failure.details.status !== 400) throw failure
    const params = { repo, targetBranch, pr, includeTimeline: true }
    const { record = {} } = await tryRead(cli.client(), getPartialPullRequest, params)
    const run = testRunOf(record)
    if (run === undefined) {
      const command = cli.settings.commandLine(['pr', 'explain', pr], wanted)
      throw explainMissingRun(failure, pr, stateOf(record), command)
    }
    const source = getString(record, 'verifiedByTestRun') === run ? 'verifiedByTestRun' : 'timeline'
    await cli.logger.debug(
      `The service does not find test runs by pull request. Using test run ${run}, from the field ${source} of #${pr}.`,
    )
    return read(cli, getMergeQueueTestingDetails, { repo, targetBranch, pr: undefined, run })
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

export const definition = command({
  name: 'pr testing',
  summary: 'Show a test run: its checks and pull requests',
  operation: getMergeQueueTestingDetails,
  alsoSends: [getSubmittedPullRequest],
  options: {
    wanted: wantedRun,
    web: webOption,
  },
  set: setOf(getMergeQueueTestingDetails, { run: { definitions: [runArgument] }, pr: flagPullRequest }),
  // A row is made from several fields: a check run and a status have other names for the same thing.
  prints: { columns: checkColumns },
  examples: ['mergeq pr testing 6e1d9f0a-52b1-4a6e-9a44-0d7f0c1f2b3c', 'mergeq pr testing 123 --json'],
  async run({ wanted, web }, cli) {
    if (cli.options.dryRun) return printRequests(cli, getMergeQueueTestingDetails, [wanted])
    return forOne(cli, getMergeQueueTestingDetails, wanted, async () => {
      const sent = await readWantedRun(cli, wanted)
      const [run = {}] = sent.response.records
      const checks = readChecks(run)
      const { date = cli.host.clock.now() } = sent
      const screen = () => ({ heading: testRunLines(run, checks, wanted.repo, date) })
      const opens = web ? await webPage(cli, pageOf(checks)) : undefined
      return {
        ...show(sent, { columns: checkColumns, rows: [...checks, ...missingRows(run)], screen }),
        opens,
      }
    })
  },
})
