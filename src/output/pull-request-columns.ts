import { getString, type JsonObject } from '../base/json.ts'
import { isSameLogin } from '../values/login.ts'
import { type Column, columns, type Field } from './view.ts'

/** The columns of a table of pull requests on a terminal. */
export const pullRequestColumns = columns(
  'prNumber',
  'state',
  ['stateChangedAt', { title: 'FOR', format: 'age', priority: 1 }],
  ['priorityName', { priority: 2, usual: 'medium' }],
  ['prAuthor', { priority: 3 }],
  'prTitle',
)

/** The same where pull requests may have merged or left: when their state began. */
export const anyPullRequestColumns: readonly Column[] = pullRequestColumns.map(column =>
  column.title === 'FOR' ? { ...column, title: 'AGO' } : column,
)

const csvFields: readonly Field[] = [
  'prNumber',
  'state',
  'stateChangedAt',
  'prAuthor',
  'priorityName',
  'prTitle',
]

export const pullRequestCsvColumns: readonly Column[] = csvFields.map(path => ({
  title: path,
  path,
  format: 'plain',
  csvName: path,
}))

/** Returns columns as a person reads them: a time is how long ago it was. */
export const withAges = (shown: readonly Column[]): readonly Column[] =>
  shown.map(column => (column.format === 'time' ? { ...column, title: 'AGO', format: 'age' } : column))

/** Returns columns of which those of pull requests link to their pages. */
export const withLinks = (shown: readonly Column[], urlOf: (pr: number) => string): readonly Column[] =>
  shown.map(column =>
    column.format === 'pr'
      ? { ...column, link: value => (typeof value === 'number' ? urlOf(value) : undefined) }
      : column,
  )

/** Returns columns that begin with `*` for the pull requests of a user; the same ones without a user. */
export function withMark(shown: readonly Column[], user: string | undefined): readonly Column[] {
  if (user === undefined) return shown
  const show = (row: JsonObject) => (isSameLogin(getString(row, 'prAuthor'), user) ? '*' : '')
  // Left out where no row has it, and never because of the width.
  return [{ title: '', path: 'prAuthor', format: 'id', priority: 0, show }, ...shown]
}
