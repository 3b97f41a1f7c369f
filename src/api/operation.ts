import { extendError, type MergeqError, usageError } from '../base/errors.ts'
import { type EncodedJson, type Json, type JsonObject, scanJson } from '../base/json.ts'
import { defaultMaxPages, defaultPageSize } from '../values/limits.ts'
import { type Repository, repositoryName } from '../values/repository.ts'
import { toIso } from '../values/time.ts'
import { branch, instant, integer, repository, requireExactNumbers, type Type } from '../values/types.ts'
import type { RecordType } from './operations/fields.ts'
import type { DecodedResponse, PagesEnd, ResponseDecoder } from './response.ts'

/**
 * Where a param is in the request: the whole body or query, a path in the body, or a header that replaces the token
 * (docs/reference/service.md, "setImpactedTargets").
 */
export type ParamLocation = 'body' | 'query' | `body.${string}` | `credential.${string}`

/**
 * Returns the name of a param or setting as the caller writes it: `--page-token` on the command line, `pageToken`
 * in the library. A flag that is false may have a name of its own: `--no-quarantined`.
 */
export type NameOf = (name: string, value?: unknown) => string

/** A value in a request: JSON, or JSON text that is already encoded. */
export type EncodedValue = Json | EncodedJson

/** The settings that can give the value of a param (docs/reference/cli.md, "Settings"). */
type ParamSetting = 'repo' | 'targetBranch' | 'org' | 'pr' | 'sha' | 'testRun' | 'forkedRun'

/**
 * A param of an operation. The option of the command line, the option of the library, help, completion, the
 * reference, keys of queue files and the checks of the sandbox are made from it.
 */
export interface Param<T> {
  readonly type: Type<T>
  /** What the option does, as help shows it: imperative or a noun, without a full stop. */
  readonly summary: string
  /**
   * Where the value is sent, or what pages send because of it. Without one, a param of a POST is in the body under its own
   * name, and any other param is not sent, such as a filter of mergeq.
   */
  readonly location?: ParamLocation
  /** Whether the service refuses a request without it (docs/reference/service.md, "Operations"). */
  readonly required?: boolean
  /** The setting that gives the value where no option does. */
  readonly setting?: ParamSetting
  /** The only sources that give the setting, where other sources would give what nobody asked for. */
  readonly settingFrom?: 'option' | 'option-or-environment'
  /** What is used where it is left out, for the documentation: `24h`. */
  readonly defaultText?: string
  /** The value at the location, where it is not the value itself; undefined sends nothing. */
  encode?(value: T): EncodedValue | undefined
}

/** The params of an operation by name, in the order in which help lists their options. */
export type Params = Readonly<Record<string, Param<unknown>>>

type ParamValue<P> = P extends Param<infer T> ? T : never

type OptionalKeys<P extends Params> = {
  [K in keyof P]: undefined extends ParamValue<P[K]> ? K : never
}[keyof P]

/** The values of params; a param that may be undefined may be left out. */
export type ParamValues<P extends Params> = {
  readonly [K in Exclude<keyof P, OptionalKeys<P>>]: ParamValue<P[K]>
} & { readonly [K in OptionalKeys<P>]?: ParamValue<P[K]> }

/** The values of these params among others. */
export const valuesOfParams = <P extends Params>(params: P, values: ParamValues<P>): ParamValues<P> =>
  Object.fromEntries(Object.entries(values).filter(([name]) => Object.hasOwn(params, name))) as ParamValues<P>

type ParamDetails<T> = Omit<Param<T>, 'type' | 'summary' | 'required'>

/** A param that may be left out. */
export const param = <T>(
  type: Type<T>,
  summary: string,
  details: ParamDetails<T | undefined> = {},
): Param<T | undefined> => ({ type, summary, ...details })

/** A param without which the service refuses a request. */
export const requiredParam = <T>(
  type: Type<T>,
  summary: string,
  details: ParamDetails<T> = {},
): Param<T> => ({ type, summary, required: true, ...details })

