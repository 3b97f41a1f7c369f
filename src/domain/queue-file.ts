import { queueSettings } from '../cli/queue-setting-options.ts'
import { toMergeqError, usageError } from '../errors.ts'
import { isObject, type Json, type JsonObject } from '../json.ts'
import { parseRepository } from './values/repository.ts'
import { textParser } from './values/text.ts'

/** A value of a file and where it stands: lines count from 1; `members` are those of a mapping. */
export interface SourceNode {
  readonly value: Json
  readonly line: number
  readonly members?: ReadonlyMap<string, SourceNode>
}

/** A queue as a file has it: which one it is, as far as it says, and its settings as the service takes them. */
export interface QueueFile {
  readonly repo?: string
  readonly targetBranch?: string
  readonly settings: JsonObject
}

const { deleteRequiredStatuses: _, ...known } = queueSettings
const settings: ReadonlyMap<string, { accept(value: Json): Json }> = new Map(Object.entries(known))

/** What getQueue tells and no file holds: the queue's identity, what is in it, and what is read only. */
const untouchable = ['branch', 'enqueuedPullRequests', 'allowedBotSubmitters', 'batchingRules']

/** Why a key is no setting of a file; undefined when it may be one. */
function refusalReason(key: string): string | undefined {
  if (key === 'deleteRequiredStatuses') return 'it is written `requiredStatuses: null` in a file'
  if (/^(repo|targetBranch|pr)$/.test(key)) return 'it names a queue and is no setting of one'
  return untouchable.includes(key) ? 'it is read only' : undefined
}

/**
 * The value of a setting as the service takes it; one that is not known passes as it is. `null` resets, which the
 * service can do with required statuses only (service-observed.md section 3.3). A usage failure says what is wrong.
 */
export function readSetting(key: string, value: Json): Json {
  const why = refusalReason(key)
  if (why !== undefined || key === '') throw usageError(`${why ?? 'it has no name'}.`, 'Leave it out.')
  const setting = settings.get(key)
  if (setting === undefined || (value === null && key === 'requiredStatuses')) return value
  if (value === null)
    throw usageError(
      'it cannot be reset: the service has no reset for it.',
      'Write the value that it should have, or leave the line out to leave the setting alone.',
    )
  return setting.accept(value)
}

/** The names of all settings that a file can hold. */
export const settingNames: readonly string[] = [...settings.keys()]

const isKnown = (key: string): boolean => settings.has(key)

/** Reads a file's document. What it may not hold is a usage failure that names the file and the line. */
export function parseQueueFile({ members, line }: SourceNode, file: string): QueueFile {
  const wrong = (at: number, what: string, hint?: string) => usageError(`${file}:${at}: ${what}`, hint)
  const shape = 'A queue is `repo`, `targetBranch` and `settings`; `mergeq queue export` writes one.'
  if (members === undefined) throw wrong(line, 'this is no queue: it is not a mapping.', shape)
  for (const [key, spot] of members)
    if (!/^(repo|targetBranch|settings)$/.test(key))
      throw wrong(spot.line, `'${key}' is not part of a queue.`, shape)
  const word = (key: string, parse: (word: string) => unknown) => {
    const spot = members.get(key)
    if (spot === undefined) return {}
    if (typeof spot.value !== 'string') throw wrong(spot.line, `${key} is not text.`, shape)
    under(`${file}:${spot.line}: ${key}`, () => parse(String(spot.value)))
    return { [key]: spot.value }
  }
  const held = members.get('settings')
  if (held !== undefined && held.value !== null && held.members === undefined)
    throw wrong(held.line, 'settings is not a mapping.', shape)
  const read = [...(held?.members ?? [])].map(([key, spot]) => {
    const value = under(`${file}:${spot.line}: ${key}`, () => readSetting(key, spot.value))
    return [key, value] as const
  })
  return {
    ...word('repo', parseRepository),
    ...word('targetBranch', textParser('branch')),
    settings: Object.fromEntries(read),
  }
}

/** Runs a reader so that what it refuses is refused in the name of a place. */
function under<T>(place: string, read: () => T): T {
  try {
    return read()
  } catch (error) {
    const { message, details } = toMergeqError(error)
    throw usageError(`${place}: ${message}`, details.hint)
  }
}

