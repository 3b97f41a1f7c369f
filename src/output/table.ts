import Table from 'cli-table3'
import type { Json, JsonObject } from '../base/json.ts'
import { ageOf, formatAgo } from '../values/format.ts'
import { formatCell } from './formats.ts'
import {
  applyLink,
  applyStyle,
  renderLines,
  type Style,
  stateSpan,
  stateStyle,
  styled,
  type TerminalStyle,
} from './styled-text.ts'
import { breakLongWords, cutLongValue, textWidth, truncateCell, wrapLines } from './text-width.ts'
import { type Column, type ColumnFormat, cellsOf, type Screen } from './view.ts'

export interface TableOptions extends TerminalStyle {
  readonly columns: number
  /** The current time in milliseconds since 1970; relative times refer to it. */
  readonly now: number
  /** The smallest widths, for a table that is redrawn: a column with one above 0 is shown even without values. */
  readonly minWidths?: readonly number[]
}

function cellText(
  value: Json | undefined,
  format: ColumnFormat,
  { now, redact = text => text }: TableOptions,
): string {
  const text = cutLongValue(redact(formatCell(value)))
  if (text === '' || text === '-') return '-'
  if (value === true) return 'yes'
  if (value === false) return 'no'
  switch (format) {
    case 'pr':
      return `#${text}`
    case 'time':
      return ageOf(text, now, formatAgo)
    case 'age':
      return ageOf(text, now)
    case 'state':
      return stateSpan(text).text
    default:
      return text
  }
}

/** Returns the width of the longest URL in a text that a person may copy: at most 300 characters. */
const maxUrlWidth = (text: string): number =>
  maxOf(text.match(/(?<!\S)https?:\/\/\S{1,300}(?!\S)/g) ?? [], textWidth)

/** The number of rows that determine the widths of the columns. */
const sampleRows = 1_000

const columnGap = 2

/** Longer tables are several: time grows with the square of lines (docs/decisions/0010-tables-in-parts.md). */
const partLines = 64

const borders =
  'top top-left top-mid top-right bottom bottom-left bottom-mid bottom-right left left-mid mid mid-mid right right-mid'

/** The characters between and around cells: no borders, and a gap between columns. */
const chars = {
  ...Object.fromEntries(borders.split(' ').map(border => [border, ''])),
  middle: ' '.repeat(columnGap),
}

/** A table with fixed widths, whose rows are lines: cli-table3 needs seconds for a cell of many wide lines. */
const createTable = (shown: readonly ShownColumn[], widths: readonly number[]) =>
  new Table({
    chars,
    style: { 'padding-left': 0, 'padding-right': 0, head: [], border: [] },
    colWidths: [...widths],
    colAligns: shown.map(({ column: { format } }) => (format === 'number' ? 'right' : 'left')),
  })

const textOf = (table: Table.Table): string =>
  table
    .toString()
    .split('\n')
    .map(line => `${line.trimEnd()}\n`)
    .join('')

/** Creates a table that fits the terminal as far as its cells may be cut; its first rows determine the widths. */
export function createTableRenderer({ columns = [], rows: firstRows = [] }: Screen, options: TableOptions) {
  const { color, links = false, minWidths = [] } = options
  const cellTexts = (row: readonly (Json | undefined)[]) =>
    columns.map(({ format, title }, index) =>
      title === '' && formatCell(row[index]) === '' ? '' : cellText(row[index], format, options),
    )
  const sample = firstRows.slice(0, sampleRows).map(row => cellsOf(columns, row))
  const sampleTexts = sample.map(cellTexts)
  const contentWidths = columns.map(({ usual = '' }, index) => {
    const isEmpty = sample.every(row => ['', usual].includes(formatCell(row[index])))
    const width = isEmpty ? 0 : maxOf(sampleTexts, texts => textWidth(texts[index] ?? ''))
    return Math.max(width, minWidths[index] ?? 0)
  })
  const urlWidths = columns.map(({ format }, index) =>
    format === 'prose' ? maxOf(sampleTexts, texts => maxUrlWidth(texts[index] ?? '')) : 0,
  )
  const shown = layoutColumns(columns, contentWidths, urlWidths, options.columns)
  // A column without values is missed by nobody.
  const leftOut = columns.filter(
    (column, index) => contentWidths[index] !== 0 && !shown.some(each => each.column === column),
  )
  const truncate = (text: string, width: number, end = '') =>
    `${truncateCell(text.slice(0, text.length - end.length), width - textWidth(end))}${end}`
  const renderCell = (value: Json | undefined, text: string, column: Column, width: number) => {
    const { format, link, keptEnd } = column
    const isProse = format === 'prose'
    const cut = isProse
      ? wrapLines(breakLongWords(text, width), width)
      : canBeCut(format)
        ? truncate(text, width, keptEnd?.exec(text)?.[0])
        : text
    const style = isProse || format === 'state' ? stateStyle(formatCell(value))?.style : dimStyle(column)
    return cut.split('\n').map(line => applyLink(applyStyle(line, style, color), link?.(value), links))
  }
  return {
    /** The width of each column before it is narrowed to the terminal; 0 for a column without values. */
    contentWidths,
    /** The titles of columns with values for which the terminal is too narrow. */
    leftOut: leftOut.map(({ title }) => title).filter(title => title !== ''),
    /** Yields the column titles and the rows as texts of whole lines. */
    *draw(rows: readonly JsonObject[]): Generator<string> {
      let widths = shown.map(({ width }) => width)
      let table = createTable(shown, widths)
      table.push(
        shown.map(({ column, width }) => applyStyle(truncateCell(column.title, width), 'bold', color)),
      )
      for (const record of rows) {
        const row = cellsOf(columns, record)
        const texts = cellTexts(row)
        // What may not be cut needs a wider column in the rows that have a longer text.
        const rowWidths = shown.map(({ index, width, column: { format } }) =>
          canBeCut(format) ? width : Math.max(width, textWidth(texts[index] ?? '')),
        )
        if (table.length >= partLines || rowWidths.some((width, place) => width !== widths[place])) {
          yield textOf(table)
          widths = rowWidths
          table = createTable(shown, widths)
        }
        const cells = shown.map(({ index, column }, place) =>
          renderCell(row[index], texts[index] ?? '', column, widths[place] ?? 0),
        )
        const height = maxOf(cells, lines => lines.length)
        for (let line = 0; line < height; line++) table.push(cells.map(lines => lines[line] ?? ''))
      }
      yield textOf(table)
    },
  }
}

