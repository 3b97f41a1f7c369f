import { LosslessNumber, parse, stringify } from 'lossless-json'
import type { Json } from './shapes.ts'

/**
 * Reads JSON; undefined when the text is none. A number that a double cannot hold keeps its digits; of a key that
 * stands twice in an object the last value wins; `__proto__` is a key like any other.
 */
export function decode(text: string): Json | undefined {
  const plain = text.startsWith('\uFEFF') ? text.slice(1) : text
  try {
    const document: Json = JSON.parse(plain)
    const { isDeep, isPrecise } = traitsOf(plain)
    if (isDeep) return undefined
    return isPrecise ? decodeLossless(plain) : document
  } catch {
    return undefined
  }
}

/** Documents are at most so deep: more is no answer of this service, and would exhaust what walks it. */
const deepest = 200

/** What a text that is JSON holds: more levels than that, or a number that a double may not hold. */
interface Traits {
  readonly isDeep: boolean
  readonly isPrecise: boolean
}

const exponent = /[eE][+-]?\d{2}/y

/** Looks through a text that is JSON once. Strings, most of it, are skipped and not read. */
function traitsOf(text: string): Traits {
  let [depth, digits, isPrecise] = [0, 0, false]
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    if (code === 46 || (code >= 48 && code <= 57)) isPrecise ||= ++digits >= 16
    else {
      if (digits > 0 && (code === 69 || code === 101)) {
        exponent.lastIndex = index
        isPrecise ||= exponent.test(text)
      }
      digits = 0
      if (code === 34) index = endOfString(text, index)
      else if (code === 91 || code === 123) {
        if (++depth > deepest) return { isDeep: true, isPrecise }
      } else if (code === 93 || code === 125) depth--
    }
  }
  return { isDeep: false, isPrecise }
}

/** Where the quote stands that ends the string: one that no odd number of backslashes precedes. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); ; end = text.indexOf('"', end + 1)) {
    let before = end - 1
    while (text.charCodeAt(before) === 92) before--
    if ((end - before) % 2 === 1) return end
  }
}

const decodeLossless = (text: string): Json =>
  // @ts-expect-error the parser's result is unknown; its numbers are doubles or LosslessNumber, which `encode` writes.
  parse(text, null, {
    parseNumber: digits => (String(Number(digits)) === digits ? Number(digits) : new LosslessNumber(digits)),
    onDuplicateKey: ({ newValue }: { newValue: unknown }) => newValue,
  })

/** What `JSON.stringify` writes of a number that keeps its digits: finding it is much faster than looking for one. */
const losslessMark = '"isLosslessNumber"'

/** What JSON may hold raw and a terminal must not get: it is escaped, so that it parses back to the same. */
const unseen =
  /[\u007F-\u009F\u00AD\u061C\u180E\u200B\u200E\u200F\u2028-\u202E\u2060-\u206F\uFEFF\uFFF9-\uFFFB\u{E0000}-\u{E0FFF}]/gu

const escaped = (character: string): string =>
  character
    .split('')
    .map(unit => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('')

/** The text with that escaped. Plain ASCII, the most part by far, is told at a glance. */
const withoutUnseen = (text: string): string =>
  Buffer.byteLength(text) === text.length && !text.includes('\u007F') ? text : text.replace(unseen, escaped)

/** Writes JSON on one line, or indented by two; control, bidirectional and invisible characters are escaped. */
export const encode = (value: Json, indented = false): string => {
  const space = indented ? 2 : undefined
  const text = JSON.stringify(value, null, space)
  return withoutUnseen(text.includes(losslessMark) ? (stringify(value, null, space) ?? text) : text)
}

/** Writes records as lines of JSON, each as `encode` would. */
export function encodeLines(records: readonly Json[]): string {
  const text = records.map(record => `${JSON.stringify(record)}\n`).join('')
  return text.includes(losslessMark)
    ? records.map(record => `${encode(record)}\n`).join('')
    : withoutUnseen(text)
}

/** A value as text: a string as it is, anything else as JSON; undefined and null as nothing. */
export const plainText = (value: Json | undefined): string => {
  if (value === undefined || value === null) return ''
  if (typeof value === 'string') return value
  if (Array.isArray(value)) return value.map(item => plainText(item)).join(', ')
  return encode(value)
}
