import { listQuarantinedTests } from '../../api/operations/quarantined-tests.ts'
import { defineOperationCommand } from '../../cli/command.ts'
import { limitInput, maxPagesInput, pageSizeInput, pageTokenInput } from '../../cli/list-inputs.ts'
import { organizationInputs } from '../../cli/queue-inputs.ts'
import { repositoryName } from '../../domain/values/repository.ts'
import { table } from '../../output/view.ts'
import { testFilterInputs } from './tests/filter-inputs.ts'
import { statusListEnding } from './tests/list-view.ts'
import { nameColumn, ownerColumn, testTable, variantColumn } from './tests/test-table.ts'

/** `mergeq flaky quarantined`: the tests whose failures are ignored. */
export const flakyQuarantinedCommand = defineOperationCommand({
  command: 'flaky quarantined',
  summary: 'List the quarantined tests',
  operation: listQuarantinedTests,
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
  view: ({ records }) => ({
    ...table(records, [
      ['NAME', 'name', 'text'],
      ['STATUS', 'status', 'state'],
      ['SETTING', 'quarantine_setting', 'plain', 3],
      ['SINCE', 'status_last_updated_at', 'time', 2],
      ['OWNERS', 'codeowners', 'plain', 1],
      ['FILE', 'file', 'plain', 4],
    ]),
    terminalView: () =>
      testTable(records, [
        { title: 'STATUS', format: 'state', value: 'status' },
        { title: 'SINCE', format: 'time', priority: 4, value: 'status_last_updated_at' },
        ownerColumn,
        nameColumn,
        variantColumn(records),
        { title: 'SETTING', format: 'id', priority: 8, needsRoom: 60, value: 'quarantine_setting' },
        { title: 'FILE', format: 'id', priority: 9, needsRoom: 60, value: 'file' },
      ]),
  }),
  listEnding: (end, { pageToken, repo }) =>
    pageToken === undefined ? statusListEnding(end, 'quarantined', repositoryName(repo)) : undefined,
  examples: ['mergeq flaky quarantined', "mergeq flaky quarantined --owner @acme/web --name 'cart*' --json"],
})
