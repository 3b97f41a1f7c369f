import { hex } from './seed.ts'

/** Says of each request in turn whether the outage swallows it. */
export type Outage = (request: { readonly path: string; readonly body: string }, changes: boolean) => boolean

/**
 * An outage of so many requests: every second one is lost, the first gets through. A change that was lost gets
 * through when it is sent again, so that whoever repeats it once is never stuck. All of it is the sandbox's own.
 */
export function openOutage(requests: number): Outage {
  const lost = new Set<string>()
  let count = 0
  return ({ path, body }, changes) => {
    count++
    if (count > requests || count % 2 === 1) return false
    const request = hex(32, path, body)
    if (changes && lost.has(request)) return false
    lost.add(request)
    return true
  }
}
