import { repositoryName } from '../domain/values/repository.ts'
import { usageError } from '../errors.ts'
import type { Environment, Files, Host } from '../host/host.ts'
import { isObject, type Json } from '../json.ts'
import type { CiInfo, CiVariables } from './ci-systems.ts'
import { isContinuousIntegration } from './continuous-integration.ts'
import { countParents, withoutTokens } from './git.ts'
import type { SettingKey } from './setting-definitions.ts'
import type { ResolvedValue, SettingSource } from './setting-source.ts'

type OptionalValue = ResolvedValue | undefined

const toValue = (value: unknown, origin: string): OptionalValue => {
  const text = Number.isSafeInteger(value) ? String(value) : value
  return typeof text === 'string' && text !== '' ? { value: text, origin } : undefined
}

const anyText = /^(.+)$/s
/** Matches the branch of a ref: `x` in `refs/heads/x` and in `x`; tags and pull requests do not match. */
const branchPattern = /^(?:refs\/heads\/|(?:refs\/remotes\/)?origin\/)?((?!refs\/|detached$).+)$/s
/** Matches the number in `7`, `refs/pull/7/merge`, `pr/7` and the address of a pull request. */
const numberPattern = /^(?:(?:.*\/)?(?:pull|pr|pull-requests|merge_requests)\/)?(\d+)(?:\/(?:head|merge))?$/
const commitPattern = /^([\da-f]{7,64})$/i

const extract = (value: OptionalValue, pattern: RegExp): OptionalValue =>
  value && toValue(pattern.exec(value.value)?.[1], value.origin)

/**
 * Returns the match of the pattern in the first of the variables that matches; `variables` holds names
 * separated by spaces.
 */
const firstMatch = (env: Environment, variables = '', pattern = anyText): OptionalValue => {
  for (const name of variables.split(' ')) {
    const value = extract(toValue(env[name], name), pattern)
    if (value !== undefined) return value
  }
  return undefined
}

/** Adds the host to a path. Returns undefined for a host without a dot, which would be read as an owner. */
const withHost = (host: string | undefined, path: OptionalValue): OptionalValue => {
  if (path === undefined || host === undefined || host === '' || !path.value.includes('/')) return path
  return /[.:]/.test(host) || host === 'localhost' ? toValue(`${host}/${path.value}`, path.origin) : undefined
}

const readVariables = (env: Environment, variables: CiVariables): CiInfo => {
  const pr = firstMatch(env, variables.pr, numberPattern)
  const headSha = firstMatch(env, variables.headSha, commitPattern)
  return {
    title: variables.title,
    repo: withHost(variables.repo?.host, firstMatch(env, variables.repo?.path)),
    address: firstMatch(env, variables.address),
    head: firstMatch(env, variables.head, branchPattern),
    base: firstMatch(env, variables.base, branchPattern),
    defaultBranch: firstMatch(env, variables.defaultBranch),
    isPullRequest: pr !== undefined,
    pr,
    sha: headSha ?? firstMatch(env, variables.sha, commitPattern),
    isShaUncertain: headSha === undefined && variables.mayBuildMergeCommit === true,
  }
}

const maxEventSize = 32 * 1024 * 1024

/** Returns the content of the event file, or undefined when it is missing or invalid. */
async function readEvent(path: string | undefined, files: Files): Promise<Json | undefined> {
  try {
    return path === undefined ? undefined : JSON.parse((await files.read(path, maxEventSize)) ?? '')
  } catch {
    return undefined
  }
}

const getPath = (json: Json | undefined, path: readonly string[]): Json | undefined =>
  path.reduce<Json | undefined>(
    (part, key) => (isObject(part) && Object.hasOwn(part, key) ? part[key] : undefined),
    json,
  )

/**
 * Reads a job of GitHub Actions, or of Gitea and Forgejo, which use the same variables. For a pull request
 * GITHUB_SHA is the merge commit or the base commit; only the event file contains the head commit.
 */
