import type { CommandContext } from '../../../cli/context.ts'
import { reportErrors } from '../../../cli/run-requests.ts'
import { isContinuousIntegration } from '../../../config/ci-systems.ts'
import { formatDuration, formatOrdinal, pluralize } from '../../../domain/format.ts'
import type { CommandLine } from '../../../domain/suggested-command.ts'
import type { FailingCheck } from '../../../domain/test-run.ts'
import { urlOfPullRequest } from '../../../domain/values/pull-request.ts'
import { repositoryName } from '../../../domain/values/repository.ts'
import { kindOfOutcome, type WaitOutcome } from '../../../domain/wait-outcomes.ts'
import type { StateChange, WaitState } from '../../../domain/wait-state.ts'
import { exitCodeOf, type MergeqError, mostSevere } from '../../../errors.ts'
import type { JsonObject } from '../../../json.ts'
import { singleRecord } from '../../../output/printer.ts'
import {
  linkSpan,
  plainText,
  type Span,
  type StyledLine,
  signSpan,
  stateSpan,
  styled,
  wordsSpan,
} from '../../../output/styled-text.ts'
import { textWidth } from '../../../output/text-width.ts'
import { linesView, table } from '../../../output/view.ts'
import type { RequestedPullRequest } from '../record.ts'
import { waitCommand, waitRecord } from './options.ts'
import type { WaitEnd, WaitTarget } from './poll.ts'

/** The largest number of failing checks that are shown or logged for a pull request. */
const maxChecks = 5

/** The largest number of pull requests whose failing checks are read: each costs a request. */
const maxFailingReads = 10

/** How long a wait stays without output, in milliseconds. */
const maxSilence = 5 * 60_000

type ReadFailingChecks = (target: WaitTarget) => Promise<readonly FailingCheck[] | undefined>

interface PrintableResult {
  readonly record: JsonObject
  /** What a terminal shows instead of the record. */
  readonly lines: readonly StyledLine[]
}

/** The output of a wait: state changes, heartbeats, and exactly one result for each pull request. */
export class WaitReporter {
  private readonly requests: readonly WaitTarget['request'][]
  private readonly startedAt: number
  private readonly context: CommandContext
  private readonly readFailingChecks: ReadFailingChecks
  private readonly isStream: boolean
  /** Whether results are lines for a person. */
  private readonly showsLines: boolean
  /** Whether a person reads standard error. */
  private readonly hasReader: boolean
  private readonly results: (PrintableResult | undefined)[]
  private readonly failures: MergeqError[] = []
  private readonly exitCodes: number[] = []
  private readonly unfinished: RequestedPullRequest[] = []
  private printedCount = 0
  private lastOutputAt: number
  private failingReads = 0
  private defaultRepository: Promise<string | undefined> | undefined

  /**
   * @param startedAt milliseconds since 1970
   * @param readFailingChecks is called for a pull request that failed, where its failing checks are shown
   */
  constructor(
    requests: readonly WaitTarget['request'][],
    startedAt: number,
    context: CommandContext,
    readFailingChecks: ReadFailingChecks = async () => undefined,
  ) {
    const { host, options, presentation } = context
    this.requests = requests
    this.startedAt = startedAt
    this.context = context
    this.readFailingChecks = readFailingChecks
    this.isStream = options.format === 'ndjson'
    this.showsLines = presentation === 'screen'
    this.hasReader = host.err.terminal && !isContinuousIntegration(host.env)
    this.results = requests.map(() => undefined)
    this.lastOutputAt = startedAt
  }

  /**
   * Reports a state change: a record in NDJSON, a message on standard error otherwise. `isEnd` is whether the
   * change ends the wait: where a person reads the result, it is shown alone.
   */
  async reportChange({ request }: WaitTarget, change: StateChange, isEnd: boolean): Promise<void> {
    const { printer, logger, host } = this.context
    const { pr, repo } = request.values
    const { from, to, position } = change
    const now = host.clock.now()
    this.lastOutputAt = now
    if (this.isStream) {
      const at = change.at ?? new Date(now).toISOString()
      const record = { type: 'change', pr, from: from ?? null, to, at, position: position ?? null }
      return printer.print(printable(record))
    }
    if (isEnd && this.showsLines && (this.hasReader || from === undefined)) return
    if (this.hasReader)
      return logger.infoLine([
        linkSpan(`#${pr}`, urlOfPullRequest(repo, pr)),
        ' ',
        ...(from === undefined ? [] : [stateSpan(from), ' -> ']),
        stateSpan(to),
        position === undefined ? '' : `, ${formatOrdinal(position)}`,
      ])
    const before = from === undefined ? '' : `${from} -> `
    return logger.info(`#${pr} ${before}${to}${position === undefined ? '' : `, position ${position}`}`)
  }

