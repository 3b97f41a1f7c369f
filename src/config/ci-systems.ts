import type { Environment } from '../host/host.ts'
import { type ResolvedValue, toResolvedValue } from './setting-definitions.ts'

/**
 * A CI system: the variables that hold each fact about a job. A text of several names, separated by spaces,
 * means the first variable with a usable value; `event.a.b` is the member `a.b` of the event file, and
 * `event.run` the workflow run, check suite or check run that started the job (github-event.ts).
 */
export interface CiSystem {
  readonly title: string
  /** The variables that the system sets in each of its jobs. */
  readonly markers: string
  /** The variable with the path of a JSON file that describes the event. */
  readonly eventFile?: string
  /** The variables with `[owner/]name` and with the host or address; the first whose path is set decides. */
  readonly repo?: readonly { readonly path: string; readonly host?: string }[]
  readonly address?: string
  /** The branch that the job builds; for a pull request, its head branch. */
  readonly head?: string
  /** Whether the head variables hold the branch that the job builds, where they do not always. */
  readonly hasHead?: (env: Environment) => boolean
  readonly base?: string
  /** Whether the base variables hold that branch, where they do not always. */
  readonly hasBase?: (env: Environment) => boolean
  /** The default branch of the repository. Jenkins, CircleCI, Bitbucket and Azure have no variable for its name. */
  readonly defaultBranch?: string
  readonly pr?: string
  /** Whether the job of a pull request may look like that of a branch; the branch is then not the target. */
  readonly hidesPullRequests?: boolean
  /** The event that started the job: after `pull_request...`, it builds a pull request although `pr` may not name it. */
  readonly event?: string
  /** The head commit of the pull request; `sha` is the commit that the job builds. */
  readonly headSha?: string
  readonly sha: string
  /** The branch of the remote origin in the checkout that is the head commit of the pull request. */
  readonly headRef?: string
  /** What `sha` may be in a job of a pull request; its head commit by default. */
  readonly shaOfPullRequest?: (env: Environment) => 'head' | 'head or merge' | 'merge or base'
  /** Head and base repository, and the workflow run; undefined for a job that has the permissions of the base. */
  readonly fork?: (env: Environment) => Readonly<Record<'head' | 'base' | 'run', string>> | undefined
}

const isSet = (env: Environment, ...names: readonly string[]): boolean =>
  names.some(name => (env[name] ?? '') !== '')

