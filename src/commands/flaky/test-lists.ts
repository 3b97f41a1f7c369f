import type { PaginationEnd } from '../../api/pages.ts'
import type { ListEnding } from '../../cli/command.ts'
import { cutListSentence } from '../../cli/common-inputs.ts'
import { pluralize } from '../../domain/format.ts'
import type { CommandLine } from '../../domain/suggested-command.ts'
import { get, getString, type Json, type JsonObject } from '../../json.ts'
import { type Column, type ColumnSpec, table, type View } from '../../output/view.ts'

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
  shrinkTo: 11,
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
export const idColumn: TestColumn = { title: 'ID', format: 'id', priority: 9, minTextWidth: 60, path: 'id' }

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

/** Returns columns as `--fields` takes them. */
export const specsOf = (columns: readonly TestColumn[]): readonly ColumnSpec[] =>
  columns.filter(({ title }) => title !== '').map(({ title, path, format }) => [title, path, format])

/** Returns the sentence for a list whose options hide all tests. */
export const noMatchSentence = (hidden: number, noun: string, which: string): string =>
  hidden === 1
    ? `The only ${noun} ${which} does not match the options.`
    : `None of the ${pluralize(hidden, noun)} ${which} matches the options.`

/**
 * Returns the line below the tests of a status on a terminal, or the sentence if there are none.
 *
 * @param adjective the status in words, such as `quarantined`
 * @param where the name of the repository
 */
export function statusListEnding(
  { shown, hidden, complete, isBroken }: PaginationEnd,
  adjective: string,
  where: string,
  commandLine: CommandLine,
): ListEnding | undefined {
  if (shown > 0) {
    const count = pluralize(shown, `${adjective} test`)
    return { footer: [complete || isBroken ? `${count} in ${where}.` : cutListSentence(count)] }
  }
  if (isBroken) return undefined
  return {
    sentence:
      hidden > 0
        ? noMatchSentence(hidden, `${adjective} test`, `in ${where}`)
        : `No test in ${where} is ${adjective}. To list the tests that failed, run: ${commandLine(['flaky', 'list'])}`,
  }
}
