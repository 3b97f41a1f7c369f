/** Milliseconds between attempts: full jitter over a doubling bound (WIRE.md section 3). */
const [firstDelay, maxDelay, least] = [500, 20_000, 100]

/** The longest wait that a server may ask for; beyond it the person is told when to come back instead. */
export const maxRetryAfter = 60_000

/** How long to wait before the repeat after attempt number `attempt` (from 1); `random` is from 0 to 1. */
export const backoff = (attempt: number, random: number): number =>
  Math.max(least, Math.round(random * Math.min(maxDelay, firstDelay * 2 ** (attempt - 1))))

/**
 * The wait that `Retry-After` asks for, in milliseconds: seconds, or a date counted from the answer's own Date.
 * Undefined when there is none or it cannot be read.
 */
export function retryAfter(headers: ReadonlyMap<string, string>, now: number): number | undefined {
  const asked = headers.get('retry-after')?.trim()
  if (asked === undefined) return undefined
  if (/^\d{1,9}$/.test(asked)) return Number(asked) * 1_000
  const [until, from] = [Date.parse(asked), Date.parse(headers.get('date') ?? '')]
  return Number.isNaN(until) || /^[-+.\d]*$/.test(asked)
    ? undefined
    : Math.max(0, until - (Number.isNaN(from) ? now : from))
}
