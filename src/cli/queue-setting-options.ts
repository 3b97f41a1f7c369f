import { usage } from '../errors.ts'
import type { Json } from '../json.ts'
import { either, type Field, flag, flags, on } from './inputs.ts'
import { integer, largestInteger, oneOf, text } from '../domain/values/parsers.ts'

/** A setting of the queue: what a flag gives as a word, a file gives as a value. */
export type Setting<T> = Field<T> & {
  /** The value as the service takes it; a usage failure says what it must be. */
  accept(value: Json): Json
}

const setting = <T>(field: Field<T>, accept: (value: Json) => Json): Setting<T> => ({ ...field, accept })

const isString = (value: Json): value is string => typeof value === 'string'
const no = (value: Json, what: string) => usage(`${JSON.stringify(value)} is not ${what}.`)

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

export const mode = setting(
  flag('--mode <mode>', 'One line (single), or lanes by impacted targets (parallel)', oneOf(modes), {
    at: 'body.mode',
    choices: modes,
  }),
  textual(oneOf(modes)),
)

/** A setting of the queue that is a whole number (service-observed.md section 3.1). */
function amount(name: string, key: string, least: number, summary: string) {
  const parse = integer(least, largestInteger)
  return setting(flag(`--${name} <n>`, summary, parse, { at: `body.${key}` }), numeric(parse))
}

export const concurrency = amount('concurrency', 'concurrency', 1, 'Test runs at a time')

/** A setting of the queue that is on or off. */
const onOff = (name: string, key: string, summary: string) =>
  setting(either(name, summary, { at: `body.${key}` }), boolean)

/** A setting of the queue that is one of a few words. */
const word = (name: string, key: string, choices: readonly string[], summary: string) =>
  setting(
    flag(`--${name} <word>`, `${summary}: ${choices.join(', ')}`, oneOf(choices), {
      at: `body.${key}`,
      choices,
    }),
    textual(oneOf(choices)),
  )

const states = ['running', 'paused', 'draining']
const toState = (word: string): string => oneOf(states)(word).toUpperCase()

/** Every setting that updateQueue takes, one flag for each (service-observed.md section 3.1). */
export const queueSettings = {
  state: setting(
    flag('--state <state>', `State of the queue: ${states.join(', ')}`, toState, {
      at: 'body.state',
      choices: states,
    }),
    textual(toState),
  ),
  mode,
  concurrency,
  bisectionConcurrency: amount(
    'bisection-concurrency',
    'bisectionConcurrency',
    1,
    'Test runs at a time while a failed batch is split',
  ),
  testingTimeoutMinutes: amount(
    'testing-timeout-minutes',
    'testingTimeoutMinutes',
    0,
    'Limit of a test run, in minutes; 0 is none',
  ),
  pendingFailureDepth: amount(
    'pending-failure-depth',
    'pendingFailureDepth',
    0,
    'Runs behind a failure to wait for before it counts',
  ),
  canOptimisticallyMerge: onOff(
    'can-optimistically-merge',
    'canOptimisticallyMerge',
    'A pass counts for all ahead',
  ),
  batch: onOff('batch', 'batch', 'Test several pull requests together'),
  batchingMinSize: amount('batching-min-size', 'batchingMinSize', 1, 'Size of a batch'),
  batchingMaxWaitTimeMinutes: amount(
    'batching-max-wait-time-minutes',
    'batchingMaxWaitTimeMinutes',
    1,
    'Time to fill a batch, in minutes',
  ),
  createPrsForTestingBranches: onOff(
    'create-prs-for-testing-branches',
    'createPrsForTestingBranches',
    'Draft pull requests for test branches',
  ),
  commentsEnabled: onOff('comments-enabled', 'commentsEnabled', 'Comments on pull requests'),
  commandsEnabled: onOff('commands-enabled', 'commandsEnabled', 'Commands in comments'),
  statusCheckEnabled: onOff('status-check-enabled', 'statusCheckEnabled', 'A status check on pull requests'),
  directMergeMode: word(
    'direct-merge-mode',
    'directMergeMode',
    ['off', 'always'],
    'Merge untested when up to date and the queue is empty',
  ),
  optimizationMode: word(
    'optimization-mode',
    'optimizationMode',
    ['off', 'bisection_skip_redundant_tests'],
    'Reuse failures in a bisection',
  ),
  mergeMethod: word('merge-method', 'mergeMethod', ['merge_commit', 'squash', 'rebase'], 'How to merge'),
  requiredStatuses: setting(
    flags(
      '--required-status <name>',
      'A status that a test run must pass; overrides branch protection (repeatable)',
      text('status'),
      { at: 'body.requiredStatuses' },
    ),
    textList(text('status')),
  ),
  deleteRequiredStatuses: on('--delete-required-statuses', 'Drop the override of required statuses', {
    at: 'body.deleteRequiredStatuses',
  }),
  extensionEnabled: onOff('extension-enabled', 'extensionEnabled', 'The browser extension'),
  labelCommandsEnabled: onOff('label-commands-enabled', 'labelCommandsEnabled', 'Commands by label'),
  stateLabelsEnabled: onOff('state-labels-enabled', 'stateLabelsEnabled', 'Labels that show the state'),
  enqueueingLabel: setting(
    flag('--enqueueing-label <label>', 'Label that submits a pull request', text('label'), {
      at: 'body.enqueueingLabel',
    }),
    textual(text('label')),
  ),
  notReadyTimeoutHours: amount(
    'not-ready-timeout-hours',
    'notReadyTimeoutHours',
    0,
    'Cancel what is not ready after so many hours',
  ),
  testBranchConstructionMode: word(
    'test-branch-construction-mode',
    'testBranchConstructionMode',
    ['rename_temp_branch', 'push_new_branch_from_temp'],
    'How test branches are made',
  ),
}
