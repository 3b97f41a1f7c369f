import { usageError } from '../base/errors.ts'
import { get, type Json } from '../base/json.ts'
import { memoize } from '../base/scheduling.ts'
import { parseUrl } from '../base/url.ts'
import type { ServiceHost } from '../host/host.ts'
import { isPullRequestReference, parsePullRequest } from '../values/pull-request.ts'
import {
  isSameRepository,
  parseRepository,
  type Repository,
  readHost,
  readRepository,
  readRepositoryAddress,
  repositoryName,
} from '../values/repository.ts'
import { findCiSystem, isContinuousIntegration } from './ci-systems.ts'
import {
  explainBrokenGit,
  explainGit,
  explainMissingRemote,
  gitOutput,
  listParents,
  listPullRequestHeads,
  listRemotes,
  type Remote,
} from './git.ts'
import { withRun } from './github-event.ts'
import type { CheckoutLookup } from './missing-pull-request.ts'
import {
  type ResolvedValue,
  type SettingKey,
  type SettingSource,
  toResolvedValue,
} from './setting-definitions.ts'

/** How the sources of this file find settings; a setting without a finder is not looked for. */
type Finders = Readonly<Partial<Record<SettingKey, () => Promise<ResolvedValue | undefined>>>>

const anyText = /^(.+)$/s
/** Matches the branch of a ref: `x` in `refs/heads/x` and in `x`; tags and pull requests do not match. */
const branchPattern = /^(?:refs\/heads\/|(?:refs\/remotes\/)?origin\/)?((?!refs\/|detached$).+)$/s
/** Matches the number in `7`, `refs/pull/7/merge`, `pr/7` and the address of a pull request; no branch. */
const numberPattern =
  /^(?!refs\/(?:heads|tags)\/)(?:(?:[^,]*\/)?(?:pulls?|pr|pull-requests|merge_requests)\/)?(\d+)(?:\/(?:head|merge))?$/
/** Bitbucket Pipelines states 12 digits (codecov/codecov-bash#241); systems write zeros for no commit. */
const commitPattern = /^(?!0+$)([\da-f]{7,64})$/i

const extract = (value: ResolvedValue | undefined, pattern: RegExp): ResolvedValue | undefined =>
  value && toResolvedValue(pattern.exec(value.value)?.[1], value.origin)

/**
 * Adds the host of a server, which may be given by its address, to a path. Returns undefined for a host without a dot,
 * which would be read as an owner.
 */
function withHost(server: string, path: ResolvedValue): ResolvedValue | undefined {
  if (server === '' || !path.value.includes('/')) return path
  const host = readHost(parseUrl(server)?.host || server)
  return host === undefined ? undefined : toResolvedValue(`${host}/${path.value}`, path.origin)
}

const maxEventSize = 32 * 1024 * 1024

/** Matches the test branches of the merge queue, and of the merge queue of GitHub. */
const queueBranch = /^(?:trunk-merge|trunk-temp|gh-readonly-queue)\//
const testBranch =
  /^trunk-merge\/pr-[^/]+\/([\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}(?:-bisection[\w.-]*)?)$/i

interface CiOptions {
  /** Whether the command changes data: a change takes no branch that may be another one. */
  readonly changes: boolean
  /** Reports the choice of a branch to the user. */
  notify(text: string): Promise<void>
  /** Returns how to give a setting a value: `-b main`. */
  give(name: 'targetBranch', value: string): string
  hasToken(): Promise<boolean>
  /** Returns how to give a setting. */
  hintOf(name: SettingKey): string
}

/** A CI job as a source. */
export interface CiSource extends SettingSource {
  /** Returns the branch that the pull request of the job, or the group of a merge queue, is merged into. */
  findBase(): Promise<ResolvedValue | undefined>
}

/**
 * Returns the CI job as a source (docs/reference/cli.md, "CI jobs and git"). It has the repository of the
 * pull request, the branch to merge into (or the default branch that the job builds), the pull request and its head
 * commit, the test run of a test branch, and, without a token, the workflow run of a pull request from a
 * fork.
 *
 * `find('sha')` throws a usage error when a job of a pull request does not state the head commit reliably:
 * with a merge commit the queue would wait forever. `find('pr')` throws a usage error on a test branch,
 * whose draft pull request belongs to the queue, and `find('targetBranch')` for a change in a job that builds another
 * branch than the default branch.
 */
