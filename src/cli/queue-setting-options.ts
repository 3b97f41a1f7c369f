import { integerParser, maxInteger } from '../domain/values/numbers.ts'
import { choiceParser, textParser } from '../domain/values/text.ts'
import { usageError } from '../errors.ts'
import type { Json } from '../json.ts'
import { flag, type Input, negatableFlag, option, repeatableOption } from './inputs.ts'

/** A setting of a queue: an option gives it as a word, a queue file as a JSON value. */
export type QueueSettingInput<T> = Input<T> & {
  /** The value as it is sent to the service. Throws a usage error that says what the value must be. */
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

/** The mode of a queue. */
export const modeInput = queueSetting(
  option('--mode <mode>', 'One line (single), or lanes by impacted targets (parallel)', choiceParser(modes), {
    choices: modes,
  }),
  textual(choiceParser(modes)),
)

/** A setting that is an integer (service-observed.md section 3.1). */
function integerSetting(name: string, min: number, summary: string) {
  const parse = integerParser(min, maxInteger)
  return queueSetting(option(`--${name} <n>`, summary, parse), numeric(parse))
}

/** How many test runs a queue has at a time. */
export const concurrencyInput = integerSetting('concurrency', 1, 'Test runs at a time')

/** A setting that is on or off. */
const booleanSetting = (name: string, summary: string) => queueSetting(negatableFlag(name, summary), boolean)

/** A setting with a fixed set of values. */
const choiceSetting = (name: string, choices: readonly string[], summary: string) =>
  queueSetting(
    option(`--${name} <word>`, `${summary}: ${choices.join(', ')}`, choiceParser(choices), {
      choices,
    }),
    textual(choiceParser(choices)),
  )

const states = ['running', 'paused', 'draining']
const toState = (word: string): string => choiceParser(states)(word).toUpperCase()

/** Every setting of updateQueue as an option (service-observed.md section 3.1). */
export const queueSettings = {
  state: queueSetting(
    option('--state <state>', `State of the queue: ${states.join(', ')}`, toState, {
      choices: states,
    }),
    textual(toState),
  ),
  mode: modeInput,
  concurrency: concurrencyInput,
  bisectionConcurrency: integerSetting(
    'bisection-concurrency',
    1,
    'Test runs at a time while a failed batch is split',
  ),
  testingTimeoutMinutes: integerSetting(
    'testing-timeout-minutes',
    0,
    'Limit of a test run, in minutes; 0 is none',
  ),
  pendingFailureDepth: integerSetting(
    'pending-failure-depth',
    0,
    'Runs behind a failure to wait for before it counts',
  ),
  canOptimisticallyMerge: booleanSetting('can-optimistically-merge', 'A pass counts for all ahead'),
  batch: booleanSetting('batch', 'Test several pull requests together'),
  batchingMinSize: integerSetting('batching-min-size', 1, 'Size of a batch'),
  batchingMaxWaitTimeMinutes: integerSetting(
    'batching-max-wait-time-minutes',
    1,
    'Time to fill a batch, in minutes',
  ),
  createPrsForTestingBranches: booleanSetting(
    'create-prs-for-testing-branches',
    'Draft pull requests for test branches',
  ),
  commentsEnabled: booleanSetting('comments-enabled', 'Comments on pull requests'),
  commandsEnabled: booleanSetting('commands-enabled', 'Commands in comments'),
  statusCheckEnabled: booleanSetting('status-check-enabled', 'A status check on pull requests'),
  directMergeMode: choiceSetting(
    'direct-merge-mode',
    ['off', 'always'],
    'Merge untested when up to date and the queue is empty',
  ),
  optimizationMode: choiceSetting(
    'optimization-mode',
    ['off', 'bisection_skip_redundant_tests'],
    'Reuse failures in a bisection',
  ),
  mergeMethod: choiceSetting('merge-method', ['merge_commit', 'squash', 'rebase'], 'How to merge'),
  requiredStatuses: queueSetting(
    repeatableOption(
      '--required-status <name>',
      'A status that a test run must pass; overrides branch protection (repeatable)',
      textParser('status'),
    ),
    textList(textParser('status')),
  ),
  deleteRequiredStatuses: flag('--delete-required-statuses', 'Drop the override of required statuses'),
  extensionEnabled: booleanSetting('extension-enabled', 'The browser extension'),
  labelCommandsEnabled: booleanSetting('label-commands-enabled', 'Commands by label'),
  stateLabelsEnabled: booleanSetting('state-labels-enabled', 'Labels that show the state'),
  enqueueingLabel: queueSetting(
    option('--enqueueing-label <label>', 'Label that submits a pull request', textParser('label')),
    textual(textParser('label')),
  ),
  notReadyTimeoutHours: integerSetting(
    'not-ready-timeout-hours',
    0,
    'Cancel what is not ready after so many hours',
  ),
  testBranchConstructionMode: choiceSetting(
    'test-branch-construction-mode',
    ['rename_temp_branch', 'push_new_branch_from_temp'],
    'How test branches are made',
  ),
}
