import type { Environment } from '../host/host.ts'
import type { ResolvedValue } from './source.ts'

/** Where a system says what: variables by name, parted by blanks; the first that holds anything counts. */
export interface CiVariables {
  /** The system's name, for a person. */
  readonly title: string
  /** The repository: `[owner/]name` in a variable, and the host that it is on. */
  readonly repo?: { readonly host?: string | undefined; readonly path: string }
  /** A git address of the repository. */
  readonly address?: string
  /** The branch that is built: of a pull request its own. */
  readonly head?: string
  /** The branch that the pull request is to be merged into. */
  readonly base?: string
  /** The default branch of the repository. */
  readonly trunk?: string
  readonly pr?: string
  /** The head commit of the pull request; `sha` is the commit that is built. */
  readonly headSha?: string
  readonly sha?: string
  /** Whether what is built of a pull request may be the commit that merges it. */
  readonly merges?: boolean
}

/** What a CI job says of itself; what it does not say is absent. */
export type CiInfo = Readonly<
  Partial<Record<'repo' | 'address' | 'head' | 'base' | 'trunk' | 'pr' | 'sha', ResolvedValue | undefined>>
> & {
  readonly title: string
  /** Whether the job is about a pull request. */
  readonly pulls: boolean
  /** The run's id, where it is one of a pull request from a fork. */
  readonly forkedRun?: ResolvedValue | undefined
  /** `sha` may be the commit that merges the pull request into its base. */
  readonly unsure?: boolean
}

/** What env-ci finds, as far as it is used here. */
interface Reading {
  readonly name?: string
  readonly service?: string
  readonly commit?: string
  readonly branch?: string
  readonly prBranch?: string
  readonly pr?: string | number
  readonly isPr?: boolean
  readonly slug?: string
  readonly tag?: string
}

const has = (env: Environment, ...names: readonly string[]): boolean =>
  names.some(name => (env[name] ?? '') !== '')

