import { MergeqError } from '../base/errors.ts'
import type { PipeLimits, ServiceHost } from '../host/host.ts'

/** The error of what would go on after the time of a command. */
export const timeIsOver = (what: string): MergeqError =>
  new MergeqError('timed-out', `Timed out before ${what}.`)

/** Every attempt has at least this much time, in milliseconds. */
const minAttemptTime = 1_000

/**
 * Starts the time of a whole command, in milliseconds. It does not depend on the clock of the day.
 *
 * @param waitLimit 0 reads everything once: then nothing is limited
 */
export function startWaitTime(waitLimit: number, clock: { monotonic(): number }) {
  const startedAt = clock.monotonic()
  const elapsed = () => clock.monotonic() - startedAt
  /** The time until the limit; negative after it. */
  const remaining = () => waitLimit - elapsed()
  /** The time until the limit, 0 after it; infinite where nothing is limited. */
  const left = () => (waitLimit === 0 ? Number.POSITIVE_INFINITY : Math.max(0, remaining()))
  return {
    waitLimit,
    elapsed,
    remaining,
    hasTime: () => waitLimit === 0 || remaining() > 0,
    left,
    /** Returns the limit of an attempt that begins now; `usual` is its ordinary limit. */
    limitAttempt: (usual: number) => Math.min(usual, Math.max(left(), minAttemptTime)),
    /** Whether an attempt may begin: none later than a second after the limit, so that all end within two. */
    mayBegin: () => waitLimit === 0 || remaining() > -minAttemptTime,
  }
}

export type WaitTime = ReturnType<typeof startWaitTime>

/** Returns the host with git, the program of the token and a pipe with it limited to what is left of a time. */
export const limitPrograms = <H extends ServiceHost>(host: H, time: WaitTime): H => {
  const tokenIsOver = () => timeIsOver('the token was read')
  const limitOf = (usual: number) => {
    if (!time.mayBegin()) throw tokenIsOver()
    return time.limitAttempt(usual)
  }
  return {
    ...host,
    async readLine(words, options) {
      const timeout = limitOf(options.timeout)
      const result = await host.readLine(words, { ...options, timeout })
      if (result.timedOut === true && timeout < options.timeout) throw tokenIsOver()
      return result
    },
    files: Object.assign(Object.create(host.files), {
      async readOnce(path: string, limits: PipeLimits) {
        const limit = limitOf(limits.time)
        try {
          return await host.files.readOnce(path, { ...limits, time: limit })
        } catch (error) {
          if (limit < limits.time && time.left() === 0) throw tokenIsOver()
          throw error
        }
      },
    }),
    // What git tells after the limit is of no use: one call after the other would add up.
    git: async (args, options) => {
      const left = time.left()
      if (left === 0) return { code: 1, out: '', timedOut: true }
      return host.git(args, { ...options, timeout: Math.min(options.timeout, left) })
    },
  }
}
