import { Chalk, type ChalkInstance } from 'chalk'
import Table from 'cli-table3'
import width from 'string-width'
import { cell } from './delimited.ts'
import { type Column, count, type Json, type Manner, type Passage, type Shape, span } from './shapes.ts'
import { manyLines, oneLine } from './text.ts'

/** What a table is drawn for. */
export interface Page {
  readonly columns: number
  readonly color: boolean
  /** Milliseconds since 1970: what relative times are counted from. */
  readonly now: number
}

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
export function painted(text: string, color: boolean): string {
  const [, paint] = paints.find(([states]) => states.test(text)) ?? []
  return paint === undefined ? text : paint(chalkFor(color), text)
}

const chalkFor = (color: boolean): ChalkInstance => new Chalk({ level: color ? 1 : 0 })

/** How long ago a moment was: `3m ago`; a date that cannot be read as it came. */
export function ago(date: string, now: number): string {
  const passed = now - Date.parse(date)
  // A time without its zone is shown as it came: it is not this machine's.
  if (Number.isNaN(passed) || !/(?:[Zz]|[+-]\d{2}:?\d{2})$/.test(date)) return date
  return passed < 0 ? date : `${span(passed)} ago`
}

function shown(value: Json | undefined, manner: Manner, { now }: Page): string {
  const text = cell(value)
  if (text === '') return '-'
  if (manner === 'pr') return `#${text}`
  if (manner === 'time') return ago(text, now)
  if (value === true) return 'yes'
  return value === false ? 'no' : text
}

/** Draws a shape for a person: heading, then a table without lines as wide as the terminal at most. */
export function draw(shape: Shape, page: Page): string {
  const chalk = chalkFor(page.color)
  const heading = (shape.heading ?? []).map(line => `${oneLine(line)}\n`).join('')
  const passages = (shape.passages ?? []).map(passage => block(passage, page, chalk)).join('')
  if (shape.rows.length === 0) return heading + passages
  const rows = shape.rows.map(row =>
    row.map((value, index) => shown(value, shape.columns[index]?.manner ?? 'plain', page)),
  )
  const widths = fitted(shape.columns, rows, page.columns)
  const table = new Table({
    chars: Object.fromEntries(borders.map(name => [name, name === 'middle' ? '  ' : ''])),
    style: { 'padding-left': 0, 'padding-right': 0, head: [], border: [], compact: true },
    colWidths: [...widths],
    wordWrap: true,
    colAligns: shape.columns.map(({ manner }) => (manner === 'number' ? 'right' : 'left')),
  })
  const fitting = (text: string, index: number) => clip(text, widths[index] ?? narrowest)
  table.push(shape.columns.map(({ title }, index) => chalk.bold(fitting(title, index))))
  for (const row of rows)
    table.push(
      row.map((text, index) => {
        const manner = shape.columns[index]?.manner
        const fitted = manner === 'prose' ? text : fitting(text, index)
        return manner === 'state' || manner === 'prose' ? painted(fitted, page.color) : fitted
      }),
    )
  const lines = table.toString().split('\n')
  return `${heading}${lines.map(line => `${line.trimEnd()}\n`).join('')}${passages}`
}

/** More lines of a passage than this are only counted. */
const mostLines = 40

/** A passage as a person reads it: a line that tells of it, then its text, indented. */
function block({ title, head, text }: Passage, { columns }: Page, chalk: ChalkInstance): string {
  const lines = manyLines(text).trim().split('\n')
  const shown = lines.slice(0, mostLines).map(line => `  ${clip(line.trimEnd(), columns - 2)}`)
  const left = lines.length - shown.length
  if (left > 0) shown.push(`  … ${count(left, 'more line')}`)
  return `\n${chalk.bold(oneLine(title))}: ${oneLine(head)}\n${shown.map(line => `${line.trimEnd()}\n`).join('')}`
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

const narrowest = 8
const clusters = new Intl.Segmenter('en', { granularity: 'grapheme' })

/** The text cut to a width with an ellipsis; no character that is drawn as one is split. */
export function clip(text: string, most: number): string {
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
export function cutLine(line: string, most: number): string {
  let left = most
  const pieces = line.split(colors).map((piece, index) => {
    if (index % 2 === 1) return piece
    const kept = left > 0 ? clip(piece, left) : ''
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
export function frame(
  shape: Shape,
  foot: readonly string[],
  page: Page & { readonly rows: number },
): readonly string[] {
  const [most, columns] = [Math.max(0, page.rows - 1), page.columns - 1]
  const room = most - (shape.heading ?? []).length - 1 - foot.length
  const fitting = shape.rows.length <= room ? shape.rows.length : Math.max(0, room - 1)
  const hidden = shape.rows.length - fitting
  return [
    ...draw(
      { ...shape, rows: shape.rows.slice(0, fitting) },
      { ...page, columns: Math.max(narrowest, columns) },
    )
      .split('\n')
      .slice(0, -1),
    ...(hidden > 0 ? [`… and ${hidden} more`] : []),
    ...foot.map(oneLine),
  ]
    .slice(0, most)
    .map(line => cutLine(line, columns))
}

/** The width of each column: its widest cell, then the widest columns give way until the terminal holds them all. */
function fitted(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  most: number,
): readonly number[] {
  const widths = columns.map(({ title }, index) =>
    Math.min(most, Math.max(width(title), ...rows.map(row => width(row[index] ?? '')))),
  )
  const gaps = 2 * (columns.length - 1)
  const giving = columns.map(({ manner }) => manner !== 'id')
  for (let over = widths.reduce((sum, one) => sum + one, gaps) - most; over > 0; over--) {
    const widest = Math.max(...widths.filter((_, index) => giving[index]))
    if (widest <= narrowest) break
    widths[widths.findIndex((one, index) => one === widest && giving[index])] = widest - 1
  }
  return widths
}
