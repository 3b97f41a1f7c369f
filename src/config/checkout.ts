import type { ServiceHost } from '../host/host.ts'
import type { PullRequest } from '../values/pull-request.ts'
import { isSameRepository, type Repository } from '../values/repository.ts'
import { explainGit, explainMissingRemote, gitOutput, listPullRequestHeads, listRemotes } from './git.ts'

/** A commit with all its digits, or why it is not known, without a full stop. */
export type CommitLookup = { readonly commit: string } | { readonly problem: string }

/** What the git checkout says about commits. */
export interface Checkout {
  /** Returns the commit of `HEAD`. */
  readHead(): Promise<CommitLookup>
  /** Returns the only commit that begins with some digits. */
  findCommit(digits: string): Promise<CommitLookup>
  /** Returns the head commit of a pull request, as the remote of its repository says it. */
  findHead(pullRequest: Pick<PullRequest, 'repo' | 'pr'>): Promise<CommitLookup>
}

const fullHash = /^(?:[\da-f]{40}|[\da-f]{64})$/

export const openCheckout = (host: ServiceHost): Checkout => ({
  async readHead() {
    const commit = (await gitOutput(host, 'rev-parse', 'HEAD'))?.trim() ?? ''
    if (fullHash.test(commit)) return { commit }
    return { problem: (await explainGit(host, 'rev-parse', 'HEAD')) ?? 'git names no commit of HEAD' }
  },

  async findCommit(digits) {
    const commits = await listCommits(host, digits)
    if (typeof commits === 'string') return { problem: commits }
    const [commit, ...others] = commits
    if (commit === undefined) return { problem: `the checkout has no commit that begins with ${digits}` }
    return others.length === 0
      ? { commit }
      : { problem: `the checkout has ${commits.length} commits that begin with ${digits}` }
  },

  async findHead({ repo, pr }) {
    const heads = await listHeads(host, repo, pr)
    if (typeof heads === 'string') return { problem: heads }
    const commit = heads.get(String(pr))
    return commit === undefined ? { problem: `the git remote has no pull request #${pr}` } : { commit }
  },
})

/**
 * Returns the commits that begin with some digits, or why git cannot tell. A branch or tag whose name looks like a
 * commit is not read: `--disambiguate` lists objects (git-rev-parse(1)), trees and tags among them.
 */
async function listCommits(host: ServiceHost, digits: string): Promise<readonly string[] | string> {
  const list = ['rev-parse', `--disambiguate=${digits}`]
  const objects = await gitOutput(host, ...list)
  if (objects === undefined) return (await explainGit(host, ...list)) ?? 'git lists no objects'
  const commits: string[] = []
  for (const object of objects.split('\n').filter(line => fullHash.test(line))) {
    const type = await gitOutput(host, '--no-replace-objects', 'cat-file', '-t', object)
    if (type?.trim() === 'commit') commits.push(object)
  }
  return commits
}

/**
 * Returns the heads of pull requests of a repository by their numbers, of one or of all (`*`), as the remote of the
 * checkout that belongs to the repository lists them; or why they are not known, without a full stop.
 */
export async function listHeads(
  host: ServiceHost,
  repo: Repository,
  pr: number | '*',
): Promise<ReadonlyMap<string, string> | string> {
  const remotes = await listRemotes(host)
  const remote = remotes.find(
    candidate => candidate.repo !== undefined && isSameRepository(candidate.repo, repo),
  )
  return remote === undefined ? explainMissingRemote(host, repo) : listPullRequestHeads(host, remote, pr)
}
