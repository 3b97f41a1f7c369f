import { listQuarantinedTests } from '../../api/operations/tests.ts'
import { getString } from '../../base/json.ts'
import { command } from '../../command/command.ts'
import { limitInput } from '../../command/common-inputs.ts'
import { runList } from '../../command/lists.ts'
import { paramsOf, setOf } from '../../command/values.ts'
import { type Column, columns } from '../../output/view.ts'
import { idColumn, nameColumn, ownerColumn, shortId } from './shared/columns.ts'
import { statusListEnding } from './shared/status-list.ts'

const quarantinedColumns = columns(
  ['NAME', 'name', 'text'],
  ['STATUS', 'status', 'state'],
  ['SETTING', 'quarantine_setting', 'plain', { priority: 3 }],
  ['SINCE', 'status_last_updated_at', 'time', { priority: 2 }],
  ['OWNERS', 'codeowners', 'plain', { priority: 1 }],
  ['FILE', 'file', 'plain', { priority: 4 }],
  ['ID', 'test_case_id', 'id'],
  ['VARIANT', 'variant'],
)

/** Returns a setting as a terminal shows it: `auto` for `AUTO_QUARANTINE`; another word stays as it is. */
const settingWord = (setting: string | undefined): string | undefined =>
  setting === 'AUTO_QUARANTINE' ? 'auto' : setting === 'ALWAYS_QUARANTINE' ? 'always' : setting

const quarantinedScreenColumns: readonly Column[] = [
  { title: 'STATUS', format: 'state', path: 'status' },
  { title: 'SINCE', format: 'time', priority: 4, path: 'status_last_updated_at' },
  ownerColumn,
  nameColumn,
  {
    title: 'SETTING',
    format: 'id',
    priority: 8,
    yieldsToText: true,
    path: 'quarantine_setting',
    show: record => settingWord(getString(record, 'quarantine_setting')),
  },
  { title: 'FILE', format: 'id', priority: 9, yieldsToText: true, path: 'file' },
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
