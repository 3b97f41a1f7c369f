import { usageError } from '../base/errors.ts'
import { parseUrl } from '../base/url.ts'

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

/** The names of a queue for a record. */
export const queueFieldsOf = ({ repo, targetBranch }: Queue) => ({ repo: repositoryName(repo), targetBranch })

/** A key of a queue without the host of its repository, which the metrics do not say. */
export const queueKey = ({ repo, targetBranch }: Queue): string =>
  `${repo.owner}/${repo.name}`.toLowerCase().concat('@', targetBranch)

/** Says that a queue does not exist, without a full stop. */
export const describeMissingQueue = ({ repo, targetBranch }: Queue): string =>
  `${shortRepositoryName(repo)} has no queue for ${targetBranch}`

export const defaultHost = 'github.com'

/** Other names of code hosts, for ssh, of the same repositories. */
const canonicalHosts: Readonly<Record<string, string>> = {
  'ssh.github.com': 'github.com',
  'altssh.gitlab.com': 'gitlab.com',
  'altssh.bitbucket.org': 'bitbucket.org',
  'ssh.dev.azure.com': 'dev.azure.com',
  'vs-ssh.visualstudio.com': 'dev.azure.com',
}

// Each pattern with character properties takes 1 ms of a request: nearly all names are ASCII.
const isOwnerOrName = (part: string): boolean =>
  (/^[\w.~-]+$/.test(part) || /^[\p{L}\p{N}._~-]+$/u.test(part)) && !/^\.\.?$/.test(part)

const looksLikeHost = (part: string): boolean => /[.:]/.test(part) || /^localhost$/i.test(part)

/** Whether the text of a repository says its host, too. */
export const namesHost = (text: string): boolean => looksLikeHost(text.split('/')[0] ?? '')

/** Returns the one spelling of a host with or without a port; undefined for a text that is no host, as an ssh alias. */
export function readHost(text: string): string | undefined {
  const ascii = /^[!-~]+$/.test(text) ? text : (parseUrl(`https://${text}`)?.host ?? '')
  const host = ascii
    .toLowerCase()
    .replace(/\.(?=:|$)/, '')
    .replace(/:443$/, '')
    .replace(/^www\.(?=[^.]+\.[^.]+$)/, '')
  if (!/^[a-z\d][a-z\d.-]*(?::\d+)?$/.test(host) || !looksLikeHost(host)) return undefined
  return canonicalHosts[host] ?? host
}

const toRepository = (host: string | undefined, path: readonly string[]): Repository | undefined => {
  const owner = path.slice(0, -1)
  const name = path.at(-1)?.replace(/(?:\.git)+$/, '') ?? ''
  const isPullRequest = /.\/.+\/(?:pull|-\/merge_requests)\/\d+$/.test(path.join('/'))
  return host !== undefined && owner.length > 0 && !isPullRequest && [...owner, name].every(isOwnerOrName)
    ? { host, owner: owner.join('/'), name }
    : undefined
}

const maxAddressLength = 2_000
const urlPattern = /^(https?|ssh|git|git\+ssh|ssh\+git):\/\/(?:[^/?#]*@)?([^/?#@]+)\/([^?#]+)$/i
const scpPattern = /^(?:[^/:@]+@)?([^/:@[\]]+):(?!:|\/\/)\/?(.+)$/
const portPattern = /^[^/:@]+:\d+\/[^/]+\/./

/**
 * Reads the address of a repository as git and browsers write it: an https, http, ssh or git URL, or
 * `git@host:owner/name`. Only a web address keeps its port: the port of an ssh address belongs to another server of the
 * same repository. Returns undefined for a local path, `file://`, a remote helper (`ext::`), and a host without a dot,
 * which may be an alias in the ssh configuration of the user.
 */
export function readRepositoryAddress(
  text: string,
): { readonly repo: Repository; readonly protocol: string } | undefined {
  if (text.length > maxAddressLength || /[\s\\\0-\x1f\x7f]/.test(text)) return undefined
  const [, scheme, authority = '', path = ''] = urlPattern.exec(text) ?? []
  const [, scpHost, scpPath = ''] = (scheme === undefined && scpPattern.exec(text)) || []
  if (scheme === undefined && scpHost === undefined) return undefined
  const protocol = scheme?.toLowerCase().replace(/^.*ssh.*$/, 'ssh') ?? 'ssh'
  const isWeb = protocol.startsWith('http')
  const port = isWeb
    ? authority.replace(protocol === 'http' ? /:80$/ : /:443$/, '')
    : authority.replace(/:\d*$/, '')
  const host = readHost(scpHost ?? port)
  const parts = (scpHost === undefined ? path : scpPath).split('/').filter(part => part !== '')
  const repo = toRepository(host, ownerAndName(host ?? '', parts.map(decodePart), isWeb))
  return repo && { repo, protocol }
}

function decodePart(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return ''
  }
}

/** Leaves out what code hosts put before and between owner and name. */
function ownerAndName(host: string, parts: readonly string[], isWeb: boolean): readonly string[] {
  if (/(?:^|\.)(?:azure|visualstudio)\.com$/.test(host))
    return parts.filter((part, index) => part !== '_git' && !(index === 0 && part === 'v3'))
  // Bitbucket Data Center.
  return isWeb && parts.length > 2 && parts[0] === 'scm' ? parts.slice(1) : parts
}

/** Reads a repository as people, settings, CI systems and git write it, or its address; undefined for other texts. */
export function readRepository(text: string): Repository | undefined {
  const address = portPattern.test(text) ? undefined : readRepositoryAddress(text)
  if (address !== undefined || text.includes('://')) return address?.repo
  const parts = text.split('/')
  return toRepository(namesHost(text) ? readHost(parts.shift() ?? '') : defaultHost, parts)
}

export function parseRepository(text: string): Repository {
  const repository = readRepository(text)
  if (repository !== undefined) return repository
  throw usageError(
    `'${text.replace(/:\/\/[^/?#]*@/, '://')}' is not a repository.`,
    'Use owner/name or host/owner/name, for example acme/web or github.com/acme/web.',
  )
}