/** What a live queue has that a file can hold, and the names of settings whose live value could not be set again. */
export interface LiveSettings {
  readonly settings: JsonObject
  readonly unreadable: readonly string[]
}

/** A queue's settings as a file holds them: known ones in their order, then unknown ones; its state only if asked for. */
export function liveSettings(queue: JsonObject, withState: boolean): LiveSettings {
  const keys = [...settings.keys()].filter(key => key !== 'state' && Object.hasOwn(queue, key))
  const others = Object.keys(queue).filter(
    key => !isKnown(key) && refusalReason(key) === undefined && key !== '',
  )
  const unreadable: string[] = []
  const read = [...(withState ? ['state'] : []), ...keys, ...others].flatMap(key => {
    const value = queue[key] ?? null
    if (key === 'requiredStatuses' && isNone(value)) return [[key, null] as const]
    if (isKnown(key) && value === null) return []
    try {
      return [[key, readSetting(key, value)] as const]
    } catch {
      unreadable.push(key)
      return []
    }
  })
  return { settings: Object.fromEntries(read), unreadable }
}

/** JSON with its keys in order: equal values have equal texts. */
const inOrder = (value: Json): string =>
  JSON.stringify(value, (_, one: Json) =>
    isObject(one) ? Object.fromEntries(Object.entries(one).sort(([a], [b]) => (a < b ? -1 : 1))) : one,
  )

const isNone = (value: Json): boolean => value === null || (Array.isArray(value) && value.length === 0)

/** Whether two values of a setting mean the same: without an override both `[]` and `null` are read; order is nothing. */
export function isSameSetting(key: string, one: Json, other: Json): boolean {
  if (key !== 'requiredStatuses') return inOrder(one) === inOrder(other)
  if (isNone(one) || isNone(other)) return isNone(one) && isNone(other)
  const sorted = (value: Json) => inOrder(Array.isArray(value) ? [...new Set(value)].sort() : value)
  return sorted(one) === sorted(other)
}

/** One setting that differs: what it is, and what the file says it should be. */
export interface Difference {
  readonly setting: string
  /** Null where the queue has no value. */
  readonly live: Json
  readonly file: Json
}

/** What of a file differs from the live settings. A key that the file does not have is left alone. */
export const differences = (live: JsonObject, file: JsonObject): readonly Difference[] =>
  Object.entries(file).flatMap(([setting, value]) => {
    const [is, should] = [live[setting] ?? null, value ?? null]
    return isSameSetting(setting, is, should) ? [] : [{ setting, live: is, file: should }]
  })

/** Settings that follow another one until they are set themselves (service-observed.md section 3.1). */
const followers = [['bisectionConcurrency', 'concurrency']] as const

/** The part of an update's body that makes these changes, and that keeps the file's value of what would follow one. */
export function updateBody(changes: readonly Difference[], file: JsonObject): JsonObject {
  const names = changes.map(({ setting }) => setting)
  const kept = followers.filter(([key, leader]) => names.includes(leader) && Object.hasOwn(file, key))
  const body = [...names, ...kept.map(([key]) => key)].map(key => {
    const value = file[key] ?? null
    return key === 'requiredStatuses' && value === null ? ['deleteRequiredStatuses', true] : [key, value]
  })
  return Object.fromEntries(body)
}

/** What createQueue takes of a file's settings (service-observed.md section 3.2). */
export const createBody = ({ mode, concurrency }: JsonObject): JsonObject => ({
  ...(mode === undefined ? {} : { mode }),
  ...(concurrency === undefined ? {} : { concurrency }),
})

/** A short name of live settings, the same whatever their order; it changes when any of them does. */
export async function settingsDigest(live: Json): Promise<string> {
  const bytes = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(inOrder(live)))
  return [...new Uint8Array(bytes).slice(0, 8)].map(byte => byte.toString(16).padStart(2, '0')).join('')
}

/** Settings that neither mergeq nor the live queue knows: probably mistyped. */
export const unknownKeys = (file: JsonObject, live: JsonObject): readonly string[] =>
  Object.keys(file).filter(key => !isKnown(key) && !Object.hasOwn(live, key))
