import gitUrlParse from 'git-url-parse'
import { parseRepository, type Repository } from '../domain/values/repository.ts'

/** The repository that a git address names, and how it is reached. */
export interface GitRemote extends Repository {
  readonly protocol: string
}

/** Hosts under which a forge takes ssh or browsers: the same repositories as at the other name. */
const otherNames = new Map([
  ['www.github.com', 'github.com'],
  ['ssh.github.com', 'github.com'],
  ['altssh.gitlab.com', 'gitlab.com'],
  ['altssh.bitbucket.org', 'bitbucket.org'],
  ['ssh.dev.azure.com', 'dev.azure.com'],
  ['vs-ssh.visualstudio.com', 'dev.azure.com'],
])

const addressForm = /^(?:https?|ssh|git|git\+ssh|ssh\+git):\/\/[^/]/i
const scpForm = /^((?:[^/:@]+@)?[^/:@[\]]+):(?!:|\/\/)\/?(.+)$/

/**
 * Reads the address of a git remote in any of its spellings (https, http, ssh and git addresses, the scp form) as
 * `host/owner/name`. A port belongs to the host of a web address alone: that of ssh is another server of the same
 * repository. Undefined for what names no repository that could be written after `--repo` (CLI.md section 2): a local
 * path, `file://`, a remote helper (`ext::`), a host without a dot, which may be a name of the user's own ssh settings.
 */
export function parseGitRemote(address: string): GitRemote | undefined {
  if (/[\s\\\0-\x1f\x7f]/.test(address)) return undefined
  const whole = addressForm.test(address) ? address : address.replace(scpForm, 'ssh://$1/$2')
  if (!addressForm.test(whole)) return undefined
  try {
    const { protocol, resource, port, pathname, search, hash, source } = gitUrlParse(whole)
    if (search !== '' || hash !== '' || !/^[a-z\d]/i.test(resource)) return undefined
    const host = otherNames.get(resource.toLowerCase()) ?? resource.toLowerCase()
    const shown = port !== '' && /^https?$/.test(protocol) ? `${host}:${port}` : host
    const parts = partsOf(pathname, resource, source)
    if (parts.length < 2 || parts.some(part => part.includes('/'))) return undefined
    const named = parseRepository([shown, ...parts].join('/'))
    return named.host === shown ? { ...named, protocol } : undefined
  } catch {
    return undefined
  }
}

/** The parts of the path that name the repository. The parser's own owner and name stop at a group called `src` or `tree`. */
function partsOf(pathname: string, resource: string, source: string): readonly string[] {
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
