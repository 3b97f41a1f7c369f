import { get, getString, type Json, type JsonObject } from '../../../json.ts'
import type { Column, View } from '../../../output/view.ts'

/** A column of a table of tests, and the value that it shows of a record. */
export interface TestColumn extends Column {
  /** The path of the value, or a function that returns it. */
  readonly value: string | ((record: JsonObject) => Json | undefined)
}

/** The name of a test: it takes the width that the other columns leave. */
export const nameColumn: TestColumn = { title: 'TEST', format: 'text', value: 'name' }

/** The owners of a test; the column is narrowed before the name is. */
export const ownerColumn: TestColumn = {
  title: 'OWNER',
  format: 'plain',
  priority: 3,
  yieldsTo: 11,
  value: 'codeowners',
}

/** The word `quarantined` behind the tests that are. */
export const quarantinedColumn: TestColumn = {
  title: '',
  format: 'id',
  priority: 2,
  isSparse: true,
  value: record => (get(record, 'quarantined') === true ? 'quarantined' : undefined),
}

/** The ID of a test, where there is room: `flaky get` finds a test by the words of its name, too. */
export const idColumn: TestColumn = { title: 'ID', format: 'id', priority: 9, needsRoom: 60, value: 'id' }

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
    value: record => ((counts.get(nameOf(record)) ?? 0) > 1 ? getString(record, 'variant') : undefined),
  }
}

/** Returns a table of tests for a terminal. */
export const testTable = (records: readonly JsonObject[], columns: readonly TestColumn[]): View => ({
  columns,
  rows: records.map(record =>
    columns.map(({ value }) => (typeof value === 'string' ? get(record, value) : value(record))),
  ),
})
