import type { CapturedResult, Environment, ServiceHost } from '../host/host.ts'
import { joinTruncated } from '../values/format.ts'
import {
  isSameRepository,
  type Repository,
  readRepositoryAddress,
  repositoryName,
} from '../values/repository.ts'
import { withoutTokens } from './token-program.ts'

/** A remote of the checkout; an address that names no repository has neither `repo` nor `protocol`. */
export interface Remote {
  readonly name: string
  readonly address: string
  readonly repo: Repository | undefined
  readonly protocol: string | undefined
}

/** Returns the remotes with their fetch addresses: after `insteadOf`, unless then none names a repository. */
export async function listRemotes(host: ServiceHost): Promise<readonly Remote[]> {
  const listed = (await gitOutput(host, 'remote', '-v')) ?? ''
  const remotes = toRemotes(listed.matchAll(/^(\S+)\t(.*) \(fetch\)(?: \[[^\]]*\])?$/gm))
  if (remotes.length === 0 || remotes.some(({ repo }) => repo !== undefined)) return remotes
  const settings = (await gitOutput(host, 'config', '--get-regexp', '^remote\\..*\\.url$')) ?? ''
  const configured = toRemotes(settings.matchAll(/^remote\.(\S+)\.url (.*)$/gm))
  return configured.some(({ repo }) => repo !== undefined) ? configured : remotes
}

/** Returns the remotes of matches whose groups are the name and the address; the first of a remote is its fetch address. */
function toRemotes(matches: Iterable<RegExpMatchArray>): readonly Remote[] {
  const remotes = new Map<string, Remote>()
  for (const [, name = '', address = ''] of matches) {
    const { protocol, repo } = readRepositoryAddress(address) ?? {}
    if (!remotes.has(name)) remotes.set(name, { name, address, protocol, repo })
  }
  return [...remotes.values()]
}

/** Returns the branches that the checkout knows of its remotes, each once; no remote is asked. */
export async function listRemoteBranches(host: ServiceHost): Promise<readonly string[]> {
  const names = await gitOutput(host, 'for-each-ref', '--format=%(refname:lstrip=3)', 'refs/remotes')
  return [...new Set(names?.split('\n'))].filter(name => name !== '' && name !== 'HEAD')
}

/** The time limit of a git command that reads the checkout, in milliseconds. */
const localTimeLimit = 5_000
/** The time limit of a git command that asks a remote, in milliseconds. */
const lookupTimeLimit = 10_000

/** Keep git from prompting, in a terminal or in a window, and make its messages English. */
const gitVariables: Environment = {
  LC_ALL: 'C',
  GIT_TERMINAL_PROMPT: '0',
  GIT_OPTIONAL_LOCKS: '0',
  GIT_ASKPASS: '',
  SSH_ASKPASS: 'false',
  SSH_ASKPASS_REQUIRE: 'force',
  GCM_INTERACTIVE: 'never',
}

/** Returns the version of git, such as `git version 2.39.5`; undefined when git cannot be run. */
export async function readGitVersion(host: ServiceHost): Promise<string | undefined> {
  const env = { ...withoutTokens(host.env), ...gitVariables }
  const { code, out } = await host.git(['--version'], { env, timeout: localTimeLimit })
  return code === 0 ? out.trim() : undefined
}

/** The results of git commands by host: each runs once, however many pull requests a command handles. */
const resultCache = new WeakMap<ServiceHost, Map<string, Promise<CapturedResult>>>()

/** Runs a git command in the checkout, which it enters with `-C`. git may not fetch anything. */
function readCheckout(host: ServiceHost, args: readonly string[]): Promise<CapturedResult> {
  const cached = resultCache.get(host) ?? new Map<string, Promise<CapturedResult>>()
  resultCache.set(host, cached)
  const result = cached.get(args.join(' ')) ?? run()
  cached.set(args.join(' '), result)
  return result

  async function run(): Promise<CapturedResult> {
    if (host.cwd === undefined) return { code: 1, out: '', err: 'the working directory no longer exists' }
    const noHooks = `core.hooksPath=${host.runtime.nullDevice}`
    // No command here runs a pager, a monitor or a hook; the options rule it out.
    const safe = ['--no-pager', '-c', 'core.fsmonitor=false', '-c', noHooks]
    return host.git(['-C', host.cwd, ...safe, ...args], {
      env: {
        ...withoutTokens(host.env),
        ...gitVariables,
        GIT_ALLOW_PROTOCOL: 'none',
        GIT_NO_LAZY_FETCH: '1',
      },
      timeout: localTimeLimit,
    })
  }
}

export async function gitOutput(host: ServiceHost, ...args: readonly string[]): Promise<string | undefined> {
  const { code, out } = await readCheckout(host, args)
  return code === 0 ? out : undefined
}

/** Returns why a git command in the checkout fails, without a full stop; undefined if it succeeds. */
export async function explainGit(host: ServiceHost, ...args: readonly string[]): Promise<string | undefined> {
  const result = await readCheckout(host, args)
  return result.code === 0 ? undefined : describeGitFailure(result)
}

const noCheckout = 'this is not a git checkout'

/** Returns why git cannot read the checkout, in its words without a full stop; undefined if there is no checkout. */
export async function explainBrokenGit(host: ServiceHost): Promise<string | undefined> {
  const failure = await explainGit(host, 'remote', '-v')
  return failure === noCheckout ? undefined : failure
}

/** Returns why the checkout has no remote to ask, for a repository that something else gives. */
export async function explainMissingRemote(host: ServiceHost, repo: Repository | undefined): Promise<string> {
  const failure = await explainGit(host, 'remote', '-v')
  if (failure !== undefined) return failure
  if ((await gitOutput(host, 'remote', '-v'))?.trim() === '') return 'the checkout has no remote'
  return repo === undefined
    ? 'no remote is named origin or upstream'
    : `no remote of the checkout belongs to ${repositoryName(repo)}`
}

