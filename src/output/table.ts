import Table from 'cli-table3'
import { formatDuration, pluralize } from '../domain/format.ts'
import type { Json } from '../json.ts'
import { formatCell } from './delimited.ts'
import { sanitizeLine, sanitizeLines } from './sanitize.ts'
import { colorizeState, createChalk } from './state-color.ts'
import { textWidth, truncateCell, truncateLine } from './text-width.ts'
import { type Column, type ColumnFormat, type TextBlock, type View, widthRows } from './view.ts'

/** The terminal that a table is rendered for. */
export interface TableOptions {
  readonly columns: number
  readonly color: boolean
  /** The current time in milliseconds since 1970; relative times refer to it. */
  readonly now: number
}

/**
 * Returns how long ago a time was, such as `3m ago`. A date that is in the future, invalid or without a
 * time zone is returned unchanged.
 */
export function relativeTime(date: string, now: number): string {
  const elapsed = now - Date.parse(date)
  // A time without a time zone may not be in the time zone of this machine.
  if (Number.isNaN(elapsed) || !/(?:[Zz]|[+-]\d{2}:?\d{2})$/.test(date)) return date
  return elapsed < 0 ? date : `${formatDuration(elapsed)} ago`
}

function cellText(value: Json | undefined, format: ColumnFormat, { now }: TableOptions): string {
  const text = formatCell(value)
  if (text === '') return '-'
  if (format === 'pr') return `#${text}`
  if (format === 'time') return relativeTime(text, now)
  if (value === true) return 'yes'
  return value === false ? 'no' : text
}

/** The number of rows in each layout: cli-table3 takes time in proportion to the square of its rows. */
const layoutRows = 20

/** A table with known column widths: its rows can be rendered as they arrive, and stay aligned. */
export interface TableRenderer {
  /** The text above the rows: the heading of the view, then the column titles. */
  readonly start: string
  /** Yields further rows as text that ends with a line break, in time proportional to their number. */
  draw(rows: View['rows']): Generator<string>
}

/**
 * Creates a table without borders that is at most as wide as the terminal. The first `widthRows` rows
 * determine the column widths.
 */
export function createTableRenderer(
  { heading = [], columns, rows: firstRows }: View,
  options: TableOptions,
): TableRenderer {
  const chalk = createChalk(options.color)
  const texts = (row: View['rows'][number]) =>
    row.map((value, index) => cellText(value, columns[index]?.format ?? 'plain', options))
  const widths = columnWidths(columns, firstRows.slice(0, widthRows).map(texts), options.columns)
  const truncate = (text: string, maxWidth = minColumnWidth) => truncateCell(text, maxWidth)
  const cells = (row: readonly string[], widths: readonly number[]) =>
    row.map((text, index) => {
      const format = columns[index]?.format
      const fitted = format === 'prose' ? text : truncate(text, widths[index])
      const content = format === 'state' || format === 'prose' ? colorizeState(fitted, options.color) : fitted
      // A truncated text needs no line wrapping.
      return format === 'prose' ? content : { content, wordWrap: false }
    })
  /**
   * Returns the widths for some rows: an id is never truncated, so its column grows for rows with a longer
   * id.
   */
  const widthsFor = (rows: readonly (readonly string[])[]): readonly number[] =>
    widths.map((width, index) =>
      columns[index]?.format === 'id' ? Math.min(options.columns, maxCellWidth(rows, index, width)) : width,
    )
  const renderRows = (rows: readonly Table.HorizontalTableRow[], widths: readonly number[]): string => {
    const table = new Table({
      chars: Object.fromEntries(borders.map(name => [name, name === 'middle' ? '  ' : ''])),
      style: { 'padding-left': 0, 'padding-right': 0, head: [], border: [], compact: true },
      colWidths: [...widths],
      wordWrap: true,
      colAligns: columns.map(({ format }) => (format === 'number' ? 'right' : 'left')),
    })
    for (const row of rows) table.push(row)
    const lines = table.toString().split('\n')
    return lines.map(line => `${line.trimEnd()}\n`).join('')
  }
  const headingText = heading.map(line => `${sanitizeLine(line)}\n`).join('')
  return {
    start:
      headingText +
      renderRows([columns.map(({ title }, index) => chalk.bold(truncate(title, widths[index])))], widths),
    *draw(rows) {
      for (let start = 0; start < rows.length; start += layoutRows) {
        const batch = rows.slice(start, start + layoutRows).map(texts)
        const batchWidths = widthsFor(batch)
        yield renderRows(
          batch.map(row => cells(row, batchWidths)),
          batchWidths,
        )
      }
    },
  }
}

