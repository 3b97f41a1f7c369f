import { usageError } from '../base/errors.ts'
import { get, type Json } from '../base/json.ts'
import { memoize } from '../base/scheduling.ts'
import { parseUrl } from '../base/url.ts'
import { isPullRequestReference, parsePullRequest } from '../values/pull-request.ts'
import {
  isSameRepository,
  parseRepository,
  readHost,
  readRepositoryAddress,
  repositoryName,
} from '../values/repository.ts'
import { type CiSystem, findCiSystem } from './ci-systems.ts'
import { gitOutput, listParents } from './git.ts'
import { withRun } from './github-event.ts'
import { type ResolvedValue, type SettingKey, toResolvedValue } from './setting-definitions.ts'
import { choose, namePullRequest, type SourceContext } from './source-context.ts'

const anyText = /^(.+)$/s
/** Matches the branch of a ref: `x` in `refs/heads/x` and in `x`; tags and pull requests do not match. */
const branchPattern = /^(?:refs\/heads\/|(?:refs\/remotes\/)?origin\/)?((?!refs\/|detached$).+)$/s
/** Matches the number in `7`, `refs/pull/7/merge`, `pr/7` and the address of a pull request; no branch. */
const numberPattern =
  /^(?!refs\/(?:heads|tags)\/)(?:(?:[^,]*\/)?(?:pulls?|pr|pull-requests|merge_requests)\/)?(\d+)(?:\/(?:head|merge))?$/
/** Bitbucket Pipelines states 12 digits (codecov/codecov-bash#241); systems write zeros for no commit. */
const commitPattern = /^(?!0+$)([\da-f]{7,64})$/i
/** Matches the test branches of the merge queue, and of the merge queue of GitHub. */
const queueBranch = /^(?:trunk-merge|trunk-temp|gh-readonly-queue)\//
const testBranch =
  /^trunk-merge\/pr-[^/]+\/([\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}(?:-bisection[\w.-]*)?)$/i

const maxEventSize = 32 * 1024 * 1024

/** Outside of a job, no variable is read. */
const noSystem: CiSystem = { title: '', markers: '', sha: '' }

const extract = (value: ResolvedValue | undefined, pattern: RegExp): ResolvedValue | undefined =>
  value && toResolvedValue(pattern.exec(value.value)?.[1], value.origin)

