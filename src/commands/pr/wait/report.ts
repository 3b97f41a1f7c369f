import type { Wait, WaitTarget } from '../../../api/wait/poll.ts'
import { createResult, shortCommits, type WaitResult } from '../../../api/wait/result.ts'
import { interruptedWaitError, type WaitObserver } from '../../../api/wait/run.ts'
import { type CommandContext, drawsResults } from '../../../cli/context.ts'
import { reportErrors } from '../../../cli/report.ts'
import { isContinuousIntegration } from '../../../config/ci-systems.ts'
import { formatOrdinal, joinTruncated, shorten } from '../../../domain/format.ts'
import type { CommandLine } from '../../../domain/suggested-command.ts'
import type { FailingCheck } from '../../../domain/test-run.ts'
import { urlOfPullRequest } from '../../../domain/values/pull-request.ts'
import { queueName } from '../../../domain/values/repository.ts'
import {
  describeChange,
  isPaused,
  missingState,
  type StateChange,
  type WaitEnd,
  type WaitOptions,
} from '../../../domain/wait-state.ts'
import { type MergeqError, mostSevere } from '../../../errors.ts'
import { getString, type JsonObject } from '../../../json.ts'
import {
  linkSpan,
  type Pieces,
  plainText,
  type Span,
  type StyledLine,
  signSpan,
  stateSpan,
  styled,
  wordsSpan,
} from '../../../output/styled-text.ts'
import { textWidth } from '../../../output/text-width.ts'
import { type Result, singleRecord } from '../../../output/view.ts'
import { reportStop, sleepWithMessages } from './command-wait.ts'
import { countsOf, withLiveLine } from './live-line.ts'
import { waitCommand, waitRecord } from './options.ts'

/** The largest number of failing checks that a terminal shows for a pull request. */
const maxChecks = 5

/** The output of a wait: state changes, heartbeats, and exactly one result for each pull request. */
export class WaitReporter implements WaitObserver {
  private readonly wait: Wait
  private readonly context: CommandContext
  private readonly requests: readonly WaitTarget['request'][]
  private readonly isStream: boolean
  private readonly results = new Map<
    WaitTarget['request'],
    { readonly end: WaitEnd; readonly exit: number; readonly result: Result }
  >()
  private readonly unprinted: Set<WaitTarget['request']>
  private lastOutputAt = 0

  constructor(requests: readonly WaitTarget['request'][], wait: Wait, context: CommandContext) {
    this.wait = wait
    this.context = context
    this.requests = requests
    this.unprinted = new Set(requests)
    this.isStream = context.options.format.prints === 'records'
  }

  /**
   * Reports a state change: a record in NDJSON, a message on standard error otherwise. `isEnd` is whether the
   * change ends the wait: where a person reads the result, it is shown alone.
   */
  async reportChange({ request }: WaitTarget, change: StateChange, isEnd: boolean): Promise<void> {
    const { printer, logger, host, messages } = this.context
    const { pr, repo } = request.values
    const { from, to, position } = change
    this.lastOutputAt = this.wait.elapsed()
    if (this.isStream) {
      const at = change.at ?? new Date(host.clock.now()).toISOString()
      const record = { type: 'change', pr, from: from ?? null, to, at, position: position ?? null }
      return printer.add(resultOf(record))
    }
    const hasReader = messages === 'person'
    if (isEnd && drawsResults(this.context) && (hasReader || from === undefined)) return
    if (hasReader)
      return logger.infoLine([
        linkSpan(`#${pr}`, urlOfPullRequest(repo, pr)),
        ' ',
        ...(from === undefined ? [] : [stateSpan(from), ' -> ']),
        stateSpan(to),
        position === undefined ? '' : `, ${formatOrdinal(position)}`,
      ])
    return logger.info(describeChange(pr, change))
  }

  async sleep(delay: number, waiting: readonly WaitTarget[]): Promise<void> {
    const describe = () => describeTargets(waiting)
    this.lastOutputAt = await sleepWithMessages(
      delay,
      { elapsed: this.wait.elapsed, lastOutputAt: this.lastOutputAt, describe },
      this.context,
    )
  }

  during(waiting: () => readonly WaitTarget[], work: () => Promise<void>): Promise<void> {
    return withLiveLine(waiting, this.wait, this.context, work)
  }

