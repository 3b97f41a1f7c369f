import type { Judgement } from '../../domain/wait-state.ts'
import { startWaitTime } from '../../domain/wait-time.ts'
import { isNotFound } from '../../errors.ts'
import type { Host } from '../../host/host.ts'
import { automaticDelay, poll, type Reading, readingOf } from '../../wait/poll.ts'

/** Repeats a read while the service does not know its pull request, for up to `grace` milliseconds. */
export async function repeatWhileUnknown<T>(read: () => Promise<T>, grace: number, host: Host): Promise<T> {
  let last: Reading<T> | undefined
  /** Reads whether the service knows the pull request. */
  const readOnce = async (): Promise<Reading<boolean>> => {
    last = await readingOf(read)
    if ('value' in last) return { value: true }
    return isNotFound(last.failure) ? { value: false } : last
  }
  await poll<number, boolean, Judgement<number>>({
    items: [0],
    read: async () => [await readOnce()],
    judge: (misses, isKnown) => ({ item: misses + 1, ...(isKnown ? { end: { outcome: 'reached' } } : {}) }),
    schedule: misses => automaticDelay({ unchanged: misses - 1 }),
    limit: startWaitTime(grace, host.clock),
    giveUpAfter: 0,
    host,
    onChange: async () => true,
    onOutage: async () => undefined,
  })
  if (last === undefined) throw new Error('nothing was read')
  if ('failure' in last) throw last.failure
  return last.value
}
