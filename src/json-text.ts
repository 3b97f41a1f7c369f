import { LosslessNumber, parse, stringify } from 'lossless-json'
import { isObject, type Json, type JsonObject } from './json.ts'
import { type JsonScan, scanJson } from './json-scan.ts'

/**
 * Parses JSON; returns undefined when the text is not valid JSON or has more than 200 levels. A number that
 * a double cannot hold keeps its digits. The last value of a repeated key wins. `__proto__` is an ordinary
 * key.
 */
export function parseJson(text: string): Json | undefined {
  const plain = text.startsWith('\uFEFF') ? text.slice(1) : text
  try {
    const document: Json = JSON.parse(plain)
    const scan = scanJson(plain)
    if (scan.isDeep) return undefined
    const exact = scan.isPrecise ? parseLossless(plain) : document
    keepSourceTexts(exact, plain, scan)
    return exact
  } catch {
    return undefined
  }
}

/**
 * The source text of each object in a parsed list: writing it is much faster than stringifying the object.
 */
const sourceTexts = new WeakMap<object, string>()

/**
 * Keeps the source texts of the items of a document's only list, unless whitespace may break them into
 * lines.
 */
function keepSourceTexts(document: Json, text: string, { isSpaced, items }: JsonScan): void {
  const lists = isObject(document) ? Object.values(document).filter(value => Array.isArray(value)) : []
  const [list = []] = lists
  if (isSpaced || lists.length !== 1 || list.length * 2 !== items.length) return
  for (const [index, item] of list.entries())
    if (isObject(item)) sourceTexts.set(item, text.slice(items[index * 2], items[index * 2 + 1]))
}

const parseLossless = (text: string): Json =>
  // The parser's numbers are doubles or LosslessNumber, which `stringifyJson` writes.
  // @ts-expect-error the type of the parser's result is unknown
  parse(text, null, {
    parseNumber: digits => (String(Number(digits)) === digits ? Number(digits) : new LosslessNumber(digits)),
    onDuplicateKey: ({ newValue }: { newValue: unknown }) => newValue,
  })

/**
 * `JSON.stringify` writes this for a LosslessNumber; searching the text is much faster than searching the
 * value.
 */
const losslessMark = '"isLosslessNumber"'

/**
 * Returns a pattern for control and invisible characters that JSON allows unescaped and a terminal must not
 * receive. It takes 0.2 ms to create, and ASCII texts do not need it.
 */
const createInvisiblePattern = () =>
  /(?![\uFE0E\uFE0F\u200C\u200D])[\u007F-\u009F\p{Default_Ignorable_Code_Point}\p{Cf}\p{Zl}\p{Zp}]/gu

const escaped = (character: string): string =>
  character
    .split('')
    .map(unit => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('')

/** A JSON text with control, bidirectional and invisible characters escaped; it parses to the same value. */
export const escapeInvisible = (text: string): string =>
  Buffer.byteLength(text) === text.length && !text.includes('\u007F')
    ? text
    : text.replace(createInvisiblePattern(), escaped)

/** Writes JSON on one line, or indented by two spaces, with the characters of `escapeInvisible` escaped. */
export const stringifyJson = (value: Json, indented = false): string => {
  const space = indented ? 2 : undefined
  const text = JSON.stringify(value, null, space)
  return escapeInvisible(text.includes(losslessMark) ? (stringify(value, null, space) ?? text) : text)
}

/**
 * Writes each record as a line of JSON: its source text where it was parsed from a list, else
 * `stringifyJson`.
 */
export const stringifyLines = (records: readonly JsonObject[]): string =>
  escapeInvisible(records.map(record => `${sourceTexts.get(record) ?? stringifyJson(record)}\n`).join(''))

/**
 * A value as text: a string unchanged, a list with commas, null and undefined as '', anything else as JSON.
 */
export const jsonToText = (value: Json | undefined): string => {
  if (value === undefined || value === null) return ''
  if (typeof value === 'string') return value
  if (Array.isArray(value)) return value.map(item => jsonToText(item)).join(', ')
  return stringifyJson(value)
}