  /** Logs that the wait continues, unless a terminal shows it or output is less than five minutes old. */
  async heartbeat(targets: readonly WaitTarget[]): Promise<void> {
    const { host, logger } = this.context
    const now = host.clock.now()
    if (host.err.terminal || now - this.lastOutputAt < maxSilence) return
    this.lastOutputAt = now
    const minutes = Math.round((now - this.startedAt) / 60_000)
    await logger.info(`Still waiting after ${minutes} minutes for ${describeTargets(targets)}`)
  }

  /** Returns the milliseconds until the next heartbeat is due; infinity on a terminal. */
  heartbeatDelay(): number {
    const { err, clock } = this.context.host
    return err.terminal ? Number.POSITIVE_INFINITY : Math.max(1, this.lastOutputAt + maxSilence - clock.now())
  }

  /** Records the result of a pull request, and prints it as soon as the results before it are printed. */
  async reportEnd(target: WaitTarget, end: WaitEnd): Promise<void> {
    const { host, logger, settings } = this.context
    const { request, state } = target
    const { pr, repo } = request.values
    const { outcome, failure } = end
    const exit = outcome === 'error' ? (failure?.exit ?? 1) : exitCodeOf(kindOfOutcome[outcome])
    const elapsed = host.clock.now() - this.startedAt
    this.defaultRepository ??= readDefaultRepository(this.context)
    const record = {
      type: 'result',
      pr,
      // A script needs the repository to pass such a result to another command.
      ...(repositoryName(repo) === (await this.defaultRepository) ? {} : { repo: repositoryName(repo) }),
      outcome,
      state: state.state ?? null,
      elapsedSeconds: Math.round(elapsed / 1_000),
      exit,
    }
    const failingChecks = await this.failingChecksOf(target, outcome)
    this.exitCodes.push(exit)
    if (outcome === 'timed-out' || outcome === 'pending') this.unfinished.push(request.values)
    if (failure !== undefined) this.failures.push(failure)
    let lines: readonly StyledLine[] = []
    if (this.showsLines)
      lines = endLines(
        { pr, url: urlOfPullRequest(repo, pr), state, end, elapsed, failingChecks },
        {
          target: request.values,
          commandLine: settings.commandLine,
          isOnly: this.requests.length === 1,
          columns: host.out.columns,
        },
      )
    else
      for (const { name, url } of failingChecks.slice(0, maxChecks))
        await logger.info(`#${pr}: the check "${name}" failed${url === undefined ? '.' : `: ${url}`}`)
    const index = this.requests.indexOf(request)
    this.results[index] = { record, lines }
    if (this.isStream) await this.print(index)
    else
      for (; this.results[this.printedCount] !== undefined; this.printedCount++)
        await this.print(this.printedCount)
  }

  /** Prints every recorded result, even if results before it are missing. */
  async flush(): Promise<void> {
    if (!this.isStream)
      for (; this.printedCount < this.results.length; this.printedCount++) await this.print(this.printedCount)
    await this.context.printer.end()
  }

  /** Logs the errors, the most severe last, and returns the most severe exit code. */
  async close(): Promise<number> {
    const { printer, settings, host } = this.context
    if (this.showsLines && this.requests.length > 1 && this.unfinished.length > 0) {
      const step = ['To continue waiting', waitCommand(this.unfinished, settings.commandLine)] as const
      await printer.print(printable({}, stepLines([step], host.out.columns)))
    }
    await printer.end()
    await reportErrors(this.failures, this.context)
    return mostSevere(this.exitCodes)
  }

  /** Reads the failing checks where a person or the log of a CI job shows them. */
  private async failingChecksOf(target: WaitTarget, outcome: WaitOutcome): Promise<readonly FailingCheck[]> {
    const { presentation, options } = this.context
    const isFailed = outcome === 'failed' || (outcome === 'left' && target.state.state === 'FAILED')
    const isShown = this.showsLines || (presentation === 'rows' && !options.quiet)
    if (!isFailed || !isShown || this.failingReads >= maxFailingReads) return []
    this.failingReads++
    return (await this.readFailingChecks(target)) ?? []
  }

