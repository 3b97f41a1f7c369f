import { get, getString, type JsonObject } from '../../../base/json.ts'
import type { RateFormat } from '../../../domain/failure-rates.ts'
import { type Column, column, columns } from '../../../output/view.ts'

/** Returns the name of a test, with its variant in parentheses; undefined without a name. */
export function testTitle(test: JsonObject): string | undefined {
  const [name, variant = ''] = [getString(test, 'name'), getString(test, 'variant')]
  return variant === '' ? name : `${name ?? '-'} (${variant})`
}

/** The name of a test: it takes the width that the other columns leave, and is cut in the middle. */
export const nameColumn = column('name', {
  title: 'TEST',
  format: 'text',
  keptEnd: / \([^()]{1,14}\)$|.{7}[^)]$/u,
  show: testTitle,
})

export const rateColumn = (rates: RateFormat, path = 'failure_rate_last_7d'): Column =>
  column('failure_rate_last_7d', { path, show: row => rates.format(row, path) })

export const ownerColumn = column('codeowners', { title: 'OWNER', priority: 3, yieldsToText: true })

/** The word `quarantined` behind the tests that are; it is left out only if no test is. */
export const quarantinedColumn = column('quarantined', {
  title: '',
  format: 'id',
  priority: 0,
  show: record => (get(record, 'quarantined') === true ? 'quarantined' : undefined),
})

export const shortId = (path: string) => (test: JsonObject) => getString(test, path)?.slice(0, 8)

/** The beginning of the ID of a test, which `flaky get` finds. */
export const idColumn = column('id', { priority: 2, show: shortId('id') })

export const lastColumns = columns('id', 'variant')

/** Returns `status.value`, or `status.reason` where it is missing (docs/reference/service.md, "Test records"). */
const statusOf = (test: JsonObject): string | undefined =>
  getString(test, 'status.value') ?? getString(test, 'status.reason')

export const measureColumns = columns(
  'name',
  ['status.value', { show: statusOf }],
  'failure_rate_last_7d',
  'pull_requests_impacted_last_7d',
  'quarantined',
  'codeowners',
)

/** The columns of CSV: a spreadsheet has room for more. */
export const csvColumns = [
  ...measureColumns,
  ...columns('file_path', 'html_url', 'ticket.html_url'),
  ...lastColumns,
]
