import { type Json, type JsonObject, stringifyJson } from '../json.ts'
import { sanitizeLine } from './sanitize.ts'
import { type Column, parts, type View } from './view.ts'

/** A value as text: a list with commas, null and undefined as '', an object as JSON. */
export const jsonToText = (value: Json | undefined): string => {
  if (value === undefined || value === null) return ''
  if (typeof value !== 'object') return String(value)
  if (Array.isArray(value)) return value.map(item => jsonToText(item)).join(', ')
  return stringifyJson(value)
}

/** Returns the text of a value on a single line, without invisible characters. */
export const formatCell = (value: Json | undefined): string => sanitizeLine(jsonToText(value))

/** Returns tab-separated rows without a header. `colorize` colors the values of state columns. */
export const tsv = ({ columns, rows }: View, colorize = (state: string) => state): string =>
  rows
    .map(row =>
      row.map((value, index) =>
        columns[index]?.format === 'state' ? colorize(formatCell(value)) : formatCell(value),
      ),
    )
    .map(cells => `${cells.join('\t')}\n`)
    .join('')

interface CsvCell {
  readonly text: string
  /** Whether the cell is a JSON number, which a spreadsheet never reads as a formula. */
  readonly isNumber: boolean
}

const toCsvCell = (value: Json | undefined): CsvCell => ({
  text: formatCell(value),
  isNumber: typeof value === 'number',
})

/** Matches the beginning of a spreadsheet formula. */
const formulaPrefix = /^[=+\-@\t\r]/

/**
 * Returns RFC 4180 lines that end with CRLF. A leading apostrophe disables spreadsheet formulas; numbers
 * stay unchanged.
 */
export async function csv(rows: readonly (readonly (Json | undefined)[])[]): Promise<string> {
  if (rows.length === 0) return ''
  const { default: papa } = await import('papaparse')
  const disabledFormulas = new Set<string>()
  const safe = ({ text, isNumber }: CsvCell): string => {
    if (isNumber || !formulaPrefix.test(text)) return text
    disabledFormulas.add(`'${text}`)
    return `'${text}`
  }
  const cells = rows.map(row => row.map(toCsvCell).map(safe))
  return `${papa.unparse(cells, { newline: '\r\n', quotes: value => disabledFormulas.has(value) })}\r\n`
}

/** Returns the names of columns in a CSV header: `tests passed` becomes `tests_passed`. */
export const csvHeader = (columns: readonly Column[]): readonly string[] =>
  columns.map(({ title }) => title.toLowerCase().replaceAll(' ', '_'))

const escapeMarkdown = (text: string): string =>
  text.replace(/[\\|`*_[\]<>~#&]/g, '\\$&').replaceAll('@', '@\u200C')

/** Returns the text of a Markdown table cell, escaped: it contains no markup, mention or cell border. */
export const markdownCell = (value: Json | undefined): string => escapeMarkdown(formatCell(value))

/** Returns the header of a Markdown table. */
export const markdownHead = (columns: readonly Column[]): string =>
  `| ${columns.map(({ title }) => escapeMarkdown(title.toLowerCase())).join(' | ')} |\n|${columns
    .map(({ format }) => (format === 'number' ? ' ---: |' : ' --- |'))
    .join('')}\n`

/** Returns the rows of a Markdown table with escaped cells. */
export const markdownRows = ({ rows }: View): string =>
  rows.map(row => `| ${row.map(markdownCell).join(' | ')} |\n`).join('')

/**
 * A JSON document with a list that is written while its records arrive. The document is valid JSON after
 * `end`.
 */
export interface JsonList {
  /** Writes records. Nothing is written before the first call. */
  add(records: readonly JsonObject[]): Promise<void>
  /** Ends the list and writes the other members of the document. `around` must not be empty. */
  end(around: JsonObject): Promise<void>
}

/** A JSON document that is a list, written while its records arrive. */
interface JsonArray {
  add(records: readonly JsonObject[]): Promise<void>
  end(): Promise<void>
  /** Ends the list after an error, unless nothing was written, and returns the error. Never rejects. */
  endAfter(error: unknown): Promise<unknown>
}

/** Creates a JSON document that is a list, written while its records arrive. */
export function createJsonArray(write: (text: string) => Promise<void>, pretty: boolean): JsonArray {
  let isEmpty = true
  const end = () => write(isEmpty ? '[]\n' : pretty ? '\n]\n' : ']\n')
  return {
    async add(records) {
      if (records.length === 0) return
      const text = stringifyJson(records, pretty)
      await write(`${isEmpty ? '[' : ','}${text.slice(1, pretty ? -2 : -1)}`)
      isEmpty = false
    },
    end,
    async endAfter(error) {
      if (!isEmpty) await end().catch(() => undefined)
      return error
    },
  }
}

/** Receives the parts of a document. `pause` lets signals be handled between parts. */
interface PartSink {
  write(text: string): Promise<void>
  pause?(): Promise<void>
}

/**
 * Creates a JSON document with a list under `key`. The output equals `stringifyJson` of the whole document.
 */
export function createJsonList(sink: PartSink, key: string, pretty: boolean): JsonList {
  const [newLine, itemIndent] = pretty ? ['\n  ', '\n    '] : ['', '']
  const item = (record: JsonObject) =>
    pretty ? stringifyJson(record, true).replaceAll('\n', itemIndent) : stringifyJson(record)
  let prefix = `{${newLine}${stringifyJson(key)}:${pretty ? ' ' : ''}[`
  let isEmpty = true
  return {
    async add(records) {
      for await (const part of parts(records, sink.pause)) {
        await sink.write(`${prefix}${itemIndent}${part.map(item).join(`,${itemIndent}`)}`)
        prefix = ','
        isEmpty = false
      }
    },
    async end(around) {
      const rest = stringifyJson(around, pretty).slice(1)
      await sink.write(isEmpty ? `${prefix}],${rest}\n` : `${newLine}],${rest}\n`)
    },
  }
}
