import { type MergeqError, usageError } from '../errors.ts'
import { isObject, type Json } from '../json.ts'
import { integerParser, maxInteger } from './values/numbers.ts'
import { choiceParser, textParser } from './values/text.ts'

interface SettingType {
  /**
   * Returns a JSON value as the service accepts it. Throws a usage error that says what the value must be.
   */
  readonly fromJson: (value: Json) => Json
}

/** A type whose values can also be typed as one text; `parse` throws a usage error for an invalid text. */
interface TextualSettingType<T> extends SettingType {
  readonly parse: (text: string) => T
}

interface ChoiceSettingType<T> extends TextualSettingType<T> {
  readonly choices: readonly string[]
}

/** Whether a value is a number; one that a double cannot hold is an instance of a class. */
const isNumber = (value: Json): boolean =>
  typeof value === 'number' ||
  (typeof value === 'object' && value !== null && !Array.isArray(value) && !isObject(value))

const isString = (value: Json): value is string => typeof value === 'string'

const typeError = (value: Json, expected: string): MergeqError =>
  usageError(
    `${JSON.stringify(value)} is not ${expected}.`,
    'To see the settings and their values, run: mergeq queue update --help',
  )

function integerType(min: number): TextualSettingType<number> {
  const parse = integerParser(min, maxInteger)
  return {
    parse,
    fromJson(value) {
      if (!isNumber(value)) throw typeError(value, 'a number; write the number without quotes')
      return parse(String(value))
    },
  }
}

const stringFromJson =
  (parse: (text: string) => string) =>
  (value: Json): Json => {
    if (!isString(value)) throw typeError(value, 'a string; use quotes if necessary')
    return parse(value)
  }

function textType(valueName: string): TextualSettingType<string> {
  const parse = textParser(valueName)
  return { parse, fromJson: stringFromJson(parse) }
}

function textListType(valueName: string): TextualSettingType<string> {
  const parse = textParser(valueName)
  return {
    parse,
    fromJson(value) {
      if (!Array.isArray(value) || !value.every(isString)) throw typeError(value, 'a list of strings')
      return value.map(parse)
    },
  }
}

function choiceType<const C extends string>(choices: readonly C[]): ChoiceSettingType<C> {
  const parse = choiceParser(choices)
  return { choices, parse, fromJson: stringFromJson(parse) }
}

/** One of the states that a queue can be set to, in any case; the service expects upper case. */
function stateType(choices: readonly string[]): ChoiceSettingType<string> {
  const parse = (text: string): string => choiceParser(choices)(text).toUpperCase()
  return { choices, parse, fromJson: stringFromJson(parse) }
}

const booleanType: SettingType = {
  fromJson(value) {
    if (typeof value !== 'boolean') throw typeError(value, 'true or false')
    return value
  },
}

/**
 * The type of each setting that updateQueue accepts and a queue file can contain, by the setting's key in the
 * request body (docs/reference/service.md, "Queue settings"), in the order in which files list them.
 */
export const queueSettingTypes = {
  state: stateType(['running', 'paused', 'draining']),
  mode: choiceType(['single', 'parallel']),
  concurrency: integerType(1),
  bisectionConcurrency: integerType(1),
  testingTimeoutMinutes: integerType(0),
  pendingFailureDepth: integerType(0),
  canOptimisticallyMerge: booleanType,
  batch: booleanType,
  batchingMinSize: integerType(1),
  batchingMaxWaitTimeMinutes: integerType(1),
  createPrsForTestingBranches: booleanType,
  commentsEnabled: booleanType,
  commandsEnabled: booleanType,
  statusCheckEnabled: booleanType,
  directMergeMode: choiceType<string>(['off', 'always']),
  optimizationMode: choiceType<string>(['off', 'bisection_skip_redundant_tests']),
  mergeMethod: choiceType<string>(['merge_commit', 'squash', 'rebase']),
  requiredStatuses: textListType('status'),
  extensionEnabled: booleanType,
  labelCommandsEnabled: booleanType,
  stateLabelsEnabled: booleanType,
  enqueueingLabel: textType('label'),
  notReadyTimeoutHours: integerType(0),
  testBranchConstructionMode: choiceType<string>(['rename_temp_branch', 'push_new_branch_from_temp']),
}

/** Returns the name of a setting's option, without dashes: `batching-min-size` for `batchingMinSize`. */
export const settingOption = (key: string): string =>
  key.replace(/[A-Z]/g, letter => `-${letter.toLowerCase()}`)
