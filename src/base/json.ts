/** A parsed JSON value, as the service sends it or mergeq prints it. Never merged into other objects. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject

export interface JsonObject {
  readonly [key: string]: Json | undefined
}

/** JSON in UTF-8, in pieces, with its length. What exceeds the limit of a request body is not in `chunks`. */
export interface EncodedJson {
  readonly chunks: readonly Uint8Array[]
  readonly bytes: number
}

export const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

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

export const getString = (value: Json | undefined, path: string): string | undefined => {
  const result = get(value, path)
  return typeof result === 'string' ? result : undefined
}

/** A number at a path. A number such as 1e400, which is infinite as a JavaScript number, is none. */
export const getNumber = (value: Json | undefined, path: string): number | undefined => {
  const result = get(value, path)
  return typeof result === 'number' && Number.isFinite(result) ? result : undefined
}

/** The list at a path; an empty list if there is none. */
export const getArray = (value: Json | undefined, path: string): readonly Json[] => {
  const result = get(value, path)
  return Array.isArray(result) ? result : []
}

/** More levels of lists and objects cannot be a response of the service. */
export const maxJsonDepth = 200

/** The most objects in lists whose texts are kept. */
const maxKeptItems = 50_000

interface ScannedList {
  /** The name of the list, as JSON. */
  readonly name: string
  /** The start and end index of each object, as pairs one after the other. */
  readonly items: readonly number[]
}

export interface JsonScan {
  /** Whether there are more than 200 levels of lists and objects. */
  readonly isDeep: boolean
  /** Whether there is white space between tokens. */
  readonly isSpaced: boolean
  /** How many values there are: the commas, and the opening brackets and braces. */
  readonly values: number
  /** How many objects there are in lists of the outermost object. */
  readonly records: number
  /** The lists of the outermost object that have objects, in the order of the text. */
  readonly lists: readonly ScannedList[]
}

const [quote, comma, colon, backslash] = [34, 44, 58, 92]
const [openList, closeList, openObject, closeObject] = [91, 93, 123, 125]

/** Looks once through a text, which need not be valid JSON; stops where it is too deep. */
export function scanJson(text: string): JsonScan {
  const lists: ScannedList[] = []
  let items: number[] | undefined
  let [depth, values, records, name] = [0, 0, 0, '']
  let isSpaced = false
  const end = /^\s*[[{]/.test(text) ? text.length : 0
  for (let index = 0; index < end; index++) {
    const code = text.charCodeAt(index)
    if (code === quote) {
      const start = index
      index = endOfString(text, start)
      if (depth === 1) name = text.slice(start, index + 1)
    } else if (code === comma) values++
    else if (code === openList || code === openObject) {
      values++
      depth++
      if (depth > maxJsonDepth) return { isDeep: true, isSpaced, values, records, lists }
      if (depth === 2) items = code === openList ? [] : undefined
      else if (depth === 3 && code === openObject && items !== undefined) {
        records++
        if (items.length === 0 && records <= maxKeptItems) lists.push({ name, items })
        if (records <= maxKeptItems) items.push(index)
      }
    } else if (code === closeList || code === closeObject) {
      if (depth === 3 && code === closeObject && records <= maxKeptItems) items?.push(index + 1)
      depth--
    } else if (code <= 32) isSpaced = true
  }
  return { isDeep: false, isSpaced, values, records, lists }
}

/** The index of the quote that ends the string that begins at an index, or of the end of the text. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let before = end - 1
    while (text.charCodeAt(before) === backslash) before--
    if ((end - before) % 2 === 1) return end
  }
  return text.length
}

interface SourceText {
  readonly text: string
  readonly isSpaced: boolean
}

/**
 * The texts of parsed documents and of the objects in their lists. An object that nothing has changed is
 * written as this text: its numbers keep all their digits, and it is much faster than `JSON.stringify`.
 */
const sourceTexts = new WeakMap<object, SourceText>()

/** Parses JSON; undefined for another text and more than 200 levels. `__proto__` is an ordinary key. */
export function parseJson(text: string): Json | undefined {
  const plain = text.startsWith('\uFEFF') ? text.slice(1) : text
  return parseScannedJson(plain, scanJson(plain))
}

/** Parses a text that was scanned, as `parseJson` does. */
export function parseScannedJson(text: string, scan: JsonScan): Json | undefined {
  if (scan.isDeep) return undefined
  try {
    const document: Json = JSON.parse(text)
    if (isObject(document)) keepSourceTexts(document, text, scan)
    return document
  } catch {
    return undefined
  }
}

function keepSourceTexts(document: JsonObject, text: string, scan: JsonScan): void {
  const { isSpaced, records, lists } = scan
  sourceTexts.set(document, { text, isSpaced })
  if (records > maxKeptItems) return
  // Of a repeated name the last list is the one in the document.
  const itemsByName = new Map(lists.map(({ name, items }) => [JSON.parse(name), items]))
  for (const [name, items] of itemsByName) {
    const list = document[name]
    if (!Array.isArray(list) || list.length * 2 !== items.length || !list.every(isObject)) continue
    for (const [at, item] of list.entries())
      sourceTexts.set(item, { text: text.slice(items[at * 2], items[at * 2 + 1]), isSpaced })
  }
}

/** Rewrites a JSON text on one line, or indented by two spaces as `JSON.stringify` does. */
export function formatJson(text: string, indented: boolean): string {
  let [result, from, depth, isEmpty] = ['', 0, 0, false]
  const append = (end: number, more: string) => {
    result += `${text.slice(from, end)}${more}`
    from = end
  }
  const lineBreak = () => (indented ? `\n${'  '.repeat(depth)}` : '')
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    if (code <= 32) {
      append(index, '')
      from = index + 1
      continue
    }
    const isEnd = code === closeList || code === closeObject
    if (isEnd) depth--
    // The line after an opening bracket or brace begins before its first value, and an empty one has none.
    if (isEmpty !== isEnd && (isEmpty || isEnd)) append(index, lineBreak())
    isEmpty = code === openList || code === openObject
    if (isEmpty) depth++
    else if (code === quote) index = endOfString(text, index)
    else if (code === comma) append(index + 1, lineBreak())
    else if (code === colon && indented) append(index + 1, ' ')
  }
  return result + text.slice(from)
}

/** Matches what JSON allows and a terminal must not get. Creating it takes 0.2 ms, and ASCII texts need none. */
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

/** The levels in which `stringifyJson` looks for objects with a source text: a list in a document. */
const sourceLevels = 2

/** Writes JSON, what was parsed and not changed as its own text, with the characters of `escapeInvisible` escaped. */
export function stringifyJson(value: Json, indented = false): string {
  const text = writeJson(value, sourceLevels)
  return escapeInvisible(indented ? formatJson(text, true) : text)
}

function writeJson(value: Json, levels: number): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const source = sourceTexts.get(value)
  if (source !== undefined) return source.isSpaced ? formatJson(source.text, false) : source.text
  if (levels === 0) return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(item => writeJson(item, levels - 1)).join(',')}]`
  const members = Object.entries(value).flatMap(([key, member]) =>
    member === undefined ? [] : `${JSON.stringify(key)}:${writeJson(member, levels - 1)}`,
  )
  return `{${members.join(',')}}`
}
