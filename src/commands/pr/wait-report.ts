import { tryRead } from '../../api/extra-reads.ts'
import { getSubmittedPullRequest } from '../../api/operations/pull-requests.ts'
import { getQueue } from '../../api/operations/queues.ts'
import { isContinuousIntegration } from '../../config/ci-systems.ts'
import { describeSplit } from '../../domain/batches.ts'
import { formatOrdinal, joinTruncated, shorten } from '../../domain/format.ts'
import type { OutputFormat } from '../../domain/output-formats.ts'
import { isUnderTest, waitOutcomes } from '../../domain/states.ts'
import { urlOfPullRequest } from '../../domain/values/pull-request.ts'
import { queueName } from '../../domain/values/repository.ts'
import {
  describeChange,
  isPaused,
  type StateChange,
  type WaitEnd,
  type WaitOptions,
} from '../../domain/wait-state.ts'
import type { WaitTime } from '../../domain/wait-time.ts'
import { exitCodeOf, extendError, type MergeqError, mostSevere } from '../../errors.ts'
import { getArray, getString, type JsonObject } from '../../json.ts'
import { linkSpan, type StyledLine, stateSpan } from '../../output/styled-text.ts'
import { columns, type Result, singleRecord } from '../../output/view.ts'
import { type Cli, drawsResults, readsMore } from '../../run/command.ts'
import { reportErrors } from '../../run/each.ts'
import { explainNotFound } from '../../run/send.ts'
import { isBetweenAttempts } from '../../wait/attempts.ts'
import { interruptedWaitError, type WaitObserver, waitForTargets } from '../../wait/pull-requests.ts'
import type { Submit } from '../../wait/readings.ts'
import { changeRecord, createResult } from '../../wait/result.ts'
import { startWait, type Wait, type WaitTarget } from '../../wait/wait-target.ts'
import { readActivity } from '../queue/screen.ts'
import { ringBell, timeOfWait, waitCommand, waitRecord } from './wait-options.ts'
import {
  checkLines,
  describeTargets,
  liveLine,
  nextSteps,
  signOfEnd,
  stepLines,
  styleReason,
} from './wait-screen.ts'

export const startCommandWait = (options: WaitOptions, cli: Cli): Wait =>
  startWait(options, cli.client(), timeOfWait(cli))

/** Waits until every pull request has an outcome, and returns the most severe exit code. */
export async function waitAndReport(
  targets: readonly WaitTarget[],
  options: WaitOptions,
  cli: Cli,
): Promise<number> {
  const requests = targets.map(({ request }) => request)
  const wait = startCommandWait(options, cli)
  return new WaitReporter(requests, wait, cli).waitFor(targets)
}

/** The output of a wait: state changes, heartbeats, and exactly one result for each pull request. */
export class WaitReporter implements WaitObserver {
  private readonly wait: Wait
  private readonly cli: Cli
  private readonly requests: readonly WaitTarget['request'][]
  private readonly isStream: boolean
  private readonly results = new Map<
    WaitTarget['request'],
    { readonly end: WaitEnd; readonly exit: number; readonly result: Result }
  >()
  private readonly unprinted: Set<WaitTarget['request']>
  private readonly signs: SignsOfLife
  private readonly reportedAttempts = new Map<number, number>()

  constructor(requests: readonly WaitTarget['request'][], wait: Wait, cli: Cli) {
    this.wait = wait
    this.cli = cli
    this.requests = requests
    this.unprinted = new Set(requests)
    this.isStream = cli.options.format.prints === 'records'
    this.signs = new SignsOfLife(wait.time, cli)
  }

  /** Waits for pull requests and reports them. Returns the most severe exit code. */
  async waitFor(targets: readonly WaitTarget[], submit?: Submit): Promise<number> {
    await waitForTargets(targets, this.wait, this, submit)
    return this.close()
  }

