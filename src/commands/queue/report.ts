import { incompleteListError, type ListEnd, readToEnd } from '../../api/list.ts'
import { outline } from '../../api/operations/fields.ts'
import { queueReportRecord } from '../../api/operations/queue-report-record.ts'
import { getQueue } from '../../api/operations/queues.ts'
import { listTestRuns, testingResultsPage, testRunRange } from '../../api/operations/testing-results.ts'
import type { MergeqError } from '../../base/errors.ts'
import type { JsonObject } from '../../base/json.ts'
import { type Cli, command } from '../../command/command.ts'
import { printRequests } from '../../command/dry-run.ts'
import { fieldsOfRecords } from '../../command/fields.ts'
import { flagName, paramInput } from '../../command/inputs.ts'
import { readListOf } from '../../command/lists.ts'
import { queueInput } from '../../command/values.ts'
import { columns, singleRecord } from '../../output/view.ts'
import { pluralize } from '../../values/format.ts'
import { keptDays, parseKeptRange, rangeBefore } from '../../values/kept-range.ts'
import { type Queue, queueName, repositoryName } from '../../values/repository.ts'
import { toIso } from '../../values/time.ts'
import { formatDate, type TimeRange } from '../../values/time-range.ts'
import { type Measure, measures, shownMeasure } from './report/measures.ts'
import { countResults, type RangeNumbers } from './report/numbers.ts'

const measureColumns = columns(
  ['MEASURE', 'measure', 'id'],
  ['VALUE', 'value', 'number'],
  ['UNIT', 'unit'],
  ['OF', 'of', 'number'],
  ['OF UNIT', 'ofUnit'],
  ['BEFORE', 'before', 'number'],
  ['BEFORE OF', 'beforeOf', 'number'],
)

/** The columns that a person reads. */
const shownColumns = columns(
  ['MEASURE', 'label', 'text'],
  ['VALUE', 'shown', 'id'],
  ['BEFORE', 'shownBefore', 'id', { priority: 2 }],
  ['OF', 'ofUnit', 'id', { priority: 1 }],
)

/** A range whose results were read, as far as they could be. */
interface ReadRange {
  readonly range: TimeRange
  readonly numbers: RangeNumbers
  readonly end: ListEnd
}

/** Reads the results of a range and counts them. Throws the error of a first page that `tolerates` does not accept. */
async function readRange(
  { range, queue, maxPages }: { range: TimeRange; queue: Queue; maxPages: number | undefined },
  tolerates: (failure: MergeqError) => boolean,
  cli: Cli,
): Promise<ReadRange> {
  const list = {
    operation: testingResultsPage,
    parts: [{ ...queue, since: range.start, until: range.end }],
    maxPages,
    hiddenBy: () => undefined,
    describe: () => '',
    envelope: () => ({}),
  }
  const records: JsonObject[] = []
  const pages = readListOf(cli.command, list, { tolerates }, cli)
  const end = await readToEnd(pages, record => records.push(record))
  if (end.failure?.kind === 'interrupted') throw end.failure
  return { range, numbers: countResults(records, range), end }
}

const rangeText = ({ start, end }: TimeRange) => `${formatDate(start)} to ${formatDate(end)} UTC`

/** Says what the pages or the service cut, each as a sentence; `expected` is the range before. */
function describeLimits(
  main: ReadRange,
  before: ReadRange | undefined,
  expected: TimeRange | undefined,
): readonly string[] {
  const read = before === undefined ? [main] : [main, before]
  const cut = read
    .filter(({ end }) => !end.complete)
    .map(
      ({ range, end: { problem, failure } }) =>
        `Not all results from ${rangeText(range)} were read: ${problem ?? failure?.message.replace(/\.$/, '')}.`,
    )
  const kept = `the service keeps test runs for ${keptDays} days.`
  const length = main.range.end - main.range.start
  if (expected === undefined) cut.push(`There is no range before: ${kept}`)
  else if (before === undefined || before.end.pages === 0) cut.push('The range before was not read.')
  else if (expected.end - expected.start < length)
    cut.push(`The range before is shorter, from ${rangeText(expected)}: ${kept}`)
  const counted = read.flatMap(({ numbers: { unreadable, withoutRunId } }) => [
    ...(unreadable === 0
      ? []
      : [`Not counted: ${pluralize(unreadable, 'result')} without pull request or time.`]),
    ...(withoutRunId === 0
      ? []
      : [`${pluralize(withoutRunId, 'result')} without a test run ID: each counts as a test run.`]),
  ])
  return [...cut, ...counted]
}