/** A value at a path of the body, set last: it replaces what a param sends there. */
export interface BodyOverride {
  readonly path: readonly string[]
  readonly value: Json
}

/** What a user adds to the bodies of one operation (docs/reference/cli.md, "Fields that mergeq does not know"). */
export interface AddedFields {
  readonly route: Route
  readonly fields: readonly BodyOverride[]
}

const isAt = ({ location }: Param<unknown>, path: readonly string[]): boolean =>
  location?.startsWith('body.') === true && overlaps(location.split('.').slice(1), path)

const overlaps = (one: readonly string[], other: readonly string[]): boolean =>
  one.every((key, index) => index >= other.length || other[index] === key)

/** Whether a body always has the param, so that overrides must not set it: what a request is about, and what it needs. */
export const isAlwaysSent = (name: string, { required = false }: Param<unknown>): boolean =>
  required || name === 'pr'

/**
 * Throws a usage error for a path that is given twice, or that a param sets already.
 *
 * @param source what gives the overrides, in messages: `--set`
 * @param setters the params that were given, each with what gave it: `--priority`
 */
export function checkOverrides(
  source: string,
  overrides: readonly BodyOverride[],
  setters: readonly { readonly name: string; readonly param: Param<unknown> }[],
): void {
  for (const [index, { path }] of overrides.entries()) {
    const name = path.join('.')
    if (overrides.slice(0, index).some(other => overlaps(other.path, path)))
      throw usageError(`${source} was given twice for ${name}.`, 'Use each path only once.')
    const setter = setters.find(({ param }) => isAt(param, path))
    if (setter !== undefined)
      throw usageError(
        `${source} ${name} conflicts with ${setter.name}, which sets the same field.`,
        `Use only ${setter.name}.`,
      )
  }
}

/**
 * Parses `path=value`: dots separate the keys; the value is JSON if it parses as JSON, else a string. Throws a
 * usage error for another form, and for a number that would be sent changed.
 */
export function parseOverride(word: string): BodyOverride {
  const equals = word.indexOf('=')
  const path = word.slice(0, equals).split('.')
  if (equals < 1 || path.includes(''))
    throw usageError(
      `'${word}' does not have the form <path>=<value>.`,
      'For example: concurrency=5 or pr.number=7',
    )
  const value = word.slice(equals + 1)
  if (path.length > maxPathLength || scanJson(value).isDeep)
    throw usageError(`'${word.slice(0, 80)}…' has too many levels.`)
  return { path, value: parseValue(value) }
}

const maxPathLength = 100

function parseValue(word: string): Json {
  let value: Json
  try {
    value = JSON.parse(word)
  } catch {
    return word
  }
  requireExactNumbers(word)
  return value
}

/** The queue, pull request or test that a request is about, as far as its params or its body name it. */
export interface Resource {
  readonly repo?: Repository | undefined
  readonly targetBranch?: string | undefined
  readonly pr?: number | undefined
  readonly head?: string | undefined
  /** A test and the ticket that is linked to it. */
  readonly testId?: string | undefined
  readonly ticket?: string | undefined
  readonly targets?: { readonly list: unknown; readonly number: number } | undefined
  /** The id of the run of a pull request from a fork, which was sent instead of the token. */
  readonly forkedRun?: string | undefined
}

/** Method and path of an operation (docs/reference/service.md, "Operations"). */
type Route = `${'GET' | 'POST'} /${string}`

/** What a reading says about a change: see `recoveryRules`. */
export type RecoveryRule = 'submit' | 'cancel' | 'restart' | 'create' | 'update' | 'delete'

export interface ReadBack {
  /** The change has all its params. */
  readonly operation: Operation
  readonly rule: RecoveryRule
}

