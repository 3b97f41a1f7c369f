import { listUnhealthyTests, unhealthyOrder } from '../../api/operations/tests.ts'
import { command } from '../../command/command.ts'
import { runList } from '../../command/lists.ts'
import { paramsOf } from '../../command/param-inputs.ts'
import { setOf } from '../../command/set-option.ts'
import { limitInput } from '../../command/shared-inputs.ts'
import { type Column, columns } from '../../output/view.ts'
import { idColumn, nameColumn, ownerColumn, quarantinedColumn } from './shared/columns.ts'
import { statusListEnding } from './shared/status-list.ts'

const unhealthyColumns = columns(
  ['name', { format: 'text' }],
  'status.value',
  'pull_requests_impacted_last_7d',
  'quarantined',
  'codeowners',
  'id',
  'variant',
)

const unhealthyScreenColumns: readonly Column[] = [
  ...columns('status.value', ['pull_requests_impacted_last_7d', { priority: 4 }]),
  idColumn,
  ownerColumn,
  nameColumn,
  quarantinedColumn,
]

export const definition = command({
  name: 'flaky unhealthy',
  summary: 'List flaky tests, then broken ones',
  operation: listUnhealthyTests,
  options: {
    ...paramsOf(listUnhealthyTests),
    limit: limitInput(listUnhealthyTests.params.limit),
  },
  set: setOf(listUnhealthyTests),
  prints: { columns: unhealthyColumns },
  examples: [
    'mergeq flaky unhealthy --status broken',
    'mergeq flaky unhealthy --no-quarantined --owner @acme/web --json',
  ],
  run(values, cli) {
    const adjective = values.status?.toLowerCase() ?? 'flaky or broken'
    return runList(cli, listUnhealthyTests, values, {
      columns: unhealthyColumns,
      screenColumns: unhealthyScreenColumns,
      ending: end => statusListEnding(adjective, end, { ...values, order: unhealthyOrder(values.sort) }, cli),
    })
  },
})
