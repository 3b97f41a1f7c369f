import { listQuarantinedTests } from '../../api/operations/quarantined-tests.ts'
import { defineOperationCommand } from '../../cli/command.ts'
import { serviceRecord } from '../../cli/fields/record-fields.ts'
import { limitInput, maxPagesInput, pageSizeInput, pageTokenInput } from '../../cli/list-inputs.ts'
import { organizationInputs } from '../../cli/queue-inputs.ts'
import { type ColumnSpec, table } from '../../output/view.ts'
import { testFilterInputs } from './tests/filter-inputs.ts'

const columns: readonly ColumnSpec[] = [
  ['NAME', 'name', 'text'],
  ['STATUS', 'status', 'state'],
  ['SETTING', 'quarantine_setting', 'plain', 3],
  ['SINCE', 'status_last_updated_at', 'time', 2],
  ['OWNERS', 'codeowners', 'plain', 1],
  ['FILE', 'file', 'plain', 4],
]

/** `mergeq flaky quarantined`: the tests whose failures are ignored. */
export const flakyQuarantinedCommand = defineOperationCommand({
  command: 'flaky quarantined',
  summary: 'List the quarantined tests',
  operation: listQuarantinedTests,
  fields: serviceRecord(listQuarantinedTests, columns),
  inputs: {
    ...organizationInputs,
    limit: limitInput('tests'),
    pageSize: pageSizeInput('Tests'),
    pageToken: pageTokenInput,
    maxPages: maxPagesInput,
    ...testFilterInputs,
  },
  // The ids of these records are not those of other lists
  // (docs/reference/service.md, "list-quarantined-tests").
  view: ({ records }) => table(records, columns),
  examples: ['mergeq flaky quarantined', "mergeq flaky quarantined --owner @acme/web --name 'cart*' --json"],
})
