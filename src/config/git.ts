import { memoize } from '../domain/memoize.ts'
import type { CheckoutLookup } from '../domain/missing-pull-request.ts'
import { type Repository, repositoryName } from '../domain/values/repository.ts'
import { usageError } from '../errors.ts'
import type { Environment, GitResult, Host } from '../host/host.ts'
import { isContinuousIntegration } from './ci-systems.ts'
import {
  type ResolvedValue,
  type SettingKey,
  type SettingSource,
  toResolvedValue,
} from './setting-definitions.ts'

/** The git checkout as a source of settings. */
export interface GitSource extends SettingSource {
  /** Returns what the checkout says about its pull request, after `find('pr')` found none. */
  lookUpCheckout(): Promise<CheckoutLookup>
}

interface GitLookup {
  /**
   * Whether the command changes data: between a fork and its parent a read picks one, and a change fails.
   */
  readonly changes: boolean
  /** Reports a choice between repositories to the user. */
  notify(text: string): Promise<void>
  /**
   * Returns the repository that a source with precedence names, or undefined. Only a remote of the same
   * repository then gives the target branch and the pull request.
   */
  repo?(): Promise<Repository | undefined>
}

/** A remote of the checkout; an address that names no repository has neither `repo` nor `protocol`. */
interface Remote {
  readonly name: string
  readonly address: string
  readonly repo: Repository | undefined
  readonly protocol: string | undefined
}

/**
 * Returns the remotes of the checkout, with the fetch address of each; none without git and outside a
 * checkout.
 */
export async function listRemotes(host: Host): Promise<readonly Remote[]> {
  const listed = await runGit(host, 'remote', '-v')
  if (listed === undefined) return []
  // The first address of a remote is its fetch address, with insteadOf applied.
  const addresses = new Map(
    [...listed.matchAll(/^(\S+)\t(.*) \(fetch\)(?: \[[^\]]*\])?$/gm)]
      .toReversed()
      .map(([, name = '', address = '']) => [name, address] as const),
  )
  const { parseGitRemote } = await import('./git-remote.ts')
  return [...addresses].toReversed().map(([name, address]) => {
    const { protocol, ...repo } = parseGitRemote(address) ?? {}
    return { name, address, protocol, repo: 'host' in repo ? repo : undefined }
  })
}

/**
 * Returns the remotes that may name the repository: `origin` and `upstream`, or the only remote when
 * neither exists.
 */
async function readRemotes(host: Host): Promise<readonly Remote[]> {
  const remotes = await listRemotes(host)
  const preferred = ['origin', 'upstream'].flatMap(name => remotes.filter(remote => remote.name === name))
  return preferred.length === 0 && remotes.length === 1 ? remotes : preferred
}

const isSameRepository = (one: Repository, other: Repository): boolean =>
  repositoryName(one).toLowerCase() === repositoryName(other).toLowerCase()

/** Returns `origin` and `upstream` if they name different repositories: a fork and its parent. */
function findFork(remotes: readonly Remote[]): readonly [Remote, Remote] | undefined {
  const [origin, upstream] = remotes.filter(({ repo }) => repo !== undefined)
  if (origin?.repo === undefined || upstream?.repo === undefined) return undefined
  return isSameRepository(origin.repo, upstream.repo) ? undefined : [origin, upstream]
}

/** The hosts for which a notice has named the repository that is read, one of two. */
const notifiedHosts = new WeakSet<Host>()

/**
 * Returns the git checkout as a source (docs/reference/cli.md, "CI jobs and git"): the repository of its
 * remotes, the target branch of the `HEAD` of the remote, the head commit of `HEAD`, and the pull request
 * with that head commit. With a fork and its parent a change throws a usage error, and a read uses the parent
 * and says so. The source is empty without git, without a checkout, and for a damaged checkout. No program
 * that the repository configures is run.
 */
