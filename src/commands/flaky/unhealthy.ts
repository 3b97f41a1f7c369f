import { listUnhealthyTests, unhealthyStatuses } from '../../api/operations/unhealthy-tests.ts'
import { defineOperationCommand } from '../../cli/command.ts'
import { serviceRecord } from '../../cli/fields/record-fields.ts'
import { choiceOption, type Input } from '../../cli/inputs.ts'
import { organizationInputs } from '../../cli/queue-inputs.ts'
import { repositoryName } from '../../domain/values/repository.ts'
import { usageError } from '../../errors.ts'
import type { JsonObject } from '../../json.ts'
import type { ColumnSpec } from '../../output/view.ts'
import { quarantinedInput, testFilterInputs, testPageInputs } from './tests/filter-inputs.ts'
import { statusListEnding } from './tests/list-view.ts'
import {
  idColumn,
  nameColumn,
  ownerColumn,
  quarantinedColumn,
  specsOf,
  type TestColumn,
  testListView,
  variantColumn,
} from './tests/test-table.ts'

const typedStatus = choiceOption({
  name: 'status',
  value: 'status',
  defaultText: 'flaky, then broken',
  summary: 'Only tests with this status',
  choices: ['flaky', 'broken'],
})

const statusInput: Input<(typeof unhealthyStatuses)[number] | undefined> = {
  ...typedStatus,
  read(args) {
    const typed = typedStatus.read(args)
    return unhealthyStatuses.find(status => status.toLowerCase() === typed)
  },
}

const columns: readonly ColumnSpec[] = [
  ['NAME', 'name', 'text'],
  ['STATUS', 'status.value', 'state'],
  ['PRS 7D', 'pull_requests_impacted_last_7d', 'number', 2],
  ['QUARANTINED', 'quarantined', 'plain', 3],
  ['OWNERS', 'codeowners', 'plain', 1],
  ['ID', 'id', 'id'],
]

const screenColumns = (tests: readonly JsonObject[]): readonly TestColumn[] => [
  { title: 'STATUS', format: 'state', path: 'status.value' },
  { title: 'PRS', format: 'number', priority: 4, path: 'pull_requests_impacted_last_7d' },
  ownerColumn,
  nameColumn,
  variantColumn(tests),
  quarantinedColumn,
  idColumn,
]

export const flakyUnhealthyCommand = defineOperationCommand({
  command: 'flaky unhealthy',
  summary: 'List the flaky and broken tests',
  operation: listUnhealthyTests,
  fields: serviceRecord(listUnhealthyTests, [...columns, ...specsOf(screenColumns([]))]),
  inputs: {
    ...organizationInputs,
    status: statusInput,
    ...testPageInputs,
    quarantined: quarantinedInput,
    ...testFilterInputs,
  },
  view: ({ records }) => testListView(records, columns, screenColumns),
  listEnding: (end, { pageToken, repo, status }, { settings }) =>
    pageToken === undefined
      ? statusListEnding(
          end,
          status?.toLowerCase() ?? 'flaky or broken',
          repositoryName(repo),
          settings.commandLine,
        )
      : undefined,
  check({ status, pageToken }) {
    if (pageToken !== undefined && status === undefined)
      throw usageError(
        '--page-token requires --status.',
        'A page token is valid only for the status of the request that returned it. Add --status flaky or --status broken.',
      )
  },
  examples: [
    'mergeq flaky unhealthy --status broken',
    'mergeq flaky unhealthy --no-quarantined --owner @acme/web --json',
  ],
})