/** The systems of which there is more to say than env-ci reads, each by a variable that it sets. */
const systems: Readonly<Record<string, (env: Environment) => CiVariables>> = {
  GITLAB_CI: env => ({
    title: 'GitLab CI/CD',
    repo: has(env, 'CI_EXTERNAL_PULL_REQUEST_IID')
      ? { path: 'CI_EXTERNAL_PULL_REQUEST_TARGET_REPOSITORY' }
      : {
          host: env.CI_SERVER_FQDN || env.CI_SERVER_HOST,
          path: 'CI_MERGE_REQUEST_PROJECT_PATH CI_PROJECT_PATH',
        },
    head: 'CI_MERGE_REQUEST_SOURCE_BRANCH_NAME CI_EXTERNAL_PULL_REQUEST_SOURCE_BRANCH_NAME CI_COMMIT_BRANCH',
    base: 'CI_MERGE_REQUEST_TARGET_BRANCH_NAME CI_EXTERNAL_PULL_REQUEST_TARGET_BRANCH_NAME',
    trunk: 'CI_DEFAULT_BRANCH',
    pr: 'CI_MERGE_REQUEST_IID CI_EXTERNAL_PULL_REQUEST_IID',
    headSha: 'CI_MERGE_REQUEST_SOURCE_BRANCH_SHA CI_EXTERNAL_PULL_REQUEST_SOURCE_BRANCH_SHA',
    sha: 'CI_COMMIT_SHA',
    merges: /^merge/.test(env.CI_MERGE_REQUEST_EVENT_TYPE ?? ''),
  }),
  BUILDKITE: env => ({
    title: 'Buildkite',
    address: 'BUILDKITE_REPO',
    head: has(env, 'BUILDKITE_TAG') ? '' : 'BUILDKITE_BRANCH',
    base: 'BUILDKITE_PULL_REQUEST_BASE_BRANCH BUILDKITE_MERGE_QUEUE_BASE_BRANCH',
    trunk: 'BUILDKITE_PIPELINE_DEFAULT_BRANCH',
    pr: 'BUILDKITE_PULL_REQUEST',
    headSha: 'BUILDKITE_PULL_REQUEST_HEAD_COMMIT',
    sha: 'BUILDKITE_COMMIT',
    merges: env.BUILDKITE_PULL_REQUEST_USING_MERGE_REFSPEC === 'true',
  }),
  CIRCLECI: env => ({
    title: 'CircleCI',
    address: 'CIRCLE_REPOSITORY_URL',
    // Of several pull requests on one branch CIRCLE_PULL_REQUEST names any: then none is meant, and no base.
    ...(env.CIRCLE_PULL_REQUESTS?.includes(',') === true
      ? {}
      : { head: 'CIRCLE_BRANCH', pr: 'CIRCLE_PR_NUMBER CIRCLE_PULL_REQUEST CI_PULL_REQUEST' }),
    sha: 'CIRCLE_SHA1',
  }),
  BITBUCKET_BUILD_NUMBER: () => ({
    title: 'Bitbucket Pipelines',
    repo: { host: 'bitbucket.org', path: 'BITBUCKET_REPO_FULL_NAME' },
    head: 'BITBUCKET_BRANCH',
    base: 'BITBUCKET_PR_DESTINATION_BRANCH',
    pr: 'BITBUCKET_PR_ID',
    sha: 'BITBUCKET_COMMIT',
  }),
  BUILD_BUILDURI: () => ({
    title: 'Azure Pipelines',
    address: 'BUILD_REPOSITORY_URI',
    head: 'SYSTEM_PULLREQUEST_SOURCEBRANCH BUILD_SOURCEBRANCH',
    base: 'SYSTEM_PULLREQUEST_TARGETBRANCH',
    // For a repository on GitHub the id is Azure's own; the number is the one that people know.
    pr: 'SYSTEM_PULLREQUEST_PULLREQUESTNUMBER BUILD_SOURCEBRANCH SYSTEM_PULLREQUEST_PULLREQUESTID',
    headSha: 'SYSTEM_PULLREQUEST_SOURCECOMMITID',
    sha: 'BUILD_SOURCEVERSION',
    merges: true,
  }),
  JENKINS_URL: env => ({
    title: 'Jenkins',
    address: 'GIT_URL',
    pr: 'ghprbPullId gitlabMergeRequestIid CHANGE_ID',
    ...(has(env, 'ghprbPullId', 'gitlabMergeRequestIid', 'CHANGE_ID')
      ? {
          head: 'CHANGE_BRANCH ghprbSourceBranch gitlabSourceBranch',
          base: 'CHANGE_TARGET ghprbTargetBranch gitlabTargetBranch',
        }
      : { head: has(env, 'TAG_NAME') ? '' : 'BRANCH_NAME GIT_LOCAL_BRANCH GIT_BRANCH' }),
    headSha: 'ghprbActualCommit gitlabMergeRequestLastCommit',
    sha: 'GIT_COMMIT',
    // A multibranch job builds PR-7 merged or as it is, as its settings say; PR-7-head says so itself.
    merges: !/-head$/.test(env.BRANCH_NAME ?? ''),
  }),
}

