import { nameOf } from '../../../domain/values/parsers.ts'
import { asFailure, Failure } from '../../../errors.ts'
import type { Desk } from '../../../cli/context.ts'
import { queueOf, type Watch } from './poll.ts'
import { goRound } from './poll-round.ts'
import { openReport, pictureOf, type Report } from './reporter.ts'
import { forAttempts, forRounds, type Terms } from './time-limits.ts'

/** A pull request to wait for. */
export interface Candidate extends Pick<Watch, 'run'> {
  /** The record that was read before it was submitted. */
  readonly before?: Watch['known']['before']
  /** When it was submitted; left out where somebody else did. */
  readonly submission?: Watch['known']['submission']
  /** Why there is nothing to wait for. */
  readonly failure?: Failure | undefined
}

/**
 * Waits until every pull request has settled, and returns the worst exit code (CLI.md section 5). Its time
 * began at `startedAt`; once that is over, no reading is begun. Ctrl-C ends the waiting and nothing else. With --stop-on-error the first ending that is no success ends it, too.
 */
export async function waitForAll(
  candidates: readonly Candidate[],
  terms: Terms,
  desk: Desk,
  startedAt = desk.world.clock.now(),
): Promise<number> {
  const { clock } = desk.world
  const runs = candidates.map(({ run }) => run)
  const report = openReport(runs, startedAt, desk)
  const remaining = () => startedAt + terms.limit - clock.now()
  const manner = {
    needsQueue: terms.failOnPaused,
    closed: new Set<string>(),
    mayBegin: () => terms.limit === 0 || remaining() > 0,
  }
  const polling = forRounds(await forAttempts(desk), terms, remaining)
  let waiting: readonly Watch[] = []
  for (const { run, before, submission, failure } of candidates) {
    const watch = { run, known: { before, submission }, errors: 0 }
    if (failure === undefined) waiting = [...waiting, watch]
    else await report.end(watch, { outcome: 'error', failure })
  }
  try {
    while (waiting.length > 0) {
      const left = await goRound(waiting, terms, manner, report, polling)
      waiting = left.waiting
      const isOver = remaining() <= 0
      if (isOver || (left.isSpoilt && terms.stopsOnError)) {
        const outcome = isOver && terms.limit > 0 ? 'timed-out' : 'pending'
        for (const watch of waiting) await report.end(watch, { outcome })
        break
      }
      if (waiting.length > 0) await rest(Math.min(left.pause, remaining()), waiting, report, desk)
    }
  } catch (error) {
    const failure = asFailure(error)
    if (failure.kind !== 'interrupted') throw failure
    await report.flush()
    throw interruption(failure, waiting)
  }
  return report.close()
}

/** Prints a result for each where nothing is waited for: some could not be submitted, and the others are left alone. */
export async function tellUnwaited(
  candidates: readonly Candidate[],
  startedAt: number,
  desk: Desk,
): Promise<void> {
  const report = openReport(
    candidates.map(({ run }) => run),
    startedAt,
    desk,
  )
  for (const { run, failure } of candidates)
    await report.end(
      { run, known: {}, errors: 0 },
      failure === undefined ? { outcome: 'pending' } : { outcome: 'error', failure },
    )
  await report.flush()
}

/** Lets time pass, shown on a terminal, with a sign of life elsewhere. */
async function rest(pause: number, waiting: readonly Watch[], report: Report, desk: Desk): Promise<void> {
  const { clock, interrupted } = desk.world
  const until = clock.now() + pause
  await report.stillWaiting(waiting)
  await desk.during(
    () => `Waiting for ${pictureOf(waiting)}`,
    async () => {
      for (let left = pause; left > 0; left = until - clock.now()) {
        await clock.sleep(Math.min(left, report.quietFor()), interrupted)
        await report.stillWaiting(waiting)
      }
    },
  )
}

const mostNamed = 50

/** The failure when a signal ends the waiting: the pull requests stay, and it says how to take them out. */
function interruption({ message, exit, details }: Failure, waiting: readonly Watch[]): Failure {
  const cancels = [...new Set(waiting.map(queueOf))].map(name => {
    const those = waiting.filter(watch => queueOf(watch) === name).map(({ run }) => run.values)
    const named = those.length > mostNamed ? '<pr>...' : those.map(({ pr }) => pr).join(' ')
    const where = those.slice(0, 1).map(({ repo, targetBranch }) => `-R ${nameOf(repo)} -b ${targetBranch}`)
    return `mergeq pr cancel ${named} ${where}`
  })
  const isSeen = waiting.every(({ known }) => known.state !== undefined)
  const those = waiting.length === 1 ? 'The pull request stays' : 'The pull requests stay'
  const what = isSeen ? `${those} in the queue.` : 'What is in the queue stays there.'
  return new Failure('interrupted', `${message} Only the waiting has ended.`, {
    ...details,
    exit,
    hint: `${what} To cancel:\n${cancels.join('\n')}`,
  })
}
