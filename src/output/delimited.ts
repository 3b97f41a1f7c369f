import { isObject, type Json } from '../json.ts'
import { jsonToText } from '../json-text.ts'
import type { CsvCell } from './csv.ts'
import { sanitizeLine } from './sanitize.ts'
import type { Column, View } from './view.ts'

/** A cell in a plain format: one line, nothing hidden in it. */
export const cell = (value: Json | undefined): string => sanitizeLine(jsonToText(value))

/** Tab-separated rows, without a header: a cell cannot break its row. */
export const tsv = ({ columns, rows }: View, paint = (state: string) => state): string =>
  rows
    .map(row =>
      row.map((value, index) => (columns[index]?.format === 'state' ? paint(cell(value)) : cell(value))),
    )
    .map(cells => `${cells.join('\t')}\n`)
    .join('')

/** A cell of CSV. A number that a double cannot hold is an object of its own kind that keeps its digits. */
const csvCell = (value: Json | undefined): CsvCell => ({
  text: cell(value),
  isNumber:
    typeof value === 'number' ||
    (typeof value === 'object' && value !== null && !Array.isArray(value) && !isObject(value)),
})

/** RFC 4180 lines; a cell that a spreadsheet would run is defused by a leading apostrophe, a number never. */
export async function csv(rows: readonly (readonly (Json | undefined)[])[]): Promise<string> {
  const { csvLines } = await import('./csv.ts')
  return rows.length === 0 ? '' : csvLines(rows.map(row => row.map(csvCell)))
}

export const titles = (columns: readonly Column[]): readonly string[] =>
  columns.map(({ title }) => title.toLowerCase().replaceAll(' ', '_'))

const escaped = (text: string): string => text.replace(/[\\|`*_[\]<>~#&]/g, '\\$&').replaceAll('@', '@\u200C')

/** A cell of a Markdown table: nothing in it becomes markup, a mention or another cell. */
export const markdownCell = (value: Json | undefined): string => escaped(cell(value))

/** The head of a Markdown table. */
export const markdownHead = (columns: readonly Column[]): string =>
  `| ${columns.map(({ title }) => escaped(title.toLowerCase())).join(' | ')} |\n|${columns
    .map(({ format }) => (format === 'number' ? ' ---: |' : ' --- |'))
    .join('')}\n`

/** Rows of a Markdown table, their cells escaped. */
export const markdownRows = ({ rows }: View): string =>
  rows.map(row => `| ${row.map(markdownCell).join(' | ')} |\n`).join('')
