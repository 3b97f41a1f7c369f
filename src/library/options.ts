import { type BodyOverride, checkOverrides, isAlwaysSent } from '../api/added-fields.ts'
import { type Operation, operationMethod } from '../api/operation.ts'
import {
  type Param,
  type Params,
  type ParamValues,
  param,
  pullRequestNumber,
  requiredParam,
} from '../api/params.ts'
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
import { integer, pullRequest, repository, type Type, toggle } from '../values/types.ts'

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

/** An option of the library; what the published types say is made from it. */
export interface LibraryParam<T> extends Param<T> {
  /** The text that is used where it is left out. */
  readonly default?: string
  /** What is to be known besides the summary, in sentences. */
  readonly note?: string
}

/** A setting that is given as a text. */
const textSetting = (name: SettingKey, summary: string) => {
  const check = (value: unknown) => {
    const text = string(value)
    settingDefinitions[name].parse(text)
    return text
  }
  return param(programType('string', check), summary)
}

/** The settings of a call; each is read as the text of its setting. */
export const settingParams = {
  repo: param(
    programType('Repository | string', value => repositoryName(repository.check(value))),
    'The repository, or its name as `[host/]owner/name`',
  ),
  targetBranch: textSetting('targetBranch', 'The branch that the queue merges into'),
  org: textSetting('org', 'The slug of the organization, for failing tests'),
  baseUrl: textSetting('baseUrl', 'The base URL of the service'),
  profile: textSetting('profile', 'The profile of stored settings to use'),
  timeout: param(
    { ...programType('number | string', readTimeout), expected: 'a duration' },
    'Time limit for each request',
  ),
  retries: param(
    programType('number', value => String(settingDefinitions.retries.parse(String(number(value))))),
    'Maximum retries; 0 disables them',
  ),
  caFile: textSetting('caFile', 'A file with additional certificate authorities, in PEM'),
}

/** The options of a call besides its settings and params. */
export const callParams = {
  signal: {
    ...param(abortSignal, 'Aborts this call, as the signal of the client does'),
    note: 'A change that was sent may still take effect.',
  },
}

/** Further options of a method that sends a body. */
export const bodyParams = {
  set: param(
    programType('{ readonly [path: string]: Json }', readSet),
    'Additional fields of the request body, by their dotted paths',
  ),
}

/** Throws a usage error for fields of `set` that another option sets too. */
export function checkSet(
  caller: string,
  fields: readonly BodyOverride[],
  params: Params,
  given: object,
): void {
  const setters = Object.entries(params)
    .filter(([name, param]) => isAlwaysSent(param) || Object.hasOwn(given, name))
    .map(([name, param]) => ({ name, param }))
  checkOverrides(`${caller}: set`, fields, setters)
}

/** The options of a client, besides the settings of all its calls. */
export const clientParams = {
  token: param(
    programType('string', value => {
      const token = string(value)
      return token.trim() === '' ? token : parseToken(token, 'option').value
    }),
    'The API token; without it, the token that the command line would use',
  ),
  discover: {
    ...param(toggle, '`false`: take nothing from the environment, git, the CI job or files'),
    note: 'A repository, branch, pull request or token that no option gives is then an error. Meant for servers.',
  },
  proxy: {
    ...param(
      programType('string | URL', readProxy),
      'The proxy of all requests, as a URL such as `http://user:password@proxy.example:3128`; its scheme is `http` or `https`',
    ),
    note: '`environment` is what `HTTPS_PROXY` and `NO_PROXY` say, also with `discover: false`, and the default without it. With `discover: false` alone there is no proxy. This machine is never reached through one.',
  },
  maxConcurrent: {
    ...requiredParam(integer(1, 100), 'How many requests of all calls are sent at the same time'),
    default: '8',
    note: 'The others wait for their turn. After a response with status 429 all wait for its `Retry-After`, at most 60 seconds.',
  },
  signal: param(abortSignal, 'Aborts every call that is in progress'),
  onNotice: param(
    callback<string>('text: string'),
    'Receives each message that the command line would print on standard error, such as a warning',
  ),
}

