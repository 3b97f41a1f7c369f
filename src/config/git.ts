import { type Repository, repositoryName } from '../domain/values/repository.ts'
import { usageError } from '../errors.ts'
import type { Environment, Host } from '../host/host.ts'
import { splitCredential } from './remote-credential.ts'
import type { SettingKey } from './setting-definitions.ts'
import type { ResolvedValue, SettingSource } from './setting-source.ts'

/** The options of a lookup in the git checkout. */
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

interface Remote {
  readonly name: string
  readonly address: string
  readonly repo: Repository | undefined
  readonly protocol: string | undefined
}

/** The time limit of a git command that reads the checkout, in milliseconds. */
const localTimeLimit = 5_000
/** The time limit of a git command that asks a remote, in milliseconds. */
const lookupTimeLimit = 10_000

/** Returns the environment for child processes: the environment without the tokens (WIRE.md section 4). */
export const withoutTokens = (env: Environment): Environment =>
  Object.fromEntries(
    Object.entries(env).filter(([name]) => !/^(?:MERGEQ_TOKEN|TRUNK_API_TOKEN)$/i.test(name)),
  )

/** Variables that keep git from prompting, in a terminal or in a window. */
const noPromptVariables: Environment = {
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
  /^GIT_(?:DIR|COMMON_DIR|WORK_TREE|INDEX_FILE|OBJECT_DIRECTORY|ALTERNATE_.*|NAMESPACE|PREFIX|CONFIG)$/

/**
 * git is started here and enters the checkout with `-C`, so that a program called git in the checkout is
 * never run.
 */
const neutralDirectory = '/'

/** The subcommands used here run none of these; the options rule it out. */
const safeOptions = ['--no-pager', '-c', 'core.fsmonitor=false', '-c', 'core.hooksPath=/dev/null']

/**
 * The output of git commands by host: each command runs once, however many pull requests a command handles.
 */
const outputCache = new WeakMap<Host, Map<string, Promise<string | undefined>>>()

/**
 * Returns the output of a git command in the checkout, or undefined when it fails. git may not fetch
 * anything.
 */
function runGit(host: Host, ...args: readonly string[]): Promise<string | undefined> {
  const cached = outputCache.get(host) ?? new Map<string, Promise<string | undefined>>()
  outputCache.set(host, cached)
  const output = cached.get(args.join(' ')) ?? run()
  cached.set(args.join(' '), output)
  return output

  async function run() {
    if (host.cwd === undefined) return undefined
    const { code, out } = await host.spawn('git', ['-C', host.cwd, ...safeOptions, ...args], {
      env: {
        ...withoutTokens(host.env),
        ...noPromptVariables,
        GIT_ALLOW_PROTOCOL: 'none',
        GIT_NO_LAZY_FETCH: '1',
      },
      cwd: neutralDirectory,
      output: 'capture',
      timeout: localTimeLimit,
    })
    return code === 0 ? out : undefined
  }
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
 * Returns the refs of a remote, one per line; no refs when the remote does not answer. git runs outside the
 * checkout, so that its settings do not apply. A credential in the address is not passed as an argument.
 */
async function lsRemote(host: Host, remote: string, pattern: string): Promise<readonly string[]> {
  const { address, env } = splitCredential(remote, host.env)
  const inherited = Object.entries(withoutTokens(env)).filter(([name]) => !repositoryVariables.test(name))
  const args = ['--no-pager', '-c', 'http.followRedirects=false', 'ls-remote', '--', address, pattern]
  const { code, out } = await host.spawn('git', args, {
    // git uses https and ssh only, whatever the settings of the user allow, and no local repository.
    env: {
      ...Object.fromEntries(inherited),
      ...noPromptVariables,
      GIT_DIR: '/dev/null',
      GIT_ALLOW_PROTOCOL: 'https:ssh',
    },
    cwd: neutralDirectory,
    output: 'capture',
    timeout: lookupTimeLimit,
  })
  return code === 0 ? out.split('\n') : []
}

/**
 * Returns the remotes that may name the repository: `origin` and `upstream`, or the only remote when
 * neither exists.
 */
async function readRemotes(host: Host): Promise<readonly Remote[]> {
  const listed = await runGit(host, 'remote', '-v')
  if (listed === undefined) return []
  // The first address of a remote is its fetch address, with insteadOf applied.
  const addresses = new Map(
    [...listed.matchAll(/^(\S+)\t(.*) \(fetch\)(?: \[[^\]]*\])?$/gm)]
      .toReversed()
      .map(([, name = '', address = '']) => [name, address] as const),
  )
  const preferred = ['origin', 'upstream'].filter(name => addresses.has(name))
  const names = preferred.length === 0 && addresses.size === 1 ? [...addresses.keys()] : preferred
  const { parseGitRemote } = await import('./git-remote.ts')
  return names.map(name => {
    const address = addresses.get(name) ?? ''
    const { protocol, ...repo } = parseGitRemote(address) ?? {}
    return { name, address, protocol, repo: 'host' in repo ? repo : undefined }
  })
}

const isSameRepository = (one: Repository, other: Repository): boolean =>
  repositoryName(one).toLowerCase() === repositoryName(other).toLowerCase()

/** Returns `origin` and `upstream` if they name different repositories: a fork and its parent. */
function findFork(remotes: readonly Remote[]): readonly [Remote, Remote] | undefined {
  const [origin, upstream] = remotes.filter(({ repo }) => repo !== undefined)
  if (origin?.repo === undefined || upstream?.repo === undefined) return undefined
  return isSameRepository(origin.repo, upstream.repo) ? undefined : [origin, upstream]
}

/** The hosts whose user has been told which of two repositories is read. */
const notifiedHosts = new WeakSet<Host>()

/**
 * Returns the git checkout as a source (CLI.md section 3): the repository of its remotes, the target branch
 * of the `HEAD` of the remote, the head commit of `HEAD`, and the pull request with that head commit. With
 * a fork and its parent a change throws a usage error, and a read uses the parent and says so. The source
 * is empty without git, without a checkout, and for a damaged checkout. No program that the repository
 * configures is run.
 */
export function gitSource(host: Host, options: GitLookup): SettingSource {
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
        `The remotes ${origin} and ${upstream} name two different repositories.`,
        'Say which one is meant with --repo owner/name, or set MERGEQ_REPO.',
      )
    const isFirstTime = !notifiedHosts.has(host)
    notifiedHosts.add(host)
    if (isFirstTime)
      await options.notify(
        `The remotes ${origin} and ${upstream} differ: reading from upstream; --repo chooses.`,
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
  const finders: Readonly<Partial<Record<SettingKey, () => Promise<ResolvedValue | undefined>>>> = {
    repo: memoize(async () => {
      const remote = await repositoryRemote()
      return toValue(remote?.repo && repositoryName(remote.repo), `git remote ${remote?.name}`)
    }),
    targetBranch: memoize(async () => {
      const remote = await selectedRemote()
      if (remote === undefined) return undefined
      const prefix = `refs/remotes/${remote.name}/`
      const branch = (await runGit(host, 'rev-parse', '--symbolic-full-name', `${prefix}HEAD`))?.trim() ?? ''
      return toValue(branch.startsWith(prefix) ? branch.slice(prefix.length) : '', `git ${remote.name}/HEAD`)
    }),
    sha: memoize(async () => toValue(await head(), 'git HEAD')),
    pr: memoize(async () => {
      const [remote, commit] = [await selectedRemote(), await head()]
      if (remote?.repo === undefined || commit === undefined) return undefined
      if (!/^(?:https|ssh)$/.test(remote.protocol ?? '')) return undefined
      const refs = await lsRemote(host, remote.address, 'refs/pull/*/head')
      const numbers = refs.flatMap(line => {
        const [, sha, number = ''] = /^([\da-f]+)\trefs\/pull\/(\d+)\/head$/.exec(line) ?? []
        return sha === commit ? [number] : []
      })
      if (numbers.length > 1)
        throw usageError(
          `The current commit ${commit.slice(0, 7)} is the head of several pull requests of ${repositoryName(remote.repo)}: ${numbers.map(number => `#${number}`).join(', ')}.`,
          'Name the one that is meant (123, #123 or its address), or set MERGEQ_PR.',
        )
      return toValue(numbers[0], `the pull requests at git remote ${remote.name}`)
    }),
  }
  return { find: name => finders[name]?.() }
}

const toValue = (value: string | undefined, origin: string): ResolvedValue | undefined =>
  value === undefined || value === '' ? undefined : { value, origin }

/** Returns a function that calls `find` once and keeps its result or error. */
function memoize<T>(find: () => Promise<T>): () => Promise<T> {
  let promise: Promise<T> | undefined
  return () => {
    promise ??= find()
    return promise
  }
}