/** What happens when a change gets no response. */
export interface WriteRecovery {
  /** What messages call one such change: `cancellation`; `request` where it is not known. */
  readonly change?: string
  /** What it does to its pull request or queue, in messages: `cancelled`; left out where it is not known. */
  readonly done?: string
  /**
   * The sentence about one such change, as a question or plan begins and as it was made; `{pr}` and `{queue}` are its
   * pull request and queue. Left out where it is not known.
   */
  readonly sentence?: Readonly<Record<'before' | 'after', string>>
  /** Whether a pull request that nobody named, but that the checkout gives, is changed without a question. */
  readonly actsOnGuess?: boolean
  /** Left out where no operation shows the change. */
  readonly readBack?: ReadBack
  /** When the same bytes may be sent again. */
  readonly replay: 'if-not-applied' | 'without-reading' | 'never'
  /** The response to a change that was already made; for a replay it proves nothing. */
  readonly alreadyAppliedStatus?: number
  /** Whether the change is about a queue itself. */
  readonly ofQueue?: boolean
}

/** The words of an operation in errors about its responses, where the general words do not fit. */
export interface OperationErrors {
  /** What a request is about, where that is neither the pull request nor the queue: `the test run`. */
  readonly subject?: string
  /** What to check after a 404: params, or words that begin with `the`; by default repository and branch. */
  readonly check?: readonly string[]
  /** Whether a request makes what it is about: then a 404 is about something else. */
  readonly makesSubject?: boolean
  /** What to do after a refusal, instead of the advice of the caller; undefined where the general hint fits. */
  hint?(status: number): string | undefined
}

/**
 * How a list is read page by page (docs/reference/service.md, "Pages"). Its params `pageSize` and `pageToken`
 * request a page.
 */
export interface Pages {
  /** The member of a response that has the records. */
  readonly key: string
  /** Names one record in messages. */
  readonly noun: string
  readonly end: PagesEnd
  /** Returns the id of a record; a record with the same id is the same. */
  idOf(record: JsonObject): string | undefined
}

/** What was read of a list, for its summary and the members beside its records. */
export interface ListResult {
  readonly shown: number
  readonly pages: number
  readonly complete: boolean
  /** Whether it is all of the list, not one page of it. */
  readonly isWhole: boolean
  /** `matching ` if a filter has hidden records, otherwise empty: a word before the noun. */
  readonly matching: string
  /** The members of the last document, without the records. */
  readonly envelope: JsonObject
  /** Whether the next page begins right after the last record: only then the token of the next page helps. */
  readonly isContinued: boolean
}

export interface EmptyListHint {
  readonly sentence: string
  readonly hint: string
  /** Whether a name that no record has is probably a mistyped one that some have. */
  readonly isMistake: boolean
}

/** A list as a caller wants it: the requests that read it, and what is given of it. */
export interface List {
  readonly operation: Operation
  /** Returns the same list where it is another time, in milliseconds since 1970; left out where no range counts back. */
  at?(now: number): List
  /** The params of each part of the list with pages of its own, such as a time window, without those of a page. */
  readonly parts: readonly Readonly<Record<string, unknown>>[]
  /** Records per page; 100 by default. */
  readonly pageSize?: number | undefined
  /** How many pages are requested at most; 10,000 by default. */
  readonly maxPages?: number | undefined
  /** The token of the only page to read. */
  readonly pageToken?: string | undefined
  readonly limit?: number | undefined
  /** Returns the name of the param that hides a record, as the caller writes it, if one does. */
  hiddenBy(record: JsonObject): string | undefined
  /** Whether the summary names the filters: then no other sentence does. */
  readonly describesFilters?: boolean
  /** Returns a hint for a list of which every record is hidden. */
  hintIfEmpty?(): EmptyListHint | undefined
  /** Returns a record with what mergeq adds to it. */
  complete?(record: JsonObject): JsonObject
  /** Sorts all records when the list has ended. Without it, records are given as they arrive. */
  readonly order?: ((a: JsonObject, b: JsonObject) => number) | undefined
  /** The summary of what was read: a sentence. */
  describe(result: ListResult): string
  /** The members beside the records in the one document for all pages. */
  envelope(result: ListResult): JsonObject
}

/**
 * An operation of the service: how it is requested, how its response is read, and what command line and library add
 * to it alike, such as filters and a limit.
 */
