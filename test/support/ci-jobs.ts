/** The recorded jobs of one system: what all of them set, and what each sets besides. */
interface Recording {
  readonly common: Variables
  readonly jobs: Readonly<Record<string, Job>>
}

export type Variables = Readonly<Record<string, string>>

interface Job {
  readonly env: Variables
  /** The event file of GitHub. */
  readonly event: object
  /** Every setting that the job gives; a refusal as its sentence after `! `. */
  readonly settings: Variables
}

/** The head of the pull request, its merge with the target branch, and the head of the target branch. */
export const head = '4f2a9c1d0e8b7a6655443322110ffeeddccbbaa9'
export const merge = '9d1c2b3a4f5e60718293a4b5c6d7e8f901234567'
const base = '1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e'
export const run = '6e1d9f0a-52b1-4a6e-9a44-0d7f0c1f2b3c'
const branch = `trunk-merge/pr-123/${run}`
const noPull = (on: string) =>
  `! This job runs on ${on}, a test branch of the merge queue, not the branch of a pull request.`
export const noHead = (title: string) =>
  `! ${title} does not provide the head commit of the pull request; the commit that it builds may be a merge commit.`

export const web = { repo: 'github.com/acme/web' }
const pulled = { ...web, targetBranch: 'release/2.4', pr: '123', sha: head }
const tested = { ...web, targetBranch: 'main', pr: noPull(branch), sha: merge, testRun: run }
const platform = { repo: 'gitlab.acme.example/acme/platform/web' }
const onMain = { targetBranch: 'main', sha: head }
const webOnMain = { ...web, ...onMain }
const webOnRelease = { ...web, targetBranch: 'release/2.4', sha: head }

const repository = { id: 1, full_name: 'acme/web', default_branch: 'main' }
const pullRequestEvent = (number: number, ref: string, target: string, fork = 'acme/web') => ({
  pull_request: {
    number,
    head: { ref, sha: head, repo: { full_name: fork } },
    base: { ref: target, repo: { full_name: 'acme/web' } },
  },
  repository,
})

/** A pull request as the payload of a run or check lists it, by the id of the repository of its base. */
const listed = (number: number, ref = 'release/2.4', id = 1) => ({
  number,
  head: { ref: 'fix-cart', sha: head, repo: { id: 1 } },
  base: { ref, repo: { id } },
})

/** The event after a workflow run of a branch; a run of a pull request from a fork names no pull request. */
const workflowRun = (event: string, head_branch: string, ...pull_requests: readonly object[]) => ({
  repository,
  workflow_run: { event, head_branch, head_sha: head, pull_requests },
})

const job = (settings: Variables, env: Variables, event: object = { repository }): Job => ({
  settings,
  env,
  event,
})
/** The variables of GitHub for an event, a ref and a commit. */
const on = (name: string, ref: string, sha: string, more: Variables = {}): Variables => ({
  GITHUB_EVENT_NAME: name,
  GITHUB_REF: ref,
  GITHUB_SHA: sha,
  ...more,
})
/** The variables of an event for which the job runs on the default branch. */
const onDefaultBranch = (name: string, more: Variables = {}): Variables =>
  on(name, 'refs/heads/main', base, more)
const branches = (of: string, into: string): Variables => ({
  GITHUB_HEAD_REF: of,
  GITHUB_BASE_REF: into,
})
const mergeRequest = {
  CI_MERGE_REQUEST_IID: '12',
  CI_MERGE_REQUEST_PROJECT_PATH: 'acme/platform/web',
  CI_MERGE_REQUEST_SOURCE_BRANCH_NAME: 'fix-cart',
  CI_MERGE_REQUEST_TARGET_BRANCH_NAME: 'release/2.4',
}
const detached = {
  ...mergeRequest,
  CI_MERGE_REQUEST_EVENT_TYPE: 'detached',
  CI_MERGE_REQUEST_SOURCE_BRANCH_SHA: '',
  CI_COMMIT_SHA: head,
}
const buildkitePull = {
  BUILDKITE_BRANCH: 'fix-cart',
  BUILDKITE_PULL_REQUEST: '123',
  BUILDKITE_PULL_REQUEST_BASE_BRANCH: 'release/2.4',
}
const jenkinsBuild = (branch: string, commit: string): Variables => ({
  BRANCH_NAME: branch,
  GIT_BRANCH: branch,
  GIT_COMMIT: commit,
})
const jenkinsChange = { CHANGE_BRANCH: 'fix-cart', CHANGE_ID: '123', CHANGE_TARGET: 'release/2.4' }

