import { isObject, type Json } from '../../base/json.ts'
import { boolean, choice, integer, listOf, onlyTrue, text, upperCaseChoice } from '../../values/types.ts'
import { param } from '../params.ts'

const queueState = upperCaseChoice(['running', 'paused', 'draining'], 'state')

/**
 * The settings that updateQueue accepts (docs/reference/service.md, "Queue settings"), by their keys in a request
 * and in a queue file, in the order in which files list them. The options of the command line and of the library, keys
 * of queue files and the checks of the sandbox are made from this table. One that is left out stays unchanged.
 */
export const queueSettings = {
  state: param(queueState, 'State of the queue: running, paused, draining'),
  mode: param(
    choice(['single', 'parallel'], 'mode'),
    'Test in one lane (single), or in several lanes by impacted targets (parallel)',
  ),
  concurrency: param(integer(1), 'Maximum number of concurrent test runs'),
  bisectionConcurrency: param(
    integer(1),
    'Maximum number of concurrent test runs while a failed batch is split (default: the same as concurrency)',
  ),
  testingTimeoutMinutes: param(integer(0), 'Time limit for a test run in minutes; 0 means no limit'),
  pendingFailureDepth: param(
    integer(0),
    'After a failure, wait for the results of this many later test runs before it is final',
  ),
  canOptimisticallyMerge: param(
    boolean,
    'If the tests of a pull request pass, also merge those ahead of it that were tested with it',
  ),
  batch: param(boolean, 'Test several pull requests together in a batch'),
  batchingMinSize: param(integer(1), 'Target number of pull requests in a batch'),
  batchingMaxWaitTimeMinutes: param(integer(1), 'Maximum time to wait for a batch to fill, in minutes'),
  createPrsForTestingBranches: param(boolean, 'Create draft pull requests for test branches'),
  commentsEnabled: param(boolean, 'Post comments on pull requests'),
  commandsEnabled: param(boolean, 'Accept commands in pull request comments'),
  statusCheckEnabled: param(boolean, 'Post a status check on pull requests'),
  directMergeMode: param(
    choice(['off', 'always'], 'mode'),
    'Merge a pull request without testing if it is up to date and the queue is empty: off, always',
  ),
  optimizationMode: param(
    choice(['off', 'bisection_skip_redundant_tests'], 'mode'),
    'Skip tests that are not needed to find the pull request that failed a batch: off, bisection_skip_redundant_tests',
  ),
  mergeMethod: param(
    choice(['merge_commit', 'squash', 'rebase'], 'method'),
    'Merge method: merge_commit, squash, rebase',
  ),
  requiredStatuses: param(
    listOf(text('status', 'name')),
    'Status that a test run must pass; overrides branch protection',
  ),
  deleteRequiredStatuses: param(onlyTrue, 'Remove the required statuses that override branch protection'),
  extensionEnabled: param(boolean, 'Enable the browser extension'),
  labelCommandsEnabled: param(boolean, 'Accept commands as labels'),
  stateLabelsEnabled: param(boolean, 'Label pull requests with their state'),
  enqueueingLabel: param(text('label'), 'Label that submits a pull request to the queue'),
  notReadyTimeoutHours: param(integer(0), 'Cancel pull requests that are not ready after this many hours'),
  testBranchConstructionMode: param(
    choice(['rename_temp_branch', 'push_new_branch_from_temp'], 'mode'),
    'How to create test branches: rename_temp_branch, push_new_branch_from_temp',
  ),
}

export const stableJson = (value: Json): string =>
  JSON.stringify(value, (_, member: Json) =>
    isObject(member)
      ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)))
      : member,
  )

export const isEmptySetting = (value: Json): boolean =>
  value === null || (Array.isArray(value) && value.length === 0)

/** Whether two values have the same effect: required statuses in any order, where an empty list equals null. */
export function isSameSetting(key: string, one: Json, other: Json): boolean {
  if (key !== 'requiredStatuses') return stableJson(one) === stableJson(other)
  if (isEmptySetting(one) && isEmptySetting(other)) return true
  const sorted = (value: Json) => stableJson(Array.isArray(value) ? [...new Set(value)].sort() : value)
  return sorted(one) === sorted(other)
}