export function gitSource(host: Host, options: GitLookup): GitSource {
  const remotes = memoize(() => readRemotes(host))
  const head = memoize(
    async () => /^[\da-f]{40,64}$/.exec((await runGit(host, 'rev-parse', 'HEAD'))?.trim() ?? '')?.[0],
  )
  const repositoryRemote = memoize(async () => {
    const all = await remotes()
    const fork = findFork(all)
    if (fork === undefined) return all.find(({ repo }) => repo !== undefined) ?? all[0]
    const [origin, upstream] = fork.map(
      ({ name, repo }) => `${name} (${repo === undefined ? '' : repositoryName(repo)})`,
    )
    if (options.changes)
      throw usageError(
        `The remotes ${origin} and ${upstream} point to different repositories.`,
        'Choose one with --repo owner/name, or set MERGEQ_REPO.',
      )
    const isFirstTime = !notifiedHosts.has(host)
    notifiedHosts.add(host)
    if (isFirstTime)
      await options.notify(
        `The remotes ${origin} and ${upstream} point to different repositories: using upstream. To choose, use --repo.`,
      )
    return fork[1]
  })
  /**
   * Returns the remote of the repository that the command uses; undefined for a change between a fork and
   * its parent.
   */
  const selectedRemote = memoize(async () => {
    const repo = await options.repo?.()
    const all = await remotes()
    if (repo === undefined)
      return options.changes && findFork(all) !== undefined ? undefined : repositoryRemote()
    return (
      all.find(remote => remote.repo !== undefined && isSameRepository(remote.repo, repo)) ??
      all.find(remote => remote.repo === undefined)
    )
  })
  const commitLookup = memoize(async () => {
    const [remote, commit] = [await selectedRemote(), await head()]
    if (remote === undefined || commit === undefined) return undefined
    return findPullRequestOfCommit(host, remote, commit)
  })
  const finders: Readonly<Partial<Record<SettingKey, () => Promise<ResolvedValue | undefined>>>> = {
    repo: memoize(async () => {
      const remote = await repositoryRemote()
      return toResolvedValue(remote?.repo && repositoryName(remote.repo), `git remote ${remote?.name}`)
    }),
    targetBranch: memoize(async () => {
      const remote = await selectedRemote()
      if (remote === undefined) return undefined
      const prefix = `refs/remotes/${remote.name}/`
      const branch = (await runGit(host, 'rev-parse', '--symbolic-full-name', `${prefix}HEAD`))?.trim() ?? ''
      return toResolvedValue(
        branch.startsWith(prefix) ? branch.slice(prefix.length) : '',
        `git ${remote.name}/HEAD`,
      )
    }),
    sha: memoize(async () => toResolvedValue(await head(), 'git HEAD')),
    pr: async () => (await commitLookup())?.pr,
  }
  return {
    find: name => finders[name]?.(),
    async lookUpCheckout() {
      const isCiJob = isContinuousIntegration(host.env)
      const [remote, commit] = [await selectedRemote(), await head()]
      if (remote === undefined) {
        const repo = await options.repo?.()
        // Between a fork and its parent this throws.
        if (repo === undefined) await repositoryRemote()
        return { isCiJob, problem: await explainMissingRemote(host, repo) }
      }
      const branch = await readBranch(host)
      const commitProblem =
        (await commitLookup())?.commitProblem ?? (await explainGit(host, 'rev-parse', 'HEAD'))
      return {
        isCiJob,
        ...(commit === undefined ? {} : { commit }),
        ...(commitProblem === undefined ? {} : { commitProblem }),
        ...(branch === undefined ? {} : { branch }),
      }
    },
  }
}

/** The one pull request whose head is the current commit, or why none was found. */
interface CommitLookup extends Pick<CheckoutLookup, 'commitProblem'> {
  readonly pr?: ResolvedValue | undefined
}