  /** Prints the results so far, and tells what became of the other pull requests. */
  async interrupted(failure: MergeqError, waiting: readonly WaitTarget[]): Promise<MergeqError> {
    await this.flush()
    const queued = waiting.filter(({ state }) => state.state !== undefined || state.submission !== undefined)
    const names = queued.map(({ request }) => `#${request.values.pr}`)
    const list = names.length === 2 ? names.join(' and ') : joinTruncated(names)
    const note = names.length === 0 ? '' : ` ${list} ${names.length === 1 ? 'stays' : 'stay'} in the queue.`
    const error = interruptedWaitError(failure, waiting, this.context.client())
    return reportStop(error, `Stopped waiting.${note}`, this.context)
  }

  /** Records the result of a pull request, and prints it as soon as the results before it are printed. */
  async reportEnd(target: WaitTarget, end: WaitEnd): Promise<void> {
    const { options } = this.wait
    const { host, logger, settings, results } = this.context
    const { pr } = target.request.values
    const showsChecks = results !== 'rows' || !this.context.options.quiet
    const result = await createResult(target, end, this.wait, showsChecks)
    const { failingChecks, exit, record } = result
    if (results === 'rows' || isContinuousIntegration(host.env))
      for (const { name, url } of failingChecks)
        await logger.info(
          `#${pr}: the check "${shorten(name)}" failed${url === undefined ? '.' : `: ${url}`}`,
        )
    const endsAtPause = end.outcome === 'pending' && options.failOnPaused && isPaused(target.queue)
    if (endsAtPause && results !== 'screen')
      await logger.warnOnce(`The queue for ${queueName(target.request.values)} is paused (--fail-on-paused).`)
    const { columns } = host.out
    const stepOptions = {
      head: options.head,
      count: this.requests.length,
      commandLine: settings.commandLine,
    }
    const lines = () => [
      ...checkLines([signOfEnd(target, end), ' ', ...styleReason(result)], failingChecks, columns),
      ...stepLines(nextSteps(target, end, stepOptions), columns),
    ]
    this.results.set(target.request, { end, exit, result: resultOf(record, lines) })
    await this.print(this.isStream)
  }

  /** Prints every recorded result, even if results before it are missing. */
  async flush(): Promise<void> {
    await this.print(true)
    await this.context.printer.end()
  }

  private async print(skipsMissing: boolean): Promise<void> {
    for (const request of this.unprinted) {
      const result = this.results.get(request)
      if (result !== undefined) {
        this.unprinted.delete(request)
        await this.context.printer.add(result.result)
      } else if (!skipsMissing) return
    }
  }

  /** Logs the errors, the most severe last, and returns the most severe exit code. */
  async close(): Promise<number> {
    const { context } = this
    const results = [...this.results.values()]
    const unfinished = this.requests.filter(request => {
      const outcome = this.results.get(request)?.end.outcome
      return outcome === 'timed-out' || outcome === 'pending'
    })
    if (drawsResults(context) && this.requests.length > 1 && unfinished.length > 0) {
      const pullRequests = unfinished.map(({ values }) => values)
      const step = ['To continue waiting', waitCommand(pullRequests, context.settings.commandLine)] as const
      await context.printer.add(resultOf({}, () => stepLines([step], context.host.out.columns)))
    }
    await context.printer.end()
    await reportErrors(
      results.flatMap(({ end }) => end.failure ?? []),
      context,
    )
    return mostSevere(results.map(({ exit }) => exit))
  }
}

/** Returns the sentence about the end of a wait with its link and the color of the state. */
function styleReason({ target: { request, state }, reason }: WaitResult): Pieces {
  const { repo, pr } = request.values
  const spans = [linkSpan(`#${pr}`, urlOfPullRequest(repo, pr)), wordsSpan(state.state ?? '')]
  return spans.reduce<Pieces>(
    (pieces, span) =>
      pieces.flatMap(piece => {
        const start = typeof piece === 'string' && span.text !== '' ? piece.indexOf(span.text) : -1
        if (typeof piece !== 'string' || start < 0) return piece
        return [piece.slice(0, start), span, piece.slice(start + span.text.length)]
      }),
    [reason],
  )
}

