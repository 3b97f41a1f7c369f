import { usageError } from '../base/errors.ts'

/** A repository as the service names it (docs/reference/service.md, "Common fields"). */
export interface Repository {
  readonly host: string
  readonly owner: string
  readonly name: string
}

/** Returns `host/owner/name`, the form in which receipts and messages name a repository. */
export const repositoryName = ({ host, owner, name }: Repository): string => `${host}/${owner}/${name}`

/** Whether two spellings name the same repository: the service and the code hosts ignore case. */
export const isSameRepository = (one: Repository, other: Repository): boolean =>
  repositoryKey(one) === repositoryKey(other)

/** The name of a repository in one spelling, to look it up. */
export const repositoryKey = (repo: Repository): string => repositoryName(repo).toLowerCase()

/** Returns the name as people write it: with its host only if that is not github.com. */
export const shortRepositoryName = (repo: Repository): string =>
  repo.host === 'github.com' ? `${repo.owner}/${repo.name}` : repositoryName(repo)

/** A queue: the branch of a repository that it merges into. */
export type Queue = {
  readonly repo: Repository
  readonly targetBranch: string
}

/** Returns the name of a queue as messages show it: `main of acme/web`. */
export const queueName = ({ repo, targetBranch }: Queue): string =>
  `${targetBranch} of ${shortRepositoryName(repo)}`

/** A key of a queue without the host of its repository, which the metrics do not say. */
export const queueKey = ({ repo, targetBranch }: Queue): string =>
  `${repo.owner}/${repo.name}`.toLowerCase().concat('@', targetBranch)

/** Says that a queue does not exist, without a full stop. */
export const describeMissingQueue = ({ repo, targetBranch }: Queue): string =>
  `${shortRepositoryName(repo)} has no queue for ${targetBranch}`

export const defaultHost = 'github.com'
// Each pattern with character properties takes 1 ms of a request: nearly all names are ASCII.
const isOwnerOrName = (part: string): boolean => /^[\w.~-]+$/.test(part) || /^[\p{L}\p{N}._~-]+$/u.test(part)
const isHostWithPort = (part: string): boolean =>
  /^[a-z\d.-]+(:\d+)?$/i.test(part) || /^[\p{L}\p{N}.-]+(:\d+)?$/u.test(part)

export const looksLikeHost = (part: string): boolean => /[.:]/.test(part) || part === 'localhost'

/**
 * Parses `[host/]owner/name` or the https address of a repository; the owner may contain slashes. Throws a usage error
 * for any other text.
 */
export function parseRepository(text: string): Repository {
  const refuse = () =>
    usageError(
      `'${text}' is not a repository.`,
      'Use owner/name or host/owner/name, for example acme/web or github.com/acme/web.',
    )
  const address = /^https:\/\/(.+?)(?:\.git|\/)?$/.exec(text)?.[1]
  const parts = (address ?? text).split('/')
  const hasHost = address !== undefined || looksLikeHost(parts[0] ?? '')
  const host = hasHost ? (parts.shift() ?? '') : defaultHost
  const name = parts.pop() ?? ''
  if (parts.length === 0 || !isHostWithPort(host)) throw refuse()
  for (const part of [...parts, name]) {
    if (!isOwnerOrName(part) || part === '.' || part === '..') throw refuse()
  }
  return { host, owner: parts.join('/'), name }
}
