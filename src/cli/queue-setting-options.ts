import { integerParser, maxInteger } from '../domain/values/numbers.ts'
import { choiceParser, textParser } from '../domain/values/text.ts'
import { usageError } from '../errors.ts'
import type { Json } from '../json.ts'
import { flag, type Input, negatableFlag, option, repeatableOption } from './inputs.ts'

/** A setting of the queue: what a flag gives as a word, a file gives as a value. */
export type QueueSettingInput<T> = Input<T> & {
  /** The value as the service takes it; a usage failure says what it must be. */
  accept(value: Json): Json
}

const queueSetting = <T>(field: Input<T>, accept: (value: Json) => Json): QueueSettingInput<T> => ({
  ...field,
  accept,
})

const isString = (value: Json): value is string => typeof value === 'string'
const no = (value: Json, what: string) => usageError(`${JSON.stringify(value)} is not ${what}.`)

const numeric =
  (parse: (word: string) => number) =>
  (value: Json): Json => {
    if (typeof value !== 'number') throw no(value, 'a number (which stands without quotes)')
    return parse(String(value))
  }

const textual =
  (parse: (word: string) => string) =>
  (value: Json): Json => {
    if (!isString(value)) throw no(value, 'text (which may need quotes)')
    return parse(value)
  }

const textList =
  (parse: (word: string) => string) =>
  (value: Json): Json => {
    if (!Array.isArray(value) || !value.every(isString)) throw no(value, 'a list of texts')
    return value.map(parse)
  }

const boolean = (value: Json): Json => {
  if (typeof value !== 'boolean') throw no(value, 'true or false')
  return value
}

const modes = ['single', 'parallel'] as const

export const modeInput = queueSetting(
  option('--mode <mode>', 'One line (single), or lanes by impacted targets (parallel)', choiceParser(modes), {
    location: 'body.mode',
    choices: modes,
  }),
  textual(choiceParser(modes)),
)

/** A setting of the queue that is a whole number (service-observed.md section 3.1). */
function integerSetting(name: string, key: string, least: number, summary: string) {
  const parse = integerParser(least, maxInteger)
  return queueSetting(option(`--${name} <n>`, summary, parse, { location: `body.${key}` }), numeric(parse))
}

export const concurrencyInput = integerSetting('concurrency', 'concurrency', 1, 'Test runs at a time')

/** A setting of the queue that is on or off. */
const booleanSetting = (name: string, key: string, summary: string) =>
  queueSetting(negatableFlag(name, summary, { location: `body.${key}` }), boolean)

/** A setting of the queue that is one of a few words. */
const choiceSetting = (name: string, key: string, choices: readonly string[], summary: string) =>
  queueSetting(
    option(`--${name} <word>`, `${summary}: ${choices.join(', ')}`, choiceParser(choices), {
      location: `body.${key}`,
      choices,
    }),
    textual(choiceParser(choices)),
  )

const states = ['running', 'paused', 'draining']
const toState = (word: string): string => choiceParser(states)(word).toUpperCase()

/** Every setting that updateQueue takes, one flag for each (service-observed.md section 3.1). */
export const queueSettings = {
  state: queueSetting(
    option('--state <state>', `State of the queue: ${states.join(', ')}`, toState, {
      location: 'body.state',
      choices: states,
    }),
    textual(toState),
  ),
  mode: modeInput,
  concurrency: concurrencyInput,
  bisectionConcurrency: integerSetting(
    'bisection-concurrency',
    'bisectionConcurrency',
    1,
    'Test runs at a time while a failed batch is split',
  ),
  testingTimeoutMinutes: integerSetting(
    'testing-timeout-minutes',
    'testingTimeoutMinutes',
    0,
    'Limit of a test run, in minutes; 0 is none',
  ),
  pendingFailureDepth: integerSetting(
    'pending-failure-depth',
    'pendingFailureDepth',
    0,
    'Runs behind a failure to wait for before it counts',
  ),
  canOptimisticallyMerge: booleanSetting(
    'can-optimistically-merge',
    'canOptimisticallyMerge',
    'A pass counts for all ahead',
  ),
  batch: booleanSetting('batch', 'batch', 'Test several pull requests together'),
  batchingMinSize: integerSetting('batching-min-size', 'batchingMinSize', 1, 'Size of a batch'),
  batchingMaxWaitTimeMinutes: integerSetting(
    'batching-max-wait-time-minutes',
    'batchingMaxWaitTimeMinutes',
    1,
    'Time to fill a batch, in minutes',
  ),
  createPrsForTestingBranches: booleanSetting(
    'create-prs-for-testing-branches',
    'createPrsForTestingBranches',
    'Draft pull requests for test branches',
  ),
  commentsEnabled: booleanSetting('comments-enabled', 'commentsEnabled', 'Comments on pull requests'),
  commandsEnabled: booleanSetting('commands-enabled', 'commandsEnabled', 'Commands in comments'),
  statusCheckEnabled: booleanSetting(
    'status-check-enabled',
    'statusCheckEnabled',
    'A status check on pull requests',
  ),
  directMergeMode: choiceSetting(
    'direct-merge-mode',
    'directMergeMode',
    ['off', 'always'],
    'Merge untested when up to date and the queue is empty',
  ),
  optimizationMode: choiceSetting(
    'optimization-mode',
    'optimizationMode',
    ['off', 'bisection_skip_redundant_tests'],
    'Reuse failures in a bisection',
  ),
  mergeMethod: choiceSetting(
    'merge-method',
    'mergeMethod',
    ['merge_commit', 'squash', 'rebase'],
    'How to merge',
  ),
  requiredStatuses: queueSetting(
    repeatableOption(
      '--required-status <name>',
      'A status that a test run must pass; overrides branch protection (repeatable)',
      textParser('status'),
      { location: 'body.requiredStatuses' },
    ),
    textList(textParser('status')),
  ),
  deleteRequiredStatuses: flag('--delete-required-statuses', 'Drop the override of required statuses', {
    location: 'body.deleteRequiredStatuses',
  }),
  extensionEnabled: booleanSetting('extension-enabled', 'extensionEnabled', 'The browser extension'),
  labelCommandsEnabled: booleanSetting('label-commands-enabled', 'labelCommandsEnabled', 'Commands by label'),
  stateLabelsEnabled: booleanSetting(
    'state-labels-enabled',
    'stateLabelsEnabled',
    'Labels that show the state',
  ),
  enqueueingLabel: queueSetting(
    option('--enqueueing-label <label>', 'Label that submits a pull request', textParser('label'), {
      location: 'body.enqueueingLabel',
    }),
    textual(textParser('label')),
  ),
  notReadyTimeoutHours: integerSetting(
    'not-ready-timeout-hours',
    'notReadyTimeoutHours',
    0,
    'Cancel what is not ready after so many hours',
  ),
  testBranchConstructionMode: choiceSetting(
    'test-branch-construction-mode',
    'testBranchConstructionMode',
    ['rename_temp_branch', 'push_new_branch_from_temp'],
    'How test branches are made',
  ),
}
