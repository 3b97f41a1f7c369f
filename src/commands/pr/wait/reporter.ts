import type { Change, Outcome } from '../../../domain/wait.ts'
import { kindOfOutcome } from '../../../domain/wait.ts'
import { nameOf } from '../../../domain/values/parsers.ts'
import { exitOf, type Failure, worst } from '../../../errors.ts'
import type { Desk } from '../../../cli/context.ts'
import { tellFailures } from '../../../cli/concurrency.ts'
import { type JsonObject } from '../../../json.ts'
import { count, type Shape } from '../../../output/view.ts'
import type { Watch } from './poll.ts'

/** How the wait for one pull request ended. */
export interface Ended {
  readonly outcome: Outcome
  /** Why it could not be followed to its end. */
  readonly failure?: Failure
}

/** Everything that a wait says: changes, signs of life, and exactly one result for each pull request. */
export interface Report {
  change(watch: Watch, change: Change): Promise<void>
  /** Says that it still waits, where no terminal shows it and nothing was said for five minutes. */
  stillWaiting(watches: readonly Watch[]): Promise<void>
  /** Milliseconds until the next sign of life is due; on a terminal, none is. */
  quietFor(): number
  end(watch: Watch, ended: Ended): Promise<void>
  /** Prints every result that is there, whether or not those before it are. */
  flush(): Promise<void>
  /** Tells the failures, the worst last, and returns the worst exit code. */
  close(): Promise<number>
}

const longestSilence = 5 * 60_000

/** What a person reads about an ending. */
const inWords: Readonly<Record<Outcome, string>> = {
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
export function pictureOf(watches: readonly Watch[]): string {
  const [first, ...others] = watches
  if (first === undefined) return 'nothing'
  if (others.length === 0) {
    const { state = 'not there yet', position } = first.known
    return `#${first.run.values.pr}: ${state}${position === undefined ? '' : `, position ${position}`}`
  }
  const states = watches.map(({ known }) => known.state ?? 'not there yet')
  const counts = [...new Set(states)].map(state => `${states.filter(one => one === state).length} ${state}`)
  return `${count(watches.length, 'pull request')}: ${counts.join(', ')}`
}

/** Opens the report of a wait for these pull requests, which began at this moment. */
export function openReport(runs: readonly Watch['run'][], startedAt: number, desk: Desk): Report {
  const { printer, voice, world, options } = desk
  const streams = options.format === 'ndjson'
  const results: (JsonObject | undefined)[] = runs.map(() => undefined)
  const [failures, codes]: [Failure[], number[]] = [[], []]
  let [printed, saidAt] = [0, startedAt]
  let usual: Promise<string | undefined> | undefined

  const print = async (index: number) => {
    const result = results[index]
    if (result !== undefined) await printer.print(printable(result))
  }
  return {
    async change({ run }, { from, to, at, position }) {
      const now = world.clock.now()
      const { pr } = run.values
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
        await voice.note(
          `#${pr} ${from === undefined ? '' : `${from} -> `}${to}${position === undefined ? '' : `, position ${position}`}`,
        )
      saidAt = now
    },
    async stillWaiting(watches) {
      const now = world.clock.now()
      if (world.err.terminal || now - saidAt < longestSilence) return
      saidAt = now
      await voice.note(
        `Still waiting after ${Math.round((now - startedAt) / 60_000)} minutes for ${pictureOf(watches)}`,
      )
    },
    quietFor: () =>
      world.err.terminal
        ? Number.POSITIVE_INFINITY
        : Math.max(1, saidAt + longestSilence - world.clock.now()),
    async end({ run, known }, { outcome, failure }) {
      const exit = outcome === 'error' ? (failure?.exit ?? 1) : exitOf(kindOfOutcome[outcome])
      const index = runs.indexOf(run)
      usual ??= usualRepository(desk)
      results[index] = {
        type: 'result',
        pr: run.values.pr,
        // Only with its repository can such a result be fed to another command.
        ...(nameOf(run.values.repo) === (await usual) ? {} : { repo: nameOf(run.values.repo) }),
        outcome,
        state: known.state ?? null,
        elapsedSeconds: Math.round((world.clock.now() - startedAt) / 1_000),
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
      await tellFailures(failures, desk)
      return worst(codes)
    },
  }
}

/** The repository that a number alone would mean here. */
const usualRepository = ({ settings }: Desk): Promise<string | undefined> =>
  settings.read('repo').then(
    repo => repo && nameOf(repo),
    () => undefined,
  )

const printable = (record: JsonObject) => ({
  records: [record],
  document: ([one = {}]: readonly JsonObject[]) => one,
  shape: () => shapeOf(record),
})

function shapeOf({ pr, outcome, state, elapsedSeconds }: JsonObject): Shape {
  const words = Object.entries(inWords).find(([known]) => known === outcome)?.[1] ?? outcome
  return {
    columns: [
      { title: 'PR', manner: 'pr' },
      { title: 'OUTCOME', manner: 'plain' },
      { title: 'STATE', manner: 'state' },
      { title: 'SECONDS', manner: 'number' },
    ],
    rows: [[pr, outcome, state ?? '', elapsedSeconds]],
    sentence: `#${pr} ${words} after ${elapsedSeconds} s (${state ?? 'never seen'}).`,
  }
}
