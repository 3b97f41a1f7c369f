import type { EncodedJson, Json } from '../base/json.ts'
import { maxPullRequestNumber } from '../values/pull-request.ts'
import { branch, integer, repository, type Type } from '../values/types.ts'

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
  /** Whether the service takes a number as text, too (docs/reference/service.md, "setImpactedTargets"). */
  readonly takesText?: boolean
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

/** The number of a pull request. A call of the library may give `#7` or a URL, which also names the repository. */
export const pullRequestNumber: Type<number> = {
  ...integer(0, maxPullRequestNumber),
  declaration: 'PullRequestReference',
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
