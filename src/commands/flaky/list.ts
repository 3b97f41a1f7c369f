import { listFailingTests, type TestOrder } from '../../api/operations/tests.ts'
import type { PaginationEnd } from '../../api/pages.ts'
import { defineCommand, type ListEnding } from '../../cli/command.ts'
import { limitInput } from '../../cli/common-inputs.ts'
import { serviceRecord } from '../../cli/fields.ts'
import { type Input, paramInput } from '../../cli/inputs.ts'
import type { ParseContext, ParsedArgs } from '../../config/settings.ts'
import { formatInteger, pluralize } from '../../domain/format.ts'
import type { CommandLine } from '../../domain/suggested-command.ts'
import { describeInWords, describeWhen, parseTimeRange, type TimeRange } from '../../domain/time-range.ts'
import { getString, type JsonObject } from '../../json.ts'
import { type ColumnSpec, table } from '../../output/view.ts'
import {
  idColumn,
  nameColumn,
  noMatchSentence,
  ownerColumn,
  quarantinedColumn,
  specsOf,
  type TestColumn,
  testTable,
  variantColumn,
} from './test-lists.ts'

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

const screenLimit = limitInput(listFailingTests.params.limit)

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

/** The columns on a terminal: how bad a test is, whose it is, and its name. */
const screenColumns = (tests: readonly JsonObject[]): readonly TestColumn[] => [
  { title: 'RATE', format: 'rate', path: 'failure_rate_last_7d' },
  { title: 'PRS', format: 'number', path: 'pull_requests_impacted_last_7d' },
  ownerColumn,
  { title: 'STATUS', format: 'state', priority: 4, minTextWidth: 32, path: 'status.value' },
  nameColumn,
  variantColumn(tests),
  quarantinedColumn,
  { title: 'REASON', format: 'id', priority: 10, minTextWidth: 60, path: 'status.reason' },
  idColumn,
]

/** A word that every shell reads as itself within double quotes. */
const plainWord = /^[\p{L}\p{N}][\p{L}\p{N}_-]*$/u

/**
 * Returns the first words of the first test that name it alone among the tests, at least two. Returns the
 * beginning of its ID if there are none, or if they contain other characters than letters and numbers.
 * Undefined without a test.
 */
function exampleWords([first, ...others]: readonly JsonObject[]): string | undefined {
  const nameOf = (test: JsonObject) => (getString(test, 'name') ?? '').toLowerCase()
  const words = (getString(first, 'name') ?? '').split(/\s+/)
  for (let count = Math.min(2, words.length); count <= words.length; count++) {
    const chosen = words.slice(0, count)
    if (!chosen.every(word => plainWord.test(word))) break
    const text = chosen.join(' ')
    if (!others.some(other => nameOf(other).includes(text.toLowerCase()))) return text
  }
  return getString(first, 'id')?.slice(0, 8)
}

const orderTexts: Readonly<Record<TestOrder, string>> = {
  impact: 'worst first',
  rate: 'highest failure rate first',
  recent: 'last failure first',
  name: 'by name',
}

/** Returns the line below the tests on a terminal, or the sentence if there are none. */
function describeEnd(
  { records, shown, total, hidden, complete, isBroken }: PaginationEnd,
  sort: TestOrder,
  range: TimeRange,
  endsNow: boolean,
  commandLine: CommandLine,
): ListEnding | undefined {
  if (shown === 0) {
    if (isBroken) return undefined
    const when = describeWhen(range, endsNow)
    return {
      sentence:
        hidden > 0
          ? noMatchSentence(hidden, 'test', `that failed ${when}`)
          : `No test failed ${when}. To search further back, run: ${commandLine(['flaky', 'list', '--since', '30d'])}`,
    }
  }
  const count =
    total === undefined || total === shown
      ? pluralize(shown, 'test')
      : `${formatInteger(shown)} of ${pluralize(total, 'test')}`
  const rangeText = describeInWords(range, endsNow)
  const words = exampleWords(records)
  return {
    footer: [
      [
        shown === 1 ? `${count}, ${rangeText}.` : `${count}, ${rangeText}, ${orderTexts[sort]}.`,
        complete || isBroken ? '' : ' To list all, add --limit 0.',
        words === undefined ? '' : ` Details: ${commandLine(['flaky', 'get', words])}`,
      ],
    ],
  }
}

export const flakyListCommand = defineCommand({
  command: 'flaky list',
  summary: 'List the tests that failed in a time range',
  operation: listFailingTests,
  inputs: { limit: listLimit, sort: listSort },
  fields: serviceRecord(listFailingTests, [...columns, ...specsOf(screenColumns([]))]),
  view: ({ records }) => ({
    ...table(records.map(withStatus), columns),
    terminalView: () => testTable(records, screenColumns(records)),
  }),
  listEnding(end, { sort, since, until, pageToken }, { startedAt, settings }) {
    if (sort === undefined || pageToken !== undefined) return undefined
    const range = parseTimeRange(since, until, startedAt)
    return describeEnd(end, sort, range, until === undefined, settings.commandLine)
  },
  examples: [
    'mergeq flaky list --since 7d --sort impact --limit 20',
    'mergeq flaky list --since 30d -o ndjson',
    "mergeq flaky list --owner @acme/web --name 'cart*' --json",
  ],
})