/** Returns the parents of a commit that git knows, correctly in a shallow clone too. */
export async function listParents(host: ServiceHost, commit: string): Promise<readonly string[] | undefined> {
  if (!/^[\da-f]{40,64}$/i.test(commit)) return undefined
  const text = await gitOutput(host, 'cat-file', 'commit', commit)
  return text === undefined ? undefined : (text.split('\n\n')[0]?.match(/(?<=^parent )\S+/gm) ?? [])
}

/** With these variables git would use the settings of a checkout outside it too. */
const repositoryVariables =
  /^GIT_(?:DIR|COMMON_DIR|WORK_TREE|INDEX_FILE|OBJECT_DIRECTORY|ALTERNATE_.*|NAMESPACE|PREFIX|CONFIG)$/i

/** Returns the heads of pull requests by number from `git ls-remote`, run outside the checkout, or why it fails. */
export async function listPullRequestHeads(
  host: ServiceHost,
  { name, address, protocol, repo }: Remote,
  pr: number | '*',
): Promise<ReadonlyMap<string, string> | string> {
  if (repo === undefined) return `the URL of remote ${name} does not name a repository`
  if (protocol !== 'https' && protocol !== 'ssh')
    return `remote ${name} uses ${protocol}; only https and ssh are supported`
  // Every process of the machine can see arguments: a credential in the address is left out, and git uses
  // its credential helper.
  const plainAddress = address
    .replace(/^(https:\/\/)[^/?#]*@/i, '$1')
    .replace(/^(ssh:\/\/[^/?#:@]*):[^/?#]*@/i, '$1@')
  const inherited = Object.entries(withoutTokens(host.env)).filter(
    ([variable]) => !repositoryVariables.test(variable),
  )
  const args = ['--no-pager', '-c', 'http.followRedirects=false', 'ls-remote', '--', plainAddress]
  const result = await host.git([...args, `refs/pull/${pr}/head`], {
    // git uses https and ssh only, whatever the settings of the user allow, and no local repository.
    env: {
      ...Object.fromEntries(inherited),
      ...gitVariables,
      GIT_DIR: host.runtime.nullDevice,
      GIT_ALLOW_PROTOCOL: 'https:ssh',
    },
    timeout: lookupTimeLimit,
  })
  const command = `git ls-remote ${plainAddress}, without the settings of the checkout,`
  if (result.timedOut === true || result.code !== 0) {
    const failure =
      result.timedOut === true ? 'did not finish in time' : `failed: ${describeGitFailure(result)}`
    return `${command} ${failure}${await describeLeftOut(host)}`
  }
  const refs = result.out.matchAll(/^([\da-f]+)\trefs\/pull\/(\d+)\/head$/gm)
  return new Map([...refs].map(([, commit = '', number = '']) => [number, commit]))
}

export const remoteOf = (repo: Repository, remotes: readonly Remote[]): Remote | undefined =>
  remotes.find(remote => remote.repo !== undefined && isSameRepository(remote.repo, repo))

/** Returns the heads of pull requests as the remote of their repository lists them, or why they are not known. */
export async function listHeads(
  host: ServiceHost,
  repo: Repository,
  pr: number | '*',
): Promise<ReadonlyMap<string, string> | string> {
  const remote = remoteOf(repo, await listRemotes(host))
  return remote === undefined ? explainMissingRemote(host, repo) : listPullRequestHeads(host, remote, pr)
}

/** The settings of a checkout by which git would reach a remote; some of them are programs that git would run. */
const connectionSettings =
  '^(core\\.(sshcommand|gitproxy)|ssh\\.variant|credential\\.(.*\\.)?helper|http\\.(.*\\.)?(proxy|extraheader|ssl.*|cookiefile)|remote\\..*\\.proxy)$'

/** Returns which settings of the checkout were left out where git asked a remote, and what works; empty without any. */
async function describeLeftOut(host: ServiceHost): Promise<string> {
  const args = ['config', '--get-regexp', '--local', '--includes', '--name-only', connectionSettings]
  const listed = (await gitOutput(host, ...args)) ?? ''
  const names = [...new Set(listed.split('\n'))]
    .filter(name => name !== '')
    .map(name => name.replace(loginInUrl, '://').replace('core.sshcommand', 'core.sshCommand'))
  if (names.length === 0) return ''
  const [verb, object] = names.length === 1 ? ['is', 'it'] : ['are', 'them']
  return ` (${joinTruncated(names)} of the checkout ${verb} left out for safety; set ${object} in the global configuration of git, with includeIf for some folders only, or give the number of the pull request)`
}

const maxReasonLength = 160
const loginInUrl = /:\/\/[^/@\s]*@/g

/** What git prints after ssh has said what happened. */
const uselessLine = /could not read from remote repository|correct access rights|repository exists|^\s*$/i

/** Returns why git failed, in its words without a full stop. A credential in a URL is left out. */
function describeGitFailure({ code, err = '', timedOut }: CapturedResult): string {
  if (timedOut === true) return 'git did not finish in time'
  if (code === 127 && err === '') return 'git was not found'
  const lines = err.split(/\r?\n/).filter(line => !uselessLine.test(line))
  const line = lines.findLast(text => text.startsWith('fatal: ')) ?? lines.at(-1) ?? `exit code ${code}`
  return line
    .replace(/^(?:fatal|error): /i, '')
    .replace(/^not a git repository\b.*/i, noCheckout)
    .replace(loginInUrl, '://')
    .replace(/\.$/, '')
    .slice(0, maxReasonLength)
}