export function ciSource(
  host: ServiceHost,
  { changes, notify, give, hasToken, hintOf }: CiOptions,
): CiSource {
  const { env, files } = host
  const system = findCiSystem(env)
  if (system === undefined) return { find: () => undefined, findBase: async () => undefined }
  const readEvent = memoize(async (): Promise<Json | undefined> => {
    try {
      const path = env[system.eventFile ?? ''] ?? ''
      return withRun(JSON.parse((await files.read(path, maxEventSize)) ?? ''))
    } catch {
      return undefined
    }
  })
  const lookup = async (name: string): Promise<ResolvedValue | undefined> =>
    name.startsWith('event.')
      ? toResolvedValue(
          get(await readEvent(), name.slice('event.'.length)),
          `the event file of ${system.title}`,
        )
      : toResolvedValue(env[name], name)
  /** Returns the match of the pattern in the first of the variables that matches. */
  const first = async (names = '', pattern = anyText): Promise<ResolvedValue | undefined> => {
    for (const name of names.split(' ')) {
      const value = extract(await lookup(name), pattern)
      if (value !== undefined) return value
    }
    return undefined
  }
  const readHead = async () => {
    if (system.hasHead?.(env) === false) return undefined
    const isOfRun = get(await readEvent(), 'run') !== undefined
    return first(isOfRun ? 'event.run.head_branch' : system.head, branchPattern)
  }
  const isQueueBranch = (head: ResolvedValue | undefined) => queueBranch.test(head?.value ?? '')
  const readPullRequest = () => first(system.pr, numberPattern)
  const readHeadRef = async () => {
    const name = (await first(system.headRef))?.value
    if (name === undefined) return undefined
    const commit = await gitOutput(host, 'rev-parse', `refs/remotes/origin/${name}`)
    return toResolvedValue(commit?.trim(), `git origin/${name}`)
  }
  const isPullRequestEvent = async () => (await first(system.event, /^(pull_request)/)) !== undefined
  const isPullRequestJob = async () => (await readPullRequest()) !== undefined || isPullRequestEvent()
  const findBase = async () =>
    system.hasBase?.(env) === false ? undefined : first(system.base, branchPattern)

  /** Returns the branch that the job builds, if it can be a target branch. */
  async function readBuiltBranch(): Promise<ResolvedValue | undefined> {
    const head = await readHead()
    return isQueueBranch(head) || (await isPullRequestEvent()) ? undefined : head
  }

  const finders: Finders = {
    async repo() {
      const address = await first(system.address)
      const read = address && readRepositoryAddress(address.value)
      if (read !== undefined) return toResolvedValue(repositoryName(read.repo), address?.origin ?? '')
      for (const { host, path } of system.repo ?? []) {
        const value = await first(path)
        if (value !== undefined) return withHost((await first(host))?.value ?? '', value)
      }
      return undefined
    },
    async targetBranch() {
      const base = await findBase()
      if (base !== undefined) return base
      const usual = await first(system.defaultBranch, branchPattern)
      if (system.hidesPullRequests === true || (await readPullRequest()) !== undefined) return usual
      const built = await readBuiltBranch()
      if (usual === undefined || built?.value === usual.value) return built
      const problem =
        built === undefined
          ? 'This job builds no branch that can be the target branch'
          : `This job builds ${built.value}, not the default branch ${usual.value}`
      if (changes) {
        const choices = [built, usual].flatMap(found => (found ? [give('targetBranch', found.value)] : []))
        const hint = `Use ${choices.join(' or ')}, or set MERGEQ_TARGET_BRANCH.`
        throw usageError(`${problem}: which queue to change is not known.`, hint)
      }
      await notify(`${problem}: using ${usual.value}. To choose, set MERGEQ_TARGET_BRANCH.`)
      return usual
    },
    testRun: async () => extract(await readHead(), testBranch),
    async forkedRun() {
      const { head = '', base = '', run } = system.fork?.(env) ?? {}
      // The event has null for the repository of a deleted fork.
      const [headRepo, baseRepo] = [await first(head), await first(base)]
      if (baseRepo === undefined || headRepo?.value.toLowerCase() === baseRepo.value.toLowerCase())
        return undefined
      return (await hasToken()) ? undefined : first(run)
    },
    async pr() {
      const head = await readHead()
      const hint = "Specify a pull request (123, '#123' or its URL), or set MERGEQ_PR."
      if (isQueueBranch(head))
        throw usageError(
          `This job runs on ${head?.value}, a test branch of the merge queue, not the branch of a pull request.`,
          hint,
        )
      const found = await readPullRequest()
      const url = env[found?.origin ?? ''] ?? ''
      const named = isPullRequestReference(url) ? parsePullRequest(url).repo : undefined
      const built = (await finders.repo?.())?.value
      // The job of a fork may name the pull request in its parent.
      if (
        named !== undefined &&
        built !== undefined &&
        !isSameRepository(parseRepository(named), parseRepository(built))
      )
        throw usageError(
          `${found?.origin} names #${found?.value} of ${named}, but this job is one of ${built}.`,
          hint,
        )
      return found
    },
    async sha() {
      const headSha = await first(system.headSha, commitPattern)
      const built = await first(system.sha, commitPattern)
      if (headSha !== undefined || !(await isPullRequestJob())) return headSha ?? built
      const kind = system.shaOfPullRequest?.(env) ?? 'head'
      if (built !== undefined && kind === 'head') return built
      const parents = kind === 'head or merge' ? await listParents(host, built?.value ?? '') : undefined
      if (built !== undefined && parents !== undefined) {
        // A commit with a single parent is not a merge commit.
        if (parents.length < 2) return built
        const fetched = await readHeadRef()
        if ([built.value, ...parents].some(commit => commit === fetched?.value)) return fetched
      }
      throw usageError(
        `${system.title} does not provide the head commit of the pull request; the commit that it builds may be a merge commit.`,
        hintOf('sha'),
      )
    },
  }
  return { find: name => finders[name]?.(), findBase }
}

