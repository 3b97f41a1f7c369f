import { listQuarantinedTests } from '../../api/operations/tests.ts'
import { getString } from '../../base/json.ts'
import { command } from '../../command/command.ts'
import { runList } from '../../command/lists.ts'
import { paramsOf } from '../../command/param-inputs.ts'
import { setOf } from '../../command/set-option.ts'
import { limitInput } from '../../command/shared-inputs.ts'
import { withAges } from '../../output/pull-request-columns.ts'
import { type Column, columns } from '../../output/view.ts'
import { idColumn, nameColumn, ownerColumn, shortId } from './shared/columns.ts'
import { statusListEnding } from './shared/status-list.ts'

const quarantinedColumns = columns(
  ['name', { format: 'text' }],
  'status',
  'quarantine_setting',
  'status_last_updated_at',
  'codeowners',
  'file',
  'test_case_id',
  'variant',
)

/** Returns a setting as a terminal shows it: `auto` for `AUTO_QUARANTINE`; another word stays as it is. */
const settingWord = (setting: string | undefined): string | undefined =>
  setting === 'AUTO_QUARANTINE' ? 'auto' : setting === 'ALWAYS_QUARANTINE' ? 'always' : setting

const quarantinedScreenColumns: readonly Column[] = [
  ...withAges(columns('status', ['status_last_updated_at', { priority: 4 }])),
  ownerColumn,
  nameColumn,
  ...columns(
    [
      'quarantine_setting',
      {
        format: 'id',
        priority: 8,
        yieldsToText: true,
        show: record => settingWord(getString(record, 'quarantine_setting')),
      },
    ],
    ['file', { format: 'id', priority: 9, yieldsToText: true }],
  ),
  { ...idColumn, priority: 5, yieldsToText: true, path: 'test_case_id', show: shortId('test_case_id') },
]

export const definition = command({
  name: 'flaky quarantined',
  summary: 'List the quarantined tests',
  operation: listQuarantinedTests,
  options: {
    ...paramsOf(listQuarantinedTests),
    limit: limitInput(listQuarantinedTests.params.limit),
  },
  set: setOf(listQuarantinedTests),
  prints: { columns: quarantinedColumns },
  examples: ['mergeq flaky quarantined', "mergeq flaky quarantined --owner @acme/web --name 'Cart*' --json"],
  run: (values, cli) =>
    runList(cli, listQuarantinedTests, values, {
      columns: quarantinedColumns,
      screenColumns: quarantinedScreenColumns,
      ending: end => statusListEnding('quarantined', end, values, cli),
    }),
})
