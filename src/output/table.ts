import Table from 'cli-table3'
import { ageOf, formatRate } from '../domain/format.ts'
import type { Json } from '../json.ts'
import { formatCell } from './formats.ts'
import {
  applyLink,
  applyStyle,
  renderLines,
  stateSpan,
  stateStyle,
  type TerminalStyle,
} from './styled-text.ts'
import { breakLongWords, textWidth, truncateCell } from './text-width.ts'
import type { Column, ColumnFormat, View } from './view.ts'

export interface TableOptions extends TerminalStyle {
  readonly columns: number
  /** The current time in milliseconds since 1970; relative times refer to it. */
  readonly now: number
  /**
   * The smallest width of each column, for a table that is redrawn; a column with a width above 0 is shown
   * even if it has no values.
   */
  readonly minWidths?: readonly number[]
}

function cellText(
  value: Json | undefined,
  format: ColumnFormat,
  { now, redact = text => text }: TableOptions,
): string {
  const text = redact(formatCell(value))
  if (text === '') return '-'
  if (value === true) return 'yes'
  if (value === false) return 'no'
  switch (format) {
    case 'pr':
      return `#${text}`
    case 'time':
      return ageOf(text, now, ' ago')
    case 'age':
      return ageOf(text, now)
    case 'rate':
      return typeof value === 'number' ? formatRate(value) : text
    case 'state':
      return stateSpan(text).text
    default:
      return text
  }
}

/** Returns the width of the longest URL in a text that a person may copy: at most 300 characters. */
const maxUrlWidth = (text: string): number =>
  Math.max(0, ...(text.match(/(?<!\S)https?:\/\/\S{1,300}(?!\S)/g) ?? []).map(textWidth))

/** The number of rows that determine the widths of the columns. */
const sampleRows = 1_000

/** The number of rows in each layout: cli-table3 takes time in proportion to the square of its rows. */
const layoutRows = 20

/** A table with known column widths: its rows can be rendered as they arrive, and stay aligned. */
export interface TableRenderer {
  /** The text above the rows: the heading of the view, then the column titles. */
  readonly start: string
  /** The width of each column before it is narrowed to the terminal; 0 for a column without values. */
  readonly contentWidths: readonly number[]
  /** Yields further rows as text that ends with a line break, in time proportional to their number. */
  draw(rows: View['rows']): Generator<string>
}

const alignedRight: readonly ColumnFormat[] = ['number', 'rate']

/**
 * Creates a table without borders that is as wide as the terminal at most, unless what may not be cut is
 * wider. The first `sampleRows` rows determine the columns and their widths.
 */
export function createTableRenderer(
  { heading = [], columns, rows: firstRows }: View,
  options: TableOptions,
): TableRenderer {
  const { color, links = false, minWidths = [] } = options
  const texts = (row: View['rows'][number]) =>
    columns.map(({ format, isSparse }, index) =>
      isSparse === true && formatCell(row[index]) === '' ? '' : cellText(row[index], format, options),
    )
  const sample = firstRows.slice(0, sampleRows)
  const sampleTexts = sample.map(texts)
  const contentWidths = columns.map((_, index) => {
    const isEmpty = sample.every(row => formatCell(row[index]) === '')
    return Math.max(isEmpty ? 0 : maxCellWidth(sampleTexts, index, 0), minWidths[index] ?? 0)
  })
  const urlWidths = columns.map(({ format }, index) =>
    format === 'prose'
      ? sampleTexts.reduce((max, row) => Math.max(max, maxUrlWidth(row[index] ?? '')), 0)
      : 0,
  )
  const layout = layoutColumns(columns, contentWidths, options.columns, urlWidths)
  const shown = layout.flatMap(({ index, width }) => {
    const column = columns[index]
    return column === undefined ? [] : [{ index, width, column }]
  })
  const renderCell = (
    row: View['rows'][number],
    text: string,
    { column, index }: (typeof shown)[number],
    width: number,
  ) => {
    const { format } = column
    const cut =
      format === 'prose' ? breakLongWords(text, width) : canBeCut(format) ? truncateCell(text, width) : text
    const style =
      format === 'state' || format === 'prose' ? stateStyle(formatCell(row[index]))?.style : undefined
    const content = applyLink(applyStyle(cut, style, color), column.link?.(row[index]), links)
    // A text that was cut needs no line wrapping.
    return format === 'prose' ? content : { content, wordWrap: false }
  }
  const renderRows = (rows: readonly Table.HorizontalTableRow[], widths: readonly number[]): string => {
    const table = new Table({
      chars: Object.fromEntries(borders.map(name => [name, name === 'middle' ? ' '.repeat(columnGap) : ''])),
      style: { 'padding-left': 0, 'padding-right': 0, head: [], border: [], compact: true },
      colWidths: [...widths],
      wordWrap: true,
      colAligns: shown.map(({ column: { format } }) => (alignedRight.includes(format) ? 'right' : 'left')),
    })
    for (const row of rows) table.push(row)
    const lines = table.toString().split('\n')
    return lines.map(line => `${line.trimEnd()}\n`).join('')
  }
  return {
    contentWidths,
    start:
      renderLines(heading, options) +
      renderRows(
        [shown.map(({ column: { title }, width }) => applyStyle(truncateCell(title, width), 'bold', color))],
        shown.map(({ width }) => width),
      ),
    *draw(rows) {
      for (let start = 0; start < rows.length; start += layoutRows) {
        const batch = rows.slice(start, start + layoutRows)
        const batchTexts = batch.map(texts)
        // What may not be cut needs a wider column in the rows that have a longer text.
        const widths = shown.map(({ index, width, column: { format } }) =>
          canBeCut(format) ? width : maxCellWidth(batchTexts, index, width),
        )
        yield renderRows(
          batch.map((row, place) =>
            shown.map((cell, index) =>
              renderCell(row, batchTexts[place]?.[cell.index] ?? '', cell, widths[index] ?? cell.width),
            ),
          ),
          widths,
        )
      }
    },
  }
}

