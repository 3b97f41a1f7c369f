import type { CommandContext } from '../../../cli/context.ts'
import type { UsualTimeInQueue } from '../../../domain/metrics/usual-time.ts'
import { queueName, type WaitTarget } from './read-targets.ts'

/** The live line of a wait. Where the logger has no spinner, the work is done without it. */
export interface LiveDisplay {
  /** Shows the line while `work` reads the pull requests, from the second round on. */
  duringPoll<T>(targets: readonly WaitTarget[], work: () => Promise<T>): Promise<T>
  /** Shows the line while `work` waits for the next round. */
  duringSleep<T>(targets: readonly WaitTarget[], work: () => Promise<T>): Promise<T>
}

/**
 * Creates the live line of a wait that began at `startedAt`, in milliseconds since 1970, and may take `limit`
 * milliseconds. The usual time of a queue is asked for once, while the wait sleeps.
 */
export function createLiveDisplay(startedAt: number, limit: number, context: CommandContext): LiveDisplay {
  const { logger, host } = context
  if (!logger.hasSpinner) return { duringPoll: (_, work) => work(), duringSleep: (_, work) => work() }
  const usualTimes = new Map<string, UsualTimeInQueue | undefined>()
  let hasSlept = false

  /** Asks for the usual time of the queue that all pull requests share, without waiting for the response. */
  const askUsualTime = async (targets: readonly WaitTarget[]) => {
    const [name, ...others] = new Set(targets.map(queueName))
    const [target] = targets
    if (name === undefined || target === undefined || others.length > 0 || usualTimes.has(name)) return
    usualTimes.set(name, undefined)
    const { readUsualTime } = await import('./read-usual-time.ts')
    usualTimes.set(name, await readUsualTime(target.invocation.values, context))
  }
  const show = async <T>(targets: readonly WaitTarget[], work: () => Promise<T>): Promise<T> => {
    const { liveLine } = await import('./live-line.ts')
    const [name = '', ...others] = new Set(targets.map(queueName))
    const line = (columns: number) => {
      const usual = others.length === 0 ? usualTimes.get(name) : undefined
      return liveLine(targets, { now: host.clock.now(), startedAt, limit, usual }, columns)
    }
    // The line was visible until a moment ago: without a delay it seems to stay.
    return logger.withSpinner(line, work, hasSlept ? 0 : undefined)
  }
  return {
    duringPoll: (targets, work) => (hasSlept ? show(targets, work) : work()),
    async duringSleep(targets, work) {
      const result = await show(targets, () => {
        void askUsualTime(targets)
        return work()
      })
      hasSlept = true
      return result
    },
  }
}
