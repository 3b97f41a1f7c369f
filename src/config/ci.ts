import { repositoryName } from '../domain/values/repository.ts'
import { usageError } from '../errors.ts'
import type { Environment, Files, Host } from '../host/host.ts'
import { isObject, type Json } from '../json.ts'
import type { CiInfo, CiVariables } from './ci-systems.ts'
import { isContinuousIntegration } from './continuous-integration.ts'
import { countParents, withoutTokens } from './git.ts'
import type { SettingKey } from './setting-definitions.ts'
import type { ResolvedValue, SettingSource } from './source.ts'

type Maybe = ResolvedValue | undefined

const found = (value: unknown, origin: string): Maybe => {
  const word = Number.isSafeInteger(value) ? String(value) : value
  return typeof word === 'string' && word !== '' ? { value: word, origin } : undefined
}

const anything = /^(.+)$/s
/** The branch in a ref: that of `refs/heads/x` and of `x` is `x`; a tag or a pull request has none. */
const branch = /^(?:refs\/heads\/|(?:refs\/remotes\/)?origin\/)?((?!refs\/|detached$).+)$/s
/** The number in `7`, `refs/pull/7/merge`, `pr/7` and the address of a pull request. */
const number = /^(?:(?:.*\/)?(?:pull|pr|pull-requests|merge_requests)\/)?(\d+)(?:\/(?:head|merge))?$/
const commit = /^([\da-f]{7,64})$/i

const within = (value: Maybe, pattern: RegExp): Maybe =>
  value && found(pattern.exec(value.value)?.[1], value.origin)

/** The first of some variables, parted by blanks, in which the pattern finds something. */
const first = (env: Environment, names = '', pattern = anything): Maybe => {
  for (const name of names.split(' ')) {
    const value = within(found(env[name], name), pattern)
    if (value !== undefined) return value
  }
  return undefined
}

/** A path on a host. A host that would be read as an owner, for want of a dot, names nothing. */
const at = (host: string | undefined, path: Maybe): Maybe => {
  if (path === undefined || host === undefined || host === '' || !path.value.includes('/')) return path
  return /[.:]/.test(host) || host === 'localhost' ? found(`${host}/${path.value}`, path.origin) : undefined
}

const readNames = (env: Environment, names: CiVariables): CiInfo => {
  const pr = first(env, names.pr, number)
  const headSha = first(env, names.headSha, commit)
  return {
    title: names.title,
    repo: at(names.repo?.host, first(env, names.repo?.path)),
    address: first(env, names.address),
    head: first(env, names.head, branch),
    base: first(env, names.base, branch),
    trunk: first(env, names.trunk),
    pulls: pr !== undefined,
    pr,
    sha: headSha ?? first(env, names.sha, commit),
    unsure: headSha === undefined && names.merges === true,
  }
}

const largestEvent = 32 * 1024 * 1024

/** The event file; nothing where there is none, or where it is broken. */
async function readEvent(path: string | undefined, files: Files): Promise<Json | undefined> {
  try {
    return path === undefined ? undefined : JSON.parse((await files.read(path, largestEvent)) ?? '')
  } catch {
    return undefined
  }
}

const below = (json: Json | undefined, path: readonly string[]): Json | undefined =>
  path.reduce<Json | undefined>(
    (part, key) => (isObject(part) && Object.hasOwn(part, key) ? part[key] : undefined),
    json,
  )

/**
 * GitHub Actions, and Gitea's and Forgejo's after its model. Of a pull request GITHUB_SHA is the merge commit, or the
 * commit of its base: the head commit stands in the event file alone.
 */
