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
 * Returns whether the process runs in a CI job. In a job nothing is prompted for and nothing is redrawn,
 * workflow commands in output are disabled, and the variables of the job are read. CI counts unless it is
 * empty, `0` or `false`; the variable of a CI system counts unless it is empty.
 */
export const isContinuousIntegration = (env: Environment): boolean =>
  !/^(?:|0|false)$/i.test(env.CI ?? '') || ciVariables.some(name => (env[name] ?? '') !== '')