  /**
   * Reports a state change: a record in NDJSON, a message on standard error otherwise. `isEnd` is whether the
   * change ends the wait: where a person reads the result, it is shown alone.
   */
  async reportChange({ request }: WaitTarget, change: StateChange, isEnd: boolean): Promise<void> {
    const { printer, logger, host, messages } = this.cli
    const { pr, repo } = request.values
    const { from, to, position, why } = change
    this.signs.noteOutput()
    if (this.isStream) return printer.add(resultOf(changeRecord(pr, change, host.clock.now())))
    const hasReader = messages === 'person'
    if (isEnd && drawsResults(this.cli) && (hasReader || from === undefined)) return
    if (hasReader) {
      // A part of a batch may wait for less time than there is between two readings.
      const waitsAgain = to === 'PENDING' || (to === 'TESTING' && from === 'PENDING_FAILURE')
      const split = isUnderTest(from ?? '') && waitsAgain ? await this.findSplit(request) : undefined
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
    return logger.info(describeChange(pr, change))
  }

  /** Returns of which batch a pull request was and that it is split, if its timeline says so. */
  private async findSplit({ values }: WaitTarget['request']): Promise<string | undefined> {
    const { cli } = this
    if (!readsMore(cli)) return undefined
    const { repo, targetBranch, pr } = values
    const params = { repo, targetBranch, pr, includeTimeline: true }
    const once = { once: true, quiet: true, limits: this.wait.limits }
    const { record = {} } = await tryRead(cli.client(), getSubmittedPullRequest, params, once)
    return describeSplit(record)
  }

  /** Reports that a pull request is submitted, or was in the queue already: in NDJSON, and again for a person. */
  async reportAttempt(pr: number, attempt: number, reason: string): Promise<void> {
    const { attempts } = this.wait.options
    // A submission that was certainly not made is tried again.
    if (attempts === undefined || this.reportedAttempts.get(pr) === attempt) return
    this.reportedAttempts.set(pr, attempt)
    if (this.isStream) return this.cli.printer.add(resultOf({ type: 'attempt', pr, attempt, reason }))
    this.signs.noteOutput()
    if (attempt > 1) await this.cli.logger.info(`#${pr}: attempt ${attempt} of ${attempts}. ${reason}`)
  }

  /** Says until when a pull request waits before it is submitted again. */
  async reportPause(pr: number, attempt: number, reason: string, until: string): Promise<void> {
    const { attempts } = this.wait.options
    this.signs.noteOutput()
    await this.cli.logger.info(
      `#${pr}: ${reason} It is not in the queue until attempt ${attempt} of ${attempts}, at ${until}.`,
    )
  }

  reportOutage(text: string, isOver: boolean): Promise<void> {
    return this.signs.reportOutage(text, isOver)
  }

  sleep(delay: number, waiting: readonly WaitTarget[]): Promise<void> {
    return this.signs.sleep(delay, () => describeTargets(waiting))
  }

  during(waiting: () => readonly WaitTarget[], rounds: () => Promise<void>): Promise<void> {
    return withLiveLine(waiting, this.wait, this.cli, rounds)
  }

  /** Prints the results so far, and tells what became of the other pull requests. */
  async interrupted(failure: MergeqError, waiting: readonly WaitTarget[]): Promise<MergeqError> {
    await this.flush()
    // A change was in progress; the error names it.
    if (failure.details.delivery !== undefined) return failure
    const between = waiting.filter(isBetweenAttempts)
    const queued = waiting.filter(
      target =>
        !between.includes(target) &&
        (target.state.state !== undefined || target.state.submission !== undefined),
    )
    const names = queued.map(({ request }) => `#${request.values.pr}`)
    const list = names.length === 2 ? names.join(' and ') : joinTruncated(names)
    const stay = names.length === 0 ? [] : [`${list} ${names.length === 1 ? 'stays' : 'stay'} in the queue.`]
    const gone = between.map(({ request }) => `#${request.values.pr} is not in the queue.`)
    const error = interruptedWaitError(failure, waiting, this.cli.client())
    return reportStop(error, ['Stopped waiting.', ...stay, ...gone].join(' '), this.cli)
  }

  /** Records the result of a pull request, and prints it as soon as the results before it are printed. */
  async reportEnd(endedTarget: WaitTarget, lastEnd: WaitEnd): Promise<void> {
    const target = await this.withQueue(endedTarget, lastEnd)
    const end = await this.withApprovals(target, lastEnd)
    const { options } = this.wait
    const { host, logger, settings, results } = this.cli
    const { pr } = target.request.values
    const showsChecks = results !== 'rows' || !this.cli.options.quiet
    const result = await createResult(target, end, this.wait, showsChecks)
    const { failingChecks, exit, record } = result
    const mayBeMerged = exit === exitCodeOf('unknown-outcome') && record.mayBeMerged === true
    if (mayBeMerged && results !== 'screen')
      await logger.warn(
        `#${pr} may have merged all the same. Look at ${target.request.values.targetBranch} before you submit it again.`,
      )
    if (results === 'rows' || isContinuousIntegration(host.env))
      for (const { name, url } of failingChecks)
        await logger.info(`#${pr}: ${shorten(name)} failed${url === undefined ? '.' : `: ${url}`}`)
    const endsAtPause = end.outcome === 'pending' && options.failOnPaused && isPaused(target.queue)
    if (endsAtPause && results !== 'screen')
      await logger.warnOnce(`The queue for ${queueName(target.request.values)} is paused (--fail-on-paused).`)
    const { columns } = host.out
    const stepOptions = {
      head: options.head ?? target.attempt?.head,
      count: this.requests.length,
      commandLine: settings.commandLine,
      mayBeMerged,
    }
    const lines = () => [
      ...checkLines([signOfEnd(target, end), ' ', ...styleReason(result)], failingChecks, columns),
      ...stepLines(nextSteps(target, end, stepOptions), columns),
    ]
    this.results.set(target.request, { end, exit, result: resultOf(record, lines, this.cli.options.format) })
    await this.print(this.isStream)
  }

  /** Reads the queue of a single pull request whose wait gave up, to tell a person at a terminal of a pause. */
  private async withQueue(target: WaitTarget, { outcome }: WaitEnd): Promise<WaitTarget> {
    const { cli, requests } = this
    const gaveUp = outcome === 'timed-out' || outcome === 'pending'
    const isKnown = target.queue !== undefined || target.record === undefined || requests.length > 1
    if (!gaveUp || isKnown || cli.results !== 'screen' || !readsMore(cli)) return target
    const { repo, targetBranch } = target.request.values
    const options = { once: true, quiet: true, limits: { timeout: () => queueTime } }
    const { record: queue } = await tryRead(cli.client(), getQueue, { repo, targetBranch }, options)
    return { ...target, queue }
  }

  /** Tells a person at a terminal, whose wait for a single pull request gave up, what waits for a manual approval. */
  private async withApprovals(target: WaitTarget, end: WaitEnd): Promise<WaitEnd> {
    const gaveUp = end.outcome === 'timed-out' || end.outcome === 'pending'
    if (!gaveUp || end.note !== undefined || this.requests.length > 1 || isPaused(target.queue)) return end
    const { approvalNote } = await import('./wait-approvals.ts')
    const note = await approvalNote(target, queueTime, this.cli)
    return note === undefined ? end : { ...end, note }
  }

  /** Prints every recorded result, even if results before it are missing. */
  async flush(): Promise<void> {
    await this.print(true)
    await this.cli.printer.end()
  }

  private async print(skipsMissing: boolean): Promise<void> {
    for (const request of this.unprinted) {
      const result = this.results.get(request)
      if (result !== undefined) {
        this.unprinted.delete(request)
        await this.cli.printer.add(result.result)
      } else if (!skipsMissing) return
    }
  }

  /** Logs the errors, the most severe last, and returns the most severe exit code. */
  private async close(): Promise<number> {
    const { cli } = this
    await ringBell(this.wait.time, cli)
    const results = [...this.results.values()]
    const unfinished = this.requests.filter(request => {
      const outcome = this.results.get(request)?.end.outcome
      return outcome === 'timed-out' || outcome === 'pending'
    })
    if (drawsResults(cli) && this.requests.length > 1 && unfinished.length > 0) {
      const pullRequests = unfinished.map(({ values }) => values)
      const step = ['To continue waiting', waitCommand(pullRequests, cli.settings.commandLine)] as const
      await cli.printer.add(resultOf({}, () => stepLines([step], cli.host.out.columns)))
    }
    await cli.printer.end()
    const failures = [...this.results].flatMap(([request, { end }]) =>
      end.failure === undefined
        ? []
        : [explainNotFound(cli, getSubmittedPullRequest, request.values, end.failure)],
    )
    const exit = mostSevere(results.map(({ exit }) => exit))
    if (results.length > 1 && exit !== 0 && !this.isStream) await cli.logger.info(this.countOutcomes())
    await reportErrors(await Promise.all(failures), cli)
    return exit
  }

  /** Returns how many pull requests ended in which way: `3 merged, 1 failed (#9).` */
  private countOutcomes(): string {
    const results = [...this.results]
    const counts = waitOutcomes.flatMap(outcome => {
      const ended = results.filter(([, { end }]) => end.outcome === outcome)
      if (ended.length === 0) return []
      const count = `${ended.length} ${outcome.replace('-', ' ')}`
      const numbers = ended.map(([{ values }]) => `#${values.pr}`)
      return ended.every(([, { exit }]) => exit === 0) ? [count] : [`${count} (${joinTruncated(numbers)})`]
    })
    return `${counts.join(', ')}.`
  }
}

/** The time for the queue when a wait gives up, in milliseconds. */
const queueTime = 1_000

/** The columns of the Markdown table, which is the summary of a CI job. */
const markdownColumns = columns(
  ['PR', 'pr', 'pr'],
  ['OUTCOME', 'outcome'],
  ['REASON', 'reason'],
  ['URL', 'url'],
  [
    'FAILING CHECKS',
    'failingChecks',
    'plain',
    {
      show: row =>
        getArray(row, 'failingChecks')
          .map(check => [getString(check, 'name'), getString(check, 'url')].join(' ').trim())
          .join(', '),
    },
  ],
)

/**
 * Returns a record as a result; `lines` are drawn for a person. Of a change, only NDJSON is printed. Markdown has
 * columns of its own.
 */
const resultOf = (
  record: JsonObject,
  lines: () => readonly StyledLine[] = () => [],
  format?: OutputFormat,
): Result => ({
  ...singleRecord(record),
  columns: format?.name === 'markdown' ? markdownColumns : waitRecord.columns,
  screen: () => ({ heading: lines() }),
})

/** The time for the metrics, in milliseconds: nothing waits for them. */
const metricsTime = 3_000

/**
 * Runs `work` and shows the live line of a wait until it ends; `targets` returns the pull requests that it
 * still waits for. When all of them are in one queue, and the line is drawn, its usual time is read once, at the same
 * time.
 */
async function withLiveLine(
  targets: () => readonly WaitTarget[],
  { time, options: { waitLimit, grace } }: Wait,
  cli: Cli,
  work: () => Promise<void>,
): Promise<void> {
  const { logger, host } = cli
  let usual: number | undefined
  const pullRequests = targets().map(({ request }) => request.values)
  const [first] = pullRequests
  if (logger.hasSpinner && first !== undefined && new Set(pullRequests.map(queueName)).size === 1)
    void readActivity(cli.client(), first, metricsTime).then(activity => {
      usual = activity.usual
    })
  return logger.withSpinner(columns => {
    // Until a submission appears, the wait lasts no longer than --grace.
    const isMissing = targets().every(({ state }) => !state.state && state.missingSince !== undefined)
    const limit = isMissing ? Math.min(grace, waitLimit || grace) : waitLimit
    const times = { now: host.clock.now(), elapsed: time.elapsed(), limit, usual }
    return liveLine(targets(), times, columns)
  }, work)
}

/** How long a wait stays without output, in milliseconds. */
const maxSilence = 5 * 60_000

/**
 * Elsewhere than on a terminal, says that a wait goes on when it has printed nothing for five minutes; during an
 * outage of the service only once.
 */
export class SignsOfLife {
  private readonly time: WaitTime
  private readonly cli: Cli
  private lastOutputAt = 0
  private isSilent = false
  private isOutage = false

