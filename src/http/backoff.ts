/**
 * Delays between attempts in milliseconds: full jitter over a bound that doubles with each attempt (WIRE.md
 * section 3).
 */
const [firstDelay, maxDelay, minDelay] = [500, 20_000, 100]

/** The longest `Retry-After` that is waited for, in milliseconds. A longer one is reported to the user. */
export const maxRetryAfter = 60_000

/**
 * Returns the delay before the retry that follows attempt number `attempt` (from 1), in milliseconds, from
 * 100 to 20,000. `random` is from 0 to 1.
 */
export const backoff = (attempt: number, random: number): number =>
  Math.max(minDelay, Math.round(random * Math.min(maxDelay, firstDelay * 2 ** (attempt - 1))))

/**
 * Returns the delay that the `Retry-After` header asks for, in milliseconds. The header holds seconds, or a
 * date that is compared with the Date header of the response, or with `now` without that header. Returns
 * undefined when the header is missing or invalid.
 */
export function retryAfter(headers: ReadonlyMap<string, string>, now: number): number | undefined {
  const header = headers.get('retry-after')?.trim()
  if (header === undefined) return undefined
  if (/^\d{1,9}$/.test(header)) return Number(header) * 1_000
  const [until, sentAt] = [Date.parse(header), Date.parse(headers.get('date') ?? '')]
  return Number.isNaN(until) || /^[-+.\d]*$/.test(header)
    ? undefined
    : Math.max(0, until - (Number.isNaN(sentAt) ? now : sentAt))
}
