import type { Cli } from '../../cli/cli.ts'
import { cutListSentence, limitInput } from '../../cli/common-inputs.ts'
import { defineCommand } from '../../cli/define-command.ts'
import { serviceRecord } from '../../cli/fields.ts'
import { type Input, paramInput, typedName } from '../../cli/inputs.ts'
import type { ListEnding } from '../../cli/lists.ts'
import type { ParseContext, ParsedArgs } from '../../config/settings.ts'
import { countRead, formatInteger, pluralize } from '../../domain/format.ts'
import { maxWindow } from '../../domain/limits.ts'
import { describeInWords, describeWhen, parseTimeRange } from '../../domain/time-range.ts'
import { type Repository, repositoryName } from '../../domain/values/repository.ts'
import { get, getString, type JsonObject } from '../../json.ts'
import type { ListEnd } from '../../methods/list.ts'
import {
  listFailingTests,
  listQuarantinedTests,
  listUnhealthyTests,
  type TestOrder,
} from '../../methods/tests.ts'
import { type Column, columns } from '../../output/view.ts'

/** Returns the name of a test, with its variant in parentheses; undefined without a name. */
export function testTitle(test: JsonObject): string | undefined {
  const [name, variant = ''] = [getString(test, 'name'), getString(test, 'variant')]
  return variant === '' ? name : `${name ?? '-'} (${variant})`
}

/** The name of a test: it takes the width that the other columns leave, and is cut before its variant. */
export const nameColumn: Column = {
  title: 'TEST',
  format: 'text',
  path: 'name',
  keptEnd: / \([^()]{1,14}\)$/,
  show: testTitle,
}

/** The owners of a test; the column is narrowed before the name is, and left out where the name would be cut. */
export const ownerColumn: Column = {
  title: 'OWNER',
  format: 'plain',
  priority: 3,
  shrinkTo: 11,
  minTextWidth: 80,
  path: 'codeowners',
}

/** The word `quarantined` behind the tests that are. */
const quarantinedColumn: Column = {
  title: '',
  format: 'id',
  priority: 2,
  isSparse: true,
  path: 'quarantined',
  show: record => (get(record, 'quarantined') === true ? 'quarantined' : undefined),
}

/** The ID of a test, where there is room: `flaky get` finds a test by the words of its name, too. */
export const idColumn: Column = { title: 'ID', format: 'id', priority: 9, minTextWidth: 80, path: 'id' }

/**
 * A test whose status has a value: without a value, the reason replaces it
 * (docs/reference/service.md, "Test records").
 */
const withStatus = (test: JsonObject): JsonObject =>
  getString(test, 'status.value') === undefined
    ? { ...test, status: { value: getString(test, 'status.reason') } }
    : test

/** Whether the list is a table on a terminal, and not one page. */
const isScreen = (args: ParsedArgs, { host, options }: ParseContext): boolean =>
  options.format.isForPeople && host.out.terminal && !args.has('--page-token')

const screenLimit = limitInput(listFailingTests.params.limit)

/** The number of tests: by default 30 on a terminal, otherwise all, which is undefined. */
const listLimit: Input<number | undefined> = {
  ...screenLimit,
  read: (args, context) =>
    args.has('--limit') || isScreen(args, context) ? screenLimit.read(args, context) : undefined,
}

const typedSort = paramInput('sort', listFailingTests.params.sort)

/** The order of the tests: by default worst first on a terminal, otherwise that of the service. */
const listSort: Input<TestOrder | undefined> = {
  definitions: typedSort.definitions.map(definition => ({
    ...definition,
    defaultText: 'impact on a terminal, otherwise the order of the service',
  })),
  read: async (args, context) =>
    (await typedSort.read(args, context)) ?? (isScreen(args, context) ? 'impact' : undefined),
}