  constructor(time: WaitTime, cli: Cli) {
    this.time = time
    this.cli = cli
  }

  noteOutput(): void {
    this.lastOutputAt = this.time.elapsed()
  }

  async reportOutage(text: string, isOver: boolean): Promise<void> {
    this.isOutage = !isOver
    this.isSilent = false
    this.noteOutput()
    await this.cli.logger.info(text)
  }

  /** Sleeps; `describe` returns what the wait is for. */
  async sleep(delay: number, describe: () => string): Promise<void> {
    const { host, logger } = this.cli
    const { clock, err, interrupted } = host
    const wakeAt = this.time.elapsed() + delay
    for (;;) {
      const now = this.time.elapsed()
      const isSilent = err.terminal || this.isSilent
      if (!isSilent && now - this.lastOutputAt >= maxSilence) {
        this.lastOutputAt = now
        this.isSilent = this.isOutage
        const minutes = Math.round(now / 60_000)
        await logger.info(`Still waiting after ${minutes} minutes for ${describe()}`)
      }
      if (now >= wakeAt) return
      const silence = isSilent ? delay : this.lastOutputAt + maxSilence - now
      await clock.sleep(Math.min(wakeAt - now, silence), interrupted)
    }
  }
}

/**
 * Tells a person at a terminal that Ctrl-C ended a wait, in words of the wait instead of the signal. Returns the
 * error that ends the command.
 */
export async function reportStop(
  failure: MergeqError,
  sentence: string,
  { host, logger, messages, results }: Cli,
): Promise<MergeqError> {
  if (failure.exit !== exitCodeOf('interrupted') || messages === 'log' || results === 'json') return failure
  // The terminal shows ^C; only a spinner clears it.
  if (!logger.hasSpinner) await host.err.write('\n')
  await logger.info(sentence)
  return extendError(failure, { isShown: true })
}
