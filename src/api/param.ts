import type { EncodedJson, Json } from '../json.ts'

/**
 * Where a param is in the request: the whole body or query, a path in the body, or a header that replaces the
 * token (docs/reference/service.md, "setImpactedTargets").
 */
export type ParamLocation = 'body' | 'query' | `body.${string}` | `credential.${string}`

/** A value in a request body: JSON, or JSON text that is already encoded, at any depth. */
export type BodyValue = Json | EncodedJson | { readonly [key: string]: BodyValue | undefined }

/** A param of an operation: where its value is in the request, and how it is encoded. */
export interface Param<T> {
  /** Left out for a param that only `pagination`, `narrow` or `fallback` reads. */
  readonly location?: ParamLocation
  /** Paths of the body that pagination sets because of this param, so that overrides must not set them. */
  readonly fills?: readonly string[]
  /** Whether the service refuses a request without it (docs/reference/service.md, "Operations"). */
  readonly required?: boolean
  /** The value at the location, where it is not the param's value itself; undefined sends nothing. */
  encode?(value: T): BodyValue | undefined
}

export type Params = Readonly<Record<string, Param<unknown>>>

export type ParamValue<P> = P extends Param<infer T> ? T : never

type OptionalKeys<P extends Params> = {
  [K in keyof P]: undefined extends ParamValue<P[K]> ? K : never
}[keyof P]

/** The values of params; a param that may be undefined may be left out. */
export type ParamValues<P extends Params> = {
  readonly [K in Exclude<keyof P, OptionalKeys<P>>]: ParamValue<P[K]>
} & { readonly [K in OptionalKeys<P>]?: ParamValue<P[K]> }

export const param = <T>(location: ParamLocation, more: Omit<Param<T>, 'location'> = {}): Param<T> => ({
  location,
  ...more,
})

/** A param that is not sent: only `pagination`, `narrow` or `fallback` reads it. */
export const localParam = <T>(more: Pick<Param<T>, 'fills' | 'required'> = {}): Param<T> => more

/** A switch at a location of the request: sent as `true`, or not at all. */
export const switchParam = (location: ParamLocation): Param<boolean | undefined> => ({
  location,
  encode: value => (value === true ? true : undefined),
})
