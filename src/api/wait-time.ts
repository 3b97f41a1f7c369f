import { MergeqError } from '../base/errors.ts'

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