export interface GitSource extends SettingSource {
  /**
   * Returns the repositories of all remotes that name one; none in a checkout of the home directory, which is about
   * no project.
   */
  listRepositories(): Promise<readonly ResolvedValue[]>
  /** Returns why git cannot read the checkout, without a full stop; undefined if it can. */
  explainFailure(): Promise<string | undefined>
  /** Returns the name of the remote whose `HEAD` gives the target branch. */
  remoteName(): Promise<string | undefined>
  /** Returns what the checkout says about its pull request, after `find('pr')` found none. */
  lookUpCheckout(): Promise<CheckoutLookup>
}

interface CheckoutOptions {
  /**
   * Whether the command changes data: between a fork and its parent a read picks one, and a change fails.
   */
  readonly changes: boolean
  /** Reports a choice between repositories to the user. */
  notify(text: string): Promise<void>
  /** Returns the name of a setting as the caller writes it. */
  nameOf(name: string): string
  /**
   * Returns the repository that a source with precedence names, or undefined. Only a remote of the same
   * repository then gives the target branch and the pull request.
   */
  repo?(): Promise<Repository | undefined>
}

/**
 * Returns the remotes that may name the repository: `origin` and `upstream`, or the only remote when
 * neither exists.
 */
async function readRemotes(host: ServiceHost): Promise<readonly Remote[]> {
  const remotes = await listRemotes(host)
  const preferred = ['origin', 'upstream'].flatMap(name => remotes.filter(remote => remote.name === name))
  return preferred.length === 0 && remotes.length === 1 ? remotes : preferred
}

/** Returns the first remotes that name different repositories, such as a fork and its parent. */
function findFork(remotes: readonly Remote[]): readonly [Remote, Remote] | undefined {
  const [first, ...others] = remotes.filter(({ repo }) => repo !== undefined)
  const other = others.find(({ repo }) => repo && first?.repo && !isSameRepository(repo, first.repo))
  return first === undefined || other === undefined ? undefined : [first, other]
}

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

/** The hosts for which a notice has named the repository that is read, one of two. */
const notifiedHosts = new WeakSet<ServiceHost>()

