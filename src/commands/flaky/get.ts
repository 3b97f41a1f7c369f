import { getTestDetails } from '../../api/operations/test-details.ts'
import { defineOperationCommand } from '../../cli/command.ts'
import { serviceRecord } from '../../cli/fields/record-fields.ts'
import { argument } from '../../cli/inputs.ts'
import { organizationInputs } from '../../cli/queue-inputs.ts'
import { pluralize } from '../../domain/format.ts'
import { parseUuid } from '../../domain/values/text.ts'
import { get, getArray, getString, type Json } from '../../json.ts'
import { type ColumnSpec, keyValueTable, type TextBlock } from '../../output/view.ts'

/** A common failure as a block: its number and date, and its summary, which may have many lines. */
const failureBlock = (failure: Json, index: number): TextBlock => {
  const times = get(failure, 'occurrence_count')
  const last = getString(failure, 'last_occurrence')
  return {
    title: `failure ${index + 1}`,
    head: `${typeof times === 'number' ? pluralize(times, 'time') : 'an unknown number of times'}, last ${last ?? 'at an unknown time'}`,
    text: getString(failure, 'summary') ?? '-',
  }
}

const facts: readonly ColumnSpec[] = [
  ['id', 'id'],
  ['name', 'name'],
  ['variant', 'variant'],
  ['status', 'status.value'],
  ['reason', 'status.reason'],
  ['since', 'status.timestamp'],
  ['quarantined', 'quarantined'],
  ['failure rate, last 24 hours', 'failure_rate_last_24h'],
  ['failure rate, last 7 days', 'failure_rate_last_7d'],
  ['pull requests impacted, last 7 days', 'pull_requests_impacted_last_7d'],
  ['owners', 'codeowners'],
  ['file', 'file_path'],
  ['suite', 'parent'],
  ['class', 'classname'],
  ['repository', 'repository.html_url'],
  ['link', 'html_url'],
  ['ticket', 'ticket.html_url'],
]

/** `mergeq flaky get`: everything about a test. */
export const flakyGetCommand = defineOperationCommand({
  command: 'flaky get',
  summary: 'Show the details of a test',
  operation: getTestDetails,
  inputs: {
    ...organizationInputs,
    test: argument({
      name: 'test-id',
      summary: 'Test ID, a UUID as printed by `mergeq flaky list`',
      values: 'tests',
      parse: parseUuid,
    }),
  },
  fields: serviceRecord(
    getTestDetails,
    // A comma separates names.
    facts.filter(([title]) => !title.includes(',')),
  ),
  view({ records: [test = {}] }) {
    const view = keyValueTable(test, facts)
    return { ...view, textBlocks: getArray(test, 'most_common_failures').map(failureBlock) }
  },
  examples: ['mergeq flaky get 2b4e8d1c-93f0-4c57-8a3b-1f2e3d4c5b6a'],
})