  private async print(index: number): Promise<void> {
    const result = this.results[index]
    if (result !== undefined) await this.context.printer.print(printable(result.record, result.lines))
  }
}

/** Returns the repository that a pull request number alone refers to; undefined if no setting names it. */
const readDefaultRepository = ({ settings }: CommandContext): Promise<string | undefined> =>
  settings.read('repo').then(
    repo => repo && repositoryName(repo),
    () => undefined,
  )

/** Wraps a record for the printer; `lines` replace its row on a terminal. Of a change, only NDJSON is printed. */
const printable = (record: JsonObject, lines: readonly StyledLine[] = []) =>
  singleRecord(record, () => ({
    ...table([{ ...record, state: record.state ?? '' }], waitRecord.columns),
    terminalView: () => linesView(lines),
  }))

/** Describes pull requests on one line: the state of a single pull request, or a count for each state. */
function describeTargets(targets: readonly WaitTarget[]): string {
  const [first, ...others] = targets
  if (first === undefined) return 'nothing'
  if (others.length === 0) {
    const { state = 'not visible yet', position } = first.state
    return `#${first.request.values.pr}: ${state}${position === undefined ? '' : `, position ${position}`}`
  }
  const states = targets.map(({ state }) => state.state ?? 'not visible yet')
  const counts = [...new Set(states)].map(
    state => `${states.filter(other => other === state).length} ${state}`,
  )
  return `${pluralize(targets.length, 'pull request')}: ${counts.join(', ')}`
}

interface EndedWait {
  readonly pr: number
  readonly url: string
  readonly state: WaitState
  readonly end: WaitEnd
  /** How long the wait lasted, in milliseconds. */
  readonly elapsed: number
  readonly failingChecks: readonly FailingCheck[]
}

/** What the end of a wait needs to know of the command and the terminal. */
interface EndScreen {
  readonly target: RequestedPullRequest
  readonly commandLine: CommandLine
  /** Whether the command waits for this pull request alone. */
  readonly isOnly: boolean
  readonly columns: number
}

/** Returns the end of a wait: what happened, the failing checks with their pages, and the next commands. */
const endLines = (ended: EndedWait, screen: EndScreen): readonly StyledLine[] => [
  ...checkLines([signOfEnd(ended), ' ', ...describeEnd(ended)], ended.failingChecks, screen.columns),
  ...stepLines(nextSteps(ended, screen), screen.columns),
]

type Pieces = readonly (string | Span)[]

function signOfEnd({ state: { state = '' }, end: { outcome, isSkipped = false } }: EndedWait): Span {
  switch (outcome) {
    case 'merged':
    case 'failed':
    case 'cancelled':
      return signSpan(outcome)
    case 'stale':
      return signSpan('STALE')
    case 'error':
      return signSpan('FAILED')
    default: {
      const sign = signSpan(isSkipped ? 'SKIPPED' : state)
      // A state that is not known has no sign.
      return sign.text === '' ? signSpan('WARN') : sign
    }
  }
}

/** Returns the last known state in its color, or why no state is known. */
function stateOf({ state, missingSince, submission }: WaitState): string | Span {
  if (state !== undefined) return wordsSpan(state)
  if (missingSince === undefined) return 'state unknown'
  return submission === undefined ? 'not submitted' : 'not visible yet'
}

/** Returns the first seven digits of two commits, or more if these are equal. */
function shortCommits({
  expected = '',
  found = '',
}: NonNullable<WaitEnd['head']>): readonly [string, string] {
  const length = expected.slice(0, 7) === found.slice(0, 7) ? 64 : 7
  return [expected.slice(0, length), found.slice(0, length)]
}

const noHead = { expected: undefined, found: undefined }

