import type { CommandContext } from '../../../cli/context.ts'
import type { UsualTimeInQueue } from '../../../domain/metrics/last-hour.ts'
import type { LiveTimes } from './live-line.ts'
import { queueName, type WaitTarget } from './read-targets.ts'

/**
 * Runs `work` and shows the live line of a wait until it ends; `targets` returns the pull requests that it
 * still waits for. The wait began at `startedAt`, in milliseconds since 1970, and may take `limit`
 * milliseconds. The usual time of a queue is requested once, at the same time. Where the logger has no
 * spinner, only the work is done.
 */
export async function withLiveLine(
  targets: () => readonly WaitTarget[],
  { startedAt, limit }: Pick<LiveTimes, 'startedAt' | 'limit'>,
  context: CommandContext,
  work: () => Promise<void>,
): Promise<void> {
  const { logger, host } = context
  if (!logger.hasSpinner) return work()
  const { liveLine } = await import('./live-line.ts')
  const usualTimes = new Map<string, UsualTimeInQueue | undefined>()

  /** Returns the usual time of the queue that all pull requests share, once the service has sent it. */
  const usualTimeOf = (waiting: readonly WaitTarget[]): UsualTimeInQueue | undefined => {
    const [name, ...others] = new Set(waiting.map(queueName))
    const [target] = waiting
    if (name === undefined || target === undefined || others.length > 0) return undefined
    if (!usualTimes.has(name)) {
      usualTimes.set(name, undefined)
      void import('./read-usual-time.ts')
        .then(({ readUsualTime }) => readUsualTime(target.request.values, context))
        .then(usual => usualTimes.set(name, usual))
    }
    return usualTimes.get(name)
  }
  return logger.withSpinner(columns => {
    const waiting = targets()
    return liveLine(
      waiting,
      { now: host.clock.now(), startedAt, limit, usual: usualTimeOf(waiting) },
      columns,
    )
  }, work)
}