export interface Operation<P extends Params = Params, R extends Route = Route> {
  readonly route: R
  /** What a call does, for the documentation of the library: a sentence. */
  readonly summary: string
  readonly params: P
  /** How to find out the outcome of a change without a response; left out for a read. */
  readonly recovery?: WriteRecovery
  readonly decoder: ResponseDecoder
  /** The records of a response; left out where the service responds with nothing. */
  readonly response?: RecordType
  /** The document of a response, where the records are only a part of it. */
  readonly document?: RecordType
  readonly errors?: OperationErrors
  /** Whether only the hosted service is known to have it (docs/reference/service.md, "Hosted service only"). */
  readonly isHostedOnly?: boolean
  /** Whether requests have no token. */
  readonly isPublic?: boolean
  /** How it is read page by page; left out for an operation that is no list. */
  readonly pages?: Pages
  /** Pairs of params of which a request has at most one each. */
  readonly exclusive?: readonly (readonly [string, string])[]
  /** Throws a `bad-answer` error for a response that is about something else than the request. */
  checkResponse?(response: DecodedResponse, resource: Resource): void
  /**
   * Returns the list that is read for these values. Throws a usage error for values that contradict each other.
   *
   * @param now milliseconds since 1970, from which durations are subtracted
   */
  list?(values: ParamValues<P>, now: number, nameOf: NameOf): List
  /** Whether a list is read until now by the clock of the service, which a read of the queue tells. */
  readonly usesServiceTime?: boolean
  /** Throws a usage error for values that are not enough; `hasOverrides`: other fields of the body were given. */
  check?(values: ParamValues<P>, hasOverrides: boolean, nameOf: NameOf): void
  /** Returns a response without what the service cannot leave out. */
  adaptResponse?(response: DecodedResponse, values: ParamValues<P>): DecodedResponse
  /**
   * Returns values to send instead when the body is too large for the limit of docs/reference/service.md,
   * "Limits", or for the service (413), and a warning about them. May throw an error that says more than the
   * number of bytes.
   */
  fallback?(
    values: ParamValues<P>,
    failure: MergeqError,
  ): { readonly values: ParamValues<P>; readonly warning: string } | undefined
}

/** Defines an operation; the params of its functions are typed from its own `params`. */
export const defineOperation = <const P extends Params, const R extends Route>(
  operation: Operation<P, R>,
): Operation<P, R> => ({
  ...operation,
  params: operationMethod(operation.route) === 'POST' ? inBody(operation.params) : operation.params,
})

const inBody = <P extends Params>(params: P): P =>
  Object.fromEntries(
    Object.entries(params).map(([name, param]) => [name, { location: `body.${name}`, ...param }]),
  ) as P

/** A change with what command line and library add to it; the functions are typed from its own `params`. */
export const extendOperation = <const P extends Params, R extends Route>(
  operation: Operation<Params, R>,
  own: Pick<Operation<P>, 'params' | 'check' | 'fallback'>,
): Operation<P, R> => ({ ...operation, ...own }) as Operation<P, R>

export interface ListOperation<P extends Params = Params, R extends Route = Route> extends Operation<P, R> {
  list(values: ParamValues<P>, now: number, nameOf: NameOf): List
}

/** A list of the pages that an operation reads; the functions are typed from its own `params`. */
export const listOperation = <const P extends Params, R extends Route>(
  page: Operation<Params, R>,
  own: Pick<ListOperation<P>, 'params' | 'list' | 'usesServiceTime'> &
    Partial<Pick<Operation, 'response' | 'document'>>,
): ListOperation<P, R> => {
  const list: ListOperation<P>['list'] = (values, now, nameOf) => ({
    ...own.list(values, now, nameOf),
    at: other => own.list(values, other, nameOf),
  })
  return { ...page, ...own, list } as ListOperation<P, R>
}

/** An operation whose params nobody names. */
export function anyOperation<P extends Params>(operation: Operation<P>): Operation
export function anyOperation(operation: Operation): Operation {
  return operation
}

export const isChange = ({ recovery }: Pick<Operation, 'recovery'>): boolean => recovery !== undefined

