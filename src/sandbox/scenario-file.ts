import { requireUtf8 } from '../domain/values/utf8-text.ts'
import { toMergeqError, usageError } from '../errors.ts'
import { isObject, type Json, type JsonObject } from '../json.ts'
import { defaultSettings, isSetting, mergeSettings, readQueueState } from './engine/queue-configuration.ts'
import { booleanField, type FieldType, isString, nonEmptyTextField, readField } from './field-types.ts'
import type { Scenario, ScenarioScript, ScriptedResult } from './scenarios.ts'
import { statusError } from './status-error.ts'

/** A scenario file is a JSON object with the fields of `Scenario` except `name`. All fields are optional. */

const maxNumber = 86_400_000

const factorField: FieldType<number> = {
  expected: 'a number greater than 0',
  parse: value => (typeof value === 'number' && value > 0 && value <= maxNumber ? value : undefined),
}

const secondsField: FieldType<number> = {
  expected: 'a number of seconds, 0 or more',
  parse: value => (typeof value === 'number' && value >= 0 && value <= maxNumber ? value : undefined),
}

const positiveIntegerField: FieldType<number> = {
  expected: 'a whole number greater than 0',
  parse: value => (typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : undefined),
}

const results = ['pass', 'fail', 'flake', 'cancel'] as const satisfies readonly ScriptedResult[]

const resultsField: FieldType<readonly ScriptedResult[]> = {
  expected: `a list of ${results.join(', ')} that does not end with flake`,
  parse(value) {
    if (!Array.isArray(value) || value.length === 0 || value.at(-1) === 'flake') return undefined
    const parsed = value.flatMap(element => results.find(result => result === element) ?? [])
    return parsed.length === value.length ? parsed : undefined
  },
}

const textField: FieldType<string> = {
  expected: 'a string',
  parse: value => (isString(value) ? value : undefined),
}

/** Returns a value that is an object without other keys than `keys`. Throws an error that names the value. */
function requireObject(value: Json, name: string, keys: readonly string[]): JsonObject {
  if (!isObject(value)) throw statusError(400, `${name} must be an object.`)
  const unknownKey = Object.keys(value).find(key => !keys.includes(key))
  if (unknownKey !== undefined)
    throw statusError(400, `${name}: unknown field '${unknownKey}'; must be one of: ${keys.join(', ')}.`)
  return value
}

/** `parse` gets the name of each element, such as `scripts[0]`, for its errors. */
function parseList<T>(
  document: JsonObject,
  key: string,
  parse: (value: Json, name: string) => T,
): readonly T[] | undefined {
  const list = document[key]
  if (list === undefined) return undefined
  if (!Array.isArray(list)) throw statusError(400, `${key} must be a list.`)
  return list.map((value, index) => parse(value, `${key}[${index}]`))
}

function withErrorPrefix<T>(name: string, parse: () => T): T {
  try {
    return parse()
  } catch (error) {
    throw statusError(400, `${name}: ${toMergeqError(error).message}`)
  }
}

/** Unlike updateQueue, a scenario file must not have unknown settings: they are probably typos. */
function parseSettings(value: Json, name: string): JsonObject {
  if (!isObject(value)) throw statusError(400, `${name} must be an object.`)
  const unknownKey = Object.keys(value).find(key => !isSetting(key))
  if (unknownKey !== undefined) throw statusError(400, `${name}: unknown setting '${unknownKey}'.`)
  return withErrorPrefix(name, () => {
    mergeSettings(defaultSettings, value)
    readQueueState(value)
    return value
  })
}

const scriptKeys = [
  'pr',
  'divisibleBy',
  'runs',
  'readyAfter',
  'cancelledAfter',
  'pushedAfter',
  'stretch',
  'head',
]

function parseScript(value: Json, name: string): ScenarioScript {
  const document = requireObject(value, name, scriptKeys)
  return withErrorPrefix(name, () => {
    const readOptional = <T>(key: string, type: FieldType<T>) =>
      readField<T | undefined>(document, key, type, undefined)
    const script = {
      pr: readOptional('pr', positiveIntegerField),
      divisibleBy: readOptional('divisibleBy', positiveIntegerField),
      runs: readOptional('runs', resultsField),
      readyAfter: readOptional('readyAfter', secondsField),
      cancelledAfter: readOptional('cancelledAfter', secondsField),
      pushedAfter: readOptional('pushedAfter', secondsField),
      stretch: readOptional('stretch', factorField),
      head: readOptional('head', nonEmptyTextField),
    }
    if ((script.pr === undefined) === (script.divisibleBy === undefined))
      throw statusError(400, 'either pr or divisibleBy is required.')
    if (script.head !== undefined && script.pr === undefined) throw statusError(400, 'head requires pr.')
    return script
  })
}

function parseTimed(value: Json, name: string, key: string) {
  const timed = requireObject(value, name, ['after', key])
  if (timed.after === undefined || timed[key] === undefined)
    throw statusError(400, `${name} requires after and ${key}.`)
  return { timed, after: withErrorPrefix(name, () => readField(timed, 'after', secondsField, 0)) }
}

const scenarioKeys = [
  'summary',
  'scripts',
  'settings',
  'moments',
  'stretch',
  'outage',
  'outages',
  'lowerCaseStatesOnly',
]

function parseDocument(value: Json, name: string): Scenario {
  const document = requireObject(value, 'the file', scenarioKeys)
  const { settings } = document
  return {
    name,
    summary: readField(document, 'summary', textField, ''),
    scripts: parseList(document, 'scripts', parseScript) ?? [],
    settings: settings === undefined ? undefined : parseSettings(settings, 'settings'),
    moments: parseList(document, 'moments', (element, elementName) => {
      const { timed, after } = parseTimed(element, elementName, 'settings')
      return { after, settings: parseSettings(timed.settings ?? null, `${elementName}.settings`) }
    }),
    stretch: readField<number | undefined>(document, 'stretch', factorField, undefined),
    outage: readField<number | undefined>(document, 'outage', positiveIntegerField, undefined),
    lowerCaseStatesOnly: readField<boolean | undefined>(
      document,
      'lowerCaseStatesOnly',
      booleanField,
      undefined,
    ),
    outages: parseList(document, 'outages', (element, elementName) => {
      const { timed, after } = parseTimed(element, elementName, 'lasts')
      return { after, lasts: withErrorPrefix(elementName, () => readField(timed, 'lasts', factorField, 0)) }
    }),
  }
}

/**
 * Parses the text of a scenario file. Throws a usage error that names the part of the file that is wrong.
 *
 * @param name The name of the scenario, for errors: the path of the file.
 */
export function parseScenario(text: string, name: string): Scenario {
  const plainText = requireUtf8(text, `The scenario ${name}`)
  try {
    return parseDocument(parseJson(plainText), name)
  } catch (error) {
    throw usageError(
      `The scenario ${name} cannot be read: ${toMergeqError(error).message}`,
      'For example: {"scripts":[{"divisibleBy":3,"runs":["flake","pass"]}],"stretch":2}',
    )
  }
}

function parseJson(text: string): Json {
  try {
    return JSON.parse(text)
  } catch {
    throw statusError(400, 'it contains invalid JSON.')
  }
}
