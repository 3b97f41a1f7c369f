import { incompleteListError, type ListEnd, readToEnd } from '../../api/list.ts'
import { fieldNames } from '../../api/operations/fields.ts'
import { getQueue } from '../../api/operations/queues.ts'
import { queueReportRecord } from '../../api/operations/records.ts'
import { testingResultsPage, testRunRange } from '../../api/operations/testing-results.ts'
import { rangeEnd } from '../../api/service-time.ts'
import { explainNotFound } from '../../cli/calls.ts'
import type { Cli } from '../../cli/cli.ts'
import { command } from '../../cli/command.ts'
import { printRequests } from '../../cli/dry-run.ts'
import { option, paramInput, typedName } from '../../cli/inputs.ts'
import { readListOf } from '../../cli/lists.ts'
import { type Queue, queueInput } from '../../cli/values.ts'
import { pluralize } from '../../domain/format.ts'
import { keptDays, parseKeptRange, rangeBefore } from '../../domain/kept-range.ts'
import { defaultMaxPages } from '../../domain/limits.ts'
import { countResults, type RangeNumbers } from '../../domain/queue-report.ts'
import { formatDate, type TimeRange } from '../../domain/time-range.ts'
import { queueName, repositoryName } from '../../domain/values/repository.ts'
import { toIso } from '../../domain/values/time.ts'
import { integer } from '../../domain/values/types.ts'
import { failureOrThrow } from '../../errors.ts'
import type { JsonObject } from '../../json.ts'
import { columns, singleRecord } from '../../output/view.ts'
import { type Measure, measures, shownMeasure } from './report-measures.ts'

const measureColumns = columns(
  ['MEASURE', 'measure', 'id'],
  ['VALUE', 'value', 'number'],
  ['UNIT', 'unit'],
  ['OF', 'of', 'number'],
  ['OF UNIT', 'ofUnit'],
  ['BEFORE', 'before', 'number'],
  ['BEFORE OF', 'beforeOf', 'number'],
)

/** A range whose results were read, as far as they could be. */
interface ReadRange {
  readonly range: TimeRange
  readonly numbers: RangeNumbers
  readonly end: ListEnd
}

/** Reads the results of a range and counts them. */
async function readRange(queue: Queue, range: TimeRange, maxPages: number, cli: Cli): Promise<ReadRange> {
  const list = {
    operation: testingResultsPage,
    parts: [{ ...queue, since: range.start, until: range.end }],
    maxPages,
    hiddenBy: () => undefined,
    describe: () => '',
    envelope: () => ({}),
  }
  const records: JsonObject[] = []
  const end = await readToEnd(readListOf(cli.command, list, {}, cli), record => records.push(record))
  if (end.failure?.kind === 'interrupted') throw end.failure
  return { range, numbers: countResults(records, range), end }
}

const rangeText = ({ start, end }: TimeRange) => `${formatDate(start)} to ${formatDate(end)} UTC`

/** Says what the report lacks, each as a sentence. */
function limitsOf(
  main: ReadRange,
  before: ReadRange | undefined,
  expected: TimeRange | undefined,
): readonly string[] {
  const length = main.range.end - main.range.start
  const cut = ({ range, end }: ReadRange) =>
    `Not all results from ${rangeText(range)} were read: ${end.problem ?? end.failure?.message.replace(/\.$/, '') ?? 'the list ended early'}.`
  const notes: string[] = []
  if (!main.end.complete) notes.push(cut(main))
  if (before !== undefined && !before.end.complete) notes.push(cut(before))
  if (expected === undefined)
    notes.push(`There is no range before: the service keeps test runs for ${keptDays} days.`)
  else if (before === undefined) notes.push('The range before was not read.')
  else if (before.range.end - before.range.start < length)
    notes.push(
      `The range before is shorter, from ${rangeText(before.range)}: the service keeps test runs for ${keptDays} days.`,
    )
  for (const { numbers } of before === undefined ? [main] : [main, before]) {
    if (numbers.unreadable > 0)
      notes.push(
        `${pluralize(numbers.unreadable, 'result')} without a pull request or a time were not counted.`,
      )
    if (numbers.withoutRunId > 0)
      notes.push(
        `${pluralize(numbers.withoutRunId, 'result')} without a test run ID count as a test run each.`,
      )
  }
  return notes
}

