import { parsePullRequest as parseReference } from '../values/pull-request.ts'
import { parseRepository, repositoryName } from '../values/repository.ts'
import { pullRequest } from '../values/types.ts'
import { toPublicError } from './options.ts'
import type { ParsedPullRequest, PullRequestReference } from './types.ts'

/** A pull request as people write it in a message: `acme/web#7`. */
const withRepository = /^([^\s#]+\/[^\s#]+)(#\d+)$/

/** Returns the number of a pull request, and its repository if the reference names one. Throws a usage error otherwise. */
export function parsePullRequest(reference: PullRequestReference): ParsedPullRequest {
  try {
    const written = typeof reference === 'string' ? withRepository.exec(reference) : null
    const [, named, number] = written ?? []
    const { repo = named, ...parsed } = parseReference(number ?? pullRequest.check(reference))
    return repo === undefined ? parsed : { ...parsed, repo: repositoryName(parseRepository(repo)) }
  } catch (error) {
    throw toPublicError(error)
  }
}
