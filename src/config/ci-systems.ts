import type { Environment } from '../host/host.ts'
import type { ResolvedValue } from './setting-source.ts'

/**
 * The variables of a CI system for each fact about a job: names separated by spaces; the first variable
 * that is not empty wins.
 */
export interface CiVariables {
  /** The name of the system, for messages. */
  readonly title: string
  /** The variables with the repository as `[owner/]name`, and the host of the repository. */
  readonly repo?: { readonly host?: string | undefined; readonly path: string }
  /** A git address of the repository. */
  readonly address?: string
  /** The branch that the job builds; for a pull request, its head branch. */
  readonly head?: string
  /** The branch that the pull request is to be merged into. */
  readonly base?: string
  /** The default branch of the repository. */
  readonly defaultBranch?: string
  readonly pr?: string
  /** The head commit of the pull request; `sha` is the commit that the job builds. */
  readonly headSha?: string
  readonly sha?: string
  /** Whether a job of a pull request may build a merge commit. */
  readonly mayBuildMergeCommit?: boolean
}

/** The facts that a CI job states; unknown facts are undefined. */
export type CiInfo = Readonly<
  Partial<
    Record<'repo' | 'address' | 'head' | 'base' | 'defaultBranch' | 'pr' | 'sha', ResolvedValue | undefined>
  >
> & {
  readonly title: string
  /** Whether the job builds a pull request. */
  readonly isPullRequest: boolean
  /** The id of the workflow run, for a pull request from a fork. */
  readonly forkedRun?: ResolvedValue | undefined
  /** Whether `sha` may be a merge commit instead of the head commit of the pull request. */
  readonly isShaUncertain?: boolean
}

