import { memoize } from '../domain/memoize.ts'
import { repositoryName } from '../domain/values/repository.ts'
import { usageError } from '../errors.ts'
import type { Environment, Files, Host } from '../host/host.ts'
import { get, type Json } from '../json.ts'
import { parseUrl } from '../url.ts'
import { type CiSystem, findCiSystem } from './ci-systems.ts'
import { countParents, withoutTokens } from './git.ts'
import {
  type ResolvedValue,
  type SettingKey,
  type SettingSource,
  toResolvedValue,
} from './setting-definitions.ts'

type OptionalValue = ResolvedValue | undefined

/** The facts that a CI job states; unknown facts are undefined. */
type CiInfo = Readonly<
  Record<
    'repo' | 'address' | 'head' | 'base' | 'defaultBranch' | 'pr' | 'sha' | 'forkedRun',
    ResolvedValue | undefined
  >
> & {
  readonly title: string
  readonly isPullRequest: boolean
  /** Whether `sha` may be a merge commit instead of the head commit of the pull request. */
  readonly isShaUncertain: boolean
}

const anyText = /^(.+)$/s
/** Matches the branch of a ref: `x` in `refs/heads/x` and in `x`; tags and pull requests do not match. */
const branchPattern = /^(?:refs\/heads\/|(?:refs\/remotes\/)?origin\/)?((?!refs\/|detached$).+)$/s
/** Matches the number in `7`, `refs/pull/7/merge`, `pr/7` and the address of a pull request; no branch. */
const numberPattern =
  /^(?!refs\/(?:heads|tags)\/)(?:(?:[^,]*\/)?(?:pulls?|pr|pull-requests|merge_requests)\/)?(\d+)(?:\/(?:head|merge))?$/
const commitPattern = /^([\da-f]{7,64})$/i

const extract = (value: OptionalValue, pattern: RegExp): OptionalValue =>
  value && toResolvedValue(pattern.exec(value.value)?.[1], value.origin)

/** Adds the host to a path. Returns undefined for a host without a dot, which would be read as an owner. */
const withHost = (host: string | undefined, path: OptionalValue): OptionalValue => {
  if (path === undefined || host === undefined || host === '' || !path.value.includes('/')) return path
  return /[.:]/.test(host) || host === 'localhost'
    ? toResolvedValue(`${host}/${path.value}`, path.origin)
    : undefined
}

const maxEventSize = 32 * 1024 * 1024

async function readEvent(path: string | undefined, files: Files): Promise<Json | undefined> {
  try {
    return path === undefined ? undefined : JSON.parse((await files.read(path, maxEventSize)) ?? '')
  } catch {
    return undefined
  }
}

async function readSystem(system: CiSystem, env: Environment, files: Files): Promise<CiInfo> {
  const event = system.eventFile === undefined ? undefined : await readEvent(env[system.eventFile], files)
  const lookup = (name: string): OptionalValue =>
    name.startsWith('event.')
      ? toResolvedValue(get(event, name.slice('event.'.length)), `the event file of ${system.title}`)
      : toResolvedValue(env[name], name)
  /** Returns the match of the pattern in the first of the variables that matches. */
  const first = (names = '', pattern = anyText): OptionalValue => {
    for (const name of names.split(' ')) {
      const value = extract(lookup(name), pattern)
      if (value !== undefined) return value
    }
    return undefined
  }
  const pr = first(system.pr, numberPattern)
  const isPullRequest = pr !== undefined || system.isPullRequest?.(env) === true
  const headSha = first(system.headSha, commitPattern)
  const shaOfPullRequest = system.shaOfPullRequest?.(env) ?? 'head'
  const hasSha = !isPullRequest || shaOfPullRequest !== 'merge or base'
  const repo = system.repo?.find(({ path }) => first(path) !== undefined)
  const fork = system.fork?.(env)
  // The event has null for the repository of a deleted fork.
  const [headRepository, baseRepository] = [first(fork?.head), first(fork?.base)]
  const isForked =
    baseRepository !== undefined && headRepository?.value.toLowerCase() !== baseRepository.value.toLowerCase()
  return {
    title: system.title,
    repo: repo && withHost(hostOf(first(repo.host)?.value), first(repo.path)),
    address: first(system.address),
    head: system.hasHead?.(env) === false ? undefined : first(system.head, branchPattern),
    base: first(system.base, branchPattern),
    defaultBranch: first(system.defaultBranch),
    isPullRequest,
    pr,
    sha: headSha ?? (hasSha ? first(system.sha, commitPattern) : undefined),
    isShaUncertain: headSha === undefined && shaOfPullRequest !== 'head',
    forkedRun: isForked ? first(fork?.run) : undefined,
  }
}