/** The operation's name: its path without the leading slash (`submitPullRequest`). */
export const operationName = (route: Route): string => route.slice(route.indexOf('/') + 1)

export const operationMethod = (route: Route): 'GET' | 'POST' => (route.startsWith('GET ') ? 'GET' : 'POST')

/** What is known of a change after it was sent (docs/reference/network.md, "Write recovery"). */
export type Delivery = 'confirmed' | 'confirmed-by-read' | 'not-applied' | 'unknown'

/** Whether a submission was made; null if that is not known. */
function wasSubmitted(delivery: Delivery, wasQueued: boolean): boolean | null {
  if (delivery === 'unknown') return null
  return delivery !== 'not-applied' && !wasQueued
}

/** The receipt of a change (docs/reference/cli.md, "Receipts"), with exit code and message after an error. */
export function createReceipt(
  route: Route,
  resource: Resource,
  delivery: Delivery,
  failure?: MergeqError,
  wasQueued = false,
): JsonObject {
  const { repo, targetBranch, pr, testId, ticket, targets } = resource
  return {
    operation: operationName(route),
    ...(repo === undefined ? {} : { repo: repositoryName(repo) }),
    ...(targetBranch === undefined ? {} : { targetBranch }),
    ...(pr === undefined ? {} : { pr }),
    ...(testId === undefined ? {} : { testId }),
    ...(ticket === undefined ? {} : { ticket }),
    ...(targets === undefined ? {} : { targets: targets.list === 'ALL' ? 'ALL' : targets.number }),
    ok: failure === undefined,
    delivery,
    ...(operationName(route) === 'submitPullRequest' ? { submitted: wasSubmitted(delivery, wasQueued) } : {}),
    ...(failure === undefined ? {} : { exit: failure.exit, message: failure.message }),
  }
}

/** Returns an error with what it is about; not one that every other request would have, too. */
export function withSubject(failure: MergeqError, { repo, targetBranch, pr }: Resource): MergeqError {
  const { kind, details } = failure
  const isOfAll = kind === 'usage' || (kind === 'auth' && details.status === undefined)
  if (isOfAll || details.repo !== undefined || repo === undefined) return failure
  return extendError(failure, {
    repo: repositoryName(repo),
    ...(targetBranch === undefined ? {} : { targetBranch }),
    ...(pr === undefined ? {} : { pr }),
  })
}

/** The queue that a request is about: a branch of a repository (docs/reference/service.md, "Common fields"). */
export const queueParams = {
  repo: requiredParam(repository, 'Repository', {
    setting: 'repo',
    encode: ({ host, owner, name }) => ({ host, owner, name }),
  }),
  targetBranch: requiredParam(branch, 'Branch that the queue merges into', {
    setting: 'targetBranch',
  }),
}

/** The params that request a range of time, of `test runs that ended`. */
export const rangeParams = (what: string) => {
  const bound = (word: 'since' | 'until') =>
    param(instant, `Only ${what} ${word} this time`, {
      encode: time => (time === undefined ? undefined : toIso(time)),
    })
  return { since: bound('since'), until: bound('until') }
}

/** Records per page. What a service does with more than it takes is its own to say. */
export const pageSizeType = integer(1, Number.MAX_SAFE_INTEGER)

/**
 * The params of every list: how many records, and how they are requested.
 *
 * @param noun the records, in the plural: `tests`
 * @param pageSizeLocation where the pages have their size
 */
export const listParams = (noun: string, pageSizeLocation: ParamLocation) => ({
  limit: param(integer(1, Number.MAX_SAFE_INTEGER), `Maximum number of ${noun}`),
  pageSize: param(
    pageSizeType,
    `${noun.charAt(0).toUpperCase()}${noun.slice(1)} per page; the hosted service takes up to 100`,
    { defaultText: String(defaultPageSize), location: pageSizeLocation },
  ),
  maxPages: param(integer(1, Number.MAX_SAFE_INTEGER), 'Maximum number of pages to fetch', {
    defaultText: String(defaultMaxPages),
  }),
})
