import type { CommandContext } from '../../../cli/context.ts'
import { reportErrors } from '../../../cli/run-requests.ts'
import { isContinuousIntegration } from '../../../config/ci-systems.ts'
import { formatOrdinal, pluralize } from '../../../domain/format.ts'
import type { FailingCheck } from '../../../domain/test-run.ts'
import { urlOfPullRequest } from '../../../domain/values/pull-request.ts'
import { repositoryName } from '../../../domain/values/repository.ts'
import { kindOfOutcome } from '../../../domain/wait-outcomes.ts'
import type { StateChange } from '../../../domain/wait-state.ts'
import { exitCodeOf, type MergeqError, mostSevere } from '../../../errors.ts'
import type { JsonObject } from '../../../json.ts'
import { singleRecord } from '../../../output/printer.ts'
import { linkSpan, type StyledLine, stateSpan } from '../../../output/styled-text.ts'
import { linesView, type View } from '../../../output/view.ts'
import type { EndedWait, WaitEnd } from './describe-end.ts'
import type { WaitTarget } from './read-targets.ts'

/** The output of a wait: state changes, heartbeats, and exactly one result for each pull request. */
export interface WaitReporter {
  /**
   * Reports a state change: a record in NDJSON, a message on standard error otherwise. `isEnd` is whether the
   * change ends the wait: where a person reads the result, it is shown alone.
   */
  reportChange(target: WaitTarget, change: StateChange, isEnd: boolean): Promise<void>
  /** Logs that the wait continues, unless a terminal shows it or output is less than five minutes old. */
  heartbeat(targets: readonly WaitTarget[]): Promise<void>
  /** Returns the milliseconds until the next heartbeat is due; infinity on a terminal. */
  heartbeatDelay(): number
  /** Records the result of a pull request, and prints it as soon as the results before it are printed. */
  reportEnd(target: WaitTarget, end: WaitEnd): Promise<void>
  /** Prints every recorded result, even if results before it are missing. */
  flush(): Promise<void>
  /** Logs the errors, the most severe last, and returns the most severe exit code. */
  close(): Promise<number>
}

/** The largest number of failing checks that are logged for a pull request. */
const maxLoggedChecks = 5

/** How long a wait stays without output, in milliseconds. */
const maxSilence = 5 * 60_000

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

type ReadFailingChecks = (target: WaitTarget) => Promise<readonly FailingCheck[] | undefined>

/** The largest number of pull requests whose failing checks are read: each costs a request. */
const maxFailingReads = 10

/**
 * Creates the reporter of a wait for these pull requests. `startedAt` is in milliseconds since 1970.
 * `readFailingChecks` is called where the failing checks are shown.
 */
