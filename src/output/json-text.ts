import { LosslessNumber, parse, stringify } from 'lossless-json'
import { isObject, type Json, type JsonObject } from '../json.ts'
import { type JsonScan, scanJson } from './json-scan.ts'

/**
 * Reads JSON; undefined when the text is none. A number that a double cannot hold keeps its digits; of a key that
 * stands twice in an object the last value wins; `__proto__` is a key like any other.
 */
export function parseJson(text: string): Json | undefined {
  const plain = text.startsWith('\uFEFF') ? text.slice(1) : text
  try {
    const document: Json = JSON.parse(plain)
    const found = scanJson(plain)
    if (found.isDeep) return undefined
    const exact = found.isPrecise ? decodeLossless(plain) : document
    keepTexts(exact, plain, found)
    return exact
  } catch {
    return undefined
  }
}

/** The own text of what stands in a list that was decoded: writing that is much faster than making it anew. */
const ownTexts = new WeakMap<object, string>()

/** Notes the own texts of the items of a document's one list; where blanks stand in them they would not be one line. */
function keepTexts(document: Json, text: string, { isSpaced, items }: JsonScan): void {
  const lists = isObject(document) ? Object.values(document).filter(value => Array.isArray(value)) : []
  const [list = []] = lists
  if (isSpaced || lists.length !== 1 || list.length * 2 !== items.length) return
  for (const [index, item] of list.entries())
    if (isObject(item)) ownTexts.set(item, text.slice(items[index * 2], items[index * 2 + 1]))
}

const decodeLossless = (text: string): Json =>
  // @ts-expect-error the parser's result is unknown; its numbers are doubles or LosslessNumber, which `encode` writes.
  parse(text, null, {
    parseNumber: digits => (String(Number(digits)) === digits ? Number(digits) : new LosslessNumber(digits)),
    onDuplicateKey: ({ newValue }: { newValue: unknown }) => newValue,
  })

/** What `JSON.stringify` writes of a number that keeps its digits: finding it is much faster than looking for one. */
const losslessMark = '"isLosslessNumber"'

/** What JSON may hold raw and a terminal does not get: it is escaped, so that it parses back to the same. */
const unseen =
  /(?![\uFE0E\uFE0F\u200C\u200D])[\u007F-\u009F\p{Default_Ignorable_Code_Point}\p{Cf}\p{Zl}\p{Zp}]/gu

const escaped = (character: string): string =>
  character
    .split('')
    .map(unit => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('')

/** A text that is JSON, with that escaped. Plain ASCII, the most part by far, is told at a glance. */
export const withoutUnseen = (text: string): string =>
  Buffer.byteLength(text) === text.length && !text.includes('\u007F') ? text : text.replace(unseen, escaped)

/** Writes JSON on one line, or indented by two; control, bidirectional and invisible characters are escaped. */
export const stringifyJson = (value: Json, indented = false): string => {
  const space = indented ? 2 : undefined
  const text = JSON.stringify(value, null, space)
  return withoutUnseen(text.includes(losslessMark) ? (stringify(value, null, space) ?? text) : text)
}

/** Writes records as lines of JSON: those that came in a list in their own spelling, any other as `encode` does. */
export const stringifyLines = (records: readonly JsonObject[]): string =>
  withoutUnseen(records.map(record => `${ownTexts.get(record) ?? stringifyJson(record)}\n`).join(''))

/** A value as text: a string as it is, anything else as JSON; undefined and null as nothing. */
export const jsonToText = (value: Json | undefined): string => {
  if (value === undefined || value === null) return ''
  if (typeof value === 'string') return value
  if (Array.isArray(value)) return value.map(item => jsonToText(item)).join(', ')
  return stringifyJson(value)
}