/** Written by hand from what each system documents: its jobs, and every setting that each gives. */
export const recordedJobs: Readonly<Record<string, Recording>> = {
  // https://docs.github.com/en/actions/reference/workflows-and-actions/variables
  github: {
    common: {
      CI: 'true',
      GITHUB_ACTIONS: 'true',
      GITHUB_EVENT_PATH: '/home/runner/_work/_temp/_github_workflow/event.json',
      GITHUB_REPOSITORY: 'acme/web',
      GITHUB_RUN_ID: '20718293041',
      GITHUB_SERVER_URL: 'https://github.com',
    },
    jobs: {
      'pull request': job(
        pulled,
        on('pull_request', 'refs/pull/123/merge', merge, branches('fix-cart', 'release/2.4')),
        pullRequestEvent(123, 'fix-cart', 'release/2.4'),
      ),
      'fork pull request': job(
        { ...pulled, targetBranch: 'main', pr: '124', forkedRun: '20718293041' },
        on('pull_request', 'refs/pull/124/merge', merge, { ...branches('main', 'main'), MERGEQ_TOKEN: '' }),
        pullRequestEvent(124, 'main', 'main', 'octocat/web'),
      ),
      pull_request_target: job(
        { ...pulled, targetBranch: 'main', pr: '125' },
        onDefaultBranch('pull_request_target', branches('patch-1', 'main')),
        pullRequestEvent(125, 'patch-1', 'main', 'octocat/web'),
      ),
      pull_request_review: job(
        { ...pulled, targetBranch: 'main', pr: '126' },
        on('pull_request_review', 'refs/pull/126/merge', merge, branches('', '')),
        pullRequestEvent(126, 'fix-cart', 'main'),
      ),
      'comment on a pull request': job(
        { ...web, targetBranch: 'main', pr: '127', sha: noHead('GitHub Actions') },
        onDefaultBranch('issue_comment'),
        { repository, issue: { pull_request: { url: 'https://api.github.com/repos/acme/web/pulls/127' } } },
      ),
      push: job(webOnMain, on('push', 'refs/heads/release/2.4', head)),
      'push to the default branch': job(webOnMain, on('push', 'refs/heads/main', head)),
      tag: job(webOnMain, on('push', 'refs/tags/v2.4.0', head)),
      workflow_dispatch: job(webOnMain, on('workflow_dispatch', 'refs/heads/fix-cart', head)),
      // The payload has no repository; the job runs on the default branch.
      schedule: job({ ...web, targetBranch: 'main', sha: base }, onDefaultBranch('schedule'), {
        schedule: '0 6 * * 1',
      }),
      check_suite: job(pulled, onDefaultBranch('check_suite'), {
        repository,
        check_suite: {
          head_branch: 'fix-cart',
          head_sha: head,
          pull_requests: [listed(123), listed(5, 'main', 9)],
        },
      }),
      'check_suite of a fork': job(webOnMain, onDefaultBranch('check_suite'), {
        repository,
        check_suite: { head_branch: null, head_sha: head, pull_requests: [] },
      }),
      check_run: job(pulled, onDefaultBranch('check_run'), {
        repository,
        check_run: {
          head_sha: head,
          pull_requests: [],
          check_suite: { head_branch: 'fix-cart', head_sha: head, pull_requests: [listed(123)] },
        },
      }),
      'check_run of a test branch': job({ ...tested, sha: head }, onDefaultBranch('check_run'), {
        repository,
        check_run: {
          check_suite: { head_branch: branch, head_sha: head, pull_requests: [listed(901, 'main')] },
        },
      }),
      workflow_run: job(webOnMain, onDefaultBranch('workflow_run'), workflowRun('push', 'main')),
      'workflow_run of a pull request': job(
        pulled,
        onDefaultBranch('workflow_run'),
        workflowRun('pull_request', 'fix-cart', listed(123)),
      ),
      'workflow_run of a pull request of another repository': job(
        webOnMain,
        onDefaultBranch('workflow_run'),
        workflowRun('push', 'main', listed(2, 'main', 9)),
      ),
      'workflow_run of a fork': job(webOnMain, onDefaultBranch('workflow_run'), {
        repository,
        workflow_run: {
          event: 'pull_request',
          head_branch: branch,
          head_sha: head,
          head_repository: { full_name: 'octocat/web' },
          pull_requests: [],
        },
      }),
      'workflow_run of two pull requests': job(
        webOnMain,
        onDefaultBranch('workflow_run'),
        workflowRun('pull_request', 'fix-cart', listed(123), listed(124)),
      ),
      'workflow_run of a test branch': job(
        { ...tested, sha: head },
        onDefaultBranch('workflow_run'),
        workflowRun('push', branch),
      ),
      merge_group: job(
        {
          ...web,
          targetBranch: 'release/2.4',
          pr: noPull('gh-readonly-queue/release/2.4/pr-123-1b2c3d4e'),
          sha: merge,
        },
        on('merge_group', 'refs/heads/gh-readonly-queue/release/2.4/pr-123-1b2c3d4e', merge),
        { repository, merge_group: { base_ref: 'refs/heads/release/2.4' } },
      ),
      'test branch': job(tested, on('push', `refs/heads/${branch}`, merge)),
      'temporary branch': job(
        { ...web, targetBranch: 'main', pr: noPull(`trunk-temp/pr-123/${run}`), sha: merge },
        on('push', `refs/heads/trunk-temp/pr-123/${run}`, merge),
      ),
      'draft of a test branch': job(
        { ...tested, sha: head },
        on('pull_request', 'refs/pull/901/merge', merge, branches(branch, 'main')),
        pullRequestEvent(901, branch, 'main'),
      ),
      'enterprise server': job(
        { repo: 'github.acme.example:8443/acme/web', targetBranch: 'main', sha: head },
        on('push', 'refs/heads/main', head, { GITHUB_SERVER_URL: 'https://github.acme.example:8443' }),
      ),
    },
  },
  // https://docs.gitlab.com/ci/variables/predefined_variables/
  gitlab: {
    common: {
      CI: 'true',
      GITLAB_CI: 'true',
      CI_DEFAULT_BRANCH: 'main',
      CI_PROJECT_PATH: 'acme/platform/web',
      CI_SERVER_FQDN: 'gitlab.acme.example',
      CI_SERVER_HOST: 'gitlab.acme.example',
    },
    jobs: {
      'pull request': job({ ...pulled, ...platform, pr: '12' }, detached),
      'merged result': job(
        { ...pulled, ...platform, pr: '12' },
        {
          ...mergeRequest,
          CI_MERGE_REQUEST_EVENT_TYPE: 'merged_result',
          CI_MERGE_REQUEST_SOURCE_BRANCH_SHA: head,
          CI_COMMIT_SHA: merge,
        },
      ),
      'fork pull request': job(
        { ...pulled, ...platform, pr: '12' },
        { ...detached, CI_PROJECT_PATH: 'octocat/web' },
      ),
      'external pull request': job(
        { repo: 'acme/web', targetBranch: 'main', pr: '123', sha: head },
        {
          CI_COMMIT_SHA: head,
          CI_EXTERNAL_PULL_REQUEST_IID: '123',
          CI_EXTERNAL_PULL_REQUEST_TARGET_REPOSITORY: 'acme/web',
          CI_EXTERNAL_PULL_REQUEST_SOURCE_BRANCH_NAME: 'fix-cart',
          CI_EXTERNAL_PULL_REQUEST_SOURCE_BRANCH_SHA: head,
          CI_EXTERNAL_PULL_REQUEST_TARGET_BRANCH_NAME: 'main',
        },
      ),
      push: job({ ...platform, ...onMain }, { CI_COMMIT_BRANCH: 'release/2.4', CI_COMMIT_SHA: head }),
      'test branch': job({ ...tested, ...platform }, { CI_COMMIT_BRANCH: branch, CI_COMMIT_SHA: merge }),
      tag: job({ ...platform, ...onMain }, { CI_COMMIT_SHA: head }),
      'a host without a dot': job(onMain, {
        CI_COMMIT_BRANCH: 'main',
        CI_COMMIT_SHA: head,
        CI_SERVER_HOST: 'gitlab',
        CI_SERVER_FQDN: 'gitlab',
      }),
    },
  },
  // https://buildkite.com/docs/pipelines/configure/environment-variables
  buildkite: {
    common: {
      CI: 'true',
      BUILDKITE: 'true',
      BUILDKITE_PIPELINE_DEFAULT_BRANCH: 'main',
      BUILDKITE_PULL_REQUEST: 'false',
      BUILDKITE_REPO: 'git@github.com:acme/web.git',
    },
    jobs: {
      'pull request': job(pulled, { ...buildkitePull, BUILDKITE_COMMIT: head }),
      'merged pull request': job(pulled, {
        ...buildkitePull,
        BUILDKITE_COMMIT: merge,
        BUILDKITE_PULL_REQUEST_USING_MERGE_REFSPEC: 'true',
        BUILDKITE_PULL_REQUEST_HEAD_COMMIT: head,
      }),
      push: job(webOnMain, { BUILDKITE_BRANCH: 'release/2.4', BUILDKITE_COMMIT: head }),
      'started by hand': job(
        { ...web, targetBranch: 'main' },
        { BUILDKITE_BRANCH: 'main', BUILDKITE_COMMIT: 'HEAD' },
      ),
      tag: job(webOnMain, { BUILDKITE_BRANCH: 'v2.4.0', BUILDKITE_TAG: 'v2.4.0', BUILDKITE_COMMIT: head }),
    },
  },
  // https://circleci.com/docs/reference/variables/
  circleci: {
    common: {
      CI: 'true',
      CIRCLECI: 'true',
      CIRCLE_BRANCH: 'fix-cart',
      CIRCLE_REPOSITORY_URL: 'git@github.com:acme/web.git',
      CIRCLE_SHA1: head,
    },
    jobs: {
      'pull request': job(
        { ...web, pr: '123', sha: head },
        {
          CIRCLE_PULL_REQUEST: 'https://github.com/acme/web/pull/123',
          CIRCLE_PULL_REQUESTS: 'https://github.com/acme/web/pull/123',
        },
      ),
      'several pull requests': job(
        { ...web, sha: head },
        {
          CIRCLE_PULL_REQUEST: 'https://github.com/acme/web/pull/123',
          CIRCLE_PULL_REQUESTS: 'https://github.com/acme/web/pull/123,https://github.com/acme/web/pull/130',
        },
      ),
      'a branch, or a pull request with the GitHub App': job({ ...web, sha: head }, {}),
    },
  },
  // https://www.jenkins.io/doc/book/pipeline/jenkinsfile/#using-environment-variables
  jenkins: {
    common: {
      JENKINS_URL: 'https://ci.acme.example/',
      GIT_URL: 'https://github.com/acme/web.git',
    },
    jobs: {
      'pull request': job(
        { ...pulled, sha: noHead('Jenkins') },
        { ...jenkinsChange, ...jenkinsBuild('PR-123', head) },
      ),
      'pull request as it is': job(pulled, { ...jenkinsChange, ...jenkinsBuild('PR-123-head', head) }),
      'merged pull request': job(
        { ...pulled, sha: noHead('Jenkins') },
        { ...jenkinsChange, ...jenkinsBuild('PR-123', merge) },
      ),
      'pull request builder': job(
        { ...pulled, targetBranch: 'main' },
        {
          CI: 'true',
          ghprbActualCommit: head,
          ghprbPullId: '123',
          ghprbSourceBranch: 'fix-cart',
          ghprbTargetBranch: 'main',
          GIT_BRANCH: 'origin/pr/123/merge',
          GIT_COMMIT: merge,
        },
      ),
      'GitLab plugin': job(
        { ...platform, targetBranch: 'main', pr: '12', sha: head },
        {
          GIT_URL: 'git@gitlab.acme.example:acme/platform/web.git',
          gitlabMergeRequestIid: '12',
          gitlabMergeRequestLastCommit: head,
          gitlabSourceBranch: 'fix-cart',
          gitlabTargetBranch: 'main',
          GIT_BRANCH: 'origin/fix-cart',
          GIT_COMMIT: merge,
        },
      ),
      push: job(webOnRelease, { ...jenkinsBuild('release/2.4', head), GIT_LOCAL_BRANCH: 'release/2.4' }),
      'push with the GitLab plugin': job(webOnRelease, {
        gitlabActionType: 'PUSH',
        gitlabSourceBranch: 'release/2.4',
        gitlabTargetBranch: 'release/2.4',
        GIT_BRANCH: 'origin/release/2.4',
        GIT_COMMIT: head,
      }),
      'freestyle push': job(webOnMain, { GIT_BRANCH: 'origin/main', GIT_COMMIT: head }),
    },
  },
  // https://learn.microsoft.com/en-us/azure/devops/pipelines/build/variables
  azure: {
    common: {
      TF_BUILD: 'True',
      BUILD_BUILDURI: 'vstfs:///Build/Build/420',
      BUILD_REPOSITORY_URI: 'https://github.com/acme/web',
    },
    jobs: {
      'pull request': job(pulled, {
        BUILD_SOURCEBRANCH: 'refs/pull/123/merge',
        BUILD_SOURCEVERSION: merge,
        SYSTEM_PULLREQUEST_PULLREQUESTID: '2170485219',
        SYSTEM_PULLREQUEST_PULLREQUESTNUMBER: '123',
        SYSTEM_PULLREQUEST_SOURCEBRANCH: 'fix-cart',
        SYSTEM_PULLREQUEST_SOURCECOMMITID: head,
        SYSTEM_PULLREQUEST_TARGETBRANCH: 'release/2.4',
      }),
      'pull request in Azure Repos': job(
        { ...pulled, repo: 'dev.azure.com/acme/platform/web' },
        {
          BUILD_SOURCEBRANCH: 'refs/pull/123/merge',
          BUILD_SOURCEVERSION: merge,
          SYSTEM_PULLREQUEST_PULLREQUESTID: '123',
          SYSTEM_PULLREQUEST_SOURCEBRANCH: 'refs/heads/fix-cart',
          SYSTEM_PULLREQUEST_SOURCECOMMITID: head,
          SYSTEM_PULLREQUEST_TARGETBRANCH: 'refs/heads/release/2.4',
          BUILD_REPOSITORY_URI: 'https://acme@dev.azure.com/acme/platform/_git/web',
        },
      ),
      push: job(webOnRelease, { BUILD_SOURCEBRANCH: 'refs/heads/release/2.4', BUILD_SOURCEVERSION: head }),
      tag: job({ ...web, sha: head }, { BUILD_SOURCEBRANCH: 'refs/tags/v2.4.0', BUILD_SOURCEVERSION: head }),
    },
  },
  // https://support.atlassian.com/bitbucket-cloud/docs/variables-and-secrets/
  bitbucket: {
    common: {
      CI: 'true',
      BITBUCKET_BUILD_NUMBER: '31',
      BITBUCKET_COMMIT: head,
      BITBUCKET_GIT_HTTP_ORIGIN: 'http://bitbucket.org/acme/web',
    },
    jobs: {
      'pull request': job(
        { ...pulled, repo: 'bitbucket.org/acme/web', pr: '12' },
        {
          BITBUCKET_BRANCH: 'fix-cart',
          BITBUCKET_PR_ID: '12',
          BITBUCKET_PR_DESTINATION_BRANCH: 'release/2.4',
        },
      ),
      push: job(
        { repo: 'bitbucket.org/acme/web', targetBranch: 'main', sha: head },
        { BITBUCKET_BRANCH: 'main' },
      ),
    },
  },
}

/** A job of a system, with what all of its jobs set. Throws if there is none. */
export function recordedJob(system: string, name: string): Job {
  const { common, jobs } = recordedJobs[system] ?? { common: {}, jobs: {} }
  const recorded = jobs[name]
  if (recorded === undefined) throw new Error(`${system} has no job ${name}`)
  return { ...recorded, env: { ...common, ...recorded.env } }
}
