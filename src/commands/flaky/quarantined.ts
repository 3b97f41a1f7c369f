import { listQuarantinedTests } from '../../api/operations/quarantined-tests.ts'
import { defineOperationCommand } from '../../cli/command.ts'
import { serviceRecord } from '../../cli/fields/record-fields.ts'
import { limitInput, maxPagesInput, pageSizeInput, pageTokenInput } from '../../cli/list-inputs.ts'
import { organizationInputs } from '../../cli/queue-inputs.ts'
import { type ColumnSpec, table } from '../../output/view.ts'
import { testFilterInputs } from './tests/filter-inputs.ts'

const columns: readonly ColumnSpec[] = [
  ['NAME', 'name'],
  ['STATUS', 'status', 'state'],
  ['SETTING', 'quarantine_setting'],
  ['SINCE', 'status_last_updated_at', 'time'],
  ['OWNERS', 'codeowners'],
  ['FILE', 'file'],
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
