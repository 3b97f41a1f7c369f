import { get, type Json, type JsonObject } from '../json.ts'
import type { StyledLine } from './styled-text.ts'

/**
 * How a column is formatted on a terminal. `state` has a sign and a color, `time` is relative (`3m ago`),
 * `age` is the time since then (`4m`), `rate` is a percentage, `number` is aligned to the right, `pr` has a
 * number sign, and none of these is ever cut; nor is `id`. `text` takes the width that is left, at least 24
 * columns, and `plain` at least 8; both are cut at the end. `prose` wraps: between words, and inside a word
 * that is longer than the column, but not inside a URL.
 */
export type ColumnFormat =
  | 'plain'
  | 'state'
  | 'time'
  | 'age'
  | 'rate'
  | 'number'
  | 'pr'
  | 'id'
  | 'text'
  | 'prose'

/** A column of a table. */
export interface Column {
  readonly title: string
  /** The path of the value in the record that a row is made from. */
  readonly path: string
  readonly format: ColumnFormat
  /** Returns the value of a row, where that is not the value at the path. */
  show?(row: JsonObject): Json | undefined
  /**
   * On a narrow terminal the columns with the highest number are left out first. Columns with a number and
   * without values always are. A column without a number is always shown.
   */
  readonly priority?: number
  /**
   * The column is shown only where texts in other columns keep this width, in characters, or need less. The
   * column must have a priority.
   */
  readonly minTextWidth?: number
  /** Whether a missing value is an empty cell instead of `-`, because it is missing in most rows. */
  readonly isSparse?: boolean
  /** The value that most records have: a column with a priority and no other value is left out, too. */
  readonly usual?: string
  /** The end of a text that stays where the text is cut. */
  readonly keptEnd?: RegExp
  /** The width to which the column is narrowed before any other column is, in characters. */
  readonly shrinkTo?: number
  /** Returns the URL that a value of the column links to, on a terminal that has links. */
  link?(value: Json | undefined): string | undefined
}

/** A result prepared for every output format: rows under columns. */
export interface View {
  /** Lines above the table, on a terminal only. */
  readonly heading?: readonly StyledLine[]
  /** Lines below the table, on a terminal only. */
  readonly footer?: readonly StyledLine[]
  readonly columns: readonly Column[]
  /** What the rows are made from. */
  readonly rows: readonly JsonObject[]
  /** A sentence that replaces the table on a terminal. */
  readonly sentence?: string
  /** Returns the view that replaces this view on a terminal. It is called only there. */
  terminalView?(): View
  /** The web page of the result, which --web opens. */
  readonly page?: string
  /** The kind of exit code that the result requires, if it is not `ok`. */
  readonly exit?: 'ok' | 'failed' | 'cancelled' | 'pending'
}

/** A column as it is written: its title, the path of its value, its format (`plain` by default), and the rest. */
type ColumnDefinition = readonly [
  title: string,
  path: string,
  format?: ColumnFormat,
  options?: Omit<Column, 'title' | 'path' | 'format'>,
]

export const columns = (...definitions: readonly ColumnDefinition[]): readonly Column[] =>
  definitions.map(([title, path, format = 'plain', options]) => ({ title, path, format, ...options }))

/** Returns the value of a column in a row. */
export const cellOf = ({ path, show }: Column, row: JsonObject): Json | undefined =>
  show === undefined ? get(row, path) : show(row)

/** Returns the values of a row under its columns. */
export const cellsOf = (shown: readonly Column[], row: JsonObject): readonly (Json | undefined)[] =>
  shown.map(column => cellOf(column, row))

/** Returns a table with a row for each record. */
export const table = (records: readonly JsonObject[], shown: readonly Column[]): View => ({
  columns: shown,
  rows: records,
})

/** Returns a view whose columns of pull requests link to their pages. */
export const withLinks = (view: View, urlOf: (pr: number) => string): View => ({
  ...view,
  columns: view.columns.map(column =>
    column.format === 'pr'
      ? { ...column, link: value => (typeof value === 'number' ? urlOf(value) : undefined) }
      : column,
  ),
})

/** Returns a view of lines without a table, for a terminal. */
export const linesView = (heading: readonly StyledLine[]): View => ({ heading, columns: [], rows: [] })

/** Returns a table of the fields of a record: a row with name and value for each path. Long values wrap. */
export const keyValueTable = (record: JsonObject, fields: readonly Column[]): View => ({
  columns: columns(['FIELD', 'field'], ['VALUE', 'value', 'prose']),
  rows: fields.map(field => ({ field: field.title, value: cellOf(field, record) ?? null })),
})

/** The columns of a receipt (docs/reference/cli.md, "Tables"). */
export const receiptColumns = columns(
  ['PR', 'pr', 'pr'],
  ['OK', 'ok'],
  ['DELIVERY', 'delivery'],
  ['MESSAGE', 'message'],
)

/** The columns of a table of pull requests on a terminal. */
export const pullRequestColumns = columns(
  ['PR', 'prNumber', 'pr'],
  ['STATE', 'state', 'state'],
  ['FOR', 'stateChangedAt', 'age', { priority: 1 }],
  ['PRIORITY', 'priorityName', 'plain', { priority: 2, usual: 'medium' }],
  ['AUTHOR', 'prAuthor', 'plain', { priority: 3 }],
  ['TITLE', 'prTitle', 'text'],
)

/** Returns the view of a change: a sentence on a terminal; the receipt replaces it in other formats. */
export const message = (sentence: string): View => ({ ...table([], receiptColumns), sentence })

export interface Writer {
  write(text: string | Uint8Array): Promise<void>
  /** Lets signals be handled while a long list is written; rejects with the reason of an interruption. */
  pause?(): Promise<void>
}

/** Returns the view of a receipt: `pr, ok, delivery, message` (docs/reference/cli.md, "Tables"). */
export const receiptView = (receipt: JsonObject, sentence: string): View => ({
  ...table([{ message: sentence, ...receipt }], receiptColumns),
  sentence,
})
