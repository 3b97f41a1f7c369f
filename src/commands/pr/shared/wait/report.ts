// What a command prints while it waits for pull requests, event by event, and at the end.
import { submitPullRequest } from '../../../../api/operations/pull-requests.ts'
import { readActivity } from '../../../../api/reads/queue-activity.ts'
import { mostSevere, withPeriod } from '../../../../base/errors.ts'
import { getArray, getString, type JsonObject } from '../../../../base/json.ts'
import { type Cli, drawsResults, readsMore, timeOfWait } from '../../../../command/command.ts'
import { printRequests } from '../../../../command/dry-run.ts'
import { reportErrors, warnUnfinished, withResource } from '../../../../command/each.ts'
import { explainNotFound } from '../../../../command/send.ts'
import { createSignsOfLife, reportStop, ringBell } from '../../../../command/waits.ts'
import { isContinuousIntegration } from '../../../../config/ci-systems.ts'
import { isUnderTest, waitOutcomes } from '../../../../domain/states.ts'
import { linkSpan, type StyledLine, stateSpan } from '../../../../output/styled-text.ts'
import { columns, type Result, singleRecord } from '../../../../output/view.ts'
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
  track,
  type WaitEnd,
  type WaitOptions,
} from '../../../../wait/wait-state.ts'
import { waitColumns } from './options.ts'
import { continueLines, describeWaiting, endLines, stopSentence, waitLine } from './screen.ts'

/**
 * Submits pull requests, if `submitOptions` says how, waits until each has an outcome, and prints what happens; in a dry run
 * the submissions. Returns the most severe exit code.
 */
export async function waitAndReport(
  pullRequests: readonly PullRequest[],
  options: WaitOptions,
  cli: Cli,
  submitOptions?: SubmitOptions,
): Promise<number> {
  if (submitOptions !== undefined && cli.options.dryRun) {
    const values = pullRequests.map(each => ({ ...each, ...submitOptions.params }))
    return printRequests(cli, submitPullRequest, values)
  }
  const wait = startWait(options, cli.client(), timeOfWait(cli), { submitOptions })
  const { observer, close } = createReporter(pullRequests, wait, cli)
  const isDue = submitOptions !== undefined
  const all = pullRequests.map(pullRequest => track(pullRequest, { isDue }))
  await waitForPullRequests(all, wait, observer)
  return close()
}

