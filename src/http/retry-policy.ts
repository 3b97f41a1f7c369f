/** When and how often requests are retried (docs/reference/network.md, "Delays"), in milliseconds. */
export interface RetryPolicy {
  readonly maxRetries: number
  /** The maximum number of retries of all requests of a client together. */
  readonly maxRetriesPerClient: number
  /** The bound of the first delay; it doubles with each attempt. */
  readonly firstDelay: number
  readonly minDelay: number
  readonly maxDelay: number
  /** The longest `Retry-After` that mergeq waits for. A longer one is reported to the user. */
  readonly maxRetryAfter: number
  /**
   * Returns why a request is retried after a response with this status; undefined when it is not. A change
   * is retried only when the service certainly did not apply it.
   */
  reasonFor(status: number, isChange: boolean): string | undefined
}

export const createRetryPolicy = (maxRetries: number): RetryPolicy => ({
  maxRetries,
  maxRetriesPerClient: 10,
  firstDelay: 500,
  minDelay: 100,
  maxDelay: 20_000,
  maxRetryAfter: 60_000,
  reasonFor(status, isChange) {
    if (status === 429) return 'The service reported that the rate limit was exceeded (429)'
    const isTransient = status === 408 || (status >= 500 && status <= 599)
    return isTransient && !isChange ? `The service could not process the request (${status})` : undefined
  },
})

export const limitRetries = (policy: RetryPolicy, maxRetries: number): RetryPolicy => ({
  ...policy,
  maxRetries: Math.min(policy.maxRetries, maxRetries),
})

/**
 * Returns the delay before the retry that follows attempt number `attempt` (from 1), in milliseconds: full
 * jitter over a bound that doubles with each attempt. `random` is from 0 to 1.
 */
export const backoff = (
  { firstDelay, minDelay, maxDelay }: RetryPolicy,
  attempt: number,
  random: number,
): number => Math.max(minDelay, Math.round(random * Math.min(maxDelay, firstDelay * 2 ** (attempt - 1))))

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
