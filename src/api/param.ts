import { defaultMaxPages, defaultPageSize } from '../domain/limits.ts'
import { integer, type Type } from '../domain/values/types.ts'
import type { EncodedJson, Json } from '../json.ts'

/**
 * Where a param is in the request: the whole body or query, a path in the body, or a header that replaces the token
 * (docs/reference/service.md, "setImpactedTargets").
 */
export type ParamLocation = 'body' | 'query' | `body.${string}` | `credential.${string}`

/** A value in a request body: JSON, or JSON text that is already encoded, at any depth. */
export type BodyValue = Json | EncodedJson | { readonly [key: string]: BodyValue | undefined }

/** The settings that can give the value of a param (docs/reference/cli.md, "Settings"). */
export type ParamSetting = 'repo' | 'targetBranch' | 'org' | 'pr' | 'sha' | 'testRun' | 'forkedRun'

/**
 * The values that completion looks up while a command line is typed: in the checkout, in the stored settings,
 * or at the service (docs/reference/cli.md, "Completion"). `recent-pull-requests` include those that failed,
 * `queues` are the branches that have a queue and the branches of the remotes, and `setting-values` are the
 * values of the setting that the argument before names.
 */
export type ValueSource =
  | 'pull-requests'
  | 'recent-pull-requests'
  | 'queues'
  | 'tests'
  | 'branches'
  | 'repositories'
  | 'profiles'
  | 'setting-values'

/**
 * A param of an operation. The option of the command line, the option of the library, help, completion, the
 * reference, keys of queue files and the checks of the sandbox are made from it.
 */
export interface Param<T> {
  readonly type: Type<T>
  /** What the option does, as help shows it: imperative or a noun, without a full stop. */
  readonly summary: string
  /** Where the value is sent; left out for a param that is not sent, such as a filter of mergeq. */
  readonly location?: ParamLocation
  /** Further paths of the body that pages set because of this param: `--set` must not set them again. */
  readonly setsBodyPaths?: readonly string[]
  /** Whether the service refuses a request without it (docs/reference/service.md, "Operations"). */
  readonly required?: boolean
  /** The setting that gives the value where no option does. */
  readonly setting?: ParamSetting
  /** The name of the option, without dashes, where it is not the name of the param: `state` for `states`. */
  readonly option?: string
  /** The placeholder of the option, where it is not that of the type. */
  readonly placeholder?: string
  /** What `--no-x` does, where that is not the opposite of the summary. */
  readonly opposite?: string
  /** The text that the command line uses where the option is not typed. */
  readonly default?: string
  /** Describes a default that depends on other things. */
  readonly defaultText?: string
  /** The values that completion looks up. */
  readonly values?: ValueSource
  /** The value at the location, where it is not the value itself; undefined sends nothing. */
  encode?(value: T): BodyValue | undefined
}

/** The params of an operation, by name. */
export type Params = Readonly<Record<string, Param<unknown>>>

/** The type of a param's value. */
export type ParamValue<P> = P extends Param<infer T> ? T : never

type OptionalKeys<P extends Params> = {
  [K in keyof P]: undefined extends ParamValue<P[K]> ? K : never
}[keyof P]

/** The values of params; a param that may be undefined may be left out. */
export type ParamValues<P extends Params> = {
  readonly [K in Exclude<keyof P, OptionalKeys<P>>]: ParamValue<P[K]>
} & { readonly [K in OptionalKeys<P>]?: ParamValue<P[K]> }

/** What a param has in addition to its type and summary. */
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
): Param<T> => ({
  type,
  summary,
  required: true,
  ...details,
})

/** Params that are members of the body under their own names. */
export const inBody = <P extends Params>(params: P): P =>
  Object.fromEntries(
    Object.entries(params).map(([name, param]) => [name, { location: `body.${name}`, ...param }]),
  ) as P

/**
 * The params of every list: how many records, and how they are requested.
 *
 * @param noun the records, in the plural: `tests`
 * @param pageSizePaths the paths of the body that the page size sets
 */
export const pageParams = (noun: string, pageSizePaths: readonly string[]) => ({
  limit: param(integer(1, Number.MAX_SAFE_INTEGER), `Maximum number of ${noun}`),
  pageSize: param(integer(1, 100), `${noun.charAt(0).toUpperCase()}${noun.slice(1)} per page, 1 to 100`, {
    default: String(defaultPageSize),
    setsBodyPaths: pageSizePaths,
  }),
  maxPages: param(integer(1, Number.MAX_SAFE_INTEGER), 'Maximum number of pages to fetch', {
    default: String(defaultMaxPages),
  }),
})

/** Returns the paths of the body that a param sets. */
export const bodyPaths = ({ location, setsBodyPaths = [] }: Param<unknown>): readonly (readonly string[])[] =>
  [...(location?.startsWith('body.') ? [location.slice('body.'.length)] : []), ...setsBodyPaths].map(path =>
    path.split('.'),
  )
