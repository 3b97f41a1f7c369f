import type { Resource } from './operation.ts'

export interface RefusedRequest {
  /** The name of the operation: `submitPullRequest`. */
  readonly operation: string
  /** Undefined for a request that was not sent because its body is too large. */
  readonly status: number | undefined
  readonly resource: Resource
  /** Where the token came from; undefined when none was sent. */
  readonly token?: string | undefined
}

/** What the caller advises in its own words, such as commands to run; without advice, a neutral hint stays. */
export interface Advice {
  afterRefusal(request: RefusedRequest): string | undefined
  /** Returns what to run to see the state of what changes are about. */
  toInspect(resources: readonly Resource[]): readonly string[]
}

export const noAdvice: Advice = { afterRefusal: () => undefined, toInspect: () => [] }
