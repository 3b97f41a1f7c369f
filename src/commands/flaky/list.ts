import { listFailingTests, type TestOrder } from '../../api/operations/tests.ts'
import { defineCommand } from '../../cli/command.ts'
import { limitInput } from '../../cli/common-inputs.ts'
import { serviceRecord } from '../../cli/fields.ts'
import { type Input, paramInput } from '../../cli/inputs.ts'
import type { ParseContext, ParsedArgs } from '../../config/settings.ts'
import { describeInWords, parseTimeRange } from '../../domain/values/time.ts'
import { getString, type JsonObject } from '../../json.ts'
import { type ColumnSpec, table } from '../../output/view.ts'
import { failingTestColumns, failingTestEnding } from './tests/list-view.ts'
import { specsOf, testTable } from './tests/test-table.ts'

/**
 * A test whose status has a value: without a value, the reason replaces it
 * (docs/reference/service.md, "Test records").
 */
const withStatus = (test: JsonObject): JsonObject =>
  getString(test, 'status.value') === undefined
    ? { ...test, status: { value: getString(test, 'status.reason') } }
    : test

/** Whether the list is the table of a terminal, and not one page. */
const isScreen = async (args: ParsedArgs, { isTerminal, outputFormat }: ParseContext): Promise<boolean> =>
  isTerminal && !args.has('--json') && !args.has('--page-token') && (await outputFormat()) === 'table'

const screenLimit = limitInput('tests')

/** The number of tests: by default 30 on a terminal, otherwise all, which is undefined. */
const listLimit: Input<number | undefined> = {
  ...screenLimit,
  read: async (args, context) =>
    screenLimit.read(args, { ...context, isTerminal: await isScreen(args, context) }),
}

const typedSort = paramInput('sort', listFailingTests.params.sort)

/** The order of the tests: by default worst first on a terminal, otherwise that of the service. */
const listSort: Input<TestOrder | undefined> = {
  definitions: typedSort.definitions.map(definition => ({
    ...definition,
    defaultText: 'impact on a terminal, otherwise the order of the service',
  })),
  read: async (args, context) =>
    (await typedSort.read(args, context)) ?? ((await isScreen(args, context)) ? 'impact' : undefined),
}

const columns: readonly ColumnSpec[] = [
  ['NAME', 'name'],
  ['STATUS', 'status.value', 'state'],
  ['RATE 7D', 'failure_rate_last_7d', 'number'],
  ['PRS 7D', 'pull_requests_impacted_last_7d', 'number'],
  ['QUARANTINED', 'quarantined'],
  ['OWNERS', 'codeowners'],
  ['ID', 'id', 'id'],
]

/** `mergeq flaky list`: the tests that failed in a range of time. */
export const flakyListCommand = defineCommand({
  command: 'flaky list',
  summary: 'List the tests that failed in a time range',
  operation: listFailingTests,
  inputs: { limit: listLimit, sort: listSort },
  fields: serviceRecord(listFailingTests, [...columns, ...specsOf(failingTestColumns([]))]),
  view: ({ records }) => ({
    ...table(records.map(withStatus), columns),
    terminalView: () => testTable(records, failingTestColumns(records)),
  }),
  listEnding(end, { sort, since, until, pageToken }, { host, settings }) {
    if (sort === undefined || pageToken !== undefined) return undefined
    const range = parseTimeRange(since, until, host.clock.now())
    return failingTestEnding(end, sort, describeInWords(range, until === undefined), settings.commandLine)
  },
  examples: [
    'mergeq flaky list --since 7d --sort impact --limit 20',
    'mergeq flaky list --since 30d -o ndjson',
    "mergeq flaky list --owner @acme/web --name 'cart*' --json",
  ],
})
