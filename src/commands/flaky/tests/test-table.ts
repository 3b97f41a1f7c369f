import { get, getString, type Json, type JsonObject } from '../../../json.ts'
import { type Column, type ColumnSpec, table, type View } from '../../../output/view.ts'

export interface TestColumn extends Column {
  readonly path: string
  /** Returns what a cell shows, where that is not the value at the path. */
  show?(record: JsonObject): Json | undefined
}

/** The name of a test: it takes the width that the other columns leave. */
export const nameColumn: TestColumn = { title: 'TEST', format: 'text', path: 'name' }

/** The owners of a test; the column is narrowed before the name is. */
export const ownerColumn: TestColumn = {
  title: 'OWNER',
  format: 'plain',
  priority: 3,
  yieldsTo: 11,
  path: 'codeowners',
}

/** The word `quarantined` behind the tests that are. */
export const quarantinedColumn: TestColumn = {
  title: '',
  format: 'id',
  priority: 2,
  isSparse: true,
  path: 'quarantined',
  show: record => (get(record, 'quarantined') === true ? 'quarantined' : undefined),
}

/** The ID of a test, where there is room: `flaky get` finds a test by the words of its name, too. */
export const idColumn: TestColumn = { title: 'ID', format: 'id', priority: 9, needsRoom: 60, path: 'id' }

/**
 * Returns the variants of the tests whose names repeat, so that each row names one test. The other rows are
 * empty, and the column is left out if all are.
 */
export function variantColumn(records: readonly JsonObject[]): TestColumn {
  const counts = new Map<string, number>()
  const nameOf = (record: JsonObject) => getString(record, 'name') ?? ''
  for (const record of records) counts.set(nameOf(record), (counts.get(nameOf(record)) ?? 0) + 1)
  return {
    title: 'VARIANT',
    format: 'plain',
    priority: 1,
    isSparse: true,
    path: 'variant',
    show: record => ((counts.get(nameOf(record)) ?? 0) > 1 ? getString(record, 'variant') : undefined),
  }
}

export const testTable = (records: readonly JsonObject[], columns: readonly TestColumn[]): View => ({
  columns,
  rows: records.map(record =>
    columns.map(column => (column.show === undefined ? get(record, column.path) : column.show(record))),
  ),
})

/** Returns the view of a list of tests; on a terminal it has the columns that `screenColumns` returns. */
export const testListView = (
  records: readonly JsonObject[],
  columns: readonly ColumnSpec[],
  screenColumns: (records: readonly JsonObject[]) => readonly TestColumn[],
): View => ({
  ...table(records, columns),
  terminalView: () => testTable(records, screenColumns(records)),
})

/** Returns the titles of columns with their paths, for `--fields`. */
export const specsOf = (columns: readonly TestColumn[]): readonly ColumnSpec[] =>
  columns.filter(({ title }) => title !== '').map(({ title, path, format }) => [title, path, format])
