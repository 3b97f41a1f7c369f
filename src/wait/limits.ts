import type { RequestLimits, ServiceClient } from '../api/service-client.ts'
import type { Clock } from '../host/host.ts'

/** The time of a whole wait, in milliseconds. It does not depend on the clock of the day. */
export interface WaitTime {
  /** 0 reads everything once. */
  readonly waitLimit: number
  /** How long the wait has lasted. */
  elapsed(): number
  /** The time until the limit; negative after it. */
  remaining(): number
  /** Whether a reading may begin. */
  hasTime(): boolean
}

export function startWaitTime(waitLimit: number, clock: Clock): WaitTime {
  const startedAt = clock.monotonic()
  const elapsed = () => clock.monotonic() - startedAt
  const remaining = () => waitLimit - elapsed()
  return { waitLimit, elapsed, remaining, hasTime: () => waitLimit === 0 || remaining() > 0 }
}

/** Every attempt has at least this much time, in milliseconds. */
const minAttemptTimeout = 1_000

/**
 * Returns the limits of the requests of a wait. They are not retried, as the next round repeats them; but a wait with
 * the limit 0 has one round, with the usual retries. No attempt takes longer than the wait has left when it begins, but
 * at least a second: so a silent service delays the caller by at most a second beyond the wait. The limit 0
 * limits no attempt.
 *
 * @param attemptTimeout the time-out of one attempt in milliseconds; undefined is that of the operation
 */
export function limitsOfWait({ waitLimit, remaining }: WaitTime, attemptTimeout?: number): RequestLimits {
  if (waitLimit === 0) return { timeout: usual => attemptTimeout ?? usual }
  return {
    timeout: usual => Math.min(attemptTimeout ?? usual, Math.max(remaining(), minAttemptTimeout)),
    remaining,
    maxRetries: 0,
  }
}

/** Returns how long readings may fail: without retries, and in a wait that reads once, the first failure ends it. */
export const giveUpLimit = (
  giveUpAfter: number,
  { waitLimit }: WaitTime,
  { maxRetries }: Pick<ServiceClient, 'maxRetries'>,
): number => (maxRetries === 0 || waitLimit === 0 ? 0 : giveUpAfter)
