/** The time of a whole wait, in milliseconds. It does not depend on the clock of the day. */
export interface WaitTime {
  /** 0 reads everything once: then nothing is limited. */
  readonly waitLimit: number
  /** How long the wait has lasted. */
  elapsed(): number
  /** The time until the limit; negative after it. */
  remaining(): number
  /** Whether a reading may begin. */
  hasTime(): boolean
}

export function startWaitTime(waitLimit: number, clock: { monotonic(): number }): WaitTime {
  const startedAt = clock.monotonic()
  const elapsed = () => clock.monotonic() - startedAt
  const remaining = () => waitLimit - elapsed()
  return { waitLimit, elapsed, remaining, hasTime: () => waitLimit === 0 || remaining() > 0 }
}

/** Every attempt has at least this much time, in milliseconds. */
const minAttemptTime = 1_000

/** Returns the time until the limit in milliseconds, 0 after it; infinite where nothing is limited. */
export const timeLeft = (time: WaitTime | undefined): number =>
  time === undefined || time.waitLimit === 0 ? Number.POSITIVE_INFINITY : Math.max(0, time.remaining())

/** Returns the limit of an attempt that begins now, in milliseconds; `usual` is its ordinary limit. */
export const attemptTime = (time: WaitTime | undefined, usual: number): number =>
  Math.min(usual, Math.max(timeLeft(time), minAttemptTime))

/** Whether an attempt may begin: none later than a second after the limit, so that all end within two. */
export const mayBegin = (time: WaitTime | undefined): boolean =>
  time === undefined || time.waitLimit === 0 || time.remaining() > -minAttemptTime
