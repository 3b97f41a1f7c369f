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
  return option<string>({ name, value: 'word', summary: `${summary}: ${choices.join(', ')}`, choices, parse })
}

const { state, mode, requiredStatuses, enqueueingLabel } = queueSettingTypes

/** The option `--mode` of a queue. */
export const modeInput = option({
  name: 'mode',
  value: 'mode',
  summary: 'One line (single), or lanes by impacted targets (parallel)',
  choices: mode.choices,
  parse: mode.parse,
})

/** The option `--concurrency` of a queue, at least 1. */
export const concurrencyInput = integerOption('concurrency', 'concurrency', 'Test runs at a time')

/** The options of all settings that updateQueue accepts, by their keys (service-observed.md section 3.1). */
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
    'Test runs at a time while a failed batch is split',
  ),
  testingTimeoutMinutes: integerOption(
    'testing-timeout-minutes',
    'testingTimeoutMinutes',
    'Limit of a test run, in minutes; 0 is none',
  ),
  pendingFailureDepth: integerOption(
    'pending-failure-depth',
    'pendingFailureDepth',
    'Runs behind a failure to wait for before it counts',
  ),
  canOptimisticallyMerge: booleanFlag(
    'can-optimistically-merge',
    'canOptimisticallyMerge',
    'A pass counts for all ahead',
  ),
  batch: booleanFlag('batch', 'batch', 'Test several pull requests together'),
  batchingMinSize: integerOption('batching-min-size', 'batchingMinSize', 'Size of a batch'),
  batchingMaxWaitTimeMinutes: integerOption(
    'batching-max-wait-time-minutes',
    'batchingMaxWaitTimeMinutes',
    'Time to fill a batch, in minutes',
  ),
  createPrsForTestingBranches: booleanFlag(
    'create-prs-for-testing-branches',
    'createPrsForTestingBranches',
    'Draft pull requests for test branches',
  ),
  commentsEnabled: booleanFlag('comments-enabled', 'commentsEnabled', 'Comments on pull requests'),
  commandsEnabled: booleanFlag('commands-enabled', 'commandsEnabled', 'Commands in comments'),
  statusCheckEnabled: booleanFlag(
    'status-check-enabled',
    'statusCheckEnabled',
    'A status check on pull requests',
  ),
  directMergeMode: settingChoice(
    'direct-merge-mode',
    'directMergeMode',
    'Merge untested when up to date and the queue is empty',
  ),
  optimizationMode: settingChoice('optimization-mode', 'optimizationMode', 'Reuse failures in a bisection'),
  mergeMethod: settingChoice('merge-method', 'mergeMethod', 'How to merge'),
  requiredStatuses: repeatableOption({
    name: 'required-status',
    value: 'name',
    summary: 'A status that a test run must pass; overrides branch protection',
    parse: requiredStatuses.parse,
  }),
  deleteRequiredStatuses: flag({
    name: 'delete-required-statuses',
    summary: 'Drop the override of required statuses',
  }),
  extensionEnabled: booleanFlag('extension-enabled', 'extensionEnabled', 'The browser extension'),
  labelCommandsEnabled: booleanFlag('label-commands-enabled', 'labelCommandsEnabled', 'Commands by label'),
  stateLabelsEnabled: booleanFlag('state-labels-enabled', 'stateLabelsEnabled', 'Labels that show the state'),
  enqueueingLabel: option({
    name: 'enqueueing-label',
    value: 'label',
    summary: 'Label that submits a pull request',
    parse: enqueueingLabel.parse,
  }),
  notReadyTimeoutHours: integerOption(
    'not-ready-timeout-hours',
    'notReadyTimeoutHours',
    'Cancel what is not ready after so many hours',
  ),
  testBranchConstructionMode: settingChoice(
    'test-branch-construction-mode',
    'testBranchConstructionMode',
    'How test branches are made',
  ),
}