/** When it was is read after what happened, too. */
const dimStyle = ({ format, isDim = false }: Column): Style | undefined =>
  isDim || format === 'time' || format === 'age' ? 'dim' : undefined

/** Renders a screen in parts of whole lines: heading, table, then footer. */
export function* renderScreen(screen: Screen, options: TableOptions): Generator<string> {
  const { heading = [], rows = [], footer = [] } = screen
  yield renderLines(heading, options)
  if (rows.length > 0) {
    const table = createTableRenderer(screen, options)
    yield* table.draw(rows)
    if (table.leftOut.length > 0)
      yield renderLines([[styled(`Left out: ${table.leftOut.join(', ')}`, 'dim')]], options)
  }
  yield renderLines(footer, options)
}

/** The smallest width of the columns that may be cut, and of the columns that wrap, in characters. */
const formatMinWidths: Readonly<Partial<Record<ColumnFormat, number>>> = { plain: 8, text: 24, prose: 12 }

/** The width to which they are cut on a terminal that is too narrow for that, in characters. */
const leastWidths: typeof formatMinWidths = { plain: 6, text: 6, prose: 8 }

/** The smallest terminal on which the smallest widths of columns always count, in characters. */
const usualTerminalWidth = 56

/** The width of texts that columns yield to, in characters. */
const readableWidth = 80

/** Whether a column of this format is narrowed where the terminal is narrow. */
const canBeCut = (format: ColumnFormat): boolean => formatMinWidths[format] !== undefined

const maxOf = <T>(items: readonly T[], widthOf: (item: T) => number): number =>
  items.reduce((max, item) => Math.max(max, widthOf(item)), 0)

/** A column that is shown: its place in the table, and its widths. */
interface ShownColumn {
  readonly column: Column
  readonly index: number
  readonly smallest: number
  width: number
}

/**
 * Returns the columns that fit a terminal with their widths. Columns that need room are left out where there
 * is none. Columns with a priority are left out if they have no values, or as long as the others do not fit
 * at their smallest widths. Then the widest columns that may be cut are narrowed until the table fits. A table
 * of columns that may not be cut may be wider.
 *
 * @param contentWidths the width of the widest cell of each column; 0 for a column without values
 * @param urlWidths the width below which a column that wraps is not narrowed
 */
function layoutColumns(
  columns: readonly Column[],
  contentWidths: readonly number[],
  urlWidths: readonly number[],
  maxWidth: number,
): readonly ShownColumn[] {
  let shown = columns.map((column, index): ShownColumn => {
    const content = Math.max(contentWidths[index] ?? 0, textWidth(column.title))
    const minWidth = formatMinWidths[column.format]
    if (minWidth === undefined) return { column, index, smallest: content, width: content }
    const urlWidth = urlWidths[index] ?? 0
    const width = Math.max(urlWidth, Math.min(maxWidth, content))
    return { column, index, smallest: Math.min(width, Math.max(urlWidth, minWidth)), width }
  })
  shown = shown.filter(({ column, index }) => column.priority === undefined || contentWidths[index] !== 0)
  const excess = (widthOf: (shown: ShownColumn) => number) =>
    shown.reduce((sum, each) => sum + widthOf(each) + columnGap, -columnGap) - maxWidth
  /** Leaves out columns, those with the highest priority and of these the last one first. */
  const dropWhileWider = (
    widthOf: (shown: ShownColumn) => number,
    canDrop: (column: Column) => boolean = () => true,
  ) => {
    const priorityOf = ({ column }: ShownColumn) => column.priority ?? 0
    const candidates = shown
      .filter(measured => priorityOf(measured) > 0 && canDrop(measured.column))
      .reverse()
    for (const dropped of candidates.sort((a, b) => priorityOf(b) - priorityOf(a))) {
      if (excess(widthOf) <= 0) return
      shown = shown.filter(measured => measured !== dropped)
    }
  }
  dropWhileWider(
    ({ column, width }) => (canBeCut(column.format) ? Math.min(width, readableWidth) : width),
    ({ yieldsToText }) => yieldsToText === true,
  )
  dropWhileWider(({ smallest }) => smallest)
  const isNarrow = maxWidth < usualTerminalWidth
  for (let over = excess(({ width }) => width); over > 0; over--) {
    const roomy = shown.filter(({ width, smallest }) => width > smallest)
    // A URL in what wraps stays whole.
    const cuttable = shown.filter(
      ({ column: { format }, index, width }) =>
        canBeCut(format) && width > Math.max(leastWidths[format] ?? 0, urlWidths[index] ?? 0),
    )
    const [first, ...others] = roomy.length === 0 && isNarrow ? cuttable : roomy
    if (first === undefined) break
    const widest = others.reduce((found, each) => (each.width > found.width ? each : found), first)
    widest.width--
  }
  return shown
}
