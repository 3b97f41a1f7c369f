import type { Environment } from '../host/host.ts'

/** Variables that CI systems set in their jobs; some of these systems do not set CI. */
const ciVariables = [
  'BITBUCKET_BUILD_NUMBER',
  'BUILDKITE',
  'BUILD_BUILDURI',
  'CF_PAGES',
  'CIRCLECI',
  'CODEBUILD_BUILD_ID',
  'DISTELLI_APPNAME',
  'GITHUB_ACTIONS',
  'GITLAB_CI',
  'JB_SPACE_EXECUTION_NUMBER',
  'JENKINS_URL',
  'TEAMCITY_VERSION',
  'TF_BUILD',
  'bamboo_agentId',
]

/**
 * Whether this process runs as a CI job: then nothing is asked, nothing is redrawn, output is safe for the runner, and
 * the job's variables are read. CI counts unless it is empty, `0` or `false`; so does the variable of a CI system.
 */
export const isContinuousIntegration = (env: Environment): boolean =>
  !/^(?:|0|false)$/i.test(env.CI ?? '') || ciVariables.some(name => (env[name] ?? '') !== '')
