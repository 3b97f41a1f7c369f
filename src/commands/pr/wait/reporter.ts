import type { CommandContext } from '../../../cli/context.ts'
import { reportErrors } from '../../../cli/report-results.ts'
import { pluralize } from '../../../domain/format.ts'
import { repositoryName } from '../../../domain/values/repository.ts'
import { kindOfOutcome, type StateChange } from '../../../domain/wait-state.ts'
import { exitCodeOf, type MergeqError, mostSevere } from '../../../errors.ts'
import type { JsonObject } from '../../../json.ts'
import { singleRecord } from '../../../output/printer.ts'
import type { View } from '../../../output/view.ts'
import { describeEnd, type WaitEnd } from './describe-end.ts'
import type { WaitTarget } from './read-targets.ts'

/** The output of a wait: state changes, heartbeats, and exactly one result for each pull request. */
export interface WaitReporter {
  /** Reports a state change: a record in NDJSON, a message on standard error otherwise. */
  reportChange(target: WaitTarget, change: StateChange): Promise<void>
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

/** How long a wait stays without output, in milliseconds. */
const maxSilence = 5 * 60_000

/** Describes pull requests on one line: the state of a single pull request, or a count for each state. */
export function describeTargets(targets: readonly WaitTarget[]): string {
  const [first, ...others] = targets
  if (first === undefined) return 'nothing'
  if (others.length === 0) {
    const { state = 'not visible yet', position } = first.state
    return `#${first.invocation.values.pr}: ${state}${position === undefined ? '' : `, position ${position}`}`
  }
  const states = targets.map(({ state }) => state.state ?? 'not visible yet')
  const counts = [...new Set(states)].map(
    state => `${states.filter(other => other === state).length} ${state}`,
  )
  return `${pluralize(targets.length, 'pull request')}: ${counts.join(', ')}`
}

/** Creates the reporter of a wait for these pull requests. `startedAt` is in milliseconds since 1970. */
export function createReporter(
  invocations: readonly WaitTarget['invocation'][],
  startedAt: number,
  context: CommandContext,
): WaitReporter {
  const { printer, logger, host, options } = context
  const isStream = options.format === 'ndjson'
  const results: ({ readonly record: JsonObject; readonly sentence: string } | undefined)[] = invocations.map(
    () => undefined,
  )
  const [failures, codes]: [MergeqError[], number[]] = [[], []]
  let [printedCount, lastOutputAt] = [0, startedAt]
  let defaultRepository: Promise<string | undefined> | undefined

  const print = async (index: number) => {
    const result = results[index]
    if (result !== undefined) await printer.print(printable(result.record, result.sentence))
  }
  return {
    async reportChange({ invocation }, { from, to, at, position }) {
      const now = host.clock.now()
      const { pr } = invocation.values
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
      else
        await logger.info(
          `#${pr} ${from === undefined ? '' : `${from} -> `}${to}${position === undefined ? '' : `, position ${position}`}`,
        )
      lastOutputAt = now
    },
    async heartbeat(targets) {
      const now = host.clock.now()
      if (host.err.terminal || now - lastOutputAt < maxSilence) return
      lastOutputAt = now
      await logger.info(
        `Still waiting after ${Math.round((now - startedAt) / 60_000)} minutes for ${describeTargets(targets)}`,
      )
    },
    heartbeatDelay: () =>
      host.err.terminal
        ? Number.POSITIVE_INFINITY
        : Math.max(1, lastOutputAt + maxSilence - host.clock.now()),
    async reportEnd({ invocation, state }, end) {
      const { outcome, failure } = end
      const exit = outcome === 'error' ? (failure?.exit ?? 1) : exitCodeOf(kindOfOutcome[outcome])
      const index = invocations.indexOf(invocation)
      defaultRepository ??= readDefaultRepository(context)
      const elapsedSeconds = Math.round((host.clock.now() - startedAt) / 1_000)
      const record = {
        type: 'result',
        pr: invocation.values.pr,
        // A script needs the repository to pass such a result to another command.
        ...(repositoryName(invocation.values.repo) === (await defaultRepository)
          ? {}
          : { repo: repositoryName(invocation.values.repo) }),
        outcome,
        state: state.state ?? null,
        elapsedSeconds,
        exit,
      }
      results[index] = { record, sentence: describeEnd(invocation.values.pr, state, end, elapsedSeconds) }
      codes.push(exit)
      if (failure !== undefined) failures.push(failure)
      if (isStream) await print(index)
      else for (; results[printedCount] !== undefined; printedCount++) await print(printedCount)
    },
    async flush() {
      if (!isStream) for (; printedCount < results.length; printedCount++) await print(printedCount)
      await printer.end()
    },
    async close() {
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

/** Wraps a record for the printer. */
const printable = (record: JsonObject, sentence = '') =>
  singleRecord(record, () => resultView(record, sentence))

/** Returns the table row and the sentence of a result; of a state change, only NDJSON is printed. */
function resultView({ pr, outcome, state, elapsedSeconds }: JsonObject, sentence: string): View {
  return {
    columns: [
      { title: 'PR', format: 'pr' },
      { title: 'OUTCOME', format: 'plain' },
      { title: 'STATE', format: 'state' },
      { title: 'SECONDS', format: 'number' },
    ],
    rows: [[pr, outcome, state ?? '', elapsedSeconds]],
    sentence,
  }
}
