import { startWaitTime } from '../../../api/wait-time.ts'
import { isNotFound, toMergeqError } from '../../../base/errors.ts'
import type { Host } from '../../../host/host.ts'
import { automaticDelay } from '../../../wait/poll.ts'

/** Repeats a read while the service does not know its pull request, for up to `grace` milliseconds. */
export async function repeatWhileUnknown<T>(read: () => Promise<T>, grace: number, host: Host): Promise<T> {
  const { clock, interrupted } = host
  const time = startWaitTime(grace, clock)
  for (let misses = 0; ; misses++) {
    try {
      return await read()
    } catch (error) {
      const rest = time.remaining()
      if (!isNotFound(toMergeqError(error)) || rest <= 0) throw error
      await clock.sleep(Math.min(automaticDelay({ unchanged: misses }), rest), interrupted)
    }
  }
}
