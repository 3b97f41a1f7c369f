import { listUnhealthyTests } from '../../api/operations/tests.ts'
import { defineCommand } from '../../cli/command.ts'
import { limitInput } from '../../cli/common-inputs.ts'
import { serviceRecord } from '../../cli/fields.ts'
import { repositoryName } from '../../domain/values/repository.ts'
import type { JsonObject } from '../../json.ts'
import type { ColumnSpec } from '../../output/view.ts'
import {
  idColumn,
  nameColumn,
  ownerColumn,
  quarantinedColumn,
  specsOf,
  statusListEnding,
  type TestColumn,
  testListView,
  variantColumn,
} from './test-lists.ts'

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

export const flakyUnhealthyCommand = defineCommand({
  command: 'flaky unhealthy',
  summary: 'List the flaky and broken tests',
  operation: listUnhealthyTests,
  fields: serviceRecord(listUnhealthyTests, [...columns, ...specsOf(screenColumns([]))]),
  inputs: { limit: limitInput(listUnhealthyTests.params.limit) },
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
  examples: [
    'mergeq flaky unhealthy --status broken',
    'mergeq flaky unhealthy --no-quarantined --owner @acme/web --json',
  ],
})