/** The output of a wait: state changes, heartbeats, and exactly one result for each pull request. */
function createReporter(pullRequests: readonly PullRequest[], wait: Wait, cli: Cli) {
  const { host, logger, messages, options, printer, results, serviceTime } = cli
  const { format } = options
  /** Whether each event is a line of NDJSON. */
  const isStream = format.prints === 'records'
  const isOnly = pullRequests.length === 1
  const signs = createSignsOfLife(wait.time, cli)
  const ended = new Map<PullRequest, WaitResult>()
  const unprinted = new Set(pullRequests)

  /** Prints the results in the order of the pull requests: until one is missing, or all that there are. */
  async function print(skipsMissing: boolean): Promise<void> {
    for (const pullRequest of unprinted) {
      const result = ended.get(pullRequest)
      if (result !== undefined) {
        unprinted.delete(pullRequest)
        const lines = () => endLines(result, wait, isOnly, host.out.columns)
        await printer.add(resultOf(result.record, lines, format.isForDocuments))
      } else if (!skipsMissing) return
    }
  }

  const observer: WaitObserver = {
    /** Of `pr land`: a line of NDJSON for each attempt; elsewhere a message from the second one on. */
    async reportAttempt(pullRequest, attempt, reason) {
      const { pr } = pullRequest
      if (isStream) return printer.add(resultOf({ type: 'attempt', pr, attempt, reason }))
      signs.noteOutput()
      if (attempt > 1) await logger.info(describeAttempt(pullRequest, attempt, reason, wait))
    },

    /** Logs until when a pull request is not in the queue. */
    async reportPause(text) {
      signs.noteOutput()
      await logger.info(text)
    },

    /** Names the queue that was probably meant, and one of several pull requests. */
    async explainFailure(failure, { pr }) {
      const explained = await explainNotFound(cli, failure)
      return isOnly ? explained : withResource(explained, `#${pr}`)
    },

    /** Warns which of several pull requests were submitted. */
    async reportUnfinished(tried) {
      if (isOnly) return
      const names = pullRequests.map(({ pr }) => `#${pr}`)
      const soFar = pullRequests.map(pullRequest => {
        const one = tried.get(pullRequest)
        return one && { code: one.failure?.exit ?? 0, failure: one.failure }
      })
      await warnUnfinished(submitPullRequest, names, soFar, cli)
    },

    /**
     * A line of NDJSON, a line with colors for a person, or a message in a log. Where a person reads the result, the
     * change that ends the wait is not printed.
     */
    async reportChange({ pullRequest }, change, isEnd) {
      const { pr, repo } = pullRequest
      const { from, to, position, why } = change
      signs.noteOutput()
      if (isStream) return printer.add(resultOf(waitChangeRecord(pr, change, serviceTime.now())))
      const hasReader = messages === 'person'
      if (isEnd && drawsResults(cli) && (hasReader || from === undefined)) return
      if (!hasReader) return logger.info(describeWaitChange(pr, change))
      // A part of a batch may wait for less time than there is between two readings.
      const waitsAgain = to === 'PENDING' || (to === 'TESTING' && from === 'PENDING_FAILURE')
      const mayBeSplit = isUnderTest(from ?? '') && waitsAgain && readsMore(cli)
      const split = mayBeSplit ? await readSplit(pullRequest, wait) : undefined
      const reason = split === undefined ? why : `It is tested again: ${split}.`
      return logger.infoLine([
        linkSpan(`#${pr}`, urlOfPullRequest(repo, pr)),
        ' ',
        ...(from === undefined ? [] : [stateSpan(from), ' -> ']),
        stateSpan(to),
        position === undefined ? '' : `, ${formatOrdinal(position)}`,
        reason === undefined ? '' : `. ${reason}`,
      ])
    },

    reportOutage: (text, isOver) => signs.reportOutage(text, isOver),

    /** A sign of life in a log, when nothing was printed for long. */
    sleep: (delay, waiting) => signs.sleep(delay, () => describeWaiting(waiting)),

    /** The live line of a terminal; where all pull requests are in one queue, with its usual time. */
    async during(waiting, rounds) {
      let usual: number | undefined
      const [first, ...others] = waiting().map(({ pullRequest }) => pullRequest)
      const isOneQueue = others.every(other => first !== undefined && queueName(other) === queueName(first))
      if (logger.hasSpinner && first !== undefined && isOneQueue)
        void readActivity(cli.client(), first, metricsTime).then(activity => {
          usual = activity.usual
        })
      return logger.withSpinner(columns => {
        const times = { now: serviceTime.now(), elapsed: wait.time.elapsed(), usual }
        return waitLine(waiting(), wait.options, times, columns)
      }, rounds)
    },

    /** The result, as soon as those before it are printed; in a log, the failing checks and what holds it as well. */
    async reportEnd(endedAs, lastEnd) {
      const isForPerson = results === 'screen' && readsMore(cli) && isOnly
      const { tracked, end } = isForPerson
        ? await withOpenReasons(endedAs, lastEnd, wait)
        : { tracked: endedAs, end: lastEnd }
      const { pullRequest, queue } = tracked
      const { pr, targetBranch } = pullRequest
      const readsChecks = results !== 'rows' || !options.quiet
      const result = await createResult(tracked, end, wait, readsChecks)
      const { failingChecks, mayBeMerged } = result
      if (mayBeMerged && results !== 'screen')
        await logger.warn(
          `#${pr} may have merged all the same. Look at ${targetBranch} before you submit it again.`,
        )
      if (results === 'rows' || isContinuousIntegration(host.env))
        for (const { name, url } of failingChecks)
          await logger.info(`#${pr}: ${shorten(name)} failed${url === undefined ? '.' : `: ${url}`}`)
      // The other formats have it in the reason.
      if (results === 'rows' && !format.isForDocuments && end.note !== undefined)
        await logger.info(`#${pr}: ${withPeriod(end.note)}`)
      const endsAtPause = end.outcome === 'pending' && wait.options.failOnPaused && isPaused(queue)
      if (endsAtPause && results !== 'screen')
        await logger.warnOnce(`The queue for ${queueName(pullRequest)} is paused (--fail-on-paused).`)
      ended.set(pullRequest, result)
      await print(isStream)
    },

    /** The results so far; a person is told what stays in the queue. */
    async interrupted(failure, waiting) {
      await print(true)
      await printer.end()
      if (failure.details.delivery !== undefined) return failure
      return reportStop(failure, stopSentence(waiting), cli)
    },
  }

  /**
   * After the last result: the bell, the command that goes on waiting, how many ended in which way, and the errors, the
   * most severe last. Returns the most severe exit code.
   */
  async function close(): Promise<number> {
    await ringBell(wait.time, cli)
    const open = pullRequests.filter(each => isOpen(ended.get(each)?.end))
    if (drawsResults(cli) && !isOnly && open.length > 0)
      await printer.add(resultOf({}, () => continueLines(open, wait, host.out.columns)))
    await printer.end()
    const all = [...ended.values()]
    const failures = all.flatMap(({ end: { failure } }) =>
      failure === undefined ? [] : [explainNotFound(cli, failure)],
    )
    const exit = mostSevere(all.map(({ record }) => record.exit))
    if (all.length > 1 && exit !== 0 && !isStream) await logger.info(countOutcomes(all))
    await reportErrors(await Promise.all(failures), cli)
    return exit
  }
  return { observer, close }
}

/** The time for the metrics, in milliseconds: nothing waits for them. */
const metricsTime = 3_000

const isOpen = (end: WaitEnd | undefined): boolean =>
  end?.outcome === 'timed-out' || end?.outcome === 'pending'

/** Returns how many pull requests ended in which way: `3 merged, 1 failed (#9).` */
function countOutcomes(all: readonly WaitResult[]): string {
  const counts = waitOutcomes.flatMap(outcome => {
    const ended = all.filter(({ end }) => end.outcome === outcome)
    if (ended.length === 0) return []
    const count = `${ended.length} ${outcome.replace('-', ' ')}`
    const numbers = ended.map(({ tracked }) => `#${tracked.pullRequest.pr}`)
    return ended.every(({ record }) => record.exit === 0) ? [count] : [`${count} (${joinTruncated(numbers)})`]
  })
  return `${counts.join(', ')}.`
}

/** The columns of a result in a document, such as the summary of a CI job. */
const documentColumns = columns('pr', 'outcome', 'reason', 'url', [
  'failingChecks',
  {
    show: row =>
      getArray(row, 'failingChecks')
        .map(check => [getString(check, 'name'), getString(check, 'url')].join(' ').trim())
        .join(', '),
  },
])

/** Returns a record as a result; `lines` are drawn for a person. Of a change and an attempt, only NDJSON is printed. */
const resultOf = (
  record: JsonObject,
  lines: () => readonly StyledLine[] = () => [],
  isForDocuments = false,
): Result => ({
  ...singleRecord(record),
  columns: isForDocuments ? documentColumns : waitColumns,
  screen: () => ({ heading: lines() }),
})
