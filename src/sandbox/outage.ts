import type { Scenario } from './scenarios.ts'
import { hex } from './seed.ts'

/** Says of each request in turn whether an outage swallows it. */
export type Outage = (
  request: { readonly path: string; readonly body: string },
  changes: boolean,
  at: number,
) => boolean

/**
 * The outages of a scenario. Of so many first requests every second one is lost, the first gets through; a change that
 * was lost gets through when it is sent again, so that whoever repeats it once is never stuck. In the spans that are
 * named everything is lost. All of it is the sandbox's own; moments are in milliseconds, `second` is one of the scenario.
 */
export function createOutage(
  { outage = 0, outages = [] }: Scenario,
  openedAt: number,
  second: number,
): Outage {
  const lost = new Set<string>()
  let count = 0
  return ({ path, body }, changes, at) => {
    const seconds = (at - openedAt) / second
    if (outages.some(({ after, lasts }) => seconds >= after && seconds < after + lasts)) return true
    count++
    if (count > outage || count % 2 === 1) return false
    const request = hex(32, path, body)
    if (changes && lost.has(request)) return false
    lost.add(request)
    return true
  }
}