/** Finds the one pull request whose head is a commit with `git ls-remote`. */
async function findPullRequestOfCommit(
  host: Host,
  { name, address, protocol, repo }: Remote,
  commit: string,
): Promise<CommitLookup> {
  if (repo === undefined) return { commitProblem: `the URL of remote ${name} does not name a repository` }
  if (protocol !== 'https' && protocol !== 'ssh')
    return { commitProblem: `remote ${name} uses ${protocol}; only https and ssh are supported` }
  const result = await lsRemote(host, address, 'refs/pull/*/head')
  if (result.timedOut === true)
    return { commitProblem: `git ls-remote ${name} did not finish within ${lookupTimeLimit / 1_000}s` }
  if (result.code !== 0)
    return { commitProblem: `git ls-remote ${name} failed: ${describeGitFailure(result)}` }
  const refs = [...result.out.matchAll(/^([\da-f]+)\trefs\/pull\/(\d+)\/head$/gm)]
  const numbers = refs.flatMap(([, sha, number = '']) => (sha === commit ? [number] : []))
  if (refs.length === 0) return { commitProblem: `remote ${name} lists no pull requests` }
  if (numbers.length === 0)
    return { commitProblem: `it is not the head of a pull request in ${repositoryName(repo)}` }
  if (numbers.length > 1)
    return {
      commitProblem: `it is the head of several pull requests in ${repositoryName(repo)}: ${numbers.map(number => `#${number}`).join(', ')}`,
    }
  return { pr: toResolvedValue(numbers[0], `the pull requests at git remote ${name}`) }
}

async function readBranch(host: Host): Promise<string | undefined> {
  const ref = (await runGit(host, 'symbolic-ref', '--quiet', 'HEAD'))?.trim() ?? ''
  return /^refs\/heads\/(.+)$/.exec(ref)?.[1]
}

/**
 * Returns why the checkout has no remote to ask.
 *
 * @param repo the repository that the command uses, if it does not come from the checkout
 */
async function explainMissingRemote(host: Host, repo: Repository | undefined): Promise<string> {
  const failure = await explainGit(host, 'remote', '-v')
  if (failure !== undefined) return failure
  if (((await runGit(host, 'remote', '-v')) ?? '').trim() === '') return 'the checkout has no remote'
  return repo === undefined
    ? 'no remote is named origin or upstream'
    : `no remote of the checkout belongs to ${repositoryName(repo)}`
}

/** The time limit of a git command that reads the checkout, in milliseconds. */
const localTimeLimit = 5_000
/** The time limit of a git command that asks a remote, in milliseconds. */
const lookupTimeLimit = 10_000

/** Returns the environment without tokens (docs/reference/network.md, "Child processes"). */
export const withoutTokens = (env: Environment): Environment =>
  Object.fromEntries(
    Object.entries(env).filter(([name]) => !/^(?:MERGEQ_TOKEN|TRUNK_API_TOKEN)$/i.test(name)),
  )

/**
 * Variables that keep git from prompting, in a terminal or in a window, and that make its messages English.
 */
const gitVariables: Environment = {
  LC_ALL: 'C',
  GIT_TERMINAL_PROMPT: '0',
  GIT_OPTIONAL_LOCKS: '0',
  GIT_ASKPASS: '',
  SSH_ASKPASS: 'false',
  SSH_ASKPASS_REQUIRE: 'force',
  GCM_INTERACTIVE: 'never',
}

/**
 * Variables that bind git to a checkout: with them git would use the settings of that checkout outside it
 * too.
 */
const repositoryVariables =
  /^GIT_(?:DIR|COMMON_DIR|WORK_TREE|INDEX_FILE|OBJECT_DIRECTORY|ALTERNATE_.*|NAMESPACE|PREFIX|CONFIG)$/i

/** The subcommands used here run none of these; the options rule it out. */
const safeOptions = ({ runtime }: Host): readonly string[] => [
  '--no-pager',
  '-c',
  'core.fsmonitor=false',
  '-c',
  `core.hooksPath=${runtime.nullDevice}`,
]

/**
 * The results of git commands by host: each command runs once, however many pull requests a command handles.
 */
const resultCache = new WeakMap<Host, Map<string, Promise<GitResult | undefined>>>()

/**
 * Returns the result of a git command in the checkout, or undefined if the working directory was removed. git
 * enters the checkout with `-C`, and may not fetch anything.
 */
