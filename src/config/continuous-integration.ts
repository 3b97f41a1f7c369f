import type { Environment } from '../host/host.ts'
import { findCiSystem } from './ci-systems.ts'

/** Variables that other CI systems set in their jobs; some of these systems do not set CI. */
const otherMarkers = [
  'CF_PAGES',
  'CODEBUILD_BUILD_ID',
  'DISTELLI_APPNAME',
  'JB_SPACE_EXECUTION_NUMBER',
  'TEAMCITY_VERSION',
  'bamboo_agentId',
]

/**
 * Returns whether the process runs in a CI job. In a job nothing is prompted for and nothing is redrawn,
 * workflow commands in output are disabled, and the variables of the job are read. CI counts unless it is
 * empty, `0` or `false`; the variable of a CI system counts unless it is empty.
 */
export const isContinuousIntegration = (env: Environment): boolean =>
  !/^(?:|0|false)$/i.test(env.CI ?? '') ||
  findCiSystem(env) !== undefined ||
  otherMarkers.some(name => (env[name] ?? '') !== '')
