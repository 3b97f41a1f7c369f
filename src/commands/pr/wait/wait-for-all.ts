import type { CommandContext } from '../../../cli/context.ts'
import { repositoryName } from '../../../domain/values/parsers.ts'
import { MergeqError, toMergeqError } from '../../../errors.ts'
import { queueName, type WaitTarget } from './poll.ts'
import { pollOnce } from './poll-round.ts'
import { createReporter, describeTargets, type WaitReporter } from './reporter.ts'
import { forAttempts, forRounds, type WaitOptions } from './time-limits.ts'

/** A pull request to wait for. */
export interface WaitCandidate extends Pick<WaitTarget, 'invocation'> {
  /** The record that was read before it was submitted. */
  readonly before?: WaitTarget['state']['before']
  /** When it was submitted; left out where somebody else did. */
  readonly submission?: WaitTarget['state']['submission']
  /** Why there is nothing to wait for. */
  readonly failure?: MergeqError | undefined
}

/**
 * Waits until every pull request has settled, and returns the worst exit code (CLI.md section 5). Its time
 * began at `startedAt`; once that is over, no reading is begun. Ctrl-C ends the waiting and nothing else.
 * With --stop-on-error the first ending that is no success ends it, too.
 */
export async function waitForAll(
  candidates: readonly WaitCandidate[],
  terms: WaitOptions,
  context: CommandContext,
  startedAt = context.host.clock.now(),
): Promise<number> {
  const { clock } = context.host
  const runs = candidates.map(({ invocation }) => invocation)
  const report = createReporter(runs, startedAt, context)
  const remaining = () => startedAt + terms.limit - clock.now()
  const manner = {
    needsQueue: terms.failOnPaused,
    closed: new Set<string>(),
    mayBegin: () => terms.limit === 0 || remaining() > 0,
  }
  const polling = forRounds(await forAttempts(context), terms, remaining)
  let waiting: readonly WaitTarget[] = []
  for (const { invocation, before, submission, failure } of candidates) {
    const watch = { invocation, state: { before, submission }, errors: 0 }
    if (failure === undefined) waiting = [...waiting, watch]
    else await report.end(watch, { outcome: 'error', failure })
  }
  try {
    while (waiting.length > 0) {
      const left = await pollOnce(waiting, terms, manner, report, polling)
      waiting = left.waiting
      const isOver = remaining() <= 0
      if (isOver || (left.hasFailure && terms.stopsOnError)) {
        const outcome = isOver && terms.limit > 0 ? 'timed-out' : 'pending'
        for (const watch of waiting) await report.end(watch, { outcome })
        break
      }
      if (waiting.length > 0) await sleep(Math.min(left.pause, remaining()), waiting, report, context)
    }
  } catch (error) {
    const failure = toMergeqError(error)
    if (failure.kind !== 'interrupted') throw failure
    await report.flush()
    throw interruption(failure, waiting)
  }
  return report.close()
}

/**
 * Prints a result for each where nothing is waited for: some could not be submitted, and the others are left
 * alone.
 */
export async function reportUnwaited(
  candidates: readonly WaitCandidate[],
  startedAt: number,
  context: CommandContext,
): Promise<void> {
  const report = createReporter(
    candidates.map(({ invocation }) => invocation),
    startedAt,
    context,
  )
  for (const { invocation, failure } of candidates)
    await report.end(
      { invocation, state: {}, errors: 0 },
      failure === undefined ? { outcome: 'pending' } : { outcome: 'error', failure },
    )
  await report.flush()
}

/** Lets time pass, shown on a terminal, with a sign of life elsewhere. */
async function sleep(
  pause: number,
  waiting: readonly WaitTarget[],
  report: WaitReporter,
  context: CommandContext,
): Promise<void> {
  const { clock, interrupted } = context.host
  const until = clock.now() + pause
  await report.stillWaiting(waiting)
  await context.withSpinner(
    () => `Waiting for ${describeTargets(waiting)}`,
    async () => {
      for (let left = pause; left > 0; left = until - clock.now()) {
        await clock.sleep(Math.min(left, report.quietFor()), interrupted)
        await report.stillWaiting(waiting)
      }
    },
  )
}

const maxNamed = 50

/** The failure when a signal ends the waiting: the pull requests stay, and it says how to take them out. */
function interruption({ message, exit, details }: MergeqError, waiting: readonly WaitTarget[]): MergeqError {
  const cancels = [...new Set(waiting.map(queueName))].map(name => {
    const those = waiting
      .filter(watch => queueName(watch) === name)
      .map(({ invocation }) => invocation.values)
    const named = those.length > maxNamed ? '<pr>...' : those.map(({ pr }) => pr).join(' ')
    const where = those
      .slice(0, 1)
      .map(({ repo, targetBranch }) => `-R ${repositoryName(repo)} -b ${targetBranch}`)
    return `mergeq pr cancel ${named} ${where}`
  })
  const isSeen = waiting.every(({ state }) => state.state !== undefined)
  const those = waiting.length === 1 ? 'The pull request stays' : 'The pull requests stay'
  const what = isSeen ? `${those} in the queue.` : 'What is in the queue stays there.'
  return new MergeqError('interrupted', `${message} Only the waiting has ended.`, {
    ...details,
    exit,
    hint: `${what} To cancel:\n${cancels.join('\n')}`,
  })
}
