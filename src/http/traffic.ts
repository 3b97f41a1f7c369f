import type { Clock } from '../host/host.ts'

interface Turn {
  readonly clock: Clock
  readonly signal: AbortSignal
  /** Returns the milliseconds after which the request is not sent any more. */
  remaining(): number
}

interface TrafficOptions {
  /** How many requests are sent at the same time; by default any number. */
  readonly maxConcurrent?: number
  /** The longest pause, in milliseconds, for clients that go on for longer than one command. */
  readonly maxPause?: number
}

/** The longest `Retry-After` that mergeq waits for, in milliseconds. A longer one is reported to the user. */
export const maxRetryAfter = 60_000

/** The longest time that a timer of Node can take, in milliseconds. */
const maxSleep = 2 ** 31 - 1

/** What the requests of several HTTP clients share: how many are sent at the same time, in the order in which they came. */
export function createTraffic({
  maxConcurrent = Number.POSITIVE_INFINITY,
  maxPause = Number.POSITIVE_INFINITY,
}: TrafficOptions) {
  const waiting = new Set<() => void>()
  let active = 0
  let pausedUntil = Number.NEGATIVE_INFINITY
  let isStopped = false

  const leave = () => {
    const [next] = waiting
    if (next === undefined) active--
    else {
      waiting.delete(next)
      next()
    }
  }

  const takePlace = async ({ clock, signal, remaining }: Turn): Promise<boolean> => {
    if (active < maxConcurrent) {
      active++
      return true
    }
    const given = new AbortController()
    const take = () => given.abort()
    waiting.add(take)
    try {
      await clock.sleep(Math.min(remaining(), maxSleep), AbortSignal.any([signal, given.signal]))
    } catch (error) {
      if (!given.signal.aborted) throw error
    } finally {
      waiting.delete(take)
    }
    return given.signal.aborted
  }

  const pauseLeft = (clock: Clock) => Math.max(0, pausedUntil - clock.monotonic())

  return {
    /**
     * Waits until a request may be sent: until there is a place for it, and no pause. Resolves to false if its time is over
     * before, and at once in a pause that is longer than any that is waited for; otherwise the request is ended by `leave`.
     */
    async enter(turn: Turn): Promise<boolean> {
      const { clock, signal, remaining } = turn
      if (!(await takePlace(turn))) return false
      try {
        while (!isStopped) {
          const pause = pauseLeft(clock)
          if (pause === 0) return true
          if (pause >= remaining() || pause > maxRetryAfter) break
          await clock.sleep(pause, signal)
        }
      } catch (error) {
        leave()
        throw error
      }
      leave()
      return false
    },
    leave,
    /** Lets no request begin for some milliseconds: the service asked for that. */
    pause(delay: number, clock: Clock) {
      pausedUntil = Math.max(pausedUntil, clock.monotonic() + Math.min(delay, maxPause))
    },
    pauseLeft,
    stop() {
      isStopped = true
    },
    isStopped: () => isStopped,
  }
}

export type Traffic = ReturnType<typeof createTraffic>
