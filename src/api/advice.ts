import type { PullRequest } from '../values/pull-request.ts'
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

/** What the caller advises in its own words, such as commands to run; undefined leaves a neutral hint. */
export interface Advice {
  afterRefusal(request: RefusedRequest): string | undefined
  /** Returns what to run to see the state of what changes are about. */
  toInspect(resources: readonly Resource[]): readonly string[]
  /** Returns what to run to take pull requests out of their queues. */
  toCancel(pullRequests: readonly PullRequest[]): readonly string[]
  /** Returns what to run to wait for pull requests again. */
  toWait(pullRequests: readonly PullRequest[]): readonly string[]
  /** Returns what to run to submit a pull request. */
  toSubmit(pullRequest: PullRequest): string
}