async function readGitHub(env: Environment, files: Files): Promise<CiInfo> {
  const event = await readEvent(env.GITHUB_EVENT_PATH, files)
  const fromEvent = (...path: readonly string[]) =>
    toValue(getPath(event, path), 'the event file of GitHub Actions')
  const ref = env.GITHUB_REF ?? ''
  const server = env.GITHUB_SERVER_URL ?? ''
  const commentedPullRequest =
    getPath(event, ['issue', 'pull_request']) !== undefined ? fromEvent('issue', 'number') : undefined
  const pullRequestInRef = ref.startsWith('refs/pull/')
    ? firstMatch(env, 'GITHUB_REF', numberPattern)
    : undefined
  const pr = fromEvent('pull_request', 'number') ?? commentedPullRequest ?? pullRequestInRef
  const isPullRequest = pr !== undefined || /^pull_request/.test(env.GITHUB_EVENT_NAME ?? '')
  const builtSha = fromEvent('workflow_run', 'head_sha') ?? firstMatch(env, 'GITHUB_SHA')
  const [headRepository, baseRepository] = ['head', 'base'].map(
    side => fromEvent('pull_request', side, 'repo', 'full_name')?.value,
  )
  // The event has null for the repository of a deleted fork. A pull_request_target job runs with the
  // permissions of the parent repository.
  const isForked =
    baseRepository !== undefined &&
    headRepository?.toLowerCase() !== baseRepository.toLowerCase() &&
    env.GITHUB_EVENT_NAME !== 'pull_request_target'
  return {
    title: 'GitHub Actions',
    repo: withHost(URL.canParse(server) ? new URL(server).host : '', firstMatch(env, 'GITHUB_REPOSITORY')),
    head:
      firstMatch(env, 'GITHUB_HEAD_REF') ??
      fromEvent('pull_request', 'head', 'ref') ??
      firstMatch(env, 'GITHUB_REF', branchPattern),
    base:
      firstMatch(env, 'GITHUB_BASE_REF') ??
      fromEvent('pull_request', 'base', 'ref') ??
      extract(fromEvent('merge_group', 'base_ref'), branchPattern),
    defaultBranch: fromEvent('repository', 'default_branch'),
    isPullRequest,
    pr,
    sha: isPullRequest ? fromEvent('pull_request', 'head', 'sha') : builtSha,
    forkedRun: isForked ? firstMatch(env, 'GITHUB_RUN_ID') : undefined,
  }
}

/**
 * Returns the facts about the CI job, or undefined outside CI. A few variables decide this before any
 * module is loaded.
 */
async function readCi({ env: hostEnv, files }: Host): Promise<CiInfo | undefined> {
  const env = withoutTokens(hostEnv)
  if ((env.GITHUB_ACTIONS ?? '') !== '') return readGitHub(env, files)
  if (!isContinuousIntegration(env)) return undefined
  const { detectCi } = await import('./ci-systems.ts')
  return detectCi(env, readVariables)
}

/** Matches the test branches of the merge queue, and of the merge queue of GitHub. */
const queueBranch = /^(?:trunk-merge|trunk-temp|gh-readonly-queue)\//
const testBranch =
  /^trunk-merge\/pr-[^/]+\/([\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}(?:-bisection[\w.-]*)?)$/i

/**
 * Returns the CI job as a source (CLI.md section 3). It has the repository of the pull request, the branch
 * to merge into (or the branch that the job builds), the pull request and its head commit, the test run of
 * a test branch, and, without a token, the workflow run of a pull request from a fork.
 *
 * `find('sha')` throws a usage error when a job of a pull request does not state the head commit reliably:
 * with a merge commit the queue would wait forever. `find('pr')` throws a usage error on a test branch,
 * whose draft pull request belongs to the queue.
 */
export function ciSource(host: Host, hasToken: () => Promise<boolean>): SettingSource {
  let ciPromise: Promise<CiInfo | undefined> | undefined
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
        `This job runs on ${head?.value}, a test branch of the queue, which is no pull request of its own.`,
        'Name a pull request (123, #123 or its address), or set MERGEQ_PR.',
      )
    },
    async sha({ title, sha, isPullRequest, isShaUncertain }) {
      if (!isPullRequest || (sha !== undefined && isShaUncertain !== true)) return sha
      // A commit with a single parent is not a merge commit.
      if (sha !== undefined && ((await countParents(host, sha.value)) ?? 2) < 2) return sha
      throw usageError(
        `${title} does not tell the head commit of the pull request: what it builds may be the merge commit.`,
        'Give --sha <sha> or set MERGEQ_SHA; --no-sha sends none.',
      )
    },
  }
  const valuePromises = new Map<SettingKey, Promise<OptionalValue>>()
  return {
    find(name) {
      const finder = finders[name]
      if (finder === undefined) return undefined
      ciPromise ??= readCi(host)
      const value = valuePromises.get(name) ?? ciPromise.then(ciInfo => ciInfo && finder(ciInfo))
      valuePromises.set(name, value)
      return value
    },
  }
}

const isQueueBranch = (head: OptionalValue): boolean => queueBranch.test(head?.value ?? '')

async function parseRepositoryAddress(address: OptionalValue): Promise<OptionalValue> {
  if (address === undefined) return undefined
  const { parseGitRemote } = await import('./git-remote.ts')
  const repo = parseGitRemote(address.value)
  return repo && toValue(repositoryName(repo), address.origin)
}
