import { toMergeqError, usageError } from '../errors.ts'
import { isObject, type Json, type JsonObject } from '../json.ts'
import { defaults, isSetting, stateIn, withChanges } from './engine/queue-settings.ts'
import { type Reader, readField, textReader } from './field-types.ts'
import type { Scenario, ScenarioScript, ScriptedResult } from './scenarios.ts'
import { statusError } from './status-error.ts'

/** Reads scenarios of one's own: JSON with the fields of `Scenario` but its name, all of them optional. */

const verdicts = ['pass', 'fail', 'flake', 'cancel'] as const satisfies readonly ScriptedResult[]

/** A number that a sandbox can count with, above 0 or from 0 on; the largest is a day in milliseconds. */
const amount = (from: 'above' | 'at'): Reader<number> => ({
  must: from === 'above' ? 'a number over 0' : 'a number of seconds, 0 or more',
  read: value =>
    typeof value === 'number' && (from === 'above' ? value > 0 : value >= 0) && value <= 86_400_000
      ? value
      : undefined,
})
const [factor, seconds] = [amount('above'), amount('at')]

const counting: Reader<number> = {
  must: 'a whole number over 0',
  read: value => (typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : undefined),
}

const runs: Reader<readonly ScriptedResult[]> = {
  must: `a list of ${verdicts.join(', ')} that does not end in flake`,
  read(value) {
    if (!Array.isArray(value) || value.length === 0 || value.at(-1) === 'flake') return undefined
    const known = value.flatMap(one => verdicts.find(verdict => verdict === one) ?? [])
    return known.length === value.length ? known : undefined
  },
}

const text: Reader<string> = {
  must: 'text',
  read: value => (typeof value === 'string' ? value : undefined),
}

/** Reads an object with these keys and no other. */
function objectIn(value: Json, name: string, keys: readonly string[]): JsonObject {
  if (!isObject(value)) throw statusError(400, `${name} must be an object.`)
  const stray = Object.keys(value).find(key => !keys.includes(key))
  if (stray !== undefined)
    throw statusError(400, `${name} has no field '${stray}': it may have ${keys.join(', ')}.`)
  return value
}

/** Reads each element of a list; what is refused is refused with its place. */
function listIn<T>(
  document: JsonObject,
  key: string,
  read: (value: Json, name: string) => T,
): readonly T[] | undefined {
  const list = document[key]
  if (list === undefined) return undefined
  if (!Array.isArray(list)) throw statusError(400, `${key} must be a list.`)
  return list.map((value, index) => read(value, `${key}[${index}]`))
}

/** Refuses in the name of a part what was refused within it. */
function within<T>(name: string, read: () => T): T {
  try {
    return read()
  } catch (error) {
    throw statusError(400, `${name}: ${toMergeqError(error).message}`)
  }
}

/** Settings as updateQueue takes them; one that nobody knows is refused, because here it is a slip of the pen. */
function settingsIn(value: Json, name: string): JsonObject {
  if (!isObject(value)) throw statusError(400, `${name} must be an object.`)
  const stray = Object.keys(value).find(key => !isSetting(key))
  if (stray !== undefined)
    throw statusError(400, `${name} has no field '${stray}': no queue has this setting.`)
  return within(name, () => {
    withChanges(defaults, value)
    stateIn(value)
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

function scriptIn(value: Json, name: string): ScenarioScript {
  const document = objectIn(value, name, scriptKeys)
  return within(name, () => {
    const optional = <T>(key: string, reader: Reader<T>) =>
      readField<T | undefined>(document, key, reader, undefined)
    const script = {
      pr: optional('pr', counting),
      divisibleBy: optional('divisibleBy', counting),
      runs: optional('runs', runs),
      readyAfter: optional('readyAfter', seconds),
      cancelledAfter: optional('cancelledAfter', seconds),
      pushedAfter: optional('pushedAfter', seconds),
      stretch: optional('stretch', factor),
      head: optional('head', textReader),
    }
    if ((script.pr === undefined) === (script.divisibleBy === undefined))
      throw statusError(400, 'it needs either pr or divisibleBy.')
    if (script.head !== undefined && script.pr === undefined)
      throw statusError(400, 'head goes with pr only.')
    return script
  })
}

function scenarioIn(value: Json, name: string): Scenario {
  const keys = ['summary', 'scripts', 'settings', 'moments', 'stretch', 'outage', 'outages']
  const document = objectIn(value, 'it', keys)
  const spanIn = (value: Json, name: string, key: string) => {
    const span = objectIn(value, name, ['after', key])
    if (span.after === undefined || span[key] === undefined)
      throw statusError(400, `${name} needs after and ${key}.`)
    return { span, after: within(name, () => readField(span, 'after', seconds, 0)) }
  }
  return {
    name,
    summary: readField(document, 'summary', text, ''),
    scripts: listIn(document, 'scripts', scriptIn) ?? [],
    settings: document.settings === undefined ? undefined : settingsIn(document.settings, 'settings'),
    moments: listIn(document, 'moments', (value, name) => {
      const { span, after } = spanIn(value, name, 'settings')
      return { after, settings: settingsIn(span.settings ?? null, `${name}.settings`) }
    }),
    stretch: readField<number | undefined>(document, 'stretch', factor, undefined),
    outage: readField<number | undefined>(document, 'outage', counting, undefined),
    outages: listIn(document, 'outages', (value, name) => {
      const { span, after } = spanIn(value, name, 'lasts')
      return { after, lasts: within(name, () => readField(span, 'lasts', factor, 0)) }
    }),
  }
}

/** Reads a scenario from JSON. Throws a usage failure that names the part it cannot read. */
export function readScenario(json: string, name: string): Scenario {
  try {
    return scenarioIn(parsed(json), name)
  } catch (error) {
    throw usageError(
      `the scenario ${name} cannot be read: ${toMergeqError(error).message}`,
      'For example {"scripts":[{"divisibleBy":3,"runs":["flake","pass"]}],"stretch":2}.',
    )
  }
}

function parsed(json: string): Json {
  try {
    return JSON.parse(json)
  } catch {
    throw statusError(400, 'it is not JSON.')
  }
}
