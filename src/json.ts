/** What the service sends and what we print: parsed JSON, never merged into objects of ours. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject
export interface JsonObject {
  readonly [key: string]: Json | undefined
}

/** Whether a value is a JSON object: a number that keeps its digits is none, although it is an object to JavaScript. */
export const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && isPlain(value)

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

/** The value at a dotted path (`status.reason`), own keys only; a key that itself holds dots is tried first. */
export function get(value: Json | undefined, path: string): Json | undefined {
  if (Array.isArray(value)) return value.map(item => get(item, path) ?? null)
  if (!isObject(value)) return undefined
  if (Object.hasOwn(value, path)) return value[path]
  const dot = path.indexOf('.')
  if (dot < 0) return undefined
  const head = path.slice(0, dot)
  return Object.hasOwn(value, head) ? get(value[head], path.slice(dot + 1)) : undefined
}

/** The text at a path, or undefined when it is missing, null or no text. */
export const getString = (value: Json | undefined, path: string): string | undefined => {
  const found = get(value, path)
  return typeof found === 'string' ? found : undefined
}

/** The list at a path; a missing or unreadable one is empty. */
export const getArray = (value: Json | undefined, path: string): readonly Json[] => {
  const found = get(value, path)
  return Array.isArray(found) ? found : []
}
