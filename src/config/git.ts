import { memoize } from '../domain/memoize.ts'
import type { CheckoutLookup } from '../domain/missing-pull-request.ts'
import { type Repository, repositoryName } from '../domain/values/repository.ts'
import { usageError } from '../errors.ts'
import type { Host } from '../host/host.ts'
import { isContinuousIntegration } from './ci-systems.ts'
import { describeGitFailure, explainGit, lookupTimeLimit, lsRemote, runGit } from './run-git.ts'
import type { SettingKey } from './setting-definitions.ts'
import { type ResolvedValue, type SettingSource, toResolvedValue } from './setting-source.ts'

/** The git checkout as a source of settings. */
export interface GitSource extends SettingSource {
  /** Returns what the checkout says about its pull request, after `find('pr')` found none. */
  lookUpCheckout(): Promise<CheckoutLookup>
}

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

/** A remote of the checkout. */
export interface Remote {
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

/** The remote whose list of pull requests is read. */
interface PullRequestRemote {
  readonly name: string
  readonly address: string
  /** The protocol of the address; undefined for an address that names no repository. */
  readonly protocol: string | undefined
  readonly repo: Repository | undefined
}

/** The one pull request whose head is the current commit, or why none was found. */
interface CommitLookup extends Pick<CheckoutLookup, 'commitProblem'> {
  readonly pr?: ResolvedValue | undefined
}

/** Finds the one pull request whose head is a commit with `git ls-remote`. */
async function findPullRequestOfCommit(
  host: Host,
  { name, address, protocol, repo }: PullRequestRemote,
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

/** Returns the current branch; undefined if HEAD is detached. */
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
