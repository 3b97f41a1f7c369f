// What a command prints while it waits for pull requests, event by event, and at the end.
import { submitPullRequest } from '../../../../api/operations/pull-requests.ts'
import { readActivity } from '../../../../api/reads/queue-activity.ts'
import { type MergeqError, mostSevere, withPeriod } from '../../../../base/errors.ts'
import type { JsonObject } from '../../../../base/json.ts'
import { type Cli, drawsResults, readsMore, timeOfWait } from '../../../../command/command.ts'
import { printRequests } from '../../../../command/dry-run.ts'
import { reportErrors, warnUnfinished, withResource } from '../../../../command/each.ts'
import { explainNotFound } from '../../../../command/send.ts'
import { reportStop, ringBell, SignsOfLife } from '../../../../command/waits.ts'
import { isContinuousIntegration } from '../../../../config/ci-systems.ts'
import { isUnderTest, waitOutcomes } from '../../../../domain/states.ts'
import { linkSpan, type StyledLine, stateSpan } from '../../../../output/styled-text.ts'
import { type Result, singleRecord } from '../../../../output/view.ts'
import { formatOrdinal, joinTruncated, shorten } from '../../../../values/format.ts'
import { type PullRequest, urlOfPullRequest } from '../../../../values/pull-request.ts'
import { queueName } from '../../../../values/repository.ts'
import { waitForPullRequests } from '../../../../wait/pull-requests.ts'
import { readSplit } from '../../../../wait/readings.ts'
import {
  createResult,
  describeAttempt,
  type WaitResult,
  waitChangeRecord,
  withOpenReasons,
} from '../../../../wait/results.ts'
import { type SubmitOptions, startWait, type Wait, type WaitObserver } from '../../../../wait/wait.ts'
import {
  describeWaitChange,
  isPaused,
  type StateChange,
  type TrackedPullRequest,
  track,
  type WaitEnd,
  type WaitOptions,
} from '../../../../wait/wait-state.ts'
import { markdownColumns, waitColumns } from './columns.ts'
import { continueLines, describeWaiting, endLines, stopSentence, waitLine } from './screen.ts'

/** Submits pull requests, waits for them, and prints what happens. Returns the most severe exit code. */
export function submitAndWait(
  pullRequests: readonly PullRequest[],
  submitOptions: SubmitOptions,
  options: WaitOptions,
  cli: Cli,
): Promise<number> {
  if (cli.options.dryRun) {
    const values = pullRequests.map(each => ({ ...each, ...submitOptions.params }))
    return printRequests(cli, submitPullRequest, values)
  }
  return waitAndReport(pullRequests, options, cli, submitOptions)
}

/** Waits until every pull request has an outcome, and prints what happens. Returns the most severe exit code. */
export async function waitAndReport(
  pullRequests: readonly PullRequest[],
  options: WaitOptions,
  cli: Cli,
  submitOptions?: SubmitOptions,
): Promise<number> {
  const wait = startWait(options, cli.client(), timeOfWait(cli), { submitOptions })
  const reporter = new WaitReporter(pullRequests, wait, cli)
  const isDue = submitOptions !== undefined
  const all = pullRequests.map(pullRequest => track(pullRequest, { isDue }))
  await waitForPullRequests(all, wait, reporter)
  return reporter.close()
}

/** The output of a wait: state changes, heartbeats, and exactly one result for each pull request. */
class WaitReporter implements WaitObserver {
  private readonly wait: Wait
  private readonly cli: Cli
  private readonly pullRequests: readonly PullRequest[]
  /** Whether each event is a line of NDJSON. */
  private readonly isStream: boolean
  private readonly signs: SignsOfLife
  private readonly ended = new Map<PullRequest, WaitResult>()
  private readonly unprinted: Set<PullRequest>

  constructor(pullRequests: readonly PullRequest[], wait: Wait, cli: Cli) {
    this.wait = wait
    this.cli = cli
    this.pullRequests = pullRequests
    this.unprinted = new Set(pullRequests)
    this.isStream = cli.options.format.prints === 'records'
    this.signs = new SignsOfLife(wait.time, cli)
  }

  /** Of `pr land`: a line of NDJSON for each attempt; elsewhere a message from the second one on. */
  async reportAttempt(pullRequest: PullRequest, attempt: number, reason: string): Promise<void> {
    const { pr } = pullRequest
    if (this.isStream) return this.cli.printer.add(resultOf({ type: 'attempt', pr, attempt, reason }))
    this.signs.noteOutput()
    if (attempt > 1) await this.cli.logger.info(describeAttempt(pullRequest, attempt, reason, this.wait))
  }

