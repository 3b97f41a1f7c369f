import { usageError } from '../errors.ts'
import type { Json } from '../json.ts'
import type { BodyValue } from './param.ts'

export interface BodyOverride {
  readonly path: readonly string[]
  readonly value: BodyValue
}

export const overlaps = (one: readonly string[], other: readonly string[]): boolean =>
  one.every((key, index) => index >= other.length || other[index] === key)

/** Parses `path=value`: dots separate the keys; the value is JSON if it parses as JSON, else a string. */
export function parseOverride(word: string): BodyOverride {
  const equals = word.indexOf('=')
  const path = word.slice(0, equals).split('.')
  if (equals < 1 || path.includes(''))
    throw usageError(
      `'${word}' does not have the form <path>=<value>.`,
      'For example: concurrency=5 or pr.number=7',
    )
  return { path, value: parseValue(word.slice(equals + 1)) }
}

/** JSON if it parses as JSON, else a string. A number that a double would change is sent as it was typed. */
function parseValue(word: string): BodyValue {
  try {
    const value: Json = JSON.parse(word)
    const numbers = word.replace(/"(?:[^"\\]|\\.)*"/g, '').match(/-?\d[\d.eE+-]*/g) ?? []
    if (numbers.every(text => String(Number(text)) === text)) return value
    const bytes = new TextEncoder().encode(word.trim())
    return { chunks: [bytes], bytes: bytes.length }
  } catch {
    return word
  }
}
