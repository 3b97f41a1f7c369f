import type { ListEnd, ListPage } from '../../api/list.ts'
import { listFailingTests, type TestOrder } from '../../api/operations/tests.ts'
import type { ParamValues } from '../../api/params.ts'
import { getString } from '../../base/json.ts'
import { type Cli, command } from '../../command/command.ts'
import { flagName, type Input, paramInput } from '../../command/inputs.ts'
import { type ListEnding, runList } from '../../command/lists.ts'
import { paramsOf } from '../../command/param-inputs.ts'
import { setOf } from '../../command/set-option.ts'
import { limitInput } from '../../command/shared-inputs.ts'
import type { ParseContext, ParsedArgs } from '../../config/settings.ts'
import { createRateFormat, type RateFormat } from '../../domain/failure-rates.ts'
import { type Column, columns } from '../../output/view.ts'
import { countRead, formatInteger, pluralize } from '../../values/format.ts'
import { maxWindow } from '../../values/limits.ts'
import { describeInWords, describeWhen, parseTimeRange } from '../../values/time-range.ts'
import {
  csvColumns,
  idColumn,
  lastColumns,
  measureColumns,
  nameColumn,
  ownerColumn,
  quarantinedColumn,
  rateColumn,
} from './shared/columns.ts'

/** Whether the list is a table on a terminal, and not one page. */
const isScreen = (args: ParsedArgs, { host, options }: ParseContext): boolean =>
  options.format.name === 'table' && host.out.terminal && !args.has('--page-token')

const screenLimit = limitInput(listFailingTests.params.limit)

/** The number of tests: by default 30 on a terminal, otherwise all, which is undefined. */
const listLimit: Input<number | undefined> = {
  ...screenLimit,
  read: (args, context) =>
    args.has('--limit') || isScreen(args, context) ? screenLimit.read(args, context) : undefined,
}

const flagSort = paramInput('sort', listFailingTests.params.sort)

const listSort: Input<TestOrder | undefined> = {
  definitions: flagSort.definitions.map(definition => ({
    ...definition,
    defaultText: 'impact on a terminal, otherwise the order of the service',
  })),
  read: async (args, context) =>
    (await flagSort.read(args, context)) ?? (isScreen(args, context) ? 'impact' : undefined),
}

const failingColumns = [...measureColumns, ...lastColumns]

const { priority: _, ...alwaysId } = idColumn

/** The columns on a terminal: how bad a test is, whose it is, and its name. Where it is narrow, the rate goes first. */
const failingScreenColumns = (rates: RateFormat): readonly Column[] => [
  { ...rateColumn(rates), priority: 5 },
  ...columns('pull_requests_impacted_last_7d'),
  alwaysId,
  ownerColumn,
  ...columns(['status.value', { priority: 4, yieldsToText: true }]),
  nameColumn,
  quarantinedColumn,
  ...columns(['status.reason', { format: 'id', priority: 10, yieldsToText: true }]),
]

const orderTexts: Readonly<Record<TestOrder, string>> = {
  impact: 'worst first (PRS)',
  rate: 'highest rate first',
  recent: 'newest first',
  name: 'by name',
}

export const definition = command({
  name: 'flaky list',
  summary: 'List tests that failed in a time range, flaky or not (for flaky ones: flaky unhealthy)',
  operation: listFailingTests,
  options: {
    ...paramsOf(listFailingTests),
    limit: listLimit,
    sort: listSort,
  },
  set: setOf(listFailingTests),
  prints: { columns: csvColumns },
  examples: [
    'mergeq flaky list --since 7d --sort impact --limit 20',
    'mergeq flaky list --since 30d -o ndjson',
    "mergeq flaky list --owner @acme/web --name 'Cart*' --json",
  ],
  run(values, cli) {
    const rates = createRateFormat()
    return runList(cli, listFailingTests, values, {
      columns: cli.options.format.name === 'csv' ? csvColumns : failingColumns,
      screenColumns: failingScreenColumns(rates),
      see: rates.see,
      ending: end => listEnding(end, values, cli),
    })
  },
})

function listEnding(
  { records, shown, total = shown, hidden, isBroken }: ListEnd & Pick<ListPage, 'records'>,
  { sort, since, until, pageToken }: ParamValues<typeof listFailingTests.params>,
  { serviceTime, settings: { commandLine } }: Cli,
): ListEnding | undefined {
  if (sort === undefined || pageToken !== undefined || (shown === 0 && isBroken)) return undefined
  const now = serviceTime.startedAt()
  const range = parseTimeRange(since, until, now, flagName)
  const endsNow = until === undefined
  if (shown === 0) {
    const when = describeWhen(range, endsNow, since)
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
    now - range.start <= maxWindow &&
    records.filter(record => getString(record, 'id')?.startsWith(start)).length === 1
  return {
    footer: [
      `${count}, ${describeInWords(range, endsNow, since)}${order}.`,
      ...(id === undefined ? [] : [`One of them: ${commandLine(['flaky', 'get', isFound ? start : id])}`]),
    ],
  }
}