/** The CI systems whose variables are read; docs/ci.md has a recipe for each. */
export const ciSystems: readonly CiSystem[] = [
  {
    // Gitea and Forgejo set the same variables.
    title: 'GitHub Actions',
    markers: 'GITHUB_ACTIONS',
    eventFile: 'GITHUB_EVENT_PATH',
    repo: [{ host: 'GITHUB_SERVER_URL', path: 'GITHUB_REPOSITORY' }],
    head: 'GITHUB_HEAD_REF event.pull_request.head.ref GITHUB_REF',
    base: 'GITHUB_BASE_REF event.pull_request.base.ref event.merge_group.base_ref',
    defaultBranch: 'event.repository.default_branch',
    pr: 'event.pull_request.number event.issue.pull_request.url GITHUB_REF',
    event: 'event.workflow_run.event GITHUB_EVENT_NAME',
    headSha: 'event.pull_request.head.sha event.run.head_sha',
    sha: 'GITHUB_SHA',
    shaOfPullRequest: () => 'merge or base',
    fork: env =>
      env.GITHUB_EVENT_NAME === 'pull_request_target'
        ? undefined
        : {
            head: 'event.pull_request.head.repo.full_name',
            base: 'event.pull_request.base.repo.full_name',
            run: 'GITHUB_RUN_ID',
          },
  },
  {
    title: 'GitLab CI/CD',
    markers: 'GITLAB_CI',
    repo: [
      { path: 'CI_EXTERNAL_PULL_REQUEST_TARGET_REPOSITORY' },
      {
        host: 'CI_SERVER_FQDN CI_SERVER_HOST',
        path: 'CI_MERGE_REQUEST_PROJECT_PATH CI_PROJECT_PATH',
      },
    ],
    head: 'CI_MERGE_REQUEST_SOURCE_BRANCH_NAME CI_EXTERNAL_PULL_REQUEST_SOURCE_BRANCH_NAME CI_COMMIT_BRANCH',
    base: 'CI_MERGE_REQUEST_TARGET_BRANCH_NAME CI_EXTERNAL_PULL_REQUEST_TARGET_BRANCH_NAME',
    defaultBranch: 'CI_DEFAULT_BRANCH',
    pr: 'CI_MERGE_REQUEST_IID CI_EXTERNAL_PULL_REQUEST_IID',
    headSha: 'CI_MERGE_REQUEST_SOURCE_BRANCH_SHA CI_EXTERNAL_PULL_REQUEST_SOURCE_BRANCH_SHA',
    sha: 'CI_COMMIT_SHA',
    shaOfPullRequest: env =>
      env.CI_MERGE_REQUEST_EVENT_TYPE?.startsWith('merge') === true ? 'head or merge' : 'head',
  },
  {
    title: 'Buildkite',
    markers: 'BUILDKITE',
    address: 'BUILDKITE_REPO',
    head: 'BUILDKITE_BRANCH',
    hasHead: env => !isSet(env, 'BUILDKITE_TAG'),
    base: 'BUILDKITE_PULL_REQUEST_BASE_BRANCH BUILDKITE_MERGE_QUEUE_BASE_BRANCH',
    defaultBranch: 'BUILDKITE_PIPELINE_DEFAULT_BRANCH',
    pr: 'BUILDKITE_PULL_REQUEST',
    headSha: 'BUILDKITE_PULL_REQUEST_HEAD_COMMIT',
    sha: 'BUILDKITE_COMMIT',
    shaOfPullRequest: env =>
      env.BUILDKITE_PULL_REQUEST_USING_MERGE_REFSPEC === 'true' ? 'head or merge' : 'head',
  },
  {
    title: 'CircleCI',
    markers: 'CIRCLECI',
    address: 'CIRCLE_REPOSITORY_URL',
    head: 'CIRCLE_BRANCH',
    // With the GitHub App of CircleCI no variable names the pull request.
    hidesPullRequests: true,
    pr: 'CIRCLE_PR_NUMBER CIRCLE_PULL_REQUESTS',
    sha: 'CIRCLE_SHA1',
  },
  {
    title: 'Bitbucket Pipelines',
    markers: 'BITBUCKET_BUILD_NUMBER',
    address: 'BITBUCKET_GIT_HTTP_ORIGIN',
    head: 'BITBUCKET_BRANCH',
    base: 'BITBUCKET_PR_DESTINATION_BRANCH',
    pr: 'BITBUCKET_PR_ID',
    sha: 'BITBUCKET_COMMIT',
  },
  {
    title: 'Azure Pipelines',
    markers: 'TF_BUILD BUILD_BUILDURI',
    address: 'BUILD_REPOSITORY_URI',
    head: 'SYSTEM_PULLREQUEST_SOURCEBRANCH BUILD_SOURCEBRANCH',
    base: 'SYSTEM_PULLREQUEST_TARGETBRANCH',
    // For a repository on GitHub the id is internal to Azure; users know the number.
    pr: 'SYSTEM_PULLREQUEST_PULLREQUESTNUMBER BUILD_SOURCEBRANCH SYSTEM_PULLREQUEST_PULLREQUESTID',
    headSha: 'SYSTEM_PULLREQUEST_SOURCECOMMITID',
    sha: 'BUILD_SOURCEVERSION',
    shaOfPullRequest: () => 'head or merge',
  },
  {
    title: 'Jenkins',
    markers: 'JENKINS_URL',
    address: 'GIT_URL',
    head: 'CHANGE_BRANCH ghprbSourceBranch gitlabSourceBranch BRANCH_NAME GIT_LOCAL_BRANCH GIT_BRANCH',
    hasHead: env => !isSet(env, 'TAG_NAME'),
    base: 'CHANGE_TARGET ghprbTargetBranch gitlabTargetBranch',
    // For a push, the GitLab plugin sets gitlabTargetBranch to the branch of the push.
    hasBase: env => isSet(env, 'CHANGE_TARGET', 'ghprbTargetBranch', 'gitlabMergeRequestIid'),
    pr: 'ghprbPullId gitlabMergeRequestIid CHANGE_ID',
    headSha: 'ghprbActualCommit gitlabMergeRequestLastCommit',
    sha: 'GIT_COMMIT',
    // The plugins fetch refs/pull/7/head as the branch PR-7, and then merge.
    headRef: 'BRANCH_NAME',
    // Depending on its settings, a multibranch job builds PR-7 merged or unmerged; the name PR-7-head means
    // unmerged.
    shaOfPullRequest: env => (env.BRANCH_NAME?.endsWith('-head') === true ? 'head' : 'head or merge'),
  },
]

export const findCiSystem = (env: Environment): CiSystem | undefined =>
  ciSystems.find(({ markers }) => isSet(env, ...markers.split(' ')))

/** Returns the name of the CI system whose variables are read, and the variable that says that this is its job. */
export function describeCiSystem(env: Environment): ResolvedValue | undefined {
  const system = findCiSystem(env)
  const marker = system?.markers.split(' ').find(name => isSet(env, name))
  return toResolvedValue(system?.title, marker ?? '')
}

/** Variables of CodeBuild, TeamCity and Bamboo, which do not set CI. */
const otherMarkers = ['CODEBUILD_BUILD_ID', 'TEAMCITY_VERSION', 'bamboo_agentId']

/**
 * Returns whether the process runs in a CI job. In a job nothing is prompted for and nothing is redrawn,
 * workflow commands in output are disabled, and the variables of the job are read. CI counts unless it is
 * empty, `0` or `false`; the variable of a CI system counts unless it is empty.
 */
export const isContinuousIntegration = (env: Environment): boolean =>
  !/^(?:|0|false)$/i.test(env.CI ?? '') || findCiSystem(env) !== undefined || isSet(env, ...otherMarkers)
