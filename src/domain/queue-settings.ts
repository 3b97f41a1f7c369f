import {
  boolean,
  choice,
  integer,
  listOf,
  onlyTrue,
  type Type,
  text,
  upperCaseChoice,
} from './values/types.ts'

export interface QueueSetting<T> {
  readonly type: Type<T>
  readonly summary: string
}

const setting = <T>(type: Type<T>, summary: string): QueueSetting<T | undefined> => ({ type, summary })

/** One of the choices; the summary names them. */
const oneOf = (choices: readonly string[], placeholder: string, summary: string) =>
  setting(choice(choices, placeholder), `${summary}: ${choices.join(', ')}`)

const queueState = upperCaseChoice(['running', 'paused', 'draining'], 'state')

/**
 * The settings that updateQueue accepts (docs/reference/service.md, "Queue settings"), by their keys in a request
 * and in a queue file, in the order in which files list them. A setting that is left out stays unchanged. The
 * options of the command line and of the library, keys of queue files and the checks of the sandbox are made from
 * this table.
 */
export const queueSettings = {
  state: setting(queueState, 'State of the queue: running, paused, draining'),
  mode: setting(
    choice(['single', 'parallel'], 'mode'),
    'Test in one lane (single), or in several lanes by impacted targets (parallel)',
  ),
  concurrency: setting(integer(1), 'Maximum number of concurrent test runs'),
  bisectionConcurrency: setting(
    integer(1),
    'Maximum number of concurrent test runs while a failed batch is split (default: the same as concurrency)',
  ),
  testingTimeoutMinutes: setting(integer(0), 'Time limit for a test run in minutes; 0 means no limit'),
  pendingFailureDepth: setting(
    integer(0),
    'After a failure, wait for the results of this many later test runs before it is final',
  ),
  canOptimisticallyMerge: setting(
    boolean,
    'If the tests of a pull request pass, also merge those ahead of it that were tested with it',
  ),
  batch: setting(boolean, 'Test several pull requests together in a batch'),
  batchingMinSize: setting(integer(1), 'Target number of pull requests in a batch'),
  batchingMaxWaitTimeMinutes: setting(integer(1), 'Maximum time to wait for a batch to fill, in minutes'),
  createPrsForTestingBranches: setting(boolean, 'Create draft pull requests for test branches'),
  commentsEnabled: setting(boolean, 'Post comments on pull requests'),
  commandsEnabled: setting(boolean, 'Accept commands in pull request comments'),
  statusCheckEnabled: setting(boolean, 'Post a status check on pull requests'),
  directMergeMode: oneOf(
    ['off', 'always'],
    'mode',
    'Merge a pull request without testing if it is up to date and the queue is empty',
  ),
  optimizationMode: oneOf(
    ['off', 'bisection_skip_redundant_tests'],
    'mode',
    'Skip tests that are not needed to find the pull request that failed a batch',
  ),
  mergeMethod: oneOf(['merge_commit', 'squash', 'rebase'], 'method', 'Merge method'),
  requiredStatuses: setting(
    listOf(text('status', 'name')),
    'Status that a test run must pass; overrides branch protection',
  ),
  deleteRequiredStatuses: setting(onlyTrue, 'Remove the required statuses that override branch protection'),
  extensionEnabled: setting(boolean, 'Enable the browser extension'),
  labelCommandsEnabled: setting(boolean, 'Accept commands as labels'),
  stateLabelsEnabled: setting(boolean, 'Label pull requests with their state'),
  enqueueingLabel: setting(text('label'), 'Label that submits a pull request to the queue'),
  notReadyTimeoutHours: setting(integer(0), 'Cancel pull requests that are not ready after this many hours'),
  testBranchConstructionMode: oneOf(
    ['rename_temp_branch', 'push_new_branch_from_temp'],
    'mode',
    'How to create test branches',
  ),
}