  /** Logs until when a pull request is not in the queue. */
  async reportPause(text: string): Promise<void> {
    this.signs.noteOutput()
    await this.cli.logger.info(text)
  }

  /** Names the queue that was probably meant, and one of several pull requests. */
  async explainFailure(failure: MergeqError, pullRequest: PullRequest): Promise<MergeqError> {
    const explained = await explainNotFound(this.cli, failure)
    return this.pullRequests.length > 1 ? withResource(explained, `#${pullRequest.pr}`) : explained
  }

  /** Warns which of several pull requests were submitted. */
  async reportUnfinished(tried: Wait['tried']): Promise<void> {
    if (this.pullRequests.length === 1) return
    const names = this.pullRequests.map(({ pr }) => `#${pr}`)
    const soFar = this.pullRequests.map(pullRequest => {
      const one = tried.get(pullRequest)
      return one && { code: one.failure?.exit ?? 0, failure: one.failure }
    })
    await warnUnfinished(submitPullRequest, names, soFar, this.cli)
  }

  /**
   * A line of NDJSON, a line with colors for a person, or a message in a log. Where a person reads the result, the change
   * that ends the wait is not printed.
   */
  async reportChange(
    { pullRequest }: TrackedPullRequest,
    change: StateChange,
    isEnd: boolean,
  ): Promise<void> {
    const { printer, logger, messages, serviceTime } = this.cli
    const { pr, repo } = pullRequest
    const { from, to, position, why } = change
    this.signs.noteOutput()
    if (this.isStream) return printer.add(resultOf(waitChangeRecord(pr, change, serviceTime.now())))
    const hasReader = messages === 'person'
    if (isEnd && drawsResults(this.cli) && (hasReader || from === undefined)) return
    if (!hasReader) return logger.info(describeWaitChange(pr, change))
    // A part of a batch may wait for less time than there is between two readings.
    const waitsAgain = to === 'PENDING' || (to === 'TESTING' && from === 'PENDING_FAILURE')
    const mayBeSplit = isUnderTest(from ?? '') && waitsAgain && readsMore(this.cli)
    const split = mayBeSplit ? await readSplit(pullRequest, this.wait) : undefined
    const reason = split === undefined ? why : `It is tested again: ${split}.`
    return logger.infoLine([
      linkSpan(`#${pr}`, urlOfPullRequest(repo, pr)),
      ' ',
      ...(from === undefined ? [] : [stateSpan(from), ' -> ']),
      stateSpan(to),
      position === undefined ? '' : `, ${formatOrdinal(position)}`,
      reason === undefined ? '' : `. ${reason}`,
    ])
  }

  /** Logs that the service cannot be reached, or can be again. */
  reportOutage(text: string, isOver: boolean): Promise<void> {
    return this.signs.reportOutage(text, isOver)
  }

  /** A sign of life in a log, when nothing was printed for long. */
  sleep(delay: number, waiting: readonly TrackedPullRequest[]): Promise<void> {
    return this.signs.sleep(delay, () => describeWaiting(waiting))
  }

  /** The live line of a terminal; where all pull requests are in one queue, with its usual time. */
  async during(waiting: () => readonly TrackedPullRequest[], rounds: () => Promise<void>): Promise<void> {
    const { logger, serviceTime } = this.cli
    let usual: number | undefined
    const [first, ...others] = waiting().map(({ pullRequest }) => pullRequest)
    const isOneQueue = others.every(other => first !== undefined && queueName(other) === queueName(first))
    if (logger.hasSpinner && first !== undefined && isOneQueue)
      void readActivity(this.cli.client(), first, metricsTime).then(activity => {
        usual = activity.usual
      })
    return logger.withSpinner(
      columns => waitLine(waiting(), this.wait, { now: serviceTime.now(), usual }, columns),
      rounds,
    )
  }

