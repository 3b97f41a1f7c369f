import type { PullRequest } from '../values/pull-request.ts'
import type { Resource } from './operation.ts'

export interface RefusedRequest {
  readonly operation: string
  /** Undefined for a request that was not sent because its body is too large. */
  readonly status: number | undefined
  readonly resource: Resource
  /** Where the token came from; undefined when none was sent. */
  readonly token?: string | undefined
}

/** What the caller advises in its own words, such as commands to run; undefined leaves a neutral hint. */
export interface Advice {
  afterRefusal(request: RefusedRequest): string | undefined
  /** Returns what to run to see the state of what changes are about. */
  toInspect(resources: readonly Resource[]): readonly string[]
  toCancel(pullRequests: readonly PullRequest[]): readonly string[]
  toWait(pullRequests: readonly PullRequest[]): readonly string[]
  toSubmit(pullRequest: PullRequest): string
}
