/** Parsed JSON: what the service sends and what mergeq prints. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject
export interface JsonObject {
  readonly [key: string]: Json | undefined
}

/**
 * JSON text in UTF-8, in pieces, with its length; over the size limit of a body the pieces may be
 * incomplete.
 */
export interface EncodedJson {
  readonly chunks: readonly Uint8Array[]
  readonly bytes: number
}

/**
 * Whether a value is a JSON object. A number that keeps its digits is not, although JavaScript stores an
 * object.
 */
export const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && isPlain(value)

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

/**
 * The value at a dotted path (`status.reason`), own keys only; a key that contains the dots has precedence.
 */
export function get(value: Json | undefined, path: string): Json | undefined {
  if (Array.isArray(value)) return value.map(item => get(item, path) ?? null)
  if (!isObject(value)) return undefined
  if (Object.hasOwn(value, path)) return value[path]
  const dot = path.indexOf('.')
  if (dot < 0) return undefined
  const head = path.slice(0, dot)
  return Object.hasOwn(value, head) ? get(value[head], path.slice(dot + 1)) : undefined
}

/** The string at a path; undefined when the value is missing or is not a string. */
export const getString = (value: Json | undefined, path: string): string | undefined => {
  const found = get(value, path)
  return typeof found === 'string' ? found : undefined
}

/** The list at a path; empty when the value is missing or is not a list. */
export const getArray = (value: Json | undefined, path: string): readonly Json[] => {
  const found = get(value, path)
  return Array.isArray(found) ? found : []
}