/** Returns a record as a result; `lines` are drawn for a person. Of a change, only NDJSON is printed. */
const resultOf = (record: JsonObject, lines: () => readonly StyledLine[] = () => []): Result => ({
  ...singleRecord(record),
  columns: waitRecord.columns,
  screen: () => ({ heading: lines() }),
})

function describeTargets(targets: readonly WaitTarget[]): string {
  const [first, ...others] = targets
  if (first === undefined || others.length > 0) return plainText(countsOf(targets))
  return `#${first.request.values.pr}: ${first.state.state ?? missingState(first.state)}`
}

function signOfEnd({ state: { state = '' } }: WaitTarget, { outcome, isSkipped = false }: WaitEnd): Span {
  switch (outcome) {
    case 'merged':
    case 'failed':
    case 'cancelled':
    case 'stale':
      return signSpan(outcome)
    case 'error':
      return signSpan('FAILED')
    default: {
      const sign = signSpan(isSkipped ? 'SKIPPED' : state)
      // A state that is not known has no sign.
      return sign.text === '' ? signSpan('WARN') : sign
    }
  }
}

/**
 * Returns the first line with the failing checks: a single check on the same line, several on lines of their
 * own. A URL that does not fit beside the name has a line of its own.
 */
function checkLines(
  headline: Pieces,
  checks: readonly FailingCheck[],
  columns: number,
): readonly StyledLine[] {
  const withUrl = (line: Pieces, url = ''): readonly StyledLine[] => {
    if (url === '') return [line]
    const page = linkSpan(url, url)
    const whole = [...line, '  ', page]
    return textWidth(plainText(whole)) <= columns ? [whole] : [line, ['    ', page]]
  }
  const [first, ...others] = checks
  if (first === undefined) return [headline]
  if (others.length === 0) return withUrl([...headline, `. Failing check: ${shorten(first.name)}`], first.url)
  const hidden = checks.length - maxChecks
  return [
    [...headline, '. Failing checks:'],
    ...checks.slice(0, maxChecks).flatMap(({ name, url }) => withUrl([`    ${shorten(name)}`], url)),
    ...(hidden > 0 ? [`    and ${hidden} more`] : []),
  ]
}

type Step = readonly [purpose: string, command: string]

/** Returns the next commands; `count` is the number of pull requests that the command waits for. */
function nextSteps(
  { request: { values }, state: { state, missingSince, submission }, record, queue }: WaitTarget,
  { outcome, isSkipped = false }: WaitEnd,
  { head = '', count, commandLine }: Pick<WaitOptions, 'head'> & { count: number; commandLine: CommandLine },
): readonly Step[] {
  if (isSkipped) return []
  const { pr } = values
  const details: Step = ['Details', commandLine(['pr', 'explain', pr], values)]
  const submit = commandLine(['pr', 'submit', pr], values)
  switch (outcome === 'left' ? state?.toLowerCase() : outcome) {
    case 'failed':
      return [details, ['After a fix', submit]]
    case 'cancelled':
      return [details, ['To submit again', submit]]
    case 'stale': {
      const [, found] = shortCommits(head, getString(record, 'prSha') ?? '')
      // The commit is text from the service: it must not put anything else into a command line.
      if (!/^[\da-f]+$/i.test(found)) return []
      const command = commandLine(['pr', 'wait', pr, '--match-head', found], values)
      return [['To wait for the new head commit', command]]
    }
    case 'timed-out':
    case 'pending': {
      if (state === undefined && missingSince !== undefined && submission === undefined)
        return [['To submit it', submit]]
      // For several pull requests a single command follows all results.
      const steps: Step[] = count === 1 ? [['To continue waiting', waitCommand([values], commandLine)]] : []
      if (isPaused(queue)) steps.push(['To resume the queue', commandLine(['queue', 'resume'], values)])
      else if (count === 1) steps.push(details)
      return steps
    }
    default:
      return []
  }
}

/** Returns steps on one line, or each on a line of its own where they are too long for that. */
function stepLines(steps: readonly Step[], columns: number): readonly StyledLine[] {
  const texts = steps.map(([purpose, command]) => `${purpose}: ${command}`)
  const line = `  ${texts.join('      ')}`
  if (texts.length === 0) return []
  const lines = textWidth(line) <= columns ? [line] : texts.map(text => `  ${text}`)
  return lines.map(text => [styled(text, 'dim')])
}