/** What env-ci does not read of the systems that it knows, or reads from another place, by its names for them. */
const more: Readonly<Record<string, Omit<CiVariables, 'title'>>> = {
  appveyor: { headSha: 'APPVEYOR_PULL_REQUEST_HEAD_COMMIT' },
  bamboo: {
    address: 'bamboo_planRepository_repositoryUrl',
    head: 'bamboo_repository_pr_sourceBranch',
    base: 'bamboo_repository_pr_targetBranch',
    pr: 'bamboo_repository_pr_key',
  },
  bitrise: { address: 'GIT_REPOSITORY_URL', merges: false },
  buddy: {
    head: 'BUDDY_EXECUTION_PULL_REQUEST_HEAD_BRANCH',
    base: 'BUDDY_EXECUTION_PULL_REQUEST_BASE_BRANCH',
  },
  cirrus: { address: 'CIRRUS_REPO_CLONE_URL', merges: false },
  codebuild: {
    address: 'CODEBUILD_SOURCE_REPO_URL',
    head: 'CODEBUILD_WEBHOOK_HEAD_REF',
    base: 'CODEBUILD_WEBHOOK_BASE_REF',
    pr: 'CODEBUILD_WEBHOOK_TRIGGER CODEBUILD_SOURCE_VERSION',
    sha: 'CODEBUILD_RESOLVED_SOURCE_VERSION',
    merges: false,
  },
  drone: { address: 'DRONE_GIT_HTTP_URL', merges: false },
  netlify: { address: 'REPOSITORY_URL' },
  screwdriver: { address: 'SCM_URL' },
  semaphore: { address: 'SEMAPHORE_GIT_URL', headSha: 'SEMAPHORE_GIT_PR_SHA' },
  travis: { headSha: 'TRAVIS_PULL_REQUEST_SHA' },
  vela: { address: 'VELA_REPO_CLONE' },
  vercel: { pr: 'VERCEL_GIT_PULL_REQUEST_ID', merges: false },
  woodpecker: { address: 'CI_REPO_CLONE_URL', merges: false },
}

/** Systems whose slug is something else than the repository's name, or whose branch is not the base of a pull request. */
const [otherSlugs, otherBranches] = [
  ['bitrise', 'teamcity', 'jetbrainsSpace'],
  ['buddy', 'vercel'],
]

const hosts = new Map([
  ['github', 'github.com'],
  ['gitlab', 'gitlab.com'],
  ['bitbucket', 'bitbucket.org'],
])

type ReadNames = (env: Environment, names: CiVariables) => CiInfo

/** The job of the system that the variables show, or undefined where they show none. */
export async function detectCi(env: Environment, readNames: ReadNames): Promise<CiInfo | undefined> {
  const mark = Object.keys(systems).find(name => has(env, name))
  const names = mark === undefined ? undefined : systems[mark]?.(env)
  return names === undefined ? readOther(env, readNames) : readNames(env, names)
}

/** A slug as a repository: env-ci joins variables that are not there, and does not say the host. */
function repoIn({ APPVEYOR_REPO_PROVIDER, VERCEL_GIT_PROVIDER }: Environment, slug = ''): string | undefined {
  if (!/^[^/]+(?:\/[^/]+)+$/.test(slug) || slug.split('/').includes('undefined')) return undefined
  const provider = APPVEYOR_REPO_PROVIDER ?? VERCEL_GIT_PROVIDER
  if (provider === undefined) return slug
  const host = hosts.get(provider.toLowerCase())
  return host === undefined ? undefined : `${host}/${slug}`
}

/**
 * A job of one of the other systems that env-ci knows, or undefined. env-ci would run git for some of them, in the
 * checkout and with the whole environment: it is given a search path on which there is no git.
 */
async function readOther(env: Environment, readNames: ReadNames): Promise<CiInfo | undefined> {
  // @ts-expect-error env-ci brings no types.
  const { default: envCi } = await import('env-ci')
  const read = (): Reading => {
    try {
      return envCi({ env: { ...env, PATH: '/dev/null' }, cwd: '/' })
    } catch {
      return {}
    }
  }
  const { service = '', name = service, isPr = false, branch, prBranch, slug, tag = '', ...reading } = read()
  if (service === '') return undefined
  const from = (value: string | number | undefined): ResolvedValue | undefined =>
    value === undefined || value === ''
      ? undefined
      : { value: String(value), origin: `the variables of ${name}` }
  const own = readNames(env, { title: name, merges: true, ...more[service] })
  const pulls = own.pulls || isPr
  return {
    ...own,
    repo: otherSlugs.includes(service) ? undefined : from(repoIn(env, slug)),
    head: own.head ?? from(pulls ? prBranch : tag === '' ? branch : ''),
    base: own.base ?? (isPr && !otherBranches.includes(service) ? from(branch) : undefined),
    pulls,
    pr: own.pr ?? (isPr ? from(reading.pr) : undefined),
    sha: own.sha ?? from(reading.commit),
  }
}