const rangeRecord = ({ range, numbers, end }: ReadRange): JsonObject => ({
  start: toIso(range.start),
  end: toIso(range.end),
  complete: end.complete,
  ...(numbers as unknown as JsonObject),
})

const screenColumns = columns(
  ['MEASURE', 'label', 'id'],
  ['VALUE', 'shown', 'id'],
  ['BEFORE', 'shownBefore', 'id'],
  ['OF', 'ofUnit', 'plain', { priority: 1 }],
)

export const queueReportCommand = command({
  name: 'queue report',
  summary: 'Summarize finished test runs beside the range before (hosted service only)',
  alsoSends: [getQueue, testingResultsPage],
  exits: ['incomplete'],
  options: {
    queue: queueInput,
    since: paramInput('since', { ...testRunRange.since, defaultText: '7d' }),
    until: paramInput('until', testRunRange.until),
    maxPages: option(integer(1, Number.MAX_SAFE_INTEGER), 'Maximum number of pages to fetch', {
      default: String(defaultMaxPages),
    }),
  },
  fields: { names: fieldNames(queueReportRecord), columns: measureColumns },
  prints: {
    table: 'one row per measure, with what it is a part of',
    json: '{"repo","targetBranch","range","before","notes"}; "before" is null if it was not read',
    ndjson: 'the same, on one line',
  },
  examples: [
    'mergeq queue report',
    'mergeq queue report --since 30d -o markdown',
    'mergeq queue report --json | jq .range.outcomes.failed.share',
  ],
  async run({ queue, since, until, maxPages }, cli) {
    const { options, printer, logger } = cli
    const now = options.dryRun
      ? cli.startedAt
      : await rangeEnd(cli.client(), { ...testingResultsPage, usesServiceTime: true }, queue, cli.startedAt)
    const range = parseKeptRange(since ?? '7d', until, now, typedName)
    const expected = rangeBefore(range, now)
    if (options.dryRun)
      return printRequests(cli, testingResultsPage, [
        { ...queue, since: range.start, until: range.end, pageSize: 100 },
      ])
    const main = await readRange(queue, range, maxPages, cli).catch(async error => {
      throw await explainNotFound(cli, { ...testingResultsPage }, queue, failureOrThrow(error))
    })
    const pagesLeft = maxPages - main.end.pages
    const before =
      expected === undefined || main.end.failure !== undefined || pagesLeft <= 0
        ? undefined
        : await readRange(queue, expected, pagesLeft, cli)
    const notes = limitsOf(main, before, expected)
    const rows: readonly Measure[] = measures(main.numbers, before?.numbers)
    await printer.print({
      ...singleRecord({
        repo: repositoryName(queue.repo),
        targetBranch: queue.targetBranch,
        range: rangeRecord(main),
        before: before === undefined ? null : rangeRecord(before),
        notes,
      }),
      columns: measureColumns,
      rows: rows.map(({ label: _, ...row }) => row),
      screen: () => ({
        heading: [
          `${queueName(queue)}, ${rangeText(range)}`,
          before === undefined ? 'without a range before' : `before: ${rangeText(before.range)}`,
          '',
        ],
        columns: screenColumns,
        rows: rows.map(shownMeasure),
        footer: notes,
      }),
    })
    if (cli.results !== 'screen') for (const note of notes) await logger.info(note)
    const broken = [main, ...(before === undefined ? [] : [before])].find(({ end }) => !end.complete)
    if (broken !== undefined) throw incompleteListError(broken.end, cli.command)
    return 0
  },
})
