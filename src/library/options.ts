import { type BodyOverride, type Operation, operationMethod, type Params } from '../api/operation.ts'
import {
  isMergeqError,
  type MergeqError,
  toMergeqError,
  usageError,
  usageHint,
  withName,
} from '../base/errors.ts'
import type { Json } from '../base/json.ts'
import { type SettingKey, type SettingSource, settingDefinitions } from '../config/setting-definitions.ts'
import { parseToken } from '../config/token.ts'
import { checkProxy } from '../http/proxy.ts'
import { repositoryName } from '../values/repository.ts'
import { hintWithSuggestion } from '../values/similar-name.ts'
import { integer, pullRequest, repository, type Type } from '../values/types.ts'
import type { ClientOptions, CommonOptions } from './types.ts'

/** Checks the value of an option and returns what is used for it. Throws a usage error for a wrong value. */
type OptionReader = (value: unknown) => unknown

type SettingOption = keyof CommonOptions & SettingKey

/** Returns a function that checks the type of a value, which a message names. */
const ofType =
  <T>(type: string, isOne: (value: unknown) => value is T) =>
  (value: unknown): T => {
    if (!isOne(value)) throw usageError(`The value must be of type ${type}.`)
    return value
  }

/** A type of values that only programs give. */
export const programType = <T>(declaration: string, check: (value: unknown) => T): Type<T> => ({
  expected: declaration,
  form: 'value',
  placeholder: '',
  declaration,
  parse: check,
  check,
})

const string = ofType('string', value => typeof value === 'string')
const number = ofType('number', value => typeof value === 'number')
const boolean = ofType('boolean', value => typeof value === 'boolean')

export const abortSignal = programType(
  'AbortSignal',
  ofType('AbortSignal', value => value instanceof AbortSignal),
)

/** The type of a function that the library calls with `what`: `change: WaitChange`. */
export function callback<T>(what: string): Type<(value: T) => unknown> {
  const type = `(${what}) => void`
  const isFunction = (value: unknown): value is (value: T) => unknown => typeof value === 'function'
  return programType(type, ofType(type, isFunction))
}

const settingText =
  (name: SettingOption): OptionReader =>
  value => {
    settingDefinitions[name].parse(string(value))
    return value
  }

/** The largest number of requests that a client sends at the same time. */
const maxRequests = 100

/** The readers of the settings; each returns the text of its setting. */
export const settingReaders: Readonly<Record<SettingOption, OptionReader>> = {
  repo: value => repositoryName(repository.check(value)),
  targetBranch: settingText('targetBranch'),
  org: settingText('org'),
  baseUrl: settingText('baseUrl'),
  profile: settingText('profile'),
  timeout: value => settingText('timeout')(typeof value === 'number' ? `${value}ms` : value),
  retries: value => String(settingDefinitions.retries.parse(String(number(value)))),
  caFile: settingText('caFile'),
}

export const clientReaders: Readonly<Record<keyof ClientOptions, OptionReader>> = {
  ...settingReaders,
  token(value) {
    const token = string(value)
    return token.trim() === '' ? token : parseToken(token, 'option').value
  },
  signal: abortSignal.check,
  discover: boolean,
  maxConcurrent: integer(1, maxRequests).check,
  proxy(value) {
    const text = value instanceof URL ? value.href : value
    if (typeof text !== 'string') throw usageError('The value must be of type string or URL.')
    // Without its scheme, a misspelled word would be a host.
    if (text !== 'environment') checkProxy(text.includes('://') ? text : '', 'proxy')
    return text
  },
  onNotice: callback('text: string').check,
}

/** The settings that a client or a call gives, as texts. */
export type GivenSettings = Readonly<Record<string, unknown>>

export const settingsIn = (options: GivenSettings): GivenSettings =>
  Object.fromEntries(Object.entries(options).filter(([name]) => Object.hasOwn(settingReaders, name)))

/** Returns the settings as a source, in which each has the name of its option. */
export const sourceOf = (given: GivenSettings): SettingSource => ({
  find(name) {
    const value = given[name]
    return value === undefined ? undefined : { value: String(value), origin: name }
  },
})

