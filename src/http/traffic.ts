import type { Clock } from '../host/host.ts'

/** How long a request may wait before it is sent. */
interface Turn {
  readonly clock: Clock
  /** Its reason is the error when it is aborted. */
  readonly signal: AbortSignal
  /** Returns the milliseconds after which the request is not sent any more. */
  remaining(): number
}

/** What the requests of several HTTP clients share. */
export interface Traffic {
  /**
   * Waits until a request may be sent: until there is a place for it, and no pause. Resolves to false if its time is over
   * before; otherwise the request is ended by `leave`.
   */
  enter(turn: Turn): Promise<boolean>
  leave(): void
  /** Lets no request begin for some milliseconds: the service asked for that. */
  pause(delay: number, clock: Clock): void
}

/** The longest time that a timer of Node can take, in milliseconds. */
const maxSleep = 2 ** 31 - 1

/** Limits how many requests are sent at the same time; the others are sent in the order in which they came. */
export function createTraffic(maxConcurrent: number): Traffic {
  const waiting = new Set<() => void>()
  let active = 0
  /** By the clock that never jumps. */
  let pausedUntil = Number.NEGATIVE_INFINITY

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

  return {
    async enter(turn) {
      const { clock, signal, remaining } = turn
      if (!(await takePlace(turn))) return false
      try {
        for (;;) {
          const pause = pausedUntil - clock.monotonic()
          if (pause <= 0) return true
          if (pause >= remaining()) break
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
    pause(delay, clock) {
      pausedUntil = Math.max(pausedUntil, clock.monotonic() + delay)
    },
  }
}