const borders = [
  'top',
  'top-mid',
  'top-left',
  'top-right',
  'bottom',
  'bottom-mid',
  'bottom-left',
  'bottom-right',
  'left',
  'left-mid',
  'mid',
  'mid-mid',
  'right',
  'right-mid',
  'middle',
] as const

/** Renders a view for a terminal, in pieces of whole lines: heading, table, then footer. */
export function* renderView(view: View, options: TableOptions): Generator<string> {
  if (view.rows.length === 0) yield renderLines(view.heading ?? [], options)
  else {
    const table = createTableRenderer(view, options)
    yield table.start
    yield* table.draw(view.rows)
  }
  yield renderLines(view.footer ?? [], options)
}

/** The smallest width of the columns that may be cut, and of the columns that wrap, in characters. */
const minWidths: Readonly<Partial<Record<ColumnFormat, number>>> = { plain: 8, text: 24, prose: 12 }

/** Whether a column of this format is narrowed where the terminal is narrow. */
const canBeCut = (format: ColumnFormat): boolean => minWidths[format] !== undefined

const columnGap = 2

/** A column that is shown: its place in the view, and its width. */
export interface ColumnLayout {
  readonly index: number
  readonly width: number
}

/** Returns the width of the widest cell of a column, and at least `min`. */
export const maxCellWidth = (rows: readonly (readonly string[])[], index: number, min: number): number =>
  rows.reduce((max, row) => Math.max(max, textWidth(row[index] ?? '')), min)

/**
 * Returns the columns that fit a terminal with their widths. Columns that need room are left out where there
 * is none. Columns with a priority are left out if they have no values, or as long as the others do not fit
 * at their smallest widths. Then the widest columns that may be cut are narrowed until the table fits, those
 * that yield before the others. A table of columns that may not be cut may be wider.
 *
 * @param contentWidths the width of the widest cell of each column; 0 for a column without values
 * @param wordWidths the width below which a column that wraps is not narrowed
 */
function layoutColumns(
  columns: readonly Column[],
  contentWidths: readonly number[],
  maxWidth: number,
  wordWidths: readonly number[],
): readonly ColumnLayout[] {
  const natural = columns.map(({ title, format }, index) => {
    const width = Math.max(contentWidths[index] ?? 0, textWidth(title))
    return canBeCut(format) ? Math.min(maxWidth, width) : width
  })
  const smallest = columns.map(({ format }, index) =>
    Math.min(
      natural[index] ?? 0,
      Math.max(wordWidths[index] ?? 0, minWidths[format] ?? Number.POSITIVE_INFINITY),
    ),
  )
  let shown = columns.flatMap(({ priority }, index) =>
    priority !== undefined && contentWidths[index] === 0 ? [] : [{ index, priority: priority ?? 0 }],
  )
  const totalWidth = (widths: readonly number[]) =>
    shown.reduce((sum, { index }) => sum + (widths[index] ?? 0) + columnGap, -columnGap)
  const dropWhileWider = (widths: readonly number[], canDrop: (index: number) => boolean) => {
    while (totalWidth(widths) > maxWidth) {
      const candidates = shown.filter(({ index }) => canDrop(index))
      const last = Math.max(0, ...candidates.map(({ priority }) => priority))
      const dropped = candidates.findLast(({ priority }) => priority === last)
      if (last === 0 || dropped === undefined) break
      shown = shown.filter(column => column !== dropped)
    }
  }
  const rooms = new Set(columns.flatMap(({ minTextWidth }) => minTextWidth ?? []))
  for (const room of [...rooms].sort((a, b) => b - a)) {
    const roomy = columns.map(({ format }, index) =>
      Math.min(natural[index] ?? 0, canBeCut(format) ? room : Number.POSITIVE_INFINITY),
    )
    dropWhileWider(roomy, index => columns[index]?.minTextWidth === room)
  }
  dropWhileWider(smallest, () => true)
  const widths = [...natural]
  const narrow = (minimums: readonly number[]) => {
    for (let over = totalWidth(widths) - maxWidth; over > 0; over--) {
      const widest = shown
        .filter(({ index }) => (widths[index] ?? 0) > (minimums[index] ?? 0))
        .reduce((found, { index }) => ((widths[index] ?? 0) > (widths[found] ?? -1) ? index : found), -1)
      if (widest === -1) break
      widths[widest] = (widths[widest] ?? 0) - 1
    }
  }
  narrow(columns.map(({ shrinkTo }) => shrinkTo ?? maxWidth))
  narrow(smallest)
  return shown.map(({ index }) => ({ index, width: Math.max(widths[index] ?? 0, wordWidths[index] ?? 0) }))
}
