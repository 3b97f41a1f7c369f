import { type Json, type JsonObject, stringifyJson } from '../base/json.ts'
import type { FormatOfRows } from './output-formats.ts'
import { sanitizeLine } from './sanitize.ts'
import { colorizeState } from './styled-text.ts'
import { type Column, cellsOf, type Writer } from './view.ts'

/** A value as text: a list with commas, null and undefined as '', an object as JSON. */
const jsonToText = (value: Json | undefined): string => {
  if (value === undefined || value === null) return ''
  // A number such as 1e400 has no value that can be shown.
  if (value === Number.POSITIVE_INFINITY || value === Number.NEGATIVE_INFINITY) return '-'
  if (typeof value !== 'object') return String(value)
  if (Array.isArray(value)) return value.map(item => jsonToText(item)).join(', ')
  return stringifyJson(value)
}

/** Returns the text of a value on a single line, without invisible characters. */
export const formatCell = (value: Json | undefined): string => sanitizeLine(jsonToText(value))

const partLength = 64

/** Writes rows or records in parts of 64, so that a long list is never one text, with `writer.pause` between them. */
export async function writeParts<T>(
  writer: Writer,
  items: readonly T[],
  toText: (part: readonly T[]) => string | Promise<string>,
): Promise<void> {
  for (let from = 0; from < items.length; from += partLength) {
    if (from > 0) await writer.pause?.()
    await writer.write(await toText(items.slice(from, from + partLength)))
  }
}

/** Returns tab-separated rows without a header; with `color`, states have their color. */
const tsv = (columns: readonly Column[], rows: readonly JsonObject[], color: boolean): string => {
  const cellText = (value: Json | undefined, index: number) =>
    columns[index]?.format === 'state' ? colorizeState(formatCell(value), color) : formatCell(value)
  return rows.map(row => `${cellsOf(columns, row).map(cellText).join('\t')}\n`).join('')
}

export const ndjson = (records: readonly JsonObject[]): string =>
  records.map(record => `${stringifyJson(record)}\n`).join('')

/** The beginning of a formula, in Japan also with full-width signs (issue 1088 of OWASP/www-community). */
const formulaPrefix = /^[=+\-@\t\r\uFF1D\uFF0B\uFF0D\uFF20]/

/** Returns lines of RFC 4180. A leading apostrophe disables spreadsheet formulas; numbers stay unchanged. */
async function csv(rows: readonly (readonly (Json | undefined)[])[]): Promise<string> {
  if (rows.length === 0) return ''
  const { default: papa } = await import('papaparse')
  const disabledFormulas = new Set<string>()
  const cellText = (value: Json | undefined): string => {
    const text = formatCell(value)
    // A spreadsheet never reads a number as a formula.
    if (typeof value === 'number' || !formulaPrefix.test(text)) return text
    disabledFormulas.add(`'${text}`)
    return `'${text}`
  }
  const cells = rows.map(row => row.map(cellText))
  return `${papa.unparse(cells, { newline: '\r\n', quotes: value => disabledFormulas.has(value) })}\r\n`
}

/** Returns the name of a column in a CSV header: `tests passed` becomes `tests_passed`. */
export const csvName = ({ title, csvName }: Column): string =>
  csvName ?? title.toLowerCase().replaceAll(' ', '_')

const escapeMarkdown = (text: string): string =>
  text.replace(/[\\|`*_[\]<>~#&]/g, '\\$&').replaceAll('@', '@\u200C')

/** Returns the text of a Markdown table cell, escaped: it contains no markup, mention or cell border. */
export const markdownCell = (value: Json | undefined): string => escapeMarkdown(formatCell(value))

export const markdownHead = (columns: readonly Pick<Column, 'title' | 'format'>[]): string =>
  `| ${columns.map(({ title }) => escapeMarkdown(title.toLowerCase())).join(' | ')} |\n|${columns
    .map(({ format }) => (format === 'number' ? ' ---: |' : ' --- |'))
    .join('')}\n`

const markdownRows = (columns: readonly Column[], rows: readonly JsonObject[]): string =>
  rows.map(row => `| ${cellsOf(columns, row).map(markdownCell).join(' | ')} |\n`).join('')

/**
 * Creates a JSON list that is written while its records arrive: the whole document or, with a `key`, a member of it. The
 * output equals `stringifyJson` of the document. Nothing is written before the first record.
 */
export function createJsonList(writer: Writer, pretty: boolean, key?: string) {
  const [lineBreak, space] = pretty ? [key === undefined ? '\n' : '\n  ', ' '] : ['', '']
  const start = key === undefined ? '[' : `{${lineBreak}${stringifyJson(key)}:${space}[`
  let isEmpty = true
  return {
    async add(records: readonly JsonObject[]) {
      await writeParts(writer, records, part => {
        const items = stringifyJson(part, pretty).slice(1, pretty ? -2 : -1)
        const before = isEmpty ? start : ','
        isEmpty = false
        return `${before}${pretty ? items.replaceAll('\n', lineBreak) : items}`
      })
    },
    async end(around: JsonObject = {}) {
      const rest = key === undefined ? '' : `,${stringifyJson(around, pretty).slice(1)}`
      await writer.write(`${isEmpty ? start : lineBreak}]${rest}\n`)
      isEmpty = true
    },
    isOpen: () => !isEmpty,
  }
}

interface RowWriter {
  /** Returns what is above the rows; `names` are the names of selected fields. */
  head?(columns: readonly Column[], names?: readonly string[]): string | Promise<string>
  body(columns: readonly Column[], rows: readonly JsonObject[], color: boolean): string | Promise<string>
}

export const rowWriters: Readonly<Record<FormatOfRows, RowWriter>> = {
  table: { body: tsv },
  csv: {
    head: (columns, names) => csv([names ?? columns.map(csvName)]),
    body: (columns, rows) => csv(rows.map(row => cellsOf(columns, row))),
  },
  markdown: { head: columns => markdownHead(columns), body: markdownRows },
}
