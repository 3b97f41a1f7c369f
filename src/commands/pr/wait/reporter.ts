import { reportErrors } from '../../../cli/concurrency.ts'
import type { CommandContext } from '../../../cli/context.ts'
import { pluralize } from '../../../domain/format.ts'
import { repositoryName } from '../../../domain/values/repository.ts'
import { kindOfOutcome, type Outcome, type StateChange } from '../../../domain/wait-state.ts'
import { exitCodeOf, type MergeqError, mostSevere } from '../../../errors.ts'
import type { JsonObject } from '../../../json.ts'
import type { View } from '../../../output/view.ts'
import type { WaitTarget } from './poll.ts'

/** How the wait for one pull request ended. */
export interface WaitEnd {
  readonly outcome: Outcome
  /** Why it could not be followed to its end. */
  readonly failure?: MergeqError
}

/** Everything that a wait says: changes, signs of life, and exactly one result for each pull request. */
export interface WaitReporter {
  change(watch: WaitTarget, change: StateChange): Promise<void>
  /** Says that it still waits, where no terminal shows it and nothing was said for five minutes. */
  stillWaiting(watches: readonly WaitTarget[]): Promise<void>
  /** Milliseconds until the next sign of life is due; on a terminal, none is. */
  quietFor(): number
  end(watch: WaitTarget, ended: WaitEnd): Promise<void>
  /** Prints every result that is there, whether or not those before it are. */
  flush(): Promise<void>
  /** Tells the failures, the worst last, and returns the worst exit code. */
  close(): Promise<number>
}

const maxSilence = 5 * 60_000

/** What a person reads about an ending. */
const outcomeTexts: Readonly<Record<Outcome, string>> = {
  merged: 'was merged',
  reached: 'is as far as was asked',
  left: 'has left the queue',
  failed: 'failed',
  cancelled: 'was cancelled',
  'timed-out': 'had not settled when the time was over',
  stale: 'has another head than was asked for',
  pending: 'has not settled',
  error: 'could not be followed',
}

/** What is waited for, on one line. */
export function describeTargets(watches: readonly WaitTarget[]): string {
  const [first, ...others] = watches
  if (first === undefined) return 'nothing'
  if (others.length === 0) {
    const { state = 'not there yet', position } = first.state
    return `#${first.invocation.values.pr}: ${state}${position === undefined ? '' : `, position ${position}`}`
  }
  const states = watches.map(({ state }) => state.state ?? 'not there yet')
  const counts = [...new Set(states)].map(state => `${states.filter(one => one === state).length} ${state}`)
  return `${pluralize(watches.length, 'pull request')}: ${counts.join(', ')}`
}

/** Opens the report of a wait for these pull requests, which began at this moment. */
export function createReporter(
  runs: readonly WaitTarget['invocation'][],
  startedAt: number,
  context: CommandContext,
): WaitReporter {
  const { printer, logger, host, options } = context
  const streams = options.format === 'ndjson'
  const results: (JsonObject | undefined)[] = runs.map(() => undefined)
  const [failures, codes]: [MergeqError[], number[]] = [[], []]
  let [printed, saidAt] = [0, startedAt]
  let usual: Promise<string | undefined> | undefined

  const print = async (index: number) => {
    const result = results[index]
    if (result !== undefined) await printer.print(printable(result))
  }
  return {
    async change({ invocation }, { from, to, at, position }) {
      const now = host.clock.now()
      const { pr } = invocation.values
      if (streams)
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
      saidAt = now
    },
    async stillWaiting(watches) {
      const now = host.clock.now()
      if (host.err.terminal || now - saidAt < maxSilence) return
      saidAt = now
      await logger.info(
        `Still waiting after ${Math.round((now - startedAt) / 60_000)} minutes for ${describeTargets(watches)}`,
      )
    },
    quietFor: () =>
      host.err.terminal ? Number.POSITIVE_INFINITY : Math.max(1, saidAt + maxSilence - host.clock.now()),
    async end({ invocation, state }, { outcome, failure }) {
      const exit = outcome === 'error' ? (failure?.exit ?? 1) : exitCodeOf(kindOfOutcome[outcome])
      const index = runs.indexOf(invocation)
      usual ??= usualRepository(context)
      results[index] = {
        type: 'result',
        pr: invocation.values.pr,
        // Only with its repository can such a result be fed to another command.
        ...(repositoryName(invocation.values.repo) === (await usual)
          ? {}
          : { repo: repositoryName(invocation.values.repo) }),
        outcome,
        state: state.state ?? null,
        elapsedSeconds: Math.round((host.clock.now() - startedAt) / 1_000),
        exit,
      }
      codes.push(exit)
      if (failure !== undefined) failures.push(failure)
      if (streams) await print(index)
      else for (; results[printed] !== undefined; printed++) await print(printed)
    },
    async flush() {
      if (!streams) for (; printed < results.length; printed++) await print(printed)
      await printer.end()
    },
    async close() {
      await printer.end()
      await reportErrors(failures, context)
      return mostSevere(codes)
    },
  }
}

/** The repository that a number alone would mean here. */
const usualRepository = ({ settings }: CommandContext): Promise<string | undefined> =>
  settings.read('repo').then(
    repo => repo && repositoryName(repo),
    () => undefined,
  )

const printable = (record: JsonObject) => ({
  records: [record],
  document: ([one = {}]: readonly JsonObject[]) => one,
  shape: () => shapeOf(record),
})

function shapeOf({ pr, outcome, state, elapsedSeconds }: JsonObject): View {
  const words = Object.entries(outcomeTexts).find(([known]) => known === outcome)?.[1] ?? outcome
  return {
    columns: [
      { title: 'PR', format: 'pr' },
      { title: 'OUTCOME', format: 'plain' },
      { title: 'STATE', format: 'state' },
      { title: 'SECONDS', format: 'number' },
    ],
    rows: [[pr, outcome, state ?? '', elapsedSeconds]],
    sentence: `#${pr} ${words} after ${elapsedSeconds} s (${state ?? 'never seen'}).`,
  }
}