export function createReporter(
  requests: readonly WaitTarget['request'][],
  startedAt: number,
  context: CommandContext,
  readFailingChecks: ReadFailingChecks = async () => undefined,
): WaitReporter {
  const { printer, logger, host, options, presentation, settings } = context
  const { out, err, env, clock } = host
  const isStream = options.format === 'ndjson'
  const showsLines = presentation === 'screen'
  const hasReader = err.terminal && !isContinuousIntegration(env)
  const results: ({ readonly record: JsonObject; readonly lines: readonly StyledLine[] } | undefined)[] =
    requests.map(() => undefined)
  const [failures, codes]: [MergeqError[], number[]] = [[], []]
  const unfinished: WaitTarget['request']['values'][] = []
  let [printedCount, lastOutputAt, failingReads] = [0, startedAt, 0]
  let defaultRepository: Promise<string | undefined> | undefined

  const print = async (index: number) => {
    const result = results[index]
    if (result !== undefined) await printer.print(printable(result.record, result.lines))
  }
  const linesOf = async (wait: EndedWait, { values }: WaitTarget['request']) => {
    const { endLines } = await import('./end-lines.ts')
    return endLines(wait, values, settings.commandLine, requests.length === 1, out.columns)
  }
  /** Reads the failing checks where a person or the log of a CI job shows them. */
  const failingChecksOf = async (target: WaitTarget, { outcome }: WaitEnd) => {
    const isFailed = outcome === 'failed' || (outcome === 'left' && target.state.state === 'FAILED')
    const isShown = showsLines || (presentation === 'rows' && !options.quiet)
    if (!isFailed || !isShown || failingReads >= maxFailingReads) return undefined
    failingReads++
    return readFailingChecks(target)
  }
  return {
    async reportChange({ request }, { from, to, at, position }, isEnd) {
      const now = clock.now()
      const { pr, repo } = request.values
      if (isStream)
        await printer.print(
          printable({
            type: 'change',
            pr,
            from: from ?? null,
            to,
            at: at ?? new Date(now).toISOString(),
            position: position ?? null,
          }),
        )
      else if (isEnd && showsLines && (hasReader || from === undefined)) lastOutputAt = now
      else if (!hasReader)
        await logger.info(
          `#${pr} ${from === undefined ? '' : `${from} -> `}${to}${position === undefined ? '' : `, position ${position}`}`,
        )
      else {
        await logger.infoLine([
          linkSpan(`#${pr}`, urlOfPullRequest(repo, pr)),
          ' ',
          ...(from === undefined ? [] : [stateSpan(from), ' -> ']),
          stateSpan(to),
          position === undefined ? '' : `, ${formatOrdinal(position)}`,
        ])
      }
      lastOutputAt = now
    },
    async heartbeat(targets) {
      const now = clock.now()
      if (err.terminal || now - lastOutputAt < maxSilence) return
      lastOutputAt = now
      await logger.info(
        `Still waiting after ${Math.round((now - startedAt) / 60_000)} minutes for ${describeTargets(targets)}`,
      )
    },
    heartbeatDelay: () =>
      err.terminal ? Number.POSITIVE_INFINITY : Math.max(1, lastOutputAt + maxSilence - clock.now()),
    async reportEnd(target, end) {
      const { request, state } = target
      const { pr, repo } = request.values
      const { outcome, failure } = end
      const exit = outcome === 'error' ? (failure?.exit ?? 1) : exitCodeOf(kindOfOutcome[outcome])
      const index = requests.indexOf(request)
      defaultRepository ??= readDefaultRepository(context)
      const elapsed = clock.now() - startedAt
      const record = {
        type: 'result',
        pr,
        // A script needs the repository to pass such a result to another command.
        ...(repositoryName(repo) === (await defaultRepository) ? {} : { repo: repositoryName(repo) }),
        outcome,
        state: state.state ?? null,
        elapsedSeconds: Math.round(elapsed / 1_000),
        exit,
      }
      const failingChecks = await failingChecksOf(target, end)
      const wait = { pr, url: urlOfPullRequest(repo, pr), state, end, elapsed, failingChecks }
      codes.push(exit)
      if (outcome === 'timed-out' || outcome === 'pending') unfinished.push(request.values)
      if (failure !== undefined) failures.push(failure)
      if (!showsLines)
        for (const { name, url } of (failingChecks ?? []).slice(0, maxLoggedChecks))
          await logger.info(`#${pr}: the check "${name}" failed${url === undefined ? '.' : `: ${url}`}`)
      results[index] = { record, lines: showsLines ? await linesOf(wait, request) : [] }
      if (isStream) await print(index)
      else for (; results[printedCount] !== undefined; printedCount++) await print(printedCount)
    },
    async flush() {
      if (!isStream) for (; printedCount < results.length; printedCount++) await print(printedCount)
      await printer.end()
    },
    async close() {
      if (showsLines && requests.length > 1 && unfinished.length > 0) {
        const { stepLines, waitCommand } = await import('./end-lines.ts')
        const step = ['To continue waiting', waitCommand(unfinished, settings.commandLine)] as const
        await printer.print(printable({}, stepLines([step], out.columns)))
      }
      await printer.end()
      await reportErrors(failures, context)
      return mostSevere(codes)
    },
  }
}

/** Returns the repository that a pull request number alone refers to; undefined if no setting names it. */
const readDefaultRepository = ({ settings }: CommandContext): Promise<string | undefined> =>
  settings.read('repo').then(
    repo => repo && repositoryName(repo),
    () => undefined,
  )

/** Wraps a record for the printer; `lines` replace its row on a terminal. */
const printable = (record: JsonObject, lines: readonly StyledLine[] = []) =>
  singleRecord(record, () => ({ ...resultRow(record), terminalView: () => linesView(lines) }))

/** Returns the row of a result; of a state change, only NDJSON is printed. */
const resultRow = ({ pr, outcome, state, elapsedSeconds }: JsonObject): View => ({
  columns: [
    { title: 'PR', format: 'pr' },
    { title: 'OUTCOME', format: 'plain' },
    { title: 'STATE', format: 'state' },
    { title: 'SECONDS', format: 'number' },
  ],
  rows: [[pr, outcome, state ?? '', elapsedSeconds]],
})