/** Returns the rows of a table that has no lines around it: with the ranges above them, and the notes below. */
const withLines = (
  rows: readonly JsonObject[],
  main: ReadRange,
  before: ReadRange | undefined,
  notes: readonly string[],
): readonly JsonObject[] => [
  {
    label: 'Range',
    shown: rangeText(main.range),
    shownBefore: before === undefined ? '-' : rangeText(before.range),
  },
  ...rows,
  ...notes.map(shown => ({ label: 'Note', shown })),
]

const rangeRecord = ({ range, numbers, end }: ReadRange): JsonObject => ({
  start: toIso(range.start),
  end: toIso(range.end),
  complete: end.complete,
  ...numbers,
})

export const queueReportCommand = command({
  name: 'queue report',
  summary: 'Summarize test runs, and compare with the time before (not if self-hosted)',
  alsoSends: [getQueue, testingResultsPage],
  exits: ['incomplete'],
  options: {
    queue: queueInput,
    since: paramInput('since', { ...testRunRange.since, defaultText: '7d' }),
    until: paramInput('until', testRunRange.until),
    maxPages: paramInput('maxPages', listTestRuns.params.maxPages),
  },
  documents: [queueReportRecord],
  fields: fieldsOfRecords([queueReportRecord], measureColumns),
  prints: {
    table: 'one row per measure, each with its total',
    json: `${outline(queueReportRecord)}; "before" is null if it was not read`,
    ndjson: 'the same, on one line',
  },
  examples: [
    'mergeq queue report',
    'mergeq queue report --since 30d -o markdown',
    'mergeq queue report --json | jq .range.outcomes.failed.share',
  ],
  async run({ queue, since = '7d', until, maxPages }, cli) {
    const { options, printer, logger, serviceTime } = cli
    const { rangeEnd } = await import('../../api/range-end.ts')
    const now = options.dryRun ? serviceTime.startedAt() : await rangeEnd(cli.client(), listTestRuns, queue)
    const range = parseKeptRange(since, until, now, flagName)
    if (options.dryRun)
      return printRequests(cli, testingResultsPage, [
        { ...queue, since: range.start, until: range.end, pageSize: 100 },
      ])
    const main = await readRange({ range, queue, maxPages }, () => false, cli)
    const expected = rangeBefore(range, now)
    const pagesLeft = maxPages === undefined ? undefined : maxPages - main.end.pages
    const earlier =
      expected === undefined || main.end.isBroken || pagesLeft === 0
        ? undefined
        : await readRange({ range: expected, queue, maxPages: pagesLeft }, () => true, cli)
    const before = earlier?.end.pages === 0 ? undefined : earlier
    const notes = describeLimits(main, earlier, expected)
    const rows: readonly Measure[] = measures(main.numbers, before?.numbers)
    const shown = rows.map(shownMeasure)
    const table =
      options.format.name === 'markdown'
        ? { rows: withLines(shown, main, before, notes), columns: shownColumns }
        : { rows: rows.map(({ label: _, ...row }) => row), columns: measureColumns }
    await printer.print({
      ...singleRecord({
        repo: repositoryName(queue.repo),
        targetBranch: queue.targetBranch,
        range: rangeRecord(main),
        before: before === undefined ? null : rangeRecord(before),
        notes,
      }),
      ...table,
      screen: () => ({
        heading: [
          `${queueName(queue)}, ${rangeText(range)}`,
          before === undefined ? 'without a range before' : `before: ${rangeText(before.range)}`,
          '',
        ],
        rows: shown,
        columns: shownColumns,
        ...(notes.length > 0 && { footer: notes }),
      }),
    })
    if (cli.results !== 'screen') for (const note of notes) await logger.info(note)
    const broken = [main, earlier].find(read => read?.end.complete === false)
    if (broken !== undefined) throw incompleteListError(broken.end, cli.command)
    if (pagesLeft === 0 && expected !== undefined)
      throw incompleteListError(
        { problem: 'no page was left for the range before (raise --max-pages)' },
        cli.command,
      )
    return 0
  },
})
