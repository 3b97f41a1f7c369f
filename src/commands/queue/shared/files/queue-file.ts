import {
  isEmptySetting,
  isSameSetting,
  queueSettings,
  stableJson,
} from '../../../../api/operations/queue-settings.ts'
import type { Param } from '../../../../api/params.ts'
import { usageError, withName } from '../../../../base/errors.ts'
import {
  escapeInvisible,
  isObject,
  type Json,
  type JsonObject,
  stringifyJson,
} from '../../../../base/json.ts'
import { parseRepository } from '../../../../values/repository.ts'
import { hintWithSuggestion } from '../../../../values/similar-name.ts'
import { branchParser } from '../../../../values/text.ts'

export interface SourceDocument {
  readonly value: Json
  /** Returns the line of the member at a path, from 1. */
  lineOf(...path: readonly string[]): number
}

export interface QueueFile {
  /** The address of the schema, for editors: it is kept and never read. */
  readonly $schema?: string
  readonly repo?: string
  readonly targetBranch?: string
  /** False if the settings of files of defaults do not count for this file. */
  readonly defaults?: boolean
  /** Whether the queue did not exist before `queue apply --record`, which wrote the file: nothing undoes that. */
  readonly created?: boolean
  readonly settings: JsonObject
}

/** The settings that a file can contain, by their keys; a file has `requiredStatuses: null` to delete them. */
const { deleteRequiredStatuses: _, ...fileSettings } = queueSettings

const knownSettings = new Map<string, Param<unknown>>(Object.entries(fileSettings))

const queueFileKeys = ['$schema', 'repo', 'targetBranch', 'defaults', 'created', 'settings']

/** The service can report these as 0, which updateQueue may refuse (docs/reference/service.md, "Queue settings"). */
const reportedAsZero = ['bisectionConcurrency', 'batchingMaxWaitTimeMinutes']

/** Whether a value can only be read: a file may have it while the live queue has it, and it is never sent. */
export const isOnlyRead = (key: string, value: Json | undefined): boolean =>
  value === 0 && reportedAsZero.includes(key)

/** Why a key is not a setting of a file: it is another field of a request or of getQueue's response. */
const refusals = new Map([
  ['', 'the setting has no name'],
  ['deleteRequiredStatuses', 'a queue file uses `requiredStatuses: null` instead'],
  ...['repo', 'targetBranch', 'pr'].map(key => [key, 'this names the queue and is not a setting'] as const),
  ...['branch', 'enqueuedPullRequests', 'allowedBotSubmitters', 'batchingRules'].map(
    key => [key, 'this setting is read-only'] as const,
  ),
])

/**
 * Checks the value of a setting and returns the value that the service accepts; returns the value of an
 * unknown setting unchanged. Throws a usage error for an invalid value, and for null, except for required
 * statuses: the service can reset only these (docs/reference/service.md, "updateQueue").
 */
export function readSetting(key: string, value: Json): Json {
  const refusal = refusals.get(key)
  if (refusal !== undefined) throw usageError(`${refusal}.`, 'Remove the setting.')
  const setting = knownSettings.get(key)
  if (setting === undefined || isOnlyRead(key, value)) return value
  if (value === null && key === 'requiredStatuses') return value
  if (value === null)
    throw usageError(
      'null is not allowed: the service cannot reset this setting.',
      'Set a value, or remove the setting to leave it unchanged.',
    )
  return setting.type.check(value) as Json
}

export const settingNames: readonly string[] = [...knownSettings.keys()]

/**
 * Returns a key of a file with what messages write around it; nothing unless it looks like a name, because the file may
 * be another one than was meant, such as a link to a file with secrets.
 */
export const showKey = (key: string, before: string, after = ''): string =>
  /^(?:<<|[\w.-]{1,40})$/.test(key) ? `${before}${key}${after}` : ''

const expectedForm =
  'A queue file has the keys `repo`, `targetBranch` and `settings`. For an example, use queue export.'

export function parseQueueFile({ value: document, lineOf }: SourceDocument, file: string): QueueFile {
  const placeOf = (...path: readonly string[]) => `${file}:${lineOf(...path)}`
  if (!isObject(document)) throw usageError(`${placeOf()}: a queue file must be a mapping.`, expectedForm)
  const unknown = Object.keys(document).find(key => !queueFileKeys.includes(key))
  if (unknown !== undefined)
    throw usageError(
      `${placeOf(unknown)}: unknown key${showKey(unknown, " '", "'")}.`,
      hintWithSuggestion(unknown, queueFileKeys, expectedForm),
    )
  const readText = (key: '$schema' | 'repo' | 'targetBranch', parse: (text: string) => unknown) => {
    const text = document[key]
    if (text === undefined) return {}
    if (typeof text !== 'string') throw usageError(`${placeOf(key)}: ${key} must be a string.`, expectedForm)
    return { [key]: withName(`${placeOf(key)}: ${key}`, () => parse(text)) }
  }
  const readFlag = (key: 'defaults' | 'created') => {
    const value = document[key]
    if (value === undefined) return {}
    if (typeof value !== 'boolean')
      throw usageError(`${placeOf(key)}: ${key} must be true or false.`, expectedForm)
    return { [key]: value }
  }
  const settings = document.settings ?? {}
  if (!isObject(settings))
    throw usageError(`${placeOf('settings')}: settings must be a mapping.`, expectedForm)
  const entries = Object.entries(settings).map(([key, value = null]) => {
    const read = withName(`${placeOf('settings', key)}${showKey(key, ': ')}`, () => readSetting(key, value))
    return [key, read] as const
  })
  return {
    ...readText('$schema', String),
    ...readText('repo', text => parseRepository(text) && text),
    ...readText('targetBranch', branchParser('branch')),
    ...readFlag('defaults'),
    ...readFlag('created'),
    settings: Object.fromEntries(entries),
  }
}

