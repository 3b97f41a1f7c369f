import { listQuarantinedTests } from '../../api/operations/tests.ts'
import { defineCommand } from '../../cli/command.ts'
import { limitInput } from '../../cli/common-inputs.ts'
import { serviceRecord } from '../../cli/fields.ts'
import { repositoryName } from '../../domain/values/repository.ts'
import { getString, type JsonObject } from '../../json.ts'
import type { ColumnSpec } from '../../output/view.ts'
import {
  nameColumn,
  ownerColumn,
  specsOf,
  statusListEnding,
  type TestColumn,
  testListView,
  variantColumn,
} from './test-lists.ts'

const columns: readonly ColumnSpec[] = [
  ['NAME', 'name', 'text'],
  ['STATUS', 'status', 'state'],
  ['SETTING', 'quarantine_setting', 'plain', 3],
  ['SINCE', 'status_last_updated_at', 'time', 2],
  ['OWNERS', 'codeowners', 'plain', 1],
  ['FILE', 'file', 'plain', 4],
]

/** Returns a setting as a terminal shows it: `auto` for `AUTO_QUARANTINE`; another word stays as it is. */
const settingWord = (setting: string | undefined): string | undefined =>
  setting === 'AUTO_QUARANTINE' ? 'auto' : setting === 'ALWAYS_QUARANTINE' ? 'always' : setting

const screenColumns = (tests: readonly JsonObject[]): readonly TestColumn[] => [
  { title: 'STATUS', format: 'state', path: 'status' },
  { title: 'SINCE', format: 'time', priority: 4, path: 'status_last_updated_at' },
  ownerColumn,
  nameColumn,
  variantColumn(tests),
  {
    title: 'SETTING',
    format: 'id',
    priority: 8,
    minTextWidth: 32,
    path: 'quarantine_setting',
    show: record => settingWord(getString(record, 'quarantine_setting')),
  },
  { title: 'FILE', format: 'id', priority: 9, minTextWidth: 60, path: 'file' },
]

export const flakyQuarantinedCommand = defineCommand({
  command: 'flaky quarantined',
  summary: 'List the quarantined tests',
  operation: listQuarantinedTests,
  fields: serviceRecord(listQuarantinedTests, [...columns, ...specsOf(screenColumns([]))]),
  inputs: { limit: limitInput(listQuarantinedTests.params.limit) },
  view: ({ records }) => testListView(records, columns, screenColumns),
  listEnding: (end, { pageToken, repo }, { settings }) =>
    pageToken === undefined
      ? statusListEnding(end, 'quarantined', repositoryName(repo), settings.commandLine)
      : undefined,
  examples: ['mergeq flaky quarantined', "mergeq flaky quarantined --owner @acme/web --name 'cart*' --json"],
})
