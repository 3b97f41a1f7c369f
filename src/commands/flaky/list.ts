import { listFailingTests, type TestOrder } from '../../api/operations/failing-tests.ts'
import { defineOperationCommand } from '../../cli/command.ts'
import { serviceRecord } from '../../cli/fields/record-fields.ts'
import { choiceOption, type Input, option } from '../../cli/inputs.ts'
import { limitInput, maxPagesInput, pageSizeInput, pageTokenInput } from '../../cli/list-inputs.ts'
import { organizationInputs } from '../../cli/queue-inputs.ts'
import type { ParsedArgs } from '../../config/args.ts'
import type { ParseContext } from '../../config/parse-context.ts'
import { maxWindow } from '../../domain/limits.ts'
import { describeInWords, parseTimeRange, type TimeRange } from '../../domain/time-range.ts'
import { integerParser, parseDecimal } from '../../domain/values/numbers.ts'
import { usageError } from '../../errors.ts'
import { getString, type JsonObject } from '../../json.ts'
import { type ColumnSpec, table } from '../../output/view.ts'
import { quarantinedInput, testFilterInputs } from './tests/filter-inputs.ts'
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

/** The options that a list and a report have: how many tests, and in which order. */
const limitOption = option({
  name: 'limit',
  value: 'n',
  summary: 'Maximum number of tests',
  parse: integerParser(1, Number.MAX_SAFE_INTEGER),
})
const sortOption = choiceOption({
  name: 'sort',
  value: 'key',
  summary: 'Fetch all tests, then sort by impact, rate, recent or name',
  choices: ['impact', 'rate', 'recent', 'name'],
})

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

/** The order of the tests: by default worst first on a terminal, otherwise that of the service. */
const listSort: Input<TestOrder | undefined> = {
  definitions: sortOption.definitions.map(definition => ({
    ...definition,
    defaultText: 'impact on a terminal, otherwise the order of the service',
  })),
  read: async (args, context) =>
    sortOption.read(args) ?? ((await isScreen(args, context)) ? 'impact' : undefined),
}

/** The range of time; reading it throws a usage error where `parseTimeRange` does. */
const rangeInput: Input<TimeRange> = {
  definitions: [
    {
      name: '--since',
      value: 'duration|time',
      summary: 'Start of the range: a duration before now, such as 7d, or a date and time',
      defaultText: '24h',
    },
    {
      name: '--until',
      value: 'duration|time',
      summary: 'End of the range: a duration before now, such as 7d, or a date and time',
      defaultText: 'now',
    },
  ],
  read: (args, { now }) => parseTimeRange(args.get('--since')?.[0], args.get('--until')?.[0], now),
}

/** The inputs that select the tests of a report, which has its own order and limit and is not paged. */
export const reportInputs = {
  ...organizationInputs,
  range: rangeInput,
  limit: limitOption,
  pageSize: pageSizeInput('Tests'),
  pageToken: pageTokenInput,
  maxPages: maxPagesInput,
  quarantined: quarantinedInput,
  minRate: option({
    name: 'min-failure-rate',
    value: 'x',
    summary: 'Only tests with at least this failure rate in the last 7 days',
    parse: parseDecimal,
  }),
  ...testFilterInputs,
  sort: sortOption,
}

/** Throws a usage error for a page token with a range that needs several requests. */
export function checkPageToken({
  pageToken,
  range,
}: {
  readonly pageToken?: string | undefined
  readonly range: TimeRange
}) {
  if (pageToken !== undefined && range.end - range.start > maxWindow)
    throw usageError(
      '--page-token requires a range of at most 7 days.',
      'A page token is valid only for the range of the request that returned it. Use the same range.',
    )
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

export const flakyListCommand = defineOperationCommand({
  command: 'flaky list',
  summary: 'List the tests that failed in a time range',
  operation: listFailingTests,
  inputs: {
    ...reportInputs,
    limit: listLimit,
    sort: listSort,
  },
  fields: serviceRecord(listFailingTests, [...columns, ...specsOf(failingTestColumns([]))]),
  view: ({ records }) => ({
    ...table(records.map(withStatus), columns),
    terminalView: () => testTable(records, failingTestColumns(records)),
  }),
  listEnding: (end, { sort, range, pageToken }, { args, settings }) =>
    sort === undefined || pageToken !== undefined
      ? undefined
      : failingTestEnding(end, sort, describeInWords(range, !args.has('--until')), settings.commandLine),
  check: checkPageToken,
  examples: [
    'mergeq flaky list --since 7d --sort impact --limit 20',
    'mergeq flaky list --since 30d -o ndjson',
    "mergeq flaky list --owner @acme/web --name 'cart*' --json",
  ],
})
