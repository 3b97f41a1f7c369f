import type { PipeLimits, ServiceHost } from '../host/host.ts'
import { timeIsOver, type WaitTime } from './wait-time.ts'

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
