/** A parsed JSON value, as the service sends it or mergeq prints it. Never merged into other objects. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject

/** A parsed JSON object. */
export interface JsonObject {
  readonly [key: string]: Json | undefined
}

/**
 * JSON text in UTF-8, in pieces, with its length in bytes. When the value exceeds the limit of a request
 * body, `bytes` says how long it is and `chunks` does not contain it.
 */
export interface EncodedJson {
  readonly chunks: readonly Uint8Array[]
  readonly bytes: number
}

/**
 * Whether a value is a JSON object. Instances of classes, such as numbers that keep their digits, are not.
 */
export const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && isPlain(value)

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

/**
 * Returns the value at a dotted path (`status.reason`), from own keys only, or undefined. A key that
 * contains the dots is tried first. For an array, returns an array with the value of each item, null where
 * an item has none.
 */
export function get(value: Json | undefined, path: string): Json | undefined {
  if (Array.isArray(value)) return value.map(item => get(item, path) ?? null)
  if (!isObject(value)) return undefined
  if (Object.hasOwn(value, path)) return value[path]
  const dot = path.indexOf('.')
  if (dot < 0) return undefined
  const key = path.slice(0, dot)
  return Object.hasOwn(value, key) ? get(value[key], path.slice(dot + 1)) : undefined
}

/** Returns the string at a path, or undefined if the value is missing or not a string. */
export const getString = (value: Json | undefined, path: string): string | undefined => {
  const result = get(value, path)
  return typeof result === 'string' ? result : undefined
}

/** Returns the number at a path, or undefined if the value is missing or not a number. */
export const getNumber = (value: Json | undefined, path: string): number | undefined => {
  const result = get(value, path)
  return typeof result === 'number' ? result : undefined
}

/** Returns the array at a path; an empty array if the value is missing or not an array. */
export const getArray = (value: Json | undefined, path: string): readonly Json[] => {
  const result = get(value, path)
  return Array.isArray(result) ? result : []
}