  /** The result, as soon as those before it are printed; in a log, the failing checks and what holds it as well. */
  async reportEnd(endedAs: TrackedPullRequest, lastEnd: WaitEnd): Promise<void> {
    const { host, logger, results, options } = this.cli
    const isForPerson = results === 'screen' && readsMore(this.cli) && this.pullRequests.length === 1
    const { tracked, end } = isForPerson
      ? await withOpenReasons(endedAs, lastEnd, this.wait)
      : { tracked: endedAs, end: lastEnd }
    const { pullRequest, queue } = tracked
    const { pr, targetBranch } = pullRequest
    const readsChecks = results !== 'rows' || !options.quiet
    const result = await createResult(tracked, end, this.wait, readsChecks)
    const { failingChecks, mayBeMerged } = result
    if (mayBeMerged && results !== 'screen')
      await logger.warn(
        `#${pr} may have merged all the same. Look at ${targetBranch} before you submit it again.`,
      )
    if (results === 'rows' || isContinuousIntegration(host.env))
      for (const { name, url } of failingChecks)
        await logger.info(`#${pr}: ${shorten(name)} failed${url === undefined ? '.' : `: ${url}`}`)
    // The other formats have it in the reason.
    if (results === 'rows' && options.format.name !== 'markdown' && end.note !== undefined)
      await logger.info(`#${pr}: ${withPeriod(end.note)}`)
    const endsAtPause = end.outcome === 'pending' && this.wait.options.failOnPaused && isPaused(queue)
    if (endsAtPause && results !== 'screen')
      await logger.warnOnce(`The queue for ${queueName(pullRequest)} is paused (--fail-on-paused).`)
    this.ended.set(pullRequest, result)
    await this.print(this.isStream)
  }

  /** The results so far; a person is told what stays in the queue. */
  async interrupted(failure: MergeqError, waiting: readonly TrackedPullRequest[]): Promise<MergeqError> {
    await this.print(true)
    await this.cli.printer.end()
    if (failure.details.delivery !== undefined) return failure
    return reportStop(failure, stopSentence(waiting), this.cli)
  }

  /**
   * After the last result: the bell, the command that goes on waiting, how many ended in which way, and the errors, the
   * most severe last. Returns the most severe exit code.
   */
  async close(): Promise<number> {
    const { cli, pullRequests } = this
    await ringBell(this.wait.time, cli)
    const open = pullRequests.filter(each => isOpen(this.ended.get(each)?.end))
    if (drawsResults(cli) && pullRequests.length > 1 && open.length > 0) {
      await cli.printer.add(resultOf({}, () => continueLines(open, cli)))
    }
    await cli.printer.end()
    const failures = [...this.ended.values()].flatMap(({ end: { failure } }) =>
      failure === undefined ? [] : [explainNotFound(cli, failure)],
    )
    const exit = mostSevere([...this.ended.values()].map(({ exit }) => exit))
    if (this.ended.size > 1 && exit !== 0 && !this.isStream) await cli.logger.info(countOutcomes(this.ended))
    await reportErrors(await Promise.all(failures), cli)
    return exit
  }

  /** Prints the results in the order of the pull requests: until one is missing, or all that there are. */
  private async print(skipsMissing: boolean): Promise<void> {
    for (const pullRequest of this.unprinted) {
      const ended = this.ended.get(pullRequest)
      if (ended !== undefined) {
        this.unprinted.delete(pullRequest)
        const lines = () => endLines(ended, this.wait, this.pullRequests.length === 1, this.cli)
        await this.cli.printer.add(resultOf(ended.record, lines, this.cli.options.format.name === 'markdown'))
      } else if (!skipsMissing) return
    }
  }
}

/** The time for the metrics, in milliseconds: nothing waits for them. */
const metricsTime = 3_000

const isOpen = (end: WaitEnd | undefined): boolean =>
  end?.outcome === 'timed-out' || end?.outcome === 'pending'

/** Returns how many pull requests ended in which way: `3 merged, 1 failed (#9).` */
function countOutcomes(all: ReadonlyMap<PullRequest, WaitResult>): string {
  const counts = waitOutcomes.flatMap(outcome => {
    const ended = [...all].filter(([, { end }]) => end.outcome === outcome)
    if (ended.length === 0) return []
    const count = `${ended.length} ${outcome.replace('-', ' ')}`
    const numbers = ended.map(([{ pr }]) => `#${pr}`)
    return ended.every(([, { exit }]) => exit === 0) ? [count] : [`${count} (${joinTruncated(numbers)})`]
  })
  return `${counts.join(', ')}.`
}

/** Returns a record as a result; `lines` are drawn for a person. Of a change and an attempt, only NDJSON is printed. */
const resultOf = (
  record: JsonObject,
  lines: () => readonly StyledLine[] = () => [],
  isMarkdown = false,
): Result => ({
  ...singleRecord(record),
  columns: isMarkdown ? markdownColumns : waitColumns,
  screen: () => ({ heading: lines() }),
})