async function readGitHub(env: Environment, files: Files): Promise<CiInfo> {
  const event = await readEvent(env.GITHUB_EVENT_PATH, files)
  const told = (...path: readonly string[]) => found(below(event, path), 'the event file of GitHub Actions')
  const ref = env.GITHUB_REF ?? ''
  const server = env.GITHUB_SERVER_URL ?? ''
  const commented =
    below(event, ['issue', 'pull_request']) !== undefined ? told('issue', 'number') : undefined
  const inRef = ref.startsWith('refs/pull/') ? first(env, 'GITHUB_REF', number) : undefined
  const pr = told('pull_request', 'number') ?? commented ?? inRef
  const pulls = pr !== undefined || /^pull_request/.test(env.GITHUB_EVENT_NAME ?? '')
  const built = told('workflow_run', 'head_sha') ?? first(env, 'GITHUB_SHA')
  const [from, into] = ['head', 'base'].map(side => told('pull_request', side, 'repo', 'full_name')?.value)
  // The repository of a fork that was deleted meanwhile is null; pull_request_target runs in the parent's own name.
  const isForked =
    into !== undefined &&
    from?.toLowerCase() !== into.toLowerCase() &&
    env.GITHUB_EVENT_NAME !== 'pull_request_target'
  return {
    title: 'GitHub Actions',
    repo: at(URL.canParse(server) ? new URL(server).host : '', first(env, 'GITHUB_REPOSITORY')),
    head:
      first(env, 'GITHUB_HEAD_REF') ??
      told('pull_request', 'head', 'ref') ??
      first(env, 'GITHUB_REF', branch),
    base:
      first(env, 'GITHUB_BASE_REF') ??
      told('pull_request', 'base', 'ref') ??
      within(told('merge_group', 'base_ref'), branch),
    trunk: told('repository', 'default_branch'),
    pulls,
    pr,
    sha: pulls ? told('pull_request', 'head', 'sha') : built,
    forkedRun: isForked ? first(env, 'GITHUB_RUN_ID') : undefined,
  }
}

/** What the job says; undefined outside CI, which a few variables tell before anything is loaded. */
async function readJob({ env: whole, files }: Host): Promise<CiInfo | undefined> {
  const env = withoutTokens(whole)
  if ((env.GITHUB_ACTIONS ?? '') !== '') return readGitHub(env, files)
  if (!isContinuousIntegration(env)) return undefined
  const { detectCi } = await import('./ci-systems.ts')
  return detectCi(env, readNames)
}

/** The branches that a queue makes to test on, the host's own queue included. */
const queueBranch = /^(?:trunk-merge|trunk-temp|gh-readonly-queue)\//
const testBranch =
  /^trunk-merge\/pr-[^/]+\/([\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}(?:-bisection[\w.-]*)?)$/i

/**
 * The CI job as a source (CLI.md section 3): the repository that the pull request goes to, the branch that it is to be
 * merged into (or the branch that is built), the pull request and its head commit, the test run of the test branch that
 * the job runs on, and, where there is no token, the run of a pull request from a fork. Where a job is about a pull request whose head commit it does not tell for certain, asking for
 * that commit is a usage failure: the queue would take the merge commit and wait for ever. So is asking for the pull
 * request of a test branch: the draft that a queue opens for it is nobody's.
 */
export function ciSource(host: Host, hasToken: () => Promise<boolean>): SettingSource {
  let reading: Promise<CiInfo | undefined> | undefined
  const finders: Readonly<Partial<Record<SettingKey, (job: CiInfo) => Maybe | Promise<Maybe>>>> = {
    repo: async ({ repo, address }) => (await repoAt(address)) ?? repo,
    targetBranch: ({ base, head, pulls, trunk }) =>
      base ?? (pulls ? undefined : isOfQueue(head) ? trunk : head),
    testRun: ({ head }) => within(head, testBranch),
    forkedRun: async ({ forkedRun }) =>
      forkedRun === undefined || (await hasToken()) ? undefined : forkedRun,
    pr({ pr, head }) {
      if (!isOfQueue(head)) return pr
      throw usageError(
        `This job runs on ${head?.value}, a test branch of the queue, which is no pull request of its own.`,
        'Name a pull request (123, #123 or its address), or set MERGEQ_PR.',
      )
    },
    async sha({ title, sha, pulls, unsure }) {
      if (!pulls || (sha !== undefined && unsure !== true)) return sha
      // A commit with one parent merges nothing.
      if (sha !== undefined && ((await countParents(host, sha.value)) ?? 2) < 2) return sha
      throw usageError(
        `${title} does not tell the head commit of the pull request: what it builds may be the merge commit.`,
        'Give --sha <sha> or set MERGEQ_SHA; --no-sha sends none.',
      )
    },
  }
  const answers = new Map<SettingKey, Promise<Maybe>>()
  return {
    find(name) {
      const finder = finders[name]
      if (finder === undefined) return undefined
      reading ??= readJob(host)
      const answer = answers.get(name) ?? reading.then(job => job && finder(job))
      answers.set(name, answer)
      return answer
    },
  }
}

const isOfQueue = (head: Maybe): boolean => queueBranch.test(head?.value ?? '')

async function repoAt(address: Maybe): Promise<Maybe> {
  if (address === undefined) return undefined
  const { parseGitRemote } = await import('./git-remote.ts')
  const repo = parseGitRemote(address.value)
  return repo && found(repositoryName(repo), address.origin)
}
