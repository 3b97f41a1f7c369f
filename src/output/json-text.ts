import { LosslessNumber, parse, stringify } from 'lossless-json'
import { isObject, type Json, type JsonObject } from '../json.ts'
import { type JsonScan, scanJson } from './json-scan.ts'

/**
 * Parses JSON; returns undefined for invalid or too deeply nested JSON. A number that a double cannot hold
 * keeps its digits, the last value of a repeated key wins, and `__proto__` is an ordinary key.
 */
export function parseJson(text: string): Json | undefined {
  const plain = text.startsWith('\uFEFF') ? text.slice(1) : text
  try {
    const document: Json = JSON.parse(plain)
    const scan = scanJson(plain)
    if (scan.isDeep) return undefined
    const lossless = scan.isPrecise ? parseLossless(plain) : document
    keepSourceTexts(lossless, plain, scan)
    return lossless
  } catch {
    return undefined
  }
}

/**
 * The source text of each object in a parsed list: writing this text is much faster than serializing the
 * object again.
 */
const sourceTexts = new WeakMap<object, string>()

/**
 * Keeps the source texts of the objects in the only list of a document. Texts with white space between
 * tokens are not kept, because they may contain line breaks.
 */
function keepSourceTexts(document: Json, text: string, { isSpaced, items }: JsonScan): void {
  const lists = isObject(document) ? Object.values(document).filter(value => Array.isArray(value)) : []
  const [list = []] = lists
  if (isSpaced || lists.length !== 1 || list.length * 2 !== items.length) return
  for (const [index, item] of list.entries())
    if (isObject(item)) sourceTexts.set(item, text.slice(items[index * 2], items[index * 2 + 1]))
}

const parseLossless = (text: string): Json =>
  // @ts-expect-error The result type is unknown; its numbers are doubles or LosslessNumber, which are valid Json.
  parse(text, null, {
    parseNumber: digits => (String(Number(digits)) === digits ? Number(digits) : new LosslessNumber(digits)),
    onDuplicateKey: ({ newValue }: { newValue: unknown }) => newValue,
  })

/**
 * A text in the output of `JSON.stringify` for a LosslessNumber: searching the output is much faster than
 * searching the value.
 */
const losslessMark = '"isLosslessNumber"'

/**
 * Matches characters that JSON may contain and a terminal must not get; they are escaped, so that the JSON
 * parses to the same value.
 */
const invisible =
  /(?![\uFE0E\uFE0F\u200C\u200D])[\u007F-\u009F\p{Default_Ignorable_Code_Point}\p{Cf}\p{Zl}\p{Zp}]/gu

const escapeCharacter = (character: string): string =>
  character
    .split('')
    .map(unit => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('')

/** Escapes invisible characters in JSON. The check for ASCII makes the usual text fast. */
export const escapeInvisible = (text: string): string =>
  Buffer.byteLength(text) === text.length && !text.includes('\u007F')
    ? text
    : text.replace(invisible, escapeCharacter)

/**
 * Returns JSON on a single line, or indented by two spaces. Control, bidirectional and invisible characters
 * are escaped.
 */
export const stringifyJson = (value: Json, indented = false): string => {
  const space = indented ? 2 : undefined
  const text = JSON.stringify(value, null, space)
  return escapeInvisible(text.includes(losslessMark) ? (stringify(value, null, space) ?? text) : text)
}

/** Returns records as lines of JSON. A record that was parsed from a list keeps its source text. */
export const stringifyLines = (records: readonly JsonObject[]): string =>
  escapeInvisible(records.map(record => `${sourceTexts.get(record) ?? stringifyJson(record)}\n`).join(''))

/**
 * Returns a value as text: a string unchanged, undefined and null as an empty text, a list joined with
 * commas, anything else as JSON.
 */
export const jsonToText = (value: Json | undefined): string => {
  if (value === undefined || value === null) return ''
  if (typeof value === 'string') return value
  if (Array.isArray(value)) return value.map(item => jsonToText(item)).join(', ')
  return stringifyJson(value)
}
