import { get, type Json } from '../json.ts'

/**
 * How a column is shown to a person: `state` is coloured, `time` is relative on a terminal, `number` stands right, `id`
 * is never cut, `prose` goes on in the next line.
 */
export type ColumnFormat = 'plain' | 'state' | 'time' | 'number' | 'pr' | 'id' | 'prose'

export interface Column {
  readonly title: string
  readonly format: ColumnFormat
}

/** A text of many lines: on a terminal a block of its own below the table, elsewhere a row as any other. */
export interface TextBlock {
  readonly title: string
  /** What is told of the text in one line. */
  readonly head: string
  readonly text: string
}

/**
 * An answer made ready for every format: rows under columns, then passages. `heading` lines stand above a table on a
 * terminal only; `sentence` replaces the table there (a receipt), `drawn` another shape, made only there; `raw` replaces it
 * on a pipe, byte for byte; `exit` is the kind of ending that the answer itself means, where it means one.
 */
export interface View {
  readonly heading?: readonly string[]
  readonly columns: readonly Column[]
  readonly rows: readonly (readonly (Json | undefined)[])[]
  readonly textBlocks?: readonly TextBlock[]
  readonly sentence?: string
  terminalView?(): View
  readonly raw?: Uint8Array
  readonly exit?: 'ok' | 'failed' | 'cancelled' | 'pending'
}

/** So many rows at the beginning of a drawn table decide its widths; from there on rows are drawn as they come. */
export const widthRows = 1_000

/** A column as a row of the contract writes it: its title, the path of its value, and how it is shown. */
export type ColumnSpec = readonly [title: string, path: string, format?: ColumnFormat]

/** A table: one row for each record, one column for each path. */
export const table = (records: readonly Json[], told: readonly ColumnSpec[]): View => ({
  columns: told.map(([title, , format = 'plain']) => ({ title, format })),
  rows: records.map(record => told.map(([, path]) => get(record, path))),
})

/** One record from top to bottom: a row for each path, as field and value. */
export const keyValueTable = (record: Json, told: readonly ColumnSpec[]): View => ({
  columns: [
    { title: 'FIELD', format: 'plain' },
    { title: 'VALUE', format: 'plain' },
  ],
  rows: told.map(([title, path]) => [title, get(record, path)]),
})

export const receiptColumns: readonly Column[] = [
  { title: 'PR', format: 'pr' },
  { title: 'OK', format: 'plain' },
  { title: 'DELIVERY', format: 'plain' },
  { title: 'MESSAGE', format: 'plain' },
]

/** What a change says on a terminal: one sentence; elsewhere it is the receipt's row. */
export const message = (sentence: string): View => ({ columns: receiptColumns, rows: [], sentence })

const partLength = 64

/**
 * The items of a list in parts of 64: a long list is written part by part, its whole text never held. Calls `pause` between
 * parts and rejects with what it throws.
 */
export async function* parts<T>(
  items: readonly T[],
  pause: (() => Promise<void>) | undefined,
): AsyncGenerator<readonly T[]> {
  for (let from = 0; from < items.length; from += partLength) {
    if (from > 0) await pause?.()
    yield items.slice(from, from + partLength)
  }
}
