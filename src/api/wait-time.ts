import { MergeqError } from '../base/errors.ts'

/** The time of a whole command, in milliseconds. It does not depend on the clock of the day. */
export interface WaitTime {
  /** 0 reads everything once: then nothing is limited. */
  readonly waitLimit: number
  elapsed(): number
  /** The time until the limit; negative after it. */
  remaining(): number
  hasTime(): boolean
  /** The time until the limit, 0 after it; infinite where nothing is limited. */
  left(): number
  /** Returns the limit of an attempt that begins now, in milliseconds; `usual` is its ordinary limit. */
  limitAttempt(usual: number): number
  /** Whether an attempt may begin: none later than a second after the limit, so that all end within two. */
  mayBegin(): boolean
}

/** The error of what would go on after the time of a command. */
export const timeIsOver = (what: string): MergeqError =>
  new MergeqError('timed-out', `Timed out before ${what}.`)

/** Every attempt has at least this much time, in milliseconds. */
const minAttemptTime = 1_000

export function startWaitTime(waitLimit: number, clock: { monotonic(): number }): WaitTime {
  const startedAt = clock.monotonic()
  const elapsed = () => clock.monotonic() - startedAt
  const remaining = () => waitLimit - elapsed()
  const left = () => (waitLimit === 0 ? Number.POSITIVE_INFINITY : Math.max(0, remaining()))
  return {
    waitLimit,
    elapsed,
    remaining,
    hasTime: () => waitLimit === 0 || remaining() > 0,
    left,
    limitAttempt: usual => Math.min(usual, Math.max(left(), minAttemptTime)),
    mayBegin: () => waitLimit === 0 || remaining() > -minAttemptTime,
  }
}
