import { isObject, type Json } from '../../base/json.ts'
import {
  boolean,
  choice,
  integer,
  listOf,
  onlyTrue,
  type Type,
  text,
  upperCaseChoice,
  type ValueOf,
} from '../../values/types.ts'

export interface QueueSetting<T> {
  readonly type: Type<T>
  readonly summary: string
}

const queueState = upperCaseChoice(['running', 'paused', 'draining'], 'state')

/**
 * The settings that updateQueue accepts (docs/reference/service.md, "Queue settings"), by their keys in a request
 * and in a queue file, in the order in which files list them. The options of the command line and of the library, keys
 * of queue files and the checks of the sandbox are made from this table.
 */
const settings = {
  state: { type: queueState, summary: 'State of the queue: running, paused, draining' },
  mode: {
    type: choice(['single', 'parallel'], 'mode'),
    summary: 'Test in one lane (single), or in several lanes by impacted targets (parallel)',
  },
  concurrency: { type: integer(1), summary: 'Maximum number of concurrent test runs' },
  bisectionConcurrency: {
    type: integer(1),
    summary:
      'Maximum number of concurrent test runs while a failed batch is split (default: the same as concurrency)',
  },
  testingTimeoutMinutes: {
    type: integer(0),
    summary: 'Time limit for a test run in minutes; 0 means no limit',
  },
  pendingFailureDepth: {
    type: integer(0),
    summary: 'After a failure, wait for the results of this many later test runs before it is final',
  },
  canOptimisticallyMerge: {
    type: boolean,
    summary: 'If the tests of a pull request pass, also merge those ahead of it that were tested with it',
  },
  batch: { type: boolean, summary: 'Test several pull requests together in a batch' },
  batchingMinSize: { type: integer(1), summary: 'Target number of pull requests in a batch' },
  batchingMaxWaitTimeMinutes: {
    type: integer(1),
    summary: 'Maximum time to wait for a batch to fill, in minutes',
  },
  createPrsForTestingBranches: { type: boolean, summary: 'Create draft pull requests for test branches' },
  commentsEnabled: { type: boolean, summary: 'Post comments on pull requests' },
  commandsEnabled: { type: boolean, summary: 'Accept commands in pull request comments' },
  statusCheckEnabled: { type: boolean, summary: 'Post a status check on pull requests' },
  directMergeMode: {
    type: choice(['off', 'always'], 'mode'),
    summary: 'Merge a pull request without testing if it is up to date and the queue is empty: off, always',
  },
  optimizationMode: {
    type: choice(['off', 'bisection_skip_redundant_tests'], 'mode'),
    summary:
      'Skip tests that are not needed to find the pull request that failed a batch: off, bisection_skip_redundant_tests',
  },
  mergeMethod: {
    type: choice(['merge_commit', 'squash', 'rebase'], 'method'),
    summary: 'Merge method: merge_commit, squash, rebase',
  },
  requiredStatuses: {
    type: listOf(text('status', 'name')),
    summary: 'Status that a test run must pass; overrides branch protection',
  },
  deleteRequiredStatuses: {
    type: onlyTrue,
    summary: 'Remove the required statuses that override branch protection',
  },
  extensionEnabled: { type: boolean, summary: 'Enable the browser extension' },
  labelCommandsEnabled: { type: boolean, summary: 'Accept commands as labels' },
  stateLabelsEnabled: { type: boolean, summary: 'Label pull requests with their state' },
  enqueueingLabel: { type: text('label'), summary: 'Label that submits a pull request to the queue' },
  notReadyTimeoutHours: {
    type: integer(0),
    summary: 'Cancel pull requests that are not ready after this many hours',
  },
  testBranchConstructionMode: {
    type: choice(['rename_temp_branch', 'push_new_branch_from_temp'], 'mode'),
    summary: 'How to create test branches: rename_temp_branch, push_new_branch_from_temp',
  },
}

type Optional<S extends Readonly<Record<string, QueueSetting<unknown>>>> = {
  readonly [K in keyof S]: QueueSetting<ValueOf<S[K]['type']> | undefined>
}

/** The settings; one that is left out stays unchanged. */
export const queueSettings: Optional<typeof settings> = settings

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
