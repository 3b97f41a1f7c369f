import { isMergeqError, usageError } from '../base/errors.ts'
import { memoize } from '../base/scheduling.ts'
import type { ServiceHost } from '../host/host.ts'
import type { PullRequest } from '../values/pull-request.ts'
import { isSameRepository, type Repository, readRepository, repositoryName } from '../values/repository.ts'
import { isContinuousIntegration } from './ci-systems.ts'
import {
  explainBrokenGit,
  explainGit,
  explainMissingRemote,
  gitOutput,
  listHeads,
  listPullRequestHeads,
  listRemotes,
  type Remote,
  remoteOf,
} from './git.ts'
import { type ResolvedValue, type SettingKey, toResolvedValue } from './setting-definitions.ts'
import { type CommitLookup, choose, type SourceContext } from './source-context.ts'

const fullHash = /^(?:[\da-f]{40}|[\da-f]{64})$/

/** Returns the remotes that may name the repository: `origin` and `upstream`, else the only one. */
function usualRemotes(remotes: readonly Remote[]): readonly Remote[] {
  const preferred = ['origin', 'upstream'].flatMap(name => remotes.filter(remote => remote.name === name))
  return preferred.length === 0 && remotes.length === 1 ? remotes : preferred
}

function findFork(remotes: readonly Remote[]): readonly [Remote, Remote] | undefined {
  const [first, ...others] = remotes.filter(({ repo }) => repo !== undefined)
  const other = others.find(({ repo }) => repo && first?.repo && !isSameRepository(repo, first.repo))
  return first === undefined || other === undefined ? undefined : [first, other]
}

const describeRemotes = (remotes: readonly Remote[]): readonly string[] =>
  remotes.flatMap(({ name, repo }) => (repo ? [`${name} (${repositoryName(repo)})`] : []))

/**
 * Returns the repository that `gh repo set-default` stored: `remote.<name>.gh-resolved` is `base` for that of the remote,
 * or owner and name of one that no remote had, at the host of the remote. Values that differ choose none.
 */
async function findChosen(host: ServiceHost, remotes: readonly Remote[]): Promise<Repository | undefined> {
  const settings = (await gitOutput(host, 'config', '--get-regexp', '^remote\\..*\\.gh-resolved$')) ?? ''
  const [first, ...others] = [...settings.matchAll(/^remote\.(\S+)\.gh-resolved (\S+)$/gm)].flatMap(
    ([, name, value = '']) => {
      const marked = remotes.find(remote => remote.name === name)?.repo
      return (value === 'base' ? marked : marked && readRepository(`${marked.host}/${value}`)) ?? []
    },
  )
  return first === undefined || others.some(other => !isSameRepository(other, first)) ? undefined : first
}

/** What a git checkout says about its pull request, if no pull request was found by its commit. */
export interface CheckoutLookup {
  /** Why the checkout names neither a commit nor a branch; without a full stop. */
  readonly problem?: string
  readonly commit?: string | undefined
  /** Why no pull request was found by the commit; without a full stop. */
  readonly commitProblem?: string | undefined
  readonly isCiJob?: boolean
  /** The current branch; undefined if HEAD is detached. */
  readonly branch?: string | undefined
  /** How many commits of the current branch are not pushed. */
  readonly unpushed: number
}