/** Whether a value is JSON: no function, no Date, no number that JSON cannot write. */
function isJson(value: unknown): value is Json {
  if (value === null || typeof value === 'boolean' || typeof value === 'string') return true
  if (typeof value === 'number') return Number.isFinite(value)
  return Array.isArray(value)
    ? value.every(isJson)
    : isPlainObject(value) && Object.values(value).every(isJson)
}

function isPlainObject(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

/** Reads the option `set`: fields of the body by their dotted paths. */
export function readSet(fields: unknown): readonly BodyOverride[] {
  if (!isPlainObject(fields) || !isJson(fields))
    throw usageError('The value must be of type { [path: string]: Json }.')
  return Object.entries(fields).map(([name, value]) => {
    const path = name.split('.')
    if (path.includes(''))
      throw usageError(`'${name}' is not a valid path in the body.`, 'For example: pr.number or concurrency')
    return { path, value: value ?? null }
  })
}

/** Returns the readers of the options that are params. */
export const paramReaders = <P extends Params>(params: P): Readonly<Record<keyof P, OptionReader>> =>
  Object.fromEntries(
    Object.entries(params).map(([name, { type }]) => [name, name === 'pr' ? pullRequest.check : type.check]),
  ) as Record<keyof P, OptionReader>

/** Returns the readers of the options of a method: its settings, its params and, where it has a body, `set`. */
export function methodReaders({ route, params }: Operation): Readonly<Record<string, OptionReader>> {
  return {
    ...paramReaders(params),
    ...settingReaders,
    signal: abortSignal.check,
    ...(operationMethod(route) === 'POST' ? { set: readSet } : {}),
  }
}

/**
 * Returns the checked values of the options of a function. Throws a usage error for an unknown option and for a
 * value that its reader refuses.
 *
 * @param caller the name of the function, for messages
 */
export function readOptions(
  caller: string,
  options: unknown,
  readers: Readonly<Record<string, OptionReader>>,
): Readonly<Record<string, unknown>> {
  if (typeof options !== 'object' || options === null || Array.isArray(options))
    throw usageError(`${caller}: the options must be an object.`, 'Pass the options by name.')
  const values: [string, unknown][] = []
  const entries = readValue(() => Object.entries(options), `${caller}: the options`)
  for (const [name, value] of entries) {
    if (value === undefined) continue
    const reader = Object.hasOwn(readers, name) ? readers[name] : undefined
    if (reader === undefined)
      throw usageError(
        `${caller}: unknown option ${name}.`,
        hintWithSuggestion(name, Object.keys(readers), `Use one of: ${Object.keys(readers).join(', ')}.`),
      )
    const read = () => readValue(() => reader(value), 'the value')
    values.push([name, withName(`${caller}: ${name}`, read)])
  }
  return Object.fromEntries(values)
}

/** Returns the checked values of the options of a call, which may have a signal of its own. */
export const readCallOptions = (
  ...given: Parameters<typeof readOptions>
): Readonly<Record<string, unknown>> & { readonly signal?: AbortSignal } => readOptions(...given)

/** What a wrong value is told where the message says all: the command line shows its help instead. */
const typesHint = 'The types of the package, and docs/library.md, say what each option takes.'

/** The error that the caller receives: its details and the document are members of it. */
export function toPublicError(
  error: unknown,
  redact = (text: string): string => text,
  document: Json = null,
): MergeqError {
  const failure = toMergeqError(error)
  const { message } = failure
  const hint = failure.details.hint === usageHint ? typesHint : failure.details.hint
  const details = { ...failure.details, ...(hint !== undefined && { hint }) }
  return Object.assign(failure, details, { details, message: redact(message), document })
}

/** Throws a usage error for what cannot be read: a getter that throws, an object that contains itself. */
function readValue<T>(read: () => T, what: string): T {
  try {
    return read()
  } catch (error) {
    throw isMergeqError(error) ? error : usageError(`${what} cannot be read.`)
  }
}
