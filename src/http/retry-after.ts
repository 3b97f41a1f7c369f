/**
 * The delay that the `Retry-After` header asks for, in milliseconds: seconds, or a date that is compared with
 * the Date header of the response, or else with `now`. Undefined when the header is missing or invalid.
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
