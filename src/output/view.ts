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

export interface Column {
  readonly title: string
  readonly format: ColumnFormat
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
  readonly rows: readonly (readonly (Json | undefined)[])[]
  /** A sentence that replaces the table on a terminal. */
  readonly sentence?: string
  /** Returns the view that replaces this view on a terminal. It is called only there. */
  terminalView?(): View
  /** The web page of the result, which --web opens. */
  readonly page?: string
  /** The kind of exit code that the result requires, if it is not `ok`. */
  readonly exit?: 'ok' | 'failed' | 'cancelled' | 'pending'
}

/**
 * A column of a table of records: its title, the path of its value, its format (`plain` by default), and its
 * priority.
 */
export type ColumnSpec = readonly [
  title: string,
  path: string,
  format?: ColumnFormat,
  priority?: number,
  usual?: string,
]

/** Returns a table with a row for each record and a column for each path. */
export const table = (records: readonly Json[], columnSpecs: readonly ColumnSpec[]): View => ({
  columns: columnSpecs.map(([title, , format = 'plain', priority, usual]) => ({
    title,
    format,
    ...(priority === undefined ? {} : { priority }),
    ...(usual === undefined ? {} : { usual }),
  })),
  rows: records.map(record => columnSpecs.map(([, path]) => get(record, path))),
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
export const keyValueTable = (record: Json, columnSpecs: readonly ColumnSpec[]): View => ({
  columns: [
    { title: 'FIELD', format: 'plain' },
    { title: 'VALUE', format: 'prose' },
  ],
  rows: columnSpecs.map(([title, path]) => [title, get(record, path)]),
})

/** The columns of a receipt (docs/reference/cli.md, "Tables"). */
export const receiptColumns: readonly ColumnSpec[] = [
  ['PR', 'pr', 'pr'],
  ['OK', 'ok'],
  ['DELIVERY', 'delivery'],
  ['MESSAGE', 'message'],
]

/** The columns of a table of pull requests on a terminal. */
export const pullRequestColumns: readonly ColumnSpec[] = [
  ['PR', 'prNumber', 'pr'],
  ['STATE', 'state', 'state'],
  ['FOR', 'stateChangedAt', 'age', 1],
  ['PRIORITY', 'priorityName', 'plain', 2, 'medium'],
  ['AUTHOR', 'prAuthor', 'plain', 3],
  ['TITLE', 'prTitle', 'text'],
]

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
