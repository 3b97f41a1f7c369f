import { get, getString, type JsonObject } from '../../../base/json.ts'
import type { RateFormat } from '../../../domain/failure-rates.ts'
import { type Column, columns } from '../../../output/view.ts'

/** Returns the name of a test, with its variant in parentheses; undefined without a name. */
export function testTitle(test: JsonObject): string | undefined {
  const [name, variant = ''] = [getString(test, 'name'), getString(test, 'variant')]
  return variant === '' ? name : `${name ?? '-'} (${variant})`
}

/** The name of a test: it takes the width that the other columns leave, and is cut in the middle. */
export const nameColumn: Column = {
  title: 'TEST',
  format: 'text',
  path: 'name',
  keptEnd: / \([^()]{1,14}\)$|.{7}[^)]$/u,
  show: testTitle,
}

/** The failure rate of a test, of the last 7 days, at a path of its record. */
export const rateColumn = (rates: RateFormat, path = 'failure_rate_last_7d'): Column => ({
  title: 'RATE 7D',
  format: 'number',
  path,
  show: row => rates.format(row, path),
})

export const ownerColumn: Column = {
  title: 'OWNER',
  format: 'plain',
  priority: 3,
  yieldsToText: true,
  path: 'codeowners',
}

/** The word `quarantined` behind the tests that are; it is left out only if no test is. */
export const quarantinedColumn: Column = {
  title: '',
  format: 'id',
  priority: 0,
  path: 'quarantined',
  show: record => (get(record, 'quarantined') === true ? 'quarantined' : undefined),
}

export const shortId = (path: string) => (test: JsonObject) => getString(test, path)?.slice(0, 8)

/** The beginning of the ID of a test, which `flaky get` finds. */
export const idColumn: Column = {
  title: 'ID',
  format: 'id',
  priority: 2,
  path: 'id',
  show: shortId('id'),
}

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