/** Returns the git checkout as a source (docs/reference/cli.md, "CI jobs and git"); nothing outside of one. */
export function openCheckout(context: SourceContext) {
  const { host, changes, nameOf, namedRepo } = context
  const readLine = async (...args: readonly string[]) => (await gitOutput(host, ...args))?.trim() ?? ''
  const readCommit = async (name: string) => fullHash.exec(await readLine('rev-parse', name))?.[0]
  const readBranch = async () =>
    /^refs\/heads\/(.+)$/.exec(await readLine('symbolic-ref', '--quiet', 'HEAD'))?.[1]

  /** Returns the remote that names the repository: that of `gh repo set-default`, else a usual one. */
  const repositoryRemote = memoize(async (): Promise<Remote | undefined> => {
    const remotes = await listRemotes(host)
    const usual = usualRemotes(remotes)
    const choices = remotes.flatMap(({ repo }) => (repo ? context.give('repo', repositoryName(repo)) : []))
    const advice = `Use ${[...new Set(choices)].join(' or ')}, or set MERGEQ_REPO.`
    const chosen = changes || findFork(remotes) !== undefined ? await findChosen(host, remotes) : undefined
    const remote = chosen && remoteOf(chosen, remotes)
    if (remote !== undefined) return remote
    if (chosen !== undefined && changes)
      throw usageError(
        `gh repo set-default names the repository ${repositoryName(chosen)}, which no remote of this checkout has: ${describeRemotes(remotes).join(', ')}.`,
        advice,
      )
    // Between remotes of other names, a read picks none.
    const fork = findFork(usual.length === 0 && changes ? remotes : usual)
    if (fork === undefined) return usual.find(({ repo }) => repo !== undefined) ?? usual[0]
    const differing = `The remotes ${describeRemotes(fork).join(' and ')} point to different repositories`
    return choose(context, fork[1], {
      isRefused: changes,
      problem: `${differing}.`,
      advice,
      remark: `${differing}: using upstream. To choose, use ${nameOf('repo')}.`,
    })
  })

  /** Returns the remote of the repository that the command uses; none for a change that cannot tell which. */
  const selectedRemote = memoize(async (): Promise<Remote | undefined> => {
    const repo = await namedRepo()
    if (repo !== undefined) {
      const usual = usualRemotes(await listRemotes(host))
      return remoteOf(repo, usual) ?? usual.find(remote => remote.repo === undefined)
    }
    return repositoryRemote().catch(error => {
      if (!isMergeqError(error)) throw error
      return undefined
    })
  })

  /** Returns the commit of the current branch at the remote, which is behind HEAD while commits are not pushed. */
  const readPushed = memoize(async () => {
    const [remote, branch] = [await selectedRemote(), await readBranch()]
    if (remote === undefined || branch === undefined) return undefined
    const base = await readCommit(`refs/remotes/${remote.name}/HEAD`)
    // A branch whose upstream is the target branch may have been pushed without becoming its upstream, also to a fork.
    const names = new Set([remote, ...usualRemotes(await listRemotes(host))].map(({ name }) => name))
    for (const name of ['@{upstream}', ...[...names].map(name => `refs/remotes/${name}/${branch}`)]) {
      const pushed = await readCommit(name)
      if (pushed !== undefined && pushed !== base) return pushed
    }
    return undefined
  })

  async function countUnpushed(): Promise<number> {
    const pushed = await readPushed()
    return pushed === undefined ? 0 : Number(await readLine('rev-list', '--count', `${pushed}..HEAD`))
  }

  /** Returns the one pull request whose head is HEAD, else the pushed commit, or why there is none. */
  const lookUpCommit = memoize(async (): Promise<ResolvedValue | string | undefined> => {
    const [remote, head] = [await selectedRemote(), await readCommit('HEAD')]
    if (remote === undefined || head === undefined) return undefined
    const pushed = await readPushed()
    const heads = await listPullRequestHeads(host, remote, '*')
    if (typeof heads === 'string') return heads
    const { name, repo } = remote
    if (heads.size === 0) return `remote ${name} lists no pull requests`
    const commit = [head, pushed].find(sha => sha !== undefined && [...heads.values()].includes(sha)) ?? head
    const numbers = [...heads].flatMap(([number, sha]) => (sha === commit ? [number] : []))
    const [value = '', ...others] = numbers
    const place = `in ${repo && repositoryName(repo)}`
    const subject = `commit ${commit.slice(0, 7)}`
    if (value === '') return `${subject} is not the head of a pull request ${place}`
    if (others.length > 0)
      return `${subject} is the head of several pull requests ${place}: ${numbers.map(number => `#${number}`).join(', ')}`
    const branch = await readBranch()
    return {
      value,
      origin: `the pull requests at git remote ${name}`,
      guess: branch === undefined ? `commit ${head.slice(0, 7)}` : `branch ${branch}`,
      ...(commit === head ? {} : { unpushed: await countUnpushed() }),
    }
  })

  const finders: Readonly<Partial<Record<SettingKey, () => Promise<ResolvedValue | undefined>>>> = {
    async repo() {
      const remote = await repositoryRemote()
      return toResolvedValue(remote?.repo && repositoryName(remote.repo), `git remote ${remote?.name}`)
    },
    async targetBranch() {
      const remote = await selectedRemote()
      if (remote === undefined) return undefined
      const prefix = `refs/remotes/${remote.name}/`
      const branch = await readLine('rev-parse', '--symbolic-full-name', `${prefix}HEAD`)
      return branch.startsWith(prefix)
        ? toResolvedValue(branch.slice(prefix.length), `git ${remote.name}/HEAD`)
        : undefined
    },
    sha: async () => toResolvedValue(await readCommit('HEAD'), 'git HEAD'),
    async pr() {
      const found = await lookUpCommit()
      return typeof found === 'string' ? undefined : found
    },
  }

  return {
    find: (name: SettingKey) => finders[name]?.(),
    async readHead(): Promise<CommitLookup> {
      const commit = await readCommit('HEAD')
      if (commit !== undefined) return { commit }
      return { problem: (await explainGit(host, 'rev-parse', 'HEAD')) ?? 'git names no commit of HEAD' }
    },
    /**
     * Returns the commit that begins with some digits. A branch or tag whose name looks like a commit is not read:
     * `--disambiguate` lists objects (git-rev-parse(1)), trees and tags among them.
     */
    async findCommit(digits: string): Promise<CommitLookup> {
      const list = ['rev-parse', `--disambiguate=${digits}`]
      const objects = await gitOutput(host, ...list)
      if (objects === undefined)
        return { problem: (await explainGit(host, ...list)) ?? 'git lists no objects' }
      const commits: string[] = []
      for (const object of objects.split('\n').filter(line => fullHash.test(line))) {
        const type = await gitOutput(host, '--no-replace-objects', 'cat-file', '-t', object)
        if (type?.trim() === 'commit') commits.push(object)
      }
      const [commit] = commits
      if (commit === undefined) return { problem: `the checkout has no commit that begins with ${digits}` }
      return commits.length === 1
        ? { commit }
        : { problem: `the checkout has ${commits.length} commits that begin with ${digits}` }
    },
    /** Returns the head commit of a pull request, as the remote of its repository says it. */
    async findHead({ repo, pr }: Pick<PullRequest, 'repo' | 'pr'>): Promise<CommitLookup> {
      const heads = await listHeads(host, repo, pr)
      if (typeof heads === 'string') return { problem: heads }
      const commit = heads.get(String(pr))
      return commit === undefined ? { problem: `the git remote has no pull request #${pr}` } : { commit }
    },
    /** Returns the repositories of all remotes; none in a checkout of the home directory, which is about no project. */
    async listRepositories(): Promise<readonly ResolvedValue[]> {
      const { HOME, USERPROFILE } = host.env
      const root = await readLine('rev-parse', '--show-toplevel')
      if ([HOME, USERPROFILE].some(home => home?.replaceAll('\\', '/') === root)) return []
      const remotes = await listRemotes(host)
      return remotes.flatMap(
        ({ name, repo }) => toResolvedValue(repo && repositoryName(repo), `git remote ${name}`) ?? [],
      )
    },
    explainFailure: () => explainBrokenGit(host),
    remoteName: async () => (await selectedRemote())?.name,
    /** Returns what the checkout says about its pull request, after `find('pr')` found none. */
    async lookUp(): Promise<CheckoutLookup> {
      const isCiJob = isContinuousIntegration(host.env)
      if ((await selectedRemote()) === undefined) {
        const repo = await namedRepo()
        // Between a fork and its parent this throws.
        if (repo === undefined) await repositoryRemote()
        return { isCiJob, problem: await explainMissingRemote(host, repo), unpushed: 0 }
      }
      const found = await lookUpCommit()
      return {
        isCiJob,
        commit: await readCommit('HEAD'),
        commitProblem: typeof found === 'string' ? found : await explainGit(host, 'rev-parse', 'HEAD'),
        branch: await readBranch(),
        unpushed: await countUnpushed(),
      }
    },
  }
}

export type Checkout = ReturnType<typeof openCheckout>