/** Returns the CI job as a source (docs/reference/cli.md, "CI jobs and git"); what it cannot tell is a usage error. */
export function openCiJob(context: SourceContext) {
  const { host, give, hasToken, hintOf } = context
  const { env, files } = host
  const system = findCiSystem(env) ?? noSystem
  const readEvent = memoize(async (): Promise<Json | undefined> => {
    try {
      const path = env[system.eventFile ?? ''] ?? ''
      return withRun(JSON.parse((await files.read(path, maxEventSize)) ?? ''))
    } catch {
      return undefined
    }
  })
  /** Returns the match of the pattern in the first of the variables that matches. */
  const first = async (names = '', pattern = anyText): Promise<ResolvedValue | undefined> => {
    for (const name of names.split(' ')) {
      const [, member] = /^event\.(.+)/.exec(name) ?? []
      const value =
        member === undefined
          ? toResolvedValue(env[name], name)
          : toResolvedValue(get(await readEvent(), member), `the event file of ${system.title}`)
      const found = extract(value, pattern)
      if (found !== undefined) return found
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
  const isPullRequestEvent = async () => (await first(system.event, /^(pull_request)/)) !== undefined
  /** Returns the branch that the pull request of the job, or the group of a merge queue, is merged into. */
  const findBase = async () =>
    system.hasBase?.(env) === false ? undefined : first(system.base, branchPattern)

  async function findRepository(): Promise<ResolvedValue | undefined> {
    const address = await first(system.address)
    const read = address && readRepositoryAddress(address.value)
    if (read !== undefined) return toResolvedValue(repositoryName(read.repo), address?.origin ?? '')
    for (const { host: server, path } of system.repo ?? []) {
      const found = await first(path)
      const address = (await first(server))?.value ?? ''
      if (found === undefined) continue
      if (address === '' || !found.value.includes('/')) return found
      // A host without a dot would be read as an owner.
      const name = readHost(parseUrl(address)?.host || address)
      return name === undefined ? undefined : { ...found, value: `${name}/${found.value}` }
    }
    return undefined
  }

  /** Returns the base of the pull request, else the default branch if the job builds that. */
  async function findTargetBranch(): Promise<ResolvedValue | undefined> {
    const base = await findBase()
    if (base !== undefined) return base
    const usual = await first(system.defaultBranch, branchPattern)
    if (system.hidesPullRequests === true || (await readPullRequest()) !== undefined) return usual
    const head = await readHead()
    const built = isQueueBranch(head) || (await isPullRequestEvent()) ? undefined : head
    if (usual === undefined || built?.value === usual.value) return built
    const problem =
      built === undefined
        ? 'This job builds no branch that can be the target branch'
        : `This job builds ${built.value}, not the default branch ${usual.value}`
    const choices = [built, usual].flatMap(found => (found ? [give('targetBranch', found.value)] : []))
    return choose(context, usual, {
      isRefused: context.changes,
      problem: `${problem}: which queue to change is not known.`,
      advice: `Use ${choices.join(' or ')}, or set MERGEQ_TARGET_BRANCH.`,
      remark: `${problem}: using ${usual.value}. To choose, set MERGEQ_TARGET_BRANCH.`,
    })
  }

  async function findPullRequest(): Promise<ResolvedValue | undefined> {
    const head = await readHead()
    if (isQueueBranch(head))
      throw usageError(
        `This job runs on ${head?.value}, a test branch of the merge queue, not the branch of a pull request.`,
        namePullRequest,
      )
    const found = await readPullRequest()
    const url = env[found?.origin ?? ''] ?? ''
    const named = isPullRequestReference(url) ? parsePullRequest(url).repo : undefined
    const built = (await findRepository())?.value
    if (named === undefined || built === undefined) return found
    // The job of a fork may name the pull request in its parent.
    if (isSameRepository(parseRepository(named), parseRepository(built))) return found
    throw usageError(
      `${found?.origin} names #${found?.value} of ${named}, but this job is one of ${built}.`,
      namePullRequest,
    )
  }

  /** Returns the commit that the job builds if it is the head of the pull request, not a merge of it. */
  async function findUnmerged(built: ResolvedValue): Promise<ResolvedValue | undefined> {
    const kind = system.shaOfPullRequest?.(env) ?? 'head'
    if (kind === 'head') return built
    const parents = kind === 'head or merge' ? await listParents(host, built.value) : undefined
    if (parents === undefined || parents.length < 2) return parents && built
    const name = (await first(system.headRef))?.value
    const fetched = name && (await gitOutput(host, 'rev-parse', `refs/remotes/origin/${name}`))?.trim()
    return [built.value, ...parents].some(commit => commit === fetched)
      ? toResolvedValue(fetched, `git origin/${name}`)
      : undefined
  }

  async function findHeadCommit(): Promise<ResolvedValue | undefined> {
    const stated = await first(system.headSha, commitPattern)
    const built = await first(system.sha, commitPattern)
    if (stated !== undefined) return stated
    if ((await readPullRequest()) === undefined && !(await isPullRequestEvent())) return built
    const head = built && (await findUnmerged(built))
    if (head !== undefined) return head
    throw usageError(
      `${system.title} does not provide the head commit of the pull request; the commit that it builds may be a merge commit.`,
      hintOf('sha'),
    )
  }

  /** Returns the run of a pull request from a fork, which has no token. */
  async function findForkedRun(): Promise<ResolvedValue | undefined> {
    const { head = '', base = '', run } = system.fork?.(env) ?? {}
    // The event has null for the repository of a deleted fork.
    const [headRepo, baseRepo] = [await first(head), await first(base)]
    const isFork = baseRepo !== undefined && headRepo?.value.toLowerCase() !== baseRepo.value.toLowerCase()
    return isFork && !(await hasToken()) ? first(run) : undefined
  }

  const finders: Readonly<Partial<Record<SettingKey, () => Promise<ResolvedValue | undefined>>>> = {
    repo: findRepository,
    targetBranch: findTargetBranch,
    pr: findPullRequest,
    sha: findHeadCommit,
    testRun: async () => extract(await readHead(), testBranch),
    forkedRun: findForkedRun,
  }
  return { find: (name: SettingKey) => finders[name]?.(), findBase }
}

export type CiJob = ReturnType<typeof openCiJob>
