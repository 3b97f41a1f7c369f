import type { Scenario } from './scenarios.ts'
import { createHex } from './seed.ts'

/** Decides whether a request fails with 503. Call the function once for each request, in order. */
export type OutageCheck = (
  request: { readonly path: string; readonly body: string },
  isChange: boolean,
  time: number,
) => boolean

/**
 * Creates the check for the outages of a scenario. In each span of `outages` every request fails. Of the
 * first `outage` requests outside these spans every second request fails. A change that failed in this way is
 * accepted when it is sent again, so that a client that retries once always succeeds. All of this is the
 * sandbox's own.
 *
 * @param startedAt Start of the sandbox, in milliseconds since 1970, as are the times passed to the check.
 * @param second Length of a second of the scenario, in milliseconds.
 */
export function createOutageCheck(
  { outage = 0, outages = [] }: Scenario,
  startedAt: number,
  second: number,
): OutageCheck {
  const failedChanges = new Set<string>()
  let requestCount = 0
  return ({ path, body }, isChange, time) => {
    const seconds = (time - startedAt) / second
    if (outages.some(({ after, lasts }) => seconds >= after && seconds < after + lasts)) return true
    requestCount++
    if (requestCount > outage || requestCount % 2 === 1) return false
    const digest = createHex(32, path, body)
    if (isChange && failedChanges.has(digest)) return false
    if (isChange) failedChanges.add(digest)
    return true
  }
}