/** Parses a file with one queue, or with a list of them, as `queue apply --record` writes it. */
export function parseQueueFiles({ value, lineOf }: SourceDocument, file: string): readonly QueueFile[] {
  if (!Array.isArray(value)) return [parseQueueFile({ value, lineOf }, file)]
  return value.map((each: Json, index) =>
    parseQueueFile({ value: each, lineOf: (...path) => lineOf(String(index), ...path) }, file),
  )
}

export interface LiveSettings {
  readonly settings: JsonObject
  /** The settings whose values cannot be set: `settings` has those of them that a file can have. */
  readonly unsettable: readonly string[]
}

/** The known settings in their usual order, then the unknown ones. */
export function liveSettings(queue: JsonObject, withState: boolean): LiveSettings {
  const keys = [...knownSettings.keys()].filter(key => key !== 'state' && Object.hasOwn(queue, key))
  const others = Object.keys(queue).filter(key => !knownSettings.has(key) && !refusals.has(key))
  const unsettable: string[] = []
  const entries: [string, Json][] = []
  for (const key of [...(withState ? ['state'] : []), ...keys, ...others]) {
    const value = queue[key] ?? null
    const json = JSON.stringify([key, value])
    if (isOnlyRead(key, value)) unsettable.push(key)
    if (key === 'requiredStatuses' && isEmptySetting(value)) entries.push([key, null])
    else if (knownSettings.has(key) && value === null) continue
    // A person who reads the file would not see it.
    else if (escapeInvisible(json) !== json) unsettable.push(key)
    else
      try {
        entries.push([key, readSetting(key, value)])
      } catch {
        unsettable.push(key)
      }
  }
  return { settings: Object.fromEntries(entries), unsettable }
}

export interface Difference {
  readonly setting: string
  /** The live value; null if the queue has none. */
  readonly live: Json
  readonly file: Json
}

/** Settings that the file omits are ignored. */
export const differences = (live: JsonObject, file: JsonObject): readonly Difference[] =>
  Object.entries(file).flatMap(([setting, value]) => {
    const [actual, expected] = [(Object.hasOwn(live, setting) ? live[setting] : null) ?? null, value ?? null]
    return isSameSetting(setting, actual, expected) ? [] : [{ setting, live: actual, file: expected }]
  })

/**
 * Returns the settings in the body of an updateQueue request that makes these changes. The service derives
 * `bisectionConcurrency` from `concurrency` until it is set (docs/reference/service.md, "Queue settings"): it is
 * sent along.
 */
export function updateBody(changes: readonly Difference[], file: JsonObject): JsonObject {
  const names = changes.map(({ setting }) => setting)
  const { bisectionConcurrency = null } = file
  if (names.includes('concurrency') && bisectionConcurrency !== null && bisectionConcurrency !== 0)
    names.push('bisectionConcurrency')
  const body = names.map(key => {
    const value = file[key] ?? null
    return key === 'requiredStatuses' && value === null ? ['deleteRequiredStatuses', true] : [key, value]
  })
  return Object.fromEntries(body)
}

/** 16 hexadecimal digits of the SHA-256, which do not depend on the order of keys. */
export async function settingsDigest(live: Json): Promise<string> {
  const bytes = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(stableJson(live)))
  return [...new Uint8Array(bytes).slice(0, 8)].map(byte => byte.toString(16).padStart(2, '0')).join('')
}

/** Returns the keys that neither mergeq nor the live queue knows: they are probably misspelled. */
export const unknownKeys = (file: JsonObject, live: JsonObject): readonly string[] =>
  Object.keys(file).filter(key => !knownSettings.has(key) && !Object.hasOwn(live, key))

/** Formats a value for a plan: text as it is, everything else as JSON. */
export const formatValue = (value: Json | undefined): string =>
  typeof value === 'string' ? value : stringifyJson(value ?? null)

/** Formats a value for people: yes or no, a list with commas, `none` for nothing, `-` for no value. */
export function formatSetting(value: Json | undefined): string {
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (value === null || value === '' || (Array.isArray(value) && value.length === 0)) return 'none'
  if (Array.isArray(value)) return value.map(formatSetting).join(', ')
  return value === undefined ? '-' : formatValue(value)
}
