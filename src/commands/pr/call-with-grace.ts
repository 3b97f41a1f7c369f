import type { ServiceRequest } from '../../api/resolve.ts'
import { call, type Sent } from '../../cli/calls.ts'
import type { Cli } from '../../cli/cli.ts'
import type { Judgement } from '../../domain/wait-state.ts'
import { startWaitTime } from '../../domain/wait-time.ts'
import { isNotFound } from '../../errors.ts'
import { automaticDelay, poll, type Reading, readingOf } from '../../wait/poll.ts'

/** Sends a request again and again while the service does not know its pull request, for up to `grace` milliseconds. */
export async function callWithGrace<V extends ServiceRequest['values']>(
  cli: Cli,
  request: ServiceRequest<V>,
  grace: number,
): Promise<Sent<V>> {
  let last: Reading<Sent<V>> | undefined
  /** Reads whether the service knows the pull request. */
  const read = async (): Promise<Reading<boolean>> => {
    last = await readingOf(() => call(cli, request))
    if ('value' in last) return { value: true }
    return isNotFound(last.failure) ? { value: false } : last
  }
  await poll<number, boolean, Judgement<number>>({
    items: [0],
    read: async () => [await read()],
    judge: (misses, isKnown) => ({ item: misses + 1, ...(isKnown ? { end: { outcome: 'reached' } } : {}) }),
    schedule: misses => automaticDelay({ unchanged: misses - 1 }),
    limit: startWaitTime(grace, cli.host.clock),
    giveUpAfter: 0,
    host: cli.host,
    onChange: async () => true,
    onOutage: async () => undefined,
  })
  if (last === undefined) throw new Error('nothing was read')
  if ('failure' in last) throw last.failure
  return last.value
}