/** Returns the sentence about the end of a wait: `#7 merged after 6m52s`, `#7 is already merged`. */
export function describeEnd(ended: Omit<EndedWait, 'failingChecks'>): Pieces {
  const { pr, url, state, end, elapsed } = ended
  const { outcome, isSkipped = false, isFirstReading = false, isPaused = false, head = noHead } = end
  const number = linkSpan(`#${pr}`, url)
  if (isSkipped) return ['mergeq did not wait for ', number]
  const current = stateOf(state)
  const already = isFirstReading ? describeEarlierEnd(outcome, current) : undefined
  if (already !== undefined) return [number, ...already]
  const after = ` after ${formatDuration(elapsed)}`
  const pause = isPaused ? ': the queue is paused' : ''
  const isKnown = state.state !== undefined
  switch (outcome) {
    case 'merged':
      return [number, ' ', styled('merged', 'green'), after]
    case 'reached':
      return [number, ' reached the requested state', after, ' (', current, ')']
    case 'left':
      return [number, ' left the queue', after, ' (', current, ')']
    case 'failed':
      return [number, ' ', styled('failed', 'red'), after]
    case 'cancelled':
      return [number, ' was cancelled', after]
    case 'timed-out':
      return [
        ...['The wait for ', number, ' timed out', after],
        ...(isKnown ? [', still ', current] : [' (', current, ')']),
        pause,
      ]
    case 'stale': {
      const [expected, found] = shortCommits(head)
      return ['The head of ', number, ` moved: expected ${expected}, found ${found}`]
    }
    case 'pending':
      return [number, ...(isKnown ? [' is still ', current] : [' has not finished (', current, ')']), pause]
    case 'error':
      return [number, ' could not be checked (', current, ')']
  }
}

/** Returns what follows the number where the wait was over when it began; undefined for an end that says so. */
function describeEarlierEnd(outcome: WaitOutcome, current: string | Span): Pieces | undefined {
  switch (outcome) {
    case 'merged':
      return [' is already ', styled('merged', 'green')]
    case 'reached':
      return [' has already reached the requested state (', current, ')']
    case 'left':
      return [' has already left the queue (', current, ')']
    case 'failed':
      return [' has already ', styled('failed', 'red')]
    case 'cancelled':
      return [' is already cancelled']
    default:
      return undefined
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
  const fits = (candidate: StyledLine) => textWidth(plainText(candidate)) <= columns
  const [first] = checks
  if (first === undefined) return [headline]
  if (checks.length === 1) {
    const line = [...headline, `. Failing check: ${first.name}`]
    if ((first.url ?? '') === '') return [line]
    const page = linkSpan(first.url ?? '', first.url)
    const whole = [...line, '  ', page]
    return fits(whole) ? [whole] : [line, ['    ', page]]
  }
  const hidden = checks.length - maxChecks
  return [
    [...headline, '. Failing checks:'],
    ...checks.slice(0, maxChecks).flatMap(({ name, url }): readonly StyledLine[] => {
      const page = linkSpan(url ?? '', url)
      const both = [`    ${name}  `, page]
      return fits(both) ? [both] : [`    ${name}`, ['    ', page]]
    }),
    ...(hidden > 0 ? [`    and ${hidden} more`] : []),
  ]
}

/** A next step: what it is for, and the command. */
type Step = readonly [purpose: string, command: string]

function nextSteps({ state, end }: EndedWait, { target, commandLine, isOnly }: EndScreen): readonly Step[] {
  if (end.isSkipped) return []
  const { pr } = target
  const details: Step = ['Details', commandLine(['pr', 'explain', pr], target)]
  const submit = commandLine(['pr', 'submit', pr], target)
  switch (end.outcome === 'left' ? state.state?.toLowerCase() : end.outcome) {
    case 'failed':
      return [details, ['After a fix', submit]]
    case 'cancelled':
      return [details, ['To submit again', submit]]
    case 'stale': {
      const [, found] = shortCommits(end.head ?? noHead)
      // The commit is text from the service: it must not put anything else into a command line.
      if (!/^[\da-f]+$/i.test(found)) return []
      return [
        ['To wait for the new head commit', commandLine(['pr', 'wait', pr, '--match-head', found], target)],
      ]
    }
    case 'timed-out':
    case 'pending': {
      if (state.state === undefined && state.missingSince !== undefined && state.submission === undefined)
        return [['To submit it', submit]]
      // For several pull requests a single command follows all results.
      const steps: Step[] = isOnly ? [['To continue waiting', waitCommand([target], commandLine)]] : []
      if (end.isPaused) steps.push(['To resume the queue', commandLine(['queue', 'resume'], target)])
      else if (isOnly) steps.push(details)
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