/** Returns the host of an address or of a host. */
const hostOf = (server = ''): string => parseUrl(server)?.host || server

async function readCi({ env: hostEnv, files }: Host): Promise<CiInfo | undefined> {
  const env = withoutTokens(hostEnv)
  const system = findCiSystem(env)
  return system && readSystem(system, env, files)
}

/** Matches the test branches of the merge queue, and of the merge queue of GitHub. */
const queueBranch = /^(?:trunk-merge|trunk-temp|gh-readonly-queue)\//
const testBranch =
  /^trunk-merge\/pr-[^/]+\/([\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}(?:-bisection[\w.-]*)?)$/i

/**
 * Returns the CI job as a source (docs/reference/cli.md, "CI jobs and git"). It has the repository of the
 * pull request, the branch to merge into (or the branch that the job builds), the pull request and its head
 * commit, the test run of a test branch, and, without a token, the workflow run of a pull request from a
 * fork.
 *
 * `find('sha')` throws a usage error when a job of a pull request does not state the head commit reliably:
 * with a merge commit the queue would wait forever. `find('pr')` throws a usage error on a test branch,
 * whose draft pull request belongs to the queue.
 */
export function ciSource(host: Host, hasToken: () => Promise<boolean>): SettingSource {
  const ciJob = memoize(() => readCi(host))
  const finders: Readonly<
    Partial<Record<SettingKey, (ciInfo: CiInfo) => OptionalValue | Promise<OptionalValue>>>
  > = {
    repo: async ({ repo, address }) => (await parseRepositoryAddress(address)) ?? repo,
    targetBranch: ({ base, head, isPullRequest, defaultBranch }) =>
      base ?? (isPullRequest ? undefined : isQueueBranch(head) ? defaultBranch : head),
    testRun: ({ head }) => extract(head, testBranch),
    forkedRun: async ({ forkedRun }) =>
      forkedRun === undefined || (await hasToken()) ? undefined : forkedRun,
    pr({ pr, head }) {
      if (!isQueueBranch(head)) return pr
      throw usageError(
        `This job runs on ${head?.value}, a test branch of the merge queue, not the branch of a pull request.`,
        'Specify a pull request (123, #123 or its URL), or set MERGEQ_PR.',
      )
    },
    async sha({ title, sha, isPullRequest, isShaUncertain }) {
      if (!isPullRequest || (sha !== undefined && !isShaUncertain)) return sha
      // A commit with a single parent is not a merge commit.
      if (sha !== undefined && ((await countParents(host, sha.value)) ?? 2) < 2) return sha
      throw usageError(
        `${title} does not provide the head commit of the pull request; the commit that it builds may be a merge commit.`,
        'Use --sha <sha> or set MERGEQ_SHA. To send no commit, use --no-sha.',
      )
    },
  }
  return {
    find(name) {
      const finder = finders[name]
      return finder && ciJob().then(ciInfo => ciInfo && finder(ciInfo))
    },
  }
}

const isQueueBranch = (head: OptionalValue): boolean => queueBranch.test(head?.value ?? '')

async function parseRepositoryAddress(address: OptionalValue): Promise<OptionalValue> {
  if (address === undefined) return undefined
  const { parseGitRemote } = await import('./git-remote.ts')
  const repo = parseGitRemote(address.value)
  return repo && toResolvedValue(repositoryName(repo), address.origin)
}