const failingColumns = columns(
  ['NAME', 'name'],
  ['STATUS', 'status.value', 'state'],
  ['RATE 7D', 'failure_rate_last_7d', 'number'],
  ['PRS 7D', 'pull_requests_impacted_last_7d', 'number'],
  ['QUARANTINED', 'quarantined'],
  ['OWNERS', 'codeowners'],
  ['ID', 'id', 'id'],
)

/** The columns of CSV: a spreadsheet has room for more. */
const csvColumns = [
  ...failingColumns,
  ...columns(
    ['VARIANT', 'variant'],
    ['FILE', 'file_path'],
    ['LINK', 'html_url'],
    ['TICKET', 'ticket.html_url'],
  ),
]

/** The columns on a terminal: how bad a test is, whose it is, and its name. */
const failingScreenColumns: readonly Column[] = [
  { title: 'RATE', format: 'rate', path: 'failure_rate_last_7d' },
  { title: 'PRS', format: 'number', path: 'pull_requests_impacted_last_7d' },
  ownerColumn,
  { title: 'STATUS', format: 'state', priority: 4, minTextWidth: 80, path: 'status.value' },
  nameColumn,
  quarantinedColumn,
  { title: 'REASON', format: 'id', priority: 10, minTextWidth: 80, path: 'status.reason' },
  idColumn,
]

const orderTexts: Readonly<Record<TestOrder, string>> = {
  impact: 'worst first',
  rate: 'highest failure rate first',
  recent: 'last failure first',
  name: 'by name',
}

export const flakyListCommand = defineCommand({
  command: 'flaky list',
  summary: 'List the tests that failed in a time range',
  operation: listFailingTests,
  inputs: { limit: listLimit, sort: listSort },
  fields: serviceRecord(listFailingTests, csvColumns),
  present: ({ records }, _, { context: { options } }) => ({
    columns: options.format.isWide ? csvColumns : failingColumns,
    rows: records.map(withStatus),
    screen: () => ({ columns: failingScreenColumns, rows: records }),
  }),
  listEnding(end, { sort, since, until, pageToken }, { startedAt, settings: { commandLine } }) {
    const { records, shown, total = shown, hidden, complete, isBroken } = end
    if (sort === undefined || pageToken !== undefined || (shown === 0 && isBroken)) return undefined
    const range = parseTimeRange(since, until, startedAt, typedName)
    const endsNow = until === undefined
    if (shown === 0) {
      const when = describeWhen(range, endsNow)
      const earlier = commandLine(['flaky', 'list', '--since', '30d'])
      return {
        sentence:
          hidden > 0
            ? `No test that failed ${when} matches the options.`
            : `No test failed ${when}. To search further back, run: ${earlier}`,
      }
    }
    const count =
      total === shown
        ? countRead(shown, 'test', !isBroken)
        : `${formatInteger(shown)} of ${pluralize(total, 'test')}`
    const order = shown === 1 ? '' : `, ${orderTexts[sort]}`
    const id = getString(records[0], 'id')
    const start = id?.slice(0, 8) ?? ''
    // The beginning of an ID is searched in the failing tests of the last 7 days.
    const isFound =
      startedAt - range.start <= maxWindow &&
      records.filter(record => getString(record, 'id')?.startsWith(start)).length === 1
    return {
      footer: [
        `${count}, ${describeInWords(range, endsNow)}${order}. RATE and PRS: last 7 days.`,
        [
          complete || isBroken ? '' : 'All of them: -o ndjson. ',
          id === undefined ? '' : `One of them: ${commandLine(['flaky', 'get', isFound ? start : id])}`,
        ],
      ],
    }
  },
  examples: [
    'mergeq flaky list --since 7d --sort impact --limit 20',
    'mergeq flaky list --since 30d -o ndjson',
    "mergeq flaky list --owner @acme/web --name 'Cart*' --json",
  ],
})

/**
 * Returns the line below the tests of a status on a terminal, or the sentence if there are none. `adjective` is
 * the status in words, such as `quarantined`.
 */
