import gitUrlParse from 'git-url-parse'
import { parseRepository, type Repository } from '../domain/values/repository.ts'

/** The repository of a git address, and the protocol of the address. */
export interface GitRemote extends Repository {
  readonly protocol: string
}

/** Alternative host names, for ssh or for browsers, of the same repositories. */
const canonicalHosts = new Map([
  ['www.github.com', 'github.com'],
  ['ssh.github.com', 'github.com'],
  ['altssh.gitlab.com', 'gitlab.com'],
  ['altssh.bitbucket.org', 'bitbucket.org'],
  ['ssh.dev.azure.com', 'dev.azure.com'],
  ['vs-ssh.visualstudio.com', 'dev.azure.com'],
])

const urlPattern = /^(?:https?|ssh|git|git\+ssh|ssh\+git):\/\/[^/]/i
const scpPattern = /^((?:[^/:@]+@)?[^/:@[\]]+):(?!:|\/\/)\/?(.+)$/

/**
 * Parses the address of a git remote (an https, http, ssh or git URL, or the scp form) as `host/owner/name`.
 * Only a web address keeps its port: the port of an ssh address belongs to another server of the same
 * repository. Returns undefined for an address that `--repo` could not express
 * (docs/reference/cli.md, "Values"): a local path, `file://`, a remote helper (`ext::`), and a host without a
 * dot, which may be an alias in the ssh configuration of the user.
 */
export function parseGitRemote(address: string): GitRemote | undefined {
  if (/[\s\\\0-\x1f\x7f]/.test(address)) return undefined
  const url = urlPattern.test(address) ? address : address.replace(scpPattern, 'ssh://$1/$2')
  if (!urlPattern.test(url)) return undefined
  try {
    const { protocol, resource, port, pathname, search, hash, source } = gitUrlParse(url)
    if (search !== '' || hash !== '' || !/^[a-z\d]/i.test(resource)) return undefined
    const host = canonicalHosts.get(resource.toLowerCase()) ?? resource.toLowerCase()
    const hostName = port !== '' && /^https?$/.test(protocol) ? `${host}:${port}` : host
    const parts = repositoryPath(pathname, resource, source)
    if (parts.length < 2 || parts.some(part => part.includes('/'))) return undefined
    const repository = parseRepository([hostName, ...parts].join('/'))
    return repository.host === hostName ? { ...repository, protocol } : undefined
  } catch {
    return undefined
  }
}

/**
 * Returns the path segments that name the repository. The owner and name of git-url-parse stop at a group
 * called `src` or `tree`.
 */
function repositoryPath(pathname: string, resource: string, source: string): readonly string[] {
  const parts = pathname
    .replace(/\/+$/, '')
    .replace(/\.git$/, '')
    .split('/')
    .filter(part => part !== '')
    .map(decodeURIComponent)
  if (source === 'bitbucket-server' && parts[0] === 'scm') return parts.slice(1)
  if (/(?:^|\.)(?:azure|visualstudio)\.com$/i.test(resource))
    return parts.filter((part, index) => part !== '_git' && !(index === 0 && part === 'v3'))
  return parts
}
