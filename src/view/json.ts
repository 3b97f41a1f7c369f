import { isLosslessNumber, LosslessNumber, parse, stringify } from 'lossless-json'
import type { Json } from './shapes.ts'

/** Numbers that a double may not hold, where a number may stand: 16 digits or more, or a large exponent. */
const largeNumber = /(?:^|[[:,])\s*-?(?:[\d.]{16}|[\d.]+[eE][+-]?\d{2})/

/**
 * Reads JSON; undefined when the text is none. A number that a double cannot hold keeps its digits; of a key that
 * stands twice in an object the last value wins; `__proto__` is a key like any other.
 */
export function decode(text: string): Json | undefined {
  const plain = text.startsWith('\uFEFF') ? text.slice(1) : text
  try {
    const document: Json = JSON.parse(plain)
    if (isDeep(plain)) return undefined
    return largeNumber.test(plain) ? decodeLossless(plain) : document
  } catch {
    return undefined
  }
}

/** Documents are at most so deep: more is no answer of this service, and would exhaust what walks it. */
const deepest = 200

function isDeep(text: string): boolean {
  if (text.length <= 2 * deepest) return false
  let [depth, inString] = [0, false]
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    if (inString) {
      if (code === 92) index++
      else if (code === 34) inString = false
    } else if (code === 34) inString = true
    else if (code === 91 || code === 123) {
      if (++depth > deepest) return true
    } else if (code === 93 || code === 125) depth--
  }
  return false
}

const decodeLossless = (text: string): Json =>
  // @ts-expect-error the parser's result is unknown; its numbers are doubles or LosslessNumber, which `encode` writes.
  parse(text, null, {
    parseNumber: digits => (String(Number(digits)) === digits ? Number(digits) : new LosslessNumber(digits)),
    onDuplicateKey: ({ newValue }: { newValue: unknown }) => newValue,
  })

const holdsLossless = (value: unknown): boolean =>
  typeof value === 'object' &&
  value !== null &&
  (isLosslessNumber(value) || Object.values(value).some(item => holdsLossless(item)))

/** What JSON may hold raw and a terminal must not get: it is escaped, so that it parses back to the same. */
const unseen =
  /[\u007F-\u009F\u00AD\u061C\u180E\u200B\u200E\u200F\u2028-\u202E\u2060-\u206F\uFEFF\uFFF9-\uFFFB\u{E0000}-\u{E0FFF}]/gu

const escaped = (character: string): string =>
  character
    .split('')
    .map(unit => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('')

/** Writes JSON on one line, or indented by two; control, bidirectional and invisible characters are escaped. */
export const encode = (value: Json, indented = false): string => {
  const space = indented ? 2 : undefined
  const lossless = holdsLossless(value) ? stringify(value, null, space) : undefined
  return (lossless ?? JSON.stringify(value, null, space)).replace(unseen, escaped)
}

/** A value as text: a string as it is, anything else as JSON; undefined and null as nothing. */
export const plainText = (value: Json | undefined): string => {
  if (value === undefined || value === null) return ''
  if (typeof value === 'string') return value
  if (Array.isArray(value)) return value.map(item => plainText(item)).join(', ')
  return encode(value)
}