/**
 * Returns the git checkout as a source (docs/reference/cli.md, "CI jobs and git"): the repository of its
 * remotes, the target branch of the `HEAD` of the remote, the head commit of `HEAD`, and the pull request
 * with that head commit, or with that of the upstream branch. With a fork and its parent a change throws a
 * usage error, and a read uses the parent and says so. The source is empty without git, without a checkout,
 * and for a damaged checkout. No program that the repository configures is run.
 */
export function gitSource(
  host: ServiceHost,
  { changes, notify, nameOf, repo: givenRepo }: CheckoutOptions,
): GitSource {
  const readLine = async (...args: readonly string[]) => (await gitOutput(host, ...args))?.trim() ?? ''
  const readCommit = async (name: string) => /^[\da-f]{40,64}$/.exec(await readLine('rev-parse', name))?.[0]
  const readHead = () => readCommit('HEAD')

  /** Returns the remote that `gh repo set-default` chose; a change may not pass over a repository that no remote has. */
  async function chosenRemote(): Promise<Remote | undefined> {
    const remotes = await listRemotes(host)
    if (!changes && findFork(remotes) === undefined) return undefined
    const chosen = await findChosen(host, remotes)
    const remote = chosen && remotes.find(({ repo }) => repo !== undefined && isSameRepository(repo, chosen))
    if (chosen === undefined || remote !== undefined || !changes) return remote
    const others = remotes.flatMap(({ name, repo }) => (repo ? [`${name} (${repositoryName(repo)})`] : []))
    throw usageError(
      `gh repo set-default names the repository ${repositoryName(chosen)}, which no remote of this checkout has: ${others.join(', ')}.`,
      `Choose one with ${nameOf('repo')} owner/name, or set MERGEQ_REPO.`,
    )
  }

  async function repositoryRemote(): Promise<Remote | undefined> {
    const chosen = await chosenRemote()
    if (chosen !== undefined) return chosen
    const remotes = await readRemotes(host)
    // Between remotes of other names, a read picks none.
    const fork = findFork(remotes.length === 0 && changes ? await listRemotes(host) : remotes)
    if (fork === undefined) return remotes.find(({ repo }) => repo !== undefined) ?? remotes[0]
    const [origin, upstream] = fork.map(({ name, repo }) => `${name} (${repo && repositoryName(repo)})`)
    const differing = `The remotes ${origin} and ${upstream} point to different repositories`
    if (changes)
      throw usageError(`${differing}.`, `Choose one with ${nameOf('repo')} owner/name, or set MERGEQ_REPO.`)
    const isFirstTime = !notifiedHosts.has(host)
    notifiedHosts.add(host)
    if (isFirstTime) await notify(`${differing}: using upstream. To choose, use ${nameOf('repo')}.`)
    return fork[1]
  }

  /**
   * Returns the remote of the repository that the command uses; undefined for a change between a fork and
   * its parent.
   */
  async function selectedRemote(): Promise<Remote | undefined> {
    const repo = await givenRepo?.()
    const remotes = await readRemotes(host)
    if (repo === undefined) {
      const isOpen = changes && findFork(remotes) !== undefined && (await chosenRemote()) === undefined
      return isOpen ? undefined : repositoryRemote()
    }
    return (
      remotes.find(remote => remote.repo !== undefined && isSameRepository(remote.repo, repo)) ??
      remotes.find(remote => remote.repo === undefined)
    )
  }

  const lookUpCommit = memoize(async () => {
    const [remote, commit] = [await selectedRemote(), await readHead()]
    if (remote === undefined || commit === undefined) return undefined
    const pushed = await readPushed()
    const found = await findPullRequestOfCommit(host, remote, pushed ? [commit, pushed] : [commit])
    const { pr, commit: head } = found
    return pr !== undefined && head !== commit
      ? { ...found, pr: { ...pr, unpushed: await countUnpushed() } }
      : found
  })

  const readBranch = async () =>
    /^refs\/heads\/(.+)$/.exec(await readLine('symbolic-ref', '--quiet', 'HEAD'))?.[1]

  /** Returns the commit of the current branch at the remote, which is behind HEAD while commits are not pushed. */
  const readPushed = memoize(async () => {
    const [remote, branch] = [await selectedRemote(), await readBranch()]
    if (remote === undefined || branch === undefined) return undefined
    const base = await readCommit(`refs/remotes/${remote.name}/HEAD`)
    // A branch whose upstream is the target branch may have been pushed without becoming its upstream, also to a fork.
    const names = new Set([remote.name, ...(await readRemotes(host)).map(({ name }) => name)])
    for (const name of ['@{upstream}', ...[...names].map(name => `refs/remotes/${name}/${branch}`)]) {
      const pushed = await readCommit(name)
      if (pushed !== undefined && pushed !== base) return pushed
    }
    return undefined
  })

  /** Returns how many commits of the current branch its branch at the remote does not have. */
  async function countUnpushed(): Promise<number> {
    const pushed = await readPushed()
    return pushed === undefined ? 0 : Number(await readLine('rev-list', '--count', `${pushed}..HEAD`))
  }

  const finders: Finders = {
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
    sha: async () => toResolvedValue(await readHead(), 'git HEAD'),
    async pr() {
      const pr = (await lookUpCommit())?.pr
      if (pr === undefined) return undefined
      const branch = await readBranch()
      return {
        ...pr,
        guess: branch === undefined ? `commit ${(await readHead())?.slice(0, 7)}` : `branch ${branch}`,
      }
    },
  }

  return {
    find: name => finders[name]?.(),
    async listRepositories() {
      const { HOME, USERPROFILE } = host.env
      const root = await readLine('rev-parse', '--show-toplevel')
      if ([HOME, USERPROFILE].some(home => home !== undefined && home.replaceAll('\\', '/') === root))
        return []
      const remotes = await listRemotes(host)
      return remotes.flatMap(
        ({ name, repo }) => toResolvedValue(repo && repositoryName(repo), `git remote ${name}`) ?? [],
      )
    },
    explainFailure: () => explainBrokenGit(host),
    remoteName: async () => (await selectedRemote())?.name,
    async lookUpCheckout() {
      const isCiJob = isContinuousIntegration(host.env)
      if ((await selectedRemote()) === undefined) {
        const repo = await givenRepo?.()
        // Between a fork and its parent this throws.
        if (repo === undefined) await repositoryRemote()
        return { isCiJob, problem: await explainMissingRemote(host, repo), unpushed: 0 }
      }
      const [commit, branch] = [await readHead(), await readBranch()]
      const commitProblem =
        (await lookUpCommit())?.commitProblem ?? (await explainGit(host, 'rev-parse', 'HEAD'))
      return {
        isCiJob,
        unpushed: await countUnpushed(),
        ...(commit === undefined ? {} : { commit }),
        ...(commitProblem === undefined ? {} : { commitProblem }),
        ...(branch === undefined ? {} : { branch }),
      }
    },
  }
}