function statusListEnding(
  adjective: string,
  { shown, hidden, complete, isBroken }: ListEnd,
  { pageToken, repo }: { readonly pageToken?: string | undefined; readonly repo: Repository },
  { settings: { commandLine } }: Cli,
): ListEnding | undefined {
  if (pageToken !== undefined) return undefined
  const where = repositoryName(repo)
  if (shown > 0) {
    if (!complete && !isBroken) return { footer: [cutListSentence(pluralize(shown, `${adjective} test`))] }
    return { footer: [`${countRead(shown, `${adjective} test`, complete)} in ${where}.`] }
  }
  if (isBroken) return undefined
  return {
    sentence:
      hidden > 0
        ? `No ${adjective} test in ${where} matches the options.`
        : `No test in ${where} is ${adjective}. To list the tests that failed, run: ${commandLine(['flaky', 'list'])}`,
  }
}

const quarantinedColumns = columns(
  ['NAME', 'name', 'text'],
  ['STATUS', 'status', 'state'],
  ['SETTING', 'quarantine_setting', 'plain', { priority: 3 }],
  ['SINCE', 'status_last_updated_at', 'time', { priority: 2 }],
  ['OWNERS', 'codeowners', 'plain', { priority: 1 }],
  ['FILE', 'file', 'plain', { priority: 4 }],
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
    minTextWidth: 80,
    path: 'quarantine_setting',
    show: record => settingWord(getString(record, 'quarantine_setting')),
  },
  { title: 'FILE', format: 'id', priority: 9, minTextWidth: 80, path: 'file' },
]

export const flakyQuarantinedCommand = defineCommand({
  command: 'flaky quarantined',
  summary: 'List the quarantined tests',
  operation: listQuarantinedTests,
  fields: serviceRecord(listQuarantinedTests, quarantinedColumns),
  inputs: { limit: limitInput(listQuarantinedTests.params.limit) },
  present: ({ records }) => ({
    columns: quarantinedColumns,
    screen: () => ({ columns: quarantinedScreenColumns, rows: records }),
  }),
  listEnding: (end, values, context) => statusListEnding('quarantined', end, values, context),
  examples: ['mergeq flaky quarantined', "mergeq flaky quarantined --owner @acme/web --name 'Cart*' --json"],
})

const unhealthyColumns = columns(
  ['NAME', 'name', 'text'],
  ['STATUS', 'status.value', 'state'],
  ['PRS 7D', 'pull_requests_impacted_last_7d', 'number', { priority: 2 }],
  ['QUARANTINED', 'quarantined', 'plain', { priority: 3 }],
  ['OWNERS', 'codeowners', 'plain', { priority: 1 }],
  ['ID', 'id', 'id'],
)

const unhealthyScreenColumns: readonly Column[] = [
  { title: 'STATUS', format: 'state', path: 'status.value' },
  { title: 'PRS', format: 'number', priority: 4, path: 'pull_requests_impacted_last_7d' },
  ownerColumn,
  nameColumn,
  quarantinedColumn,
  idColumn,
]

export const flakyUnhealthyCommand = defineCommand({
  command: 'flaky unhealthy',
  summary: 'List the flaky and broken tests',
  operation: listUnhealthyTests,
  fields: serviceRecord(listUnhealthyTests, unhealthyColumns),
  inputs: { limit: limitInput(listUnhealthyTests.params.limit) },
  present: ({ records }) => ({
    columns: unhealthyColumns,
    screen: () => ({ columns: unhealthyScreenColumns, rows: records }),
  }),
  listEnding: (end, values, context) =>
    statusListEnding(values.status?.toLowerCase() ?? 'flaky or broken', end, values, context),
  examples: [
    'mergeq flaky unhealthy --status broken',
    'mergeq flaky unhealthy --no-quarantined --owner @acme/web --json',
  ],
})