function readTimeout(value: unknown): string {
  const text = typeof value === 'number' ? `${value}ms` : string(value)
  settingDefinitions.timeout.parse(text)
  return text
}

function readProxy(value: unknown): string {
  const text = value instanceof URL ? value.href : value
  if (typeof text !== 'string') throw usageError('The value must be of type string or URL.')
  // Without its scheme, a misspelled word would be a host.
  if (text !== 'environment') checkProxy(text.includes('://') ? text : '', 'proxy')
  return text
}

/** The settings that a client or a call gives, as texts. */
export type GivenSettings = Readonly<Record<string, unknown>>

export const settingsIn = (options: GivenSettings): GivenSettings =>
  Object.fromEntries(Object.entries(options).filter(([name]) => Object.hasOwn(settingParams, name)))

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
function readSet(fields: unknown): readonly BodyOverride[] {
  if (!isPlainObject(fields) || !isJson(fields))
    throw usageError('The value must be of type { [path: string]: Json }.')
  return Object.entries(fields).map(([name, value]) => {
    const path = name.split('.')
    if (path.includes(''))
      throw usageError(`'${name}' is not a valid path in the body.`, 'For example: pr.number or concurrency')
    return { path, value: value ?? null }
  })
}

/**
 * Returns the checked values of the options of a function. Throws a usage error for an unknown option and for a
 * value that its type refuses.
 *
 * @param caller the name of the function, for messages
 */
export function readOptions(
  caller: string,
  options: unknown,
  params: Readonly<Record<string, { readonly type: Pick<Type<unknown>, 'check'> }>>,
): Readonly<Record<string, unknown>> {
  if (typeof options !== 'object' || options === null || Array.isArray(options))
    throw usageError(`${caller}: the options must be an object.`, 'Pass the options by name.')
  const values: [string, unknown][] = []
  const entries = readValue(() => Object.entries(options), `${caller}: the options`)
  for (const [name, value] of entries) {
    if (value === undefined) continue
    const param = Object.hasOwn(params, name) ? params[name] : undefined
    if (param === undefined)
      throw usageError(
        `${caller}: unknown option ${name}.`,
        hintWithSuggestion(name, Object.keys(params), `Use one of: ${Object.keys(params).join(', ')}.`),
      )
    const type = param.type === pullRequestNumber ? pullRequest : param.type
    const read = () => readValue(() => type.check(value), 'the value')
    values.push([name, withName(`${caller}: ${name}`, read)])
  }
  return Object.fromEntries(values)
}

/** Returns the checked values of the options of a method: its params, its settings and, where it has a body, `set`. */
export const readCallOptions = (
  name: string,
  options: unknown,
  { route, params }: Operation,
): Readonly<Record<string, unknown>> & { readonly signal?: AbortSignal } =>
  readOptions(name, options, {
    ...params,
    ...settingParams,
    ...callParams,
    ...(operationMethod(route) === 'POST' ? bodyParams : {}),
  })

/** Returns the values of params, or their defaults, and the settings that the caller gives. */
export function readWithDefaults<P extends Readonly<Record<string, LibraryParam<unknown>>>>(
  caller: string,
  options: unknown,
  params: P,
): ParamValues<P> & { readonly settings: GivenSettings } {
  const given = readOptions(caller, options, { ...settingParams, ...params })
  const settings = Object.entries(given).filter(([name]) => !Object.hasOwn(params, name))
  const values = Object.entries(params).flatMap(([name, { type, required, default: text }]) => {
    const value = given[name] ?? (text === undefined ? undefined : type.parse(text))
    if (required === true && value === undefined)
      throw usageError(`${caller}: ${name} is required.`, `Pass the option ${name}.`)
    return value === undefined ? [] : [[name, value]]
  })
  return { ...Object.fromEntries(values), settings: Object.fromEntries(settings) }
}

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

/** Returns what `read` returns; its error becomes the one that the caller receives. */
export function readPublicly<T>(read: () => T, redact?: (text: string) => string): T {
  try {
    return read()
  } catch (error) {
    throw toPublicError(error, redact)
  }
}
