import type { CheckoutLookup } from '../domain/missing-pull-request.ts'
import { type Repository, repositoryName } from '../domain/values/repository.ts'
import type { Host } from '../host/host.ts'
import { describeGitFailure } from './git-failure.ts'
import { explainGit, lookupTimeLimit, lsRemote, runGit } from './run-git.ts'
import { type ResolvedValue, toResolvedValue } from './setting-source.ts'

/** The remote whose list of pull requests is read. */
interface PullRequestRemote {
  readonly name: string
  readonly address: string
  /** The protocol of the address; undefined for an address that names no repository. */
  readonly protocol: string | undefined
  readonly repo: Repository | undefined
}

/** The one pull request whose head is the current commit, or why none was found. */
export interface CommitLookup extends Pick<CheckoutLookup, 'commitProblem'> {
  readonly pr?: ResolvedValue | undefined
}

/** Finds the one pull request whose head is a commit with `git ls-remote`. */
export async function findPullRequestOfCommit(
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
export async function readBranch(host: Host): Promise<string | undefined> {
  const ref = (await runGit(host, 'symbolic-ref', '--quiet', 'HEAD'))?.trim() ?? ''
  return /^refs\/heads\/(.+)$/.exec(ref)?.[1]
}

/**
 * Returns why the checkout has no remote to ask.
 *
 * @param repo the repository that the command uses, if it does not come from the checkout
 */
export async function explainMissingRemote(host: Host, repo: Repository | undefined): Promise<string> {
  const failure = await explainGit(host, 'remote', '-v')
  if (failure !== undefined) return failure
  if (((await runGit(host, 'remote', '-v')) ?? '').trim() === '') return 'the checkout has no remote'
  return repo === undefined
    ? 'no remote is named origin or upstream'
    : `no remote of the checkout belongs to ${repositoryName(repo)}`
}
