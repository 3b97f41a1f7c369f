import type { RequestLimits, ServiceClient } from '../api/service-client.ts'
import { attemptLimit } from '../domain/limits.ts'
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

/** The limits of the requests that a wait sends. */
export interface WaitLimits {
  /**
   * For a reading. It is not retried, as the next round repeats it; but a wait with the limit 0 reads once, with
   * the usual retries.
   */
  readonly ofReading: RequestLimits
  /** For a change before the wait. It keeps the usual retries, because its outcome must be known. */
  readonly ofChange: RequestLimits
  /** For a read before a change: only as many retries as fit into the remaining time. */
  ofReadBeforeChange(): RequestLimits
}

/** Every attempt has at least this much time, in milliseconds. */
const minAttemptTimeout = 1_000

/**
 * Returns the limits of the requests of a wait. No attempt takes longer than the wait has left when it begins, but
 * at least a second: so a silent service delays the caller by at most a second beyond the wait. The limit 0
 * limits no attempt.
 *
 * @param attemptTimeout the time-out of one attempt in milliseconds; undefined is that of the operation
 */
export function limitsOfWait(
  { waitLimit, remaining }: WaitTime,
  { maxRetries }: Pick<ServiceClient, 'maxRetries'>,
  attemptTimeout?: number,
): WaitLimits {
  const timeout = (usual: number) => {
    const configured = attemptTimeout ?? usual
    return waitLimit === 0 ? configured : Math.min(configured, Math.max(remaining(), minAttemptTimeout))
  }
  const withRetries = (retries: number): RequestLimits =>
    waitLimit === 0
      ? { timeout }
      : { timeout, remaining, maxRetries: Math.min(maxRetries, Math.max(0, retries)) }
  return {
    ofReading: withRetries(0),
    ofChange: waitLimit === 0 ? { timeout } : { timeout, remaining },
    ofReadBeforeChange: () => withRetries(Math.floor(remaining() / (attemptTimeout ?? attemptLimit)) - 1),
  }
}

/** Returns how long readings may fail: without retries, and in a wait that reads once, the first failure ends it. */
export const giveUpLimit = (
  giveUpAfter: number,
  { waitLimit }: WaitTime,
  { maxRetries }: Pick<ServiceClient, 'maxRetries'>,
): number => (maxRetries === 0 || waitLimit === 0 ? 0 : giveUpAfter)
