import { Chalk, type ChalkInstance } from 'chalk'
import Table from 'cli-table3'
import stringWidth from 'string-width'
import { formatDuration, pluralize } from '../domain/format.ts'
import type { Json } from '../json.ts'
import { cell } from './delimited.ts'
import { sanitizeLine, sanitizeLines } from './sanitize.ts'
import { type Column, type ColumnFormat, type TextBlock, type View, widthRows } from './view.ts'

/** What a table is drawn for. */
export interface TableOptions {
  readonly columns: number
  readonly color: boolean
  /** Milliseconds since 1970: what relative times are counted from. */
  readonly now: number
}

const printableAscii = /^[ -~]*$/

/** The columns that a text takes on a terminal, colours not counted. Most texts are ASCII, and need no table for that. */
const width = (text: string): number => (printableAscii.test(text) ? text.length : stringWidth(text))

type Paint = (chalk: ChalkInstance, text: string) => string

const paints: readonly [RegExp, Paint][] = [
  [/^(MERGED|RUNNING|SUCCESS|healthy|pass)$/i, (chalk, text) => chalk.green(text)],
  [/^(FAILED|FAILURE|ERROR|TIMED_OUT|broken|fail|dropped|new)$/i, (chalk, text) => chalk.red(text)],
  [
    /^(CANCELLED|PAUSED|DRAINING|PENDING_FAILURE|flaky|SWITCHING_MODES|STALE|warn|blocked|held|known|quarantined)$/i,
    (chalk, text) => chalk.yellow(text),
  ],
  [/^(TESTING|TESTS_PASSED|PENDING|IN_PROGRESS|QUEUED|waiting)$/i, (chalk, text) => chalk.cyan(text)],
]

/** A state in its colour; another text as it is. */
export function colorizeState(text: string, color: boolean): string {
  const [, paint] = paints.find(([states]) => states.test(text)) ?? []
  return paint === undefined ? text : paint(chalkFor(color), text)
}

const chalkFor = (color: boolean): ChalkInstance => new Chalk({ level: color ? 1 : 0 })

/** How long ago a moment was: `3m ago`; a date that cannot be read as it came. */
export function relativeTime(date: string, now: number): string {
  const passed = now - Date.parse(date)
  // A time without its zone is shown as it came: it is not this machine's.
  if (Number.isNaN(passed) || !/(?:[Zz]|[+-]\d{2}:?\d{2})$/.test(date)) return date
  return passed < 0 ? date : `${formatDuration(passed)} ago`
}

function shown(value: Json | undefined, manner: ColumnFormat, { now }: TableOptions): string {
  const text = cell(value)
  if (text === '') return '-'
  if (manner === 'pr') return `#${text}`
  if (manner === 'time') return relativeTime(text, now)
  if (value === true) return 'yes'
  return value === false ? 'no' : text
}

/** Rows that are laid out at once: the time that the library takes grows with the square of them. */
const layoutRows = 20

/** A table whose widths are known: its rows can be drawn as they come, and fit below each other. */
export interface OpenTable {
  /** What stands above the rows: the heading of the shape, then the titles of the columns. */
  readonly start: string
  /** Further rows, in pieces that end with a line break. Takes time in proportion to their number. */
  draw(rows: View['rows']): Generator<string>
}

