import { flag, negatableFlag, option, repeatableOption } from '../../../cli/inputs.ts'
import { queueSettingTypes } from '../../../domain/queue-settings.ts'

type SettingTypes = typeof queueSettingTypes

/** The keys of the settings whose type has the members of `T`. */
type KeysOfType<T> = {
  readonly [K in keyof SettingTypes]: SettingTypes[K] extends T ? K : never
}[keyof SettingTypes]

const integerOption = (name: string, key: KeysOfType<{ parse(text: string): number }>, summary: string) =>
  option({ name, value: 'n', summary, parse: queueSettingTypes[key].parse })

const booleanFlag = (name: string, _key: keyof SettingTypes, summary: string) =>
  negatableFlag({ name, summary })

function settingChoice(
  name: string,
  key: KeysOfType<{ readonly choices: readonly string[]; parse(text: string): string }>,
  summary: string,
) {
  const { choices, parse } = queueSettingTypes[key]
  const value = name.endsWith('-mode') ? 'mode' : 'method'
  return option<string>({ name, value, summary: `${summary}: ${choices.join(', ')}`, choices, parse })
}

const { state, mode, requiredStatuses, enqueueingLabel } = queueSettingTypes

export const modeInput = option({
  name: 'mode',
  value: 'mode',
  summary: 'Test in one lane (single), or in several lanes by impacted targets (parallel)',
  choices: mode.choices,
  parse: mode.parse,
})

/** The option `--concurrency` of a queue, at least 1. */
export const concurrencyInput = integerOption(
  'concurrency',
  'concurrency',
  'Maximum number of concurrent test runs',
)

/**
 * The options of all settings that updateQueue accepts, by their keys
 * (docs/reference/service.md, "Queue settings").
 */
export const queueSettings = {
  state: option({
    name: 'state',
    value: 'state',
    summary: `State of the queue: ${state.choices.join(', ')}`,
    choices: state.choices,
    parse: state.parse,
  }),
  mode: modeInput,
  concurrency: concurrencyInput,
  bisectionConcurrency: integerOption(
    'bisection-concurrency',
    'bisectionConcurrency',
    'Maximum number of concurrent test runs while a failed batch is split',
  ),
  testingTimeoutMinutes: integerOption(
    'testing-timeout-minutes',
    'testingTimeoutMinutes',
    'Time limit for a test run in minutes; 0 means no limit',
  ),
  pendingFailureDepth: integerOption(
    'pending-failure-depth',
    'pendingFailureDepth',
    'Number of later test runs to wait for before a failure becomes final',
  ),
  canOptimisticallyMerge: booleanFlag(
    'can-optimistically-merge',
    'canOptimisticallyMerge',
    'Let a passing test run also validate the pull requests ahead of it',
  ),
  batch: booleanFlag('batch', 'batch', 'Test several pull requests together in a batch'),
  batchingMinSize: integerOption(
    'batching-min-size',
    'batchingMinSize',
    'Target number of pull requests in a batch',
  ),
  batchingMaxWaitTimeMinutes: integerOption(
    'batching-max-wait-time-minutes',
    'batchingMaxWaitTimeMinutes',
    'Maximum time to wait for a batch to fill, in minutes',
  ),
  createPrsForTestingBranches: booleanFlag(
    'create-prs-for-testing-branches',
    'createPrsForTestingBranches',
    'Create draft pull requests for test branches',
  ),
  commentsEnabled: booleanFlag('comments-enabled', 'commentsEnabled', 'Post comments on pull requests'),
  commandsEnabled: booleanFlag(
    'commands-enabled',
    'commandsEnabled',
    'Accept commands in pull request comments',
  ),
  statusCheckEnabled: booleanFlag(
    'status-check-enabled',
    'statusCheckEnabled',
    'Post a status check on pull requests',
  ),
  directMergeMode: settingChoice(
    'direct-merge-mode',
    'directMergeMode',
    'Merge a pull request without testing if it is up to date and the queue is empty',
  ),
  optimizationMode: settingChoice(
    'optimization-mode',
    'optimizationMode',
    'Skip redundant tests when a failed batch is split',
  ),
  mergeMethod: settingChoice('merge-method', 'mergeMethod', 'Merge method'),
  requiredStatuses: repeatableOption({
    name: 'required-status',
    value: 'name',
    summary: 'Status that a test run must pass; overrides branch protection',
    parse: requiredStatuses.parse,
  }),
  deleteRequiredStatuses: flag({
    name: 'delete-required-statuses',
    summary: 'Remove the required statuses that override branch protection',
  }),
  extensionEnabled: booleanFlag('extension-enabled', 'extensionEnabled', 'Enable the browser extension'),
  labelCommandsEnabled: booleanFlag(
    'label-commands-enabled',
    'labelCommandsEnabled',
    'Accept commands as labels',
  ),
  stateLabelsEnabled: booleanFlag(
    'state-labels-enabled',
    'stateLabelsEnabled',
    'Label pull requests with their state',
  ),
  enqueueingLabel: option({
    name: 'enqueueing-label',
    value: 'label',
    summary: 'Label that submits a pull request to the queue',
    parse: enqueueingLabel.parse,
  }),
  notReadyTimeoutHours: integerOption(
    'not-ready-timeout-hours',
    'notReadyTimeoutHours',
    'Cancel pull requests that are not ready after this many hours',
  ),
  testBranchConstructionMode: settingChoice(
    'test-branch-construction-mode',
    'testBranchConstructionMode',
    'How to create test branches',
  ),
}
