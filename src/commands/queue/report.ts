import { incompleteListError, type ListEnd, rangeEnd, readToEnd } from '../../api/list.ts'
import { getMergeQueueMetrics } from '../../api/operations/metrics.ts'
import { getQueue } from '../../api/operations/queues.ts'
import { listTestRuns, testingResultsPage, testRunRange } from '../../api/operations/testing-results.ts'
import type { MergeqError } from '../../base/errors.ts'
import type { JsonObject } from '../../base/json.ts'
import { type Cli, command } from '../../command/command.ts'
import { printRequests } from '../../command/dry-run.ts'
import { flagName, paramInput } from '../../command/inputs.ts'
import { readListOf } from '../../command/lists.ts'
import { queueInput } from '../../command/shared-inputs.ts'
import { columns, singleRecord } from '../../output/view.ts'
import { pluralize } from '../../values/format.ts'
import { type Queue, queueFieldsOf, queueName } from '../../values/repository.ts'
import { parseMoment, toIso } from '../../values/time.ts'
import { formatDate, keptDays, parseKeptRange, rangeBefore, type TimeRange } from '../../values/time-range.ts'
import { measures, shownMeasures, writtenMeasure } from './report/measures.ts'
import { countResults, queueReportRecord, type RangeNumbers, type ReportedRange } from './report/numbers.ts'
import { forSelectedQueues, printSelection, severalQueues, unlessSeveral } from './shared/all-queues.ts'

const measureColumns = columns(
  'measure',
  ['value', { format: 'number' }],
  'unit',
  'of',
  'ofUnit',
  ['before', { format: 'number' }],
  'beforeOf',
  'repo',
  'targetBranch',
)

const shownColumns = columns(
  'group',
  'label',
  'shown',
  ['shownBefore', { priority: 1 }],
  ['ofUnit', { title: 'OF', format: 'id', priority: 2 }],
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

const rangeRecord = ({ range, numbers, end }: ReadRange): ReportedRange => ({
  start: toIso(range.start),
  end: toIso(range.end),
  complete: end.complete,
  ...numbers,
})

/** Reads the results of a range and of the range before; `failure` is why not all were read, if they were not. */
async function readReport(
  queue: Queue,
  range: TimeRange,
  { now, maxPages }: { readonly now: number; readonly maxPages: number | undefined },
  cli: Cli,
) {
  const main = await readRange({ range, queue, maxPages }, () => false, cli)
  const expected = rangeBefore(range, now)
  const pagesLeft = maxPages === undefined ? undefined : maxPages - main.end.pages
  const earlier =
    expected === undefined || main.end.isBroken || pagesLeft === 0
      ? undefined
      : await readRange({ range: expected, queue, maxPages: pagesLeft }, () => true, cli)
  const broken = [main, earlier].find(read => read?.end.complete === false)?.end
  const lacksPage = pagesLeft === 0 && expected !== undefined
  const cut =
    broken ??
    (lacksPage ? { problem: 'no page was left for the range before (raise --max-pages)' } : undefined)
  return {
    main,
    before: earlier?.end.pages === 0 ? undefined : earlier,
    notes: describeLimits(main, earlier, expected),
    failure: cut && incompleteListError(cut, cli.command),
  }
}

type Report = Awaited<ReturnType<typeof readReport>>

async function printReport({ main, before, notes }: Report, queue: Queue, cli: Cli): Promise<void> {
  const rows = measures(main.numbers, before?.numbers)
  const shown = shownMeasures(rows)
  const place = queueFieldsOf(queue)
  // A table in a document has no lines around it.
  const withLines = [
    { label: 'Queue', shown: queueName(queue) },
    {
      label: 'Range',
      shown: rangeText(main.range),
      shownBefore: before === undefined ? '-' : rangeText(before.range),
    },
    ...shown,
    ...notes.map(shown => ({ label: 'Note', shown })),
  ]
  const table = cli.options.format.isForDocuments
    ? { rows: withLines, columns: shownColumns }
    : { rows: rows.map(row => ({ ...writtenMeasure(row), ...place })), columns: measureColumns }
  await cli.printer.add({
    ...singleRecord({
      ...place,
      range: rangeRecord(main),
      before: before === undefined ? null : rangeRecord(before),
      notes,
    }),
    ...table,
    screen: () => ({
      heading: [
        `${queueName(queue)}, ${rangeText(main.range)}`,
        before === undefined ? 'without a range before' : `before: ${rangeText(before.range)}`,
        shown.length === 0 ? 'No test run ended in these ranges.' : '',
      ],
      rows: shown,
      columns: shownColumns,
      isSeparate: true,
      ...(notes.length > 0 && { footer: notes }),
    }),
  })
  if (cli.results !== 'screen') for (const note of notes) await cli.logger.info(note)
}

export const definition = command({
  name: 'queue report',
  summary: 'Summarize test runs, and compare with the time before (not in the API document)',
  alsoSends: [getQueue, testingResultsPage, getMergeQueueMetrics],
  exits: ['incomplete'],
  options: {
    queue: unlessSeveral(queueInput),
    ...severalQueues('Summarize test runs of'),
    since: paramInput('since', { ...testRunRange.since, defaultText: '7d' }),
    until: paramInput('until', testRunRange.until),
    maxPages: paramInput('maxPages', listTestRuns.params.maxPages),
  },
  prints: {
    table: 'one row per measure, each with its total',
    note: '"before" is null if it was not read; with --all or --file, one per queue',
    documents: [queueReportRecord],
    columns: measureColumns,
  },
  examples: [
    'mergeq queue report',
    'mergeq queue report --since 30d -o markdown',
    'mergeq queue report --all --since 30d -o csv',
    'mergeq queue report --json | jq .range.outcomes.failed.share',
  ],
  async run({ queue, file, since = '7d', until, maxPages }, cli) {
    const rangeFrom = (now: number) => parseKeptRange(since, until, now, flagName)
    // A wrong range is an error before anything is sent. Whether its end is in the future, only the service's clock tells.
    const now = cli.serviceTime.startedAt()
    const { start, end } = rangeFrom(until === undefined ? now : Math.max(now, parseMoment(until, now)))
    if (cli.options.dryRun)
      return queue === undefined
        ? printSelection({ queue, file }, cli)
        : printRequests(cli, testingResultsPage, [{ ...queue, since: start, until: end, pageSize: 100 }])
    return forSelectedQueues(cli, {
      queue,
      file,
      async work(place) {
        const now = await rangeEnd(cli.client(), listTestRuns, place)
        return readReport(place, rangeFrom(now), { now, maxPages }, cli)
      },
      async print(report, place) {
        await printReport(report, place, cli)
        return report.failure
      },
    })
  },
})
