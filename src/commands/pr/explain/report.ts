import { readIfFound } from '../../../api/call.ts'
import { getMergeQueueTestingDetails, getPartialPullRequest } from '../../../api/operations/pull-requests.ts'
import { MergeqError } from '../../../base/errors.ts'
import { type Cli, drawsResults } from '../../../command/command.ts'
import { printRequests } from '../../../command/dry-run.ts'
import { each } from '../../../command/each.ts'
import { openPage } from '../../../command/open-page.ts'
import { read } from '../../../command/send.ts'
import { againTexts } from '../../../domain/reasons/reasons.ts'
import { parseTestRun } from '../../../domain/test-run.ts'
import { type Explanation, explain, explanationJson } from '../../../explain/explain-pull-request.ts'
import {
  explanationProse,
  findingLines,
  joinSteps,
  nextLines,
  nextRows,
  resubmissionLines,
  unreadRows,
} from '../../../explain/lines.ts'
import type { NextStep } from '../../../explain/next-commands.ts'
import { type Fact, factTable, singleRecord } from '../../../output/view.ts'
import { shorten } from '../../../values/format.ts'
import { type PullRequest, urlOfPullRequest } from '../../../values/pull-request.ts'
import { type Queue, queueName } from '../../../values/repository.ts'

/** What is to be explained: pull requests, and those that test runs test. */
export interface ExplainedItems {
  readonly pullRequests: readonly PullRequest[]
  readonly runs: readonly (Queue & { readonly run: string })[]
}

/** Explains pull requests, or opens their pages with --web. Returns the most severe exit code. */
export async function explainAll(
  { pullRequests: named, runs }: ExplainedItems,
  web: boolean,
  cli: Cli,
): Promise<number> {
  if (cli.options.dryRun) {
    await printRequests(cli, getMergeQueueTestingDetails, runs)
    return printRequests(cli, getPartialPullRequest, named)
  }
  const pullRequests = [...named]
  for (const run of runs) {
    const isNamed = (pr: number) => named.some(each => each.pr === pr && queueName(each) === queueName(run))
    for (const pr of await readTested(run, cli)) if (!isNamed(pr)) pullRequests.push({ ...run, pr })
  }
  const isOnly = pullRequests.length === 1
  const steps: NextStep[] = []
  const print = async (explanation: Explanation): Promise<void> => {
    const now = cli.serviceTime.startedAt()
    const lines = isOnly
      ? explanationProse(explanation, now)
      : [...findingLines(explanation, now), ...resubmissionLines(explanation)]
    steps.push(...explanation.next)
    await cli.printer.add({
      ...singleRecord(explanationJson(explanation)),
      ...factTable([
        ...(isOnly ? [] : [['pr', explanation.pr] as const]),
        ...explanationRows(explanation),
        ...(cli.options.format.isForDocuments ? [] : placeRows(explanation)),
      ]),
      screen: () => ({ heading: lines, isSeparate: true }),
    })
  }
  const { report } = await each(
    cli,
    getPartialPullRequest,
    pullRequests,
    pullRequest => (web ? openPullRequest(pullRequest, cli) : explain(pullRequest, cli.client())),
    {
      atOnce: web ? 1 : undefined,
      resource: pullRequest => pullRequest,
      async print({ result }) {
        if (result !== undefined) await print(result)
        return undefined
      },
    },
  )
  if (!isOnly && steps.length > 0 && drawsResults(cli)) {
    const heading = nextLines(joinSteps(steps))
    await cli.printer.add({ records: [], columns: [], screen: () => ({ heading, isSeparate: true }) })
  }
  await cli.printer.end()
  return report()
}

/** Returns where a pull request is, for a script. */
const placeRows = (explanation: Explanation): readonly Fact[] =>
  (['repo', 'targetBranch', 'url'] as const).map(field => [field, explanation[field]])

async function readTested(
  { run, repo, targetBranch }: ExplainedItems['runs'][number],
  cli: Cli,
): Promise<readonly number[]> {
  const { records } = (await read(cli, getMergeQueueTestingDetails, { run, repo, targetBranch })).response
  const { tested } = parseTestRun(run, records[0] ?? {})
  if (tested.length > 0) return tested
  throw new MergeqError('bad-answer', `Test run ${run} names no pull requests.`, {
    operation: 'getMergeQueueTestingDetails',
  })
}

/** Opens the page of a pull request, after a read that shows that the service accepts the request. */
async function openPullRequest({ repo, targetBranch, pr }: PullRequest, cli: Cli): Promise<undefined> {
  await readIfFound(cli.client(), getPartialPullRequest, { repo, targetBranch, pr })
  await openPage(urlOfPullRequest(repo, pr), cli)
}

/** Returns an explanation as the rows of a table: a field and its value for each fact. */
export function explanationRows(explanation: Explanation): readonly Fact[] {
  const { verdict, state, since, queue, testRun, reasons, next, again, submitAgain, unread } = explanation
  const position = queue?.position == null ? null : `${queue.position} of ${queue.length}`
  const status = testRun?.status == null ? '' : ` (${shorten(testRun.status)})`
  const { safe } = submitAgain
  const answer = safe === null ? 'unclear' : safe ? 'yes' : 'no'
  const safety = verdict === 'dropped' && again !== null ? againTexts[again] : answer
  const why = submitAgain.why.replace(/^[A-Z](?=[a-z])/, first => first.toLowerCase()).replace(/\.$/, '')
  const messages = new Set(reasons.map(({ message }) => message))
  return [
    ...knownFacts([
      ['verdict', verdict],
      ['state', state],
      ['since', since],
      ...serviceFacts(explanation),
      ['position', position],
    ]),
    ...[...messages].map(message => ['reason', message] as const),
    ...(testRun === null ? [] : [['test run', `${testRun.id}${status}`] as const]),
    ...nextRows(next),
    ['submit again', `${safety}: ${why}`],
    ...unreadRows(unread),
  ]
}

type PossibleFact = readonly [field: string, value: string | null]

const knownFacts = (facts: readonly PossibleFact[]): readonly Fact[] =>
  facts.flatMap(([field, value]) => (value === null ? [] : [[field, shorten(value)]]))

/** Returns what the service says of why the pull request is in its state; nothing if it says nothing. */
function serviceFacts(explanation: Explanation): readonly PossibleFact[] {
  const { serviceReason, by, actor, again, mayBeMerged } = explanation
  if (serviceReason === null) return []
  return [
    ['service reason', serviceReason],
    ['by', by],
    ['actor', actor],
    ['again', again],
    ['may be merged', mayBeMerged ? 'yes' : null],
  ]
}
