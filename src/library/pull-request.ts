import { parsePullRequest as parseReference } from '../values/pull-request.ts'
import { pullRequest } from '../values/types.ts'
import { toPublicError } from './options.ts'
import type { ParsedPullRequest, PullRequestReference } from './types.ts'

/** Returns the number of a pull request, and its repository if the reference names one. Throws a usage error otherwise. */
export function parsePullRequest(reference: PullRequestReference): ParsedPullRequest {
  try {
    return parseReference(pullRequest.check(reference))
  } catch (error) {
    throw toPublicError(error)
  }
}