/** Renders a view for a terminal, in pieces of whole lines: heading, table, then text blocks. */
export function* renderView(view: View, options: TableOptions): Generator<string> {
  if (view.rows.length === 0) yield (view.heading ?? []).map(line => `${sanitizeLine(line)}\n`).join('')
  else {
    const table = createTableRenderer(view, options)
    yield table.start
    yield* table.draw(view.rows)
  }
  for (const textBlock of view.textBlocks ?? [])
    yield renderTextBlock(textBlock, options, createChalk(options.color))
}

/** Renders a view for a terminal as a single text. */
export const drawTable = (view: View, options: TableOptions): string =>
  [...renderView(view, options)].join('')

/** The largest number of lines of a text block that are shown; further lines are only counted. */
const maxBlockLines = 40

/** Renders a text block: a line that introduces the text, then the text, indented. */
function renderTextBlock(
  { title, head, text }: TextBlock,
  { columns }: TableOptions,
  chalk: ReturnType<typeof createChalk>,
): string {
  const lines = sanitizeLines(text).trim().split('\n')
  const shownLines = lines
    .slice(0, maxBlockLines)
    .map(line => `  ${truncateCell(line.trimEnd(), columns - 2)}`)
  const hiddenLines = lines.length - shownLines.length
  if (hiddenLines > 0) shownLines.push(`  … ${pluralize(hiddenLines, 'more line')}`)
  return `\n${chalk.bold(sanitizeLine(title))}: ${sanitizeLine(head)}\n${shownLines.map(line => `${line.trimEnd()}\n`).join('')}`
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

const minColumnWidth = 8
/**
 * Renders a view and the lines below it as lines that fit a terminal. They are narrower than the terminal,
 * and at least a row less than its rows, so that the cursor can be below them. A last line counts the rows
 * that do not fit.
 */
export function drawFrame(
  view: View,
  footer: readonly string[],
  options: TableOptions & { readonly rows: number },
): readonly string[] {
  const [maxLines, columns] = [Math.max(0, options.rows - 1), options.columns - 1]
  const maxRows = maxLines - (view.heading ?? []).length - 1 - footer.length
  const fitting = view.rows.length <= maxRows ? view.rows.length : Math.max(0, maxRows - 1)
  const hidden = view.rows.length - fitting
  return [
    ...drawTable(
      { ...view, rows: view.rows.slice(0, fitting) },
      { ...options, columns: Math.max(minColumnWidth, columns) },
    )
      .split('\n')
      .slice(0, -1),
    ...(hidden > 0 ? [`… and ${hidden} more`] : []),
    ...footer.map(sanitizeLine),
  ]
    .slice(0, maxLines)
    .map(line => truncateLine(line, columns))
}

/** Returns the width of the widest cell of a column, and at least `min`. */
const maxCellWidth = (rows: readonly (readonly string[])[], index: number, min: number): number =>
  rows.reduce((max, row) => Math.max(max, textWidth(row[index] ?? '')), min)

/**
 * Returns the width of each column: the width of its widest cell, with the widest columns narrowed until
 * the table fits.
 */
function columnWidths(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  maxWidth: number,
): readonly number[] {
  const widths = columns.map(({ title }, index) =>
    Math.min(maxWidth, maxCellWidth(rows, index, textWidth(title))),
  )
  const gaps = 2 * (columns.length - 1)
  const canShrink = columns.map(({ format }) => format !== 'id')
  for (let over = widths.reduce((sum, one) => sum + one, gaps) - maxWidth; over > 0; over--) {
    const widest = Math.max(...widths.filter((_, index) => canShrink[index]))
    if (widest <= minColumnWidth) break
    widths[widths.findIndex((one, index) => one === widest && canShrink[index])] = widest - 1
  }
  return widths
}