/** Opens a table without lines, as wide as the terminal at most; `widthRows` of its rows decide its widths. */
export function openTable({ heading = [], columns, rows: known }: View, page: TableOptions): OpenTable {
  const chalk = chalkFor(page.color)
  const texts = (row: View['rows'][number]) =>
    row.map((value, index) => shown(value, columns[index]?.format ?? 'plain', page))
  const widths = fitted(columns, known.slice(0, widthRows).map(texts), page.columns)
  const fitting = (text: string, most = minColumnWidth) => truncateCell(text, most)
  const cells = (row: readonly string[], widths: readonly number[]) =>
    row.map((text, index) => {
      const manner = columns[index]?.format
      const fitted = manner === 'prose' ? text : fitting(text, widths[index])
      const content = manner === 'state' || manner === 'prose' ? colorizeState(fitted, page.color) : fitted
      // What was cut to its column needs no breaking into lines.
      return manner === 'prose' ? content : { content, wordWrap: false }
    })
  /** An id is never cut: where a later one is longer, its column is wider among the rows around it. */
  const widened = (rows: readonly (readonly string[])[]): readonly number[] =>
    widths.map((own, index) =>
      columns[index]?.format === 'id' ? Math.min(page.columns, widest(rows, index, own)) : own,
    )
  const layOut = (rows: readonly Table.HorizontalTableRow[], widths: readonly number[]): string => {
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
  const above = heading.map(line => `${sanitizeLine(line)}\n`).join('')
  return {
    start:
      above + layOut([columns.map(({ title }, index) => chalk.bold(fitting(title, widths[index])))], widths),
    *draw(rows) {
      for (let from = 0; from < rows.length; from += layoutRows) {
        const some = rows.slice(from, from + layoutRows).map(texts)
        const fitting = widened(some)
        yield layOut(
          some.map(row => cells(row, fitting)),
          fitting,
        )
      }
    },
  }
}

/** Draws a shape for a person, in pieces of whole lines: heading, then a table, then passages. */
export function* drawPieces(shape: View, page: TableOptions): Generator<string> {
  if (shape.rows.length === 0) yield (shape.heading ?? []).map(line => `${sanitizeLine(line)}\n`).join('')
  else {
    const table = openTable(shape, page)
    yield table.start
    yield* table.draw(shape.rows)
  }
  for (const passage of shape.textBlocks ?? []) yield block(passage, page, chalkFor(page.color))
}

/** The whole drawing of a shape, as one text. */
export const drawTable = (shape: View, page: TableOptions): string => [...drawPieces(shape, page)].join('')

/** More lines of a passage than this are only counted. */
const maxCellLines = 40

/** A passage as a person reads it: a line that tells of it, then its text, indented. */
function block({ title, head, text }: TextBlock, { columns }: TableOptions, chalk: ChalkInstance): string {
  const lines = sanitizeLines(text).trim().split('\n')
  const shown = lines.slice(0, maxCellLines).map(line => `  ${truncateCell(line.trimEnd(), columns - 2)}`)
  const left = lines.length - shown.length
  if (left > 0) shown.push(`  … ${pluralize(left, 'more line')}`)
  return `\n${chalk.bold(sanitizeLine(title))}: ${sanitizeLine(head)}\n${shown.map(line => `${line.trimEnd()}\n`).join('')}`
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
const clusters = new Intl.Segmenter('en', { granularity: 'grapheme' })

/** The text cut to a width with an ellipsis; no character that is drawn as one is split. */
export function truncateCell(text: string, most: number): string {
  if (text.length <= most && width(text) <= most) return text
  let [cut, used] = ['', 0]
  for (const { segment } of clusters.segment(text.slice(0, most * 16))) {
    used += width(segment)
    if (used > most - 1) return `${cut}…`
    cut += segment
  }
  return text.length > most * 16 ? `${cut}…` : cut
}

const colors = /(\u001B\[[\d;]*m)/

/** A line in our own colours, cut to a width; what stands behind the cut goes, its colours stay. */
export function truncateLine(line: string, most: number): string {
  let left = most
  const pieces = line.split(colors).map((piece, index) => {
    if (index % 2 === 1) return piece
    const kept = left > 0 ? truncateCell(piece, left) : ''
    left = kept === piece ? left - width(kept) : 0
    return kept
  })
  return pieces.join('')
}

/** The columns that a line takes, its colours not counted. */
export const lineWidth = (line: string): number => width(line)

/**
 * A shape, and lines below it, as lines that fit a terminal of so many rows: always narrower than it is, and one fewer
 * than it has, so that the cursor can stand below them. Rows that do not fit are counted.
 */
export function drawFrame(
  shape: View,
  foot: readonly string[],
  page: TableOptions & { readonly rows: number },
): readonly string[] {
  const [most, columns] = [Math.max(0, page.rows - 1), page.columns - 1]
  const room = most - (shape.heading ?? []).length - 1 - foot.length
  const fitting = shape.rows.length <= room ? shape.rows.length : Math.max(0, room - 1)
  const hidden = shape.rows.length - fitting
  return [
    ...drawTable(
      { ...shape, rows: shape.rows.slice(0, fitting) },
      { ...page, columns: Math.max(minColumnWidth, columns) },
    )
      .split('\n')
      .slice(0, -1),
    ...(hidden > 0 ? [`… and ${hidden} more`] : []),
    ...foot.map(sanitizeLine),
  ]
    .slice(0, most)
    .map(line => truncateLine(line, columns))
}

/** The columns that the widest cell of a column takes, at least so many. */
const widest = (rows: readonly (readonly string[])[], index: number, least: number): number =>
  rows.reduce((most, row) => Math.max(most, width(row[index] ?? '')), least)

/** The width of each column: its widest cell, then the widest columns give way until the terminal holds them all. */
function fitted(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  most: number,
): readonly number[] {
  const widths = columns.map(({ title }, index) => Math.min(most, widest(rows, index, width(title))))
  const gaps = 2 * (columns.length - 1)
  const giving = columns.map(({ format }) => format !== 'id')
  for (let over = widths.reduce((sum, one) => sum + one, gaps) - most; over > 0; over--) {
    const widest = Math.max(...widths.filter((_, index) => giving[index]))
    if (widest <= minColumnWidth) break
    widths[widths.findIndex((one, index) => one === widest && giving[index])] = widest - 1
  }
  return widths
}