/** The members of the result of env-ci that are used here. */
interface EnvCiResult {
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

const isSet = (env: Environment, ...names: readonly string[]): boolean =>
  names.some(name => (env[name] ?? '') !== '')

/**
 * The variables of the systems whose jobs state more than env-ci reads, by a variable that the system sets.
 */
const variablesByMarker: Readonly<Record<string, (env: Environment) => CiVariables>> = {
  GITLAB_CI: env => ({
    title: 'GitLab CI/CD',
    repo: isSet(env, 'CI_EXTERNAL_PULL_REQUEST_IID')
      ? { path: 'CI_EXTERNAL_PULL_REQUEST_TARGET_REPOSITORY' }
      : {
          host: env.CI_SERVER_FQDN || env.CI_SERVER_HOST,
          path: 'CI_MERGE_REQUEST_PROJECT_PATH CI_PROJECT_PATH',
        },
    head: 'CI_MERGE_REQUEST_SOURCE_BRANCH_NAME CI_EXTERNAL_PULL_REQUEST_SOURCE_BRANCH_NAME CI_COMMIT_BRANCH',
    base: 'CI_MERGE_REQUEST_TARGET_BRANCH_NAME CI_EXTERNAL_PULL_REQUEST_TARGET_BRANCH_NAME',
    defaultBranch: 'CI_DEFAULT_BRANCH',
    pr: 'CI_MERGE_REQUEST_IID CI_EXTERNAL_PULL_REQUEST_IID',
    headSha: 'CI_MERGE_REQUEST_SOURCE_BRANCH_SHA CI_EXTERNAL_PULL_REQUEST_SOURCE_BRANCH_SHA',
    sha: 'CI_COMMIT_SHA',
    mayBuildMergeCommit: /^merge/.test(env.CI_MERGE_REQUEST_EVENT_TYPE ?? ''),
  }),
  BUILDKITE: env => ({
    title: 'Buildkite',
    address: 'BUILDKITE_REPO',
    head: isSet(env, 'BUILDKITE_TAG') ? '' : 'BUILDKITE_BRANCH',
    base: 'BUILDKITE_PULL_REQUEST_BASE_BRANCH BUILDKITE_MERGE_QUEUE_BASE_BRANCH',
    defaultBranch: 'BUILDKITE_PIPELINE_DEFAULT_BRANCH',
    pr: 'BUILDKITE_PULL_REQUEST',
    headSha: 'BUILDKITE_PULL_REQUEST_HEAD_COMMIT',
    sha: 'BUILDKITE_COMMIT',
    mayBuildMergeCommit: env.BUILDKITE_PULL_REQUEST_USING_MERGE_REFSPEC === 'true',
  }),
  CIRCLECI: env => ({
    title: 'CircleCI',
    address: 'CIRCLE_REPOSITORY_URL',
    // With several pull requests on a branch CIRCLE_PULL_REQUEST names an arbitrary one, so neither pull
    // request nor branch is read.
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
    // For a repository on GitHub the id is internal to Azure; users know the number.
    pr: 'SYSTEM_PULLREQUEST_PULLREQUESTNUMBER BUILD_SOURCEBRANCH SYSTEM_PULLREQUEST_PULLREQUESTID',
    headSha: 'SYSTEM_PULLREQUEST_SOURCECOMMITID',
    sha: 'BUILD_SOURCEVERSION',
    mayBuildMergeCommit: true,
  }),
  JENKINS_URL: env => ({
    title: 'Jenkins',
    address: 'GIT_URL',
    pr: 'ghprbPullId gitlabMergeRequestIid CHANGE_ID',
    ...(isSet(env, 'ghprbPullId', 'gitlabMergeRequestIid', 'CHANGE_ID')
      ? {
          head: 'CHANGE_BRANCH ghprbSourceBranch gitlabSourceBranch',
          base: 'CHANGE_TARGET ghprbTargetBranch gitlabTargetBranch',
        }
      : { head: isSet(env, 'TAG_NAME') ? '' : 'BRANCH_NAME GIT_LOCAL_BRANCH GIT_BRANCH' }),
    headSha: 'ghprbActualCommit gitlabMergeRequestLastCommit',
    sha: 'GIT_COMMIT',
    // Depending on its settings, a multibranch job builds PR-7 merged or unmerged; the name PR-7-head means
    // unmerged.
    mayBuildMergeCommit: !/-head$/.test(env.BRANCH_NAME ?? ''),
  }),
}

/** Variables that env-ci does not read, or reads from another place, by its names of the systems. */
const extraVariables: Readonly<Record<string, Omit<CiVariables, 'title'>>> = {
  appveyor: { headSha: 'APPVEYOR_PULL_REQUEST_HEAD_COMMIT' },
  bamboo: {
    address: 'bamboo_planRepository_repositoryUrl',
    head: 'bamboo_repository_pr_sourceBranch',
    base: 'bamboo_repository_pr_targetBranch',
    pr: 'bamboo_repository_pr_key',
  },
  bitrise: { address: 'GIT_REPOSITORY_URL', mayBuildMergeCommit: false },
  buddy: {
    head: 'BUDDY_EXECUTION_PULL_REQUEST_HEAD_BRANCH',
    base: 'BUDDY_EXECUTION_PULL_REQUEST_BASE_BRANCH',
  },
  cirrus: { address: 'CIRRUS_REPO_CLONE_URL', mayBuildMergeCommit: false },
  codebuild: {
    address: 'CODEBUILD_SOURCE_REPO_URL',
    head: 'CODEBUILD_WEBHOOK_HEAD_REF',
    base: 'CODEBUILD_WEBHOOK_BASE_REF',
    pr: 'CODEBUILD_WEBHOOK_TRIGGER CODEBUILD_SOURCE_VERSION',
    sha: 'CODEBUILD_RESOLVED_SOURCE_VERSION',
    mayBuildMergeCommit: false,
  },
  drone: { address: 'DRONE_GIT_HTTP_URL', mayBuildMergeCommit: false },
  netlify: { address: 'REPOSITORY_URL' },
  screwdriver: { address: 'SCM_URL' },
  semaphore: { address: 'SEMAPHORE_GIT_URL', headSha: 'SEMAPHORE_GIT_PR_SHA' },
  travis: { headSha: 'TRAVIS_PULL_REQUEST_SHA' },
  vela: { address: 'VELA_REPO_CLONE' },
  vercel: { pr: 'VERCEL_GIT_PULL_REQUEST_ID', mayBuildMergeCommit: false },
  woodpecker: { address: 'CI_REPO_CLONE_URL', mayBuildMergeCommit: false },
}

/**
 * Systems whose slug is not the name of the repository, and systems whose branch is not the base of a pull
 * request.
 */
const [systemsWithOtherSlug, systemsWithOtherBranch] = [
  ['bitrise', 'teamcity', 'jetbrainsSpace'],
  ['buddy', 'vercel'],
]

const providerHosts = new Map([
  ['github', 'github.com'],
  ['gitlab', 'gitlab.com'],
  ['bitbucket', 'bitbucket.org'],
])

type ReadVariables = (env: Environment, names: CiVariables) => CiInfo

/** Returns the facts about the CI job that the variables describe, or undefined when they describe none. */
export async function detectCi(env: Environment, readVariables: ReadVariables): Promise<CiInfo | undefined> {
  const marker = Object.keys(variablesByMarker).find(name => isSet(env, name))
  const names = marker === undefined ? undefined : variablesByMarker[marker]?.(env)
  return names === undefined ? readEnvCi(env, readVariables) : readVariables(env, names)
}

/**
 * Returns the repository of a slug, or undefined for an invalid slug: env-ci joins undefined variables and
 * omits the host.
 */
function repositoryFromSlug(
  { APPVEYOR_REPO_PROVIDER, VERCEL_GIT_PROVIDER }: Environment,
  slug = '',
): string | undefined {
  if (!/^[^/]+(?:\/[^/]+)+$/.test(slug) || slug.split('/').includes('undefined')) return undefined
  const provider = APPVEYOR_REPO_PROVIDER ?? VERCEL_GIT_PROVIDER
  if (provider === undefined) return slug
  const host = providerHosts.get(provider.toLowerCase())
  return host === undefined ? undefined : `${host}/${slug}`
}

/**
 * Returns the facts about a job of another system that env-ci knows, or undefined. env-ci would run git for
 * some systems, in the checkout and with the whole environment: its search path contains no git.
 */
async function readEnvCi(env: Environment, readVariables: ReadVariables): Promise<CiInfo | undefined> {
  // @ts-expect-error env-ci brings no types.
  const { default: envCi } = await import('env-ci')
  const detect = (): EnvCiResult => {
    try {
      return envCi({ env: { ...env, PATH: '/dev/null' }, cwd: '/' })
    } catch {
      return {}
    }
  }
  const { service = '', name = service, isPr = false, branch, prBranch, slug, tag = '', ...result } = detect()
  if (service === '') return undefined
  const toValue = (value: string | number | undefined): ResolvedValue | undefined =>
    value === undefined || value === ''
      ? undefined
      : { value: String(value), origin: `the variables of ${name}` }
  const ciInfo = readVariables(env, { title: name, mayBuildMergeCommit: true, ...extraVariables[service] })
  const isPullRequest = ciInfo.isPullRequest || isPr
  return {
    ...ciInfo,
    repo: systemsWithOtherSlug.includes(service) ? undefined : toValue(repositoryFromSlug(env, slug)),
    head: ciInfo.head ?? toValue(isPullRequest ? prBranch : tag === '' ? branch : ''),
    base: ciInfo.base ?? (isPr && !systemsWithOtherBranch.includes(service) ? toValue(branch) : undefined),
    isPullRequest,
    pr: ciInfo.pr ?? (isPr ? toValue(result.pr) : undefined),
    sha: ciInfo.sha ?? toValue(result.commit),
  }
}