function spawnGit(host: Host, args: readonly string[]): Promise<GitResult | undefined> {
  const cached = resultCache.get(host) ?? new Map<string, Promise<GitResult | undefined>>()
  resultCache.set(host, cached)
  const result = cached.get(args.join(' ')) ?? run()
  cached.set(args.join(' '), result)
  return result

  async function run() {
    if (host.cwd === undefined) return undefined
    return host.git(['-C', host.cwd, ...safeOptions(host), ...args], {
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

/** Returns the version of git, such as `git version 2.39.5`; undefined when git cannot be run. */
export async function readGitVersion(host: Host): Promise<string | undefined> {
  const { code, out } = await host.git(['--version'], {
    env: { ...withoutTokens(host.env), ...gitVariables },
    timeout: localTimeLimit,
  })
  return code === 0 ? out.trim() : undefined
}

/**
 * Returns the output of a git command in the checkout, or undefined when it fails. git may not fetch
 * anything.
 */
export async function runGit(host: Host, ...args: readonly string[]): Promise<string | undefined> {
  const result = await spawnGit(host, args)
  return result?.code === 0 ? result.out : undefined
}

/** Returns why a git command in the checkout fails, without a full stop; undefined if it succeeds. */
async function explainGit(host: Host, ...args: readonly string[]): Promise<string | undefined> {
  const result = await spawnGit(host, args)
  if (result === undefined) return 'the working directory no longer exists'
  return result.code === 0 ? undefined : describeGitFailure(result)
}

/**
 * Returns the number of parents of a commit, correctly in a shallow clone too. Returns undefined when git
 * does not know the commit.
 */
export async function countParents(host: Host, commit: string): Promise<number | undefined> {
  if (!/^[\da-f]{40,64}$/i.test(commit)) return undefined
  const text = await runGit(host, 'cat-file', 'commit', commit)
  return text === undefined ? undefined : (text.split('\n\n')[0]?.match(/^parent /gm) ?? []).length
}

/**
 * Returns the result of `git ls-remote`: its output is the refs of a remote, one per line. git runs outside
 * the checkout, so that its settings do not apply. A credential in the address is not passed as an argument.
 */
async function lsRemote(host: Host, remote: string, pattern: string): Promise<GitResult> {
  const { address, env } = splitCredential(remote, host.env)
  const inherited = Object.entries(withoutTokens(env)).filter(([name]) => !repositoryVariables.test(name))
  const args = ['--no-pager', '-c', 'http.followRedirects=false', 'ls-remote', '--', address, pattern]
  return host.git(args, {
    // git uses https and ssh only, whatever the settings of the user allow, and no local repository.
    env: {
      ...Object.fromEntries(inherited),
      ...gitVariables,
      GIT_DIR: host.runtime.nullDevice,
      GIT_ALLOW_PROTOCOL: 'https:ssh',
    },
    timeout: lookupTimeLimit,
  })
}

const maxReasonLength = 160

/**
 * What git and ssh print for common failures, and what to say instead; the first pattern that matches wins.
 * The text of a match is used where nothing is said instead.
 */
const knownFailures: readonly (readonly [pattern: RegExp, reason?: string])[] = [
  [/not a git repository/i, 'the working directory is not in a git checkout'],
  [/dubious ownership/i, 'git does not trust this checkout, because another user owns it'],
  [/ambiguous argument 'HEAD'|unknown revision/i, 'the current branch has no commit yet'],
  [/host identification has changed/i, 'the host key differs from the key that ssh knows'],
  [
    /host key verification failed|no \S+ host key is known/i,
    'ssh does not know the host key; connect to the host once with ssh to accept it',
  ],
  [/permission denied \([^)\n]*\)/i],
  [/could not read (?:username|password)/i, 'the remote asks for a login, and git has no stored credential'],
  [
    /authentication failed|invalid username or (?:password|token)/i,
    'the remote rejected the stored credential',
  ],
  [
    /repository (?:'[^']*' )?not found/i,
    'the repository was not found, or the credential does not give access to it',
  ],
  [/could not resolve host(?:name)?:? [\w.-]+/i],
  [/cannot run ssh|unable to fork/i, 'ssh was not found'],
  [/connection (?:refused|timed out|reset)|network is unreachable/i],
]

/** Lines of git that do not say what happened. */
const uselessLine = /could not read from remote repository|correct access rights|repository exists|^\s*$/i

/** Returns why git failed, in a few words without a full stop. A credential in a URL is left out. */
function describeGitFailure({ code, err = '', timedOut }: GitResult): string {
  if (timedOut === true) return 'git did not finish in time'
  if (code === 127 && err === '') return 'git was not found'
  for (const [pattern, reason] of knownFailures) {
    const [match] = pattern.exec(err) ?? []
    if (match !== undefined) return reason ?? match
  }
  const lines = err.split(/\r?\n/).filter(line => !uselessLine.test(line))
  const line = lines.findLast(text => text.startsWith('fatal: ')) ?? lines.at(-1) ?? `exit code ${code}`
  return line
    .replace(/^(?:fatal|error): /, '')
    .replace(/:\/\/[^/@\s]*@/g, '://')
    .replace(/\.$/, '')
    .slice(0, maxReasonLength)
}

/**
 * Returns the names of the branches that the checkout knows of its remotes, each once, in the order of git.
 * No remote is asked. Returns no names without git and outside a checkout.
 */
export async function listRemoteBranches(host: Host): Promise<readonly string[]> {
  const [remotes = '', refs = ''] = await Promise.all([
    runGit(host, 'remote'),
    runGit(host, 'for-each-ref', '--format=%(refname)', 'refs/remotes'),
  ])
  // The name of a remote may contain slashes.
  const prefixes = remotes
    .split('\n')
    .filter(name => name !== '')
    .map(name => `refs/remotes/${name}/`)
    .sort((one, other) => other.length - one.length)
  const branches = refs.split('\n').flatMap(ref => {
    const prefix = prefixes.find(prefix => ref.startsWith(prefix))
    return prefix === undefined ? [] : [ref.slice(prefix.length)]
  })
  return [...new Set(branches)].filter(branch => branch !== 'HEAD')
}

const userInfoPattern = /^((https?|ssh):\/\/)([^/?#]*)@(.*)$/i

const decodePercent = (text: string): string => {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/**
 * Separates the user name and password from the address of a remote. Every process of the machine can see
 * arguments, and git passes an address on to another program; only this user can see the environment. An
 * ssh address keeps the user name, which is part of the address, and loses the password, which ssh never
 * accepts. An address without a credential and an address in the scp form are returned unchanged. With a
 * credential the environment also has `GIT_CONFIG_COUNT` and its keys and values.
 */
function splitCredential(
  address: string,
  env: Environment,
): { readonly address: string; readonly env: Environment } {
  const [, prefix = '', protocol = '', userInfo = '', rest = ''] = userInfoPattern.exec(address) ?? []
  if (prefix === '') return { address, env }
  const colon = userInfo.indexOf(':')
  const user = colon < 0 ? userInfo : userInfo.slice(0, colon)
  if (protocol.toLowerCase() === 'ssh') return { address: `${prefix}${user}@${rest}`, env }
  const plainAddress = `${prefix}${rest}`
  // An insteadOf rule of the user that adds a credential would put it into the address again; the longest
  // rule wins.
  const settings: (readonly [key: string, value: string])[] = [
    [`url.${plainAddress}.insteadOf`, plainAddress],
  ]
  if (colon < 0) settings.push([`credential.${plainAddress}.username`, decodePercent(user)])
  else {
    const pair = `${decodePercent(user)}:${decodePercent(userInfo.slice(colon + 1))}`
    settings.push([
      `http.${plainAddress}.extraHeader`,
      `Authorization: Basic ${Buffer.from(pair).toString('base64')}`,
    ])
  }
  return { address: plainAddress, env: { ...env, ...configVariables(settings, env.GIT_CONFIG_COUNT) } }
}

/** Returns git settings as environment variables, numbered after the existing ones. */
function configVariables(
  settings: readonly (readonly [key: string, value: string])[],
  count: string | undefined,
): Environment {
  const firstIndex = Number(count ?? 0)
  if (!Number.isSafeInteger(firstIndex) || firstIndex < 0) return {}
  const variables = settings.flatMap(([key, value], index) => [
    [`GIT_CONFIG_KEY_${firstIndex + index}`, key],
    [`GIT_CONFIG_VALUE_${firstIndex + index}`, value],
  ])
  return { ...Object.fromEntries(variables), GIT_CONFIG_COUNT: String(firstIndex + settings.length) }
}