/**
 * Returns the one pull request whose head is the first of the commits that is the head of any, or why there is none,
 * without a full stop.
 */
async function findPullRequestOfCommit(
  host: ServiceHost,
  remote: Remote,
  commits: readonly string[],
): Promise<{
  readonly pr?: ResolvedValue | undefined
  readonly commit?: string | undefined
  readonly commitProblem?: string
}> {
  const heads = await listPullRequestHeads(host, remote, '*')
  if (typeof heads === 'string') return { commitProblem: heads }
  const { name, repo } = remote
  if (heads.size === 0) return { commitProblem: `remote ${name} lists no pull requests` }
  const commit = commits.find(sha => [...heads.values()].includes(sha))
  const numbers = [...heads].flatMap(([number, head]) => (head === commit ? [number] : []))
  if (numbers.length === 1)
    return { pr: toResolvedValue(numbers[0], `the pull requests at git remote ${name}`), commit }
  const subject = `commit ${(commit ?? commits[0])?.slice(0, 7)}`
  return {
    commitProblem:
      numbers.length === 0
        ? `${subject} is not the head of a pull request in ${repo && repositoryName(repo)}`
        : `${subject} is the head of several pull requests in ${repo && repositoryName(repo)}: ${numbers.map(number => `#${number}`).join(', ')}`,
  }
}
