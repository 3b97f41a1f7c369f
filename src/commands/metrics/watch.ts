import { callOperation } from '../../api/call.ts'
import { getMergeQueueMetrics, samplesIn } from '../../api/operations/queue-metrics.ts'
import { anyField } from '../../api/operations/service-fields.ts'
import { defineCommand } from '../../cli/command.ts'
import type { CommandContext } from '../../cli/context.ts'
import { combineFields, type RecordFields } from '../../cli/fields/record-fields.ts'
import { createLiveRenderer, isLive, type LiveScreen } from '../../cli/watch/live-renderer.ts'
import { checkWatchInputs, type WatchReader, watchInputs, watchLoop } from '../../cli/watch/watch-loop.ts'
import { createStreamRenderer } from '../../cli/watch/watch-renderer.ts'
import { numberText, type Sample, seriesText } from '../../domain/metrics/exposition.ts'
import { histogramOf } from '../../domain/metrics/histogram.ts'
import { summarizeMetrics } from '../../domain/metrics/summary.ts'
import { usageError } from '../../errors.ts'
import type { JsonObject } from '../../json.ts'
import { singleRecord } from '../../output/printer.ts'
import { linesView, table } from '../../output/view.ts'
import { maxQueues, printMetrics, rawOption, sampleRecord } from '../metrics.ts'
import { metricsRequest } from './request/metrics-request.ts'
import { createDepthHistory } from './view/depth-history.ts'
import { formatLabels, type Labels, seriesView } from './view/series-view.ts'
import { summaryView } from './view/summary-view.ts'

/** The value of a series; a histogram has points for its sum and its count, and none for its buckets. */
interface Point {
  readonly series: string
  readonly name: string
  readonly labels: Labels
  readonly value: number
}

/** A reading: its samples and points, and the changes since the previous reading. */
interface MetricsUpdate {
  readonly samples: readonly Sample[]
  readonly points: readonly Point[]
  /** Undefined for the first reading. */
  readonly changes: readonly PointChange[] | undefined
}

/** A changed value of a series. */
interface PointChange extends Omit<Point, 'value'> {
  /** Null if the series is new. */
  readonly from: number | null
  /** Null if the series disappeared. */
  readonly to: number | null
}

const toPoints = (samples: readonly Sample[]): readonly Point[] =>
  samples
    .filter(sample => histogramOf(sample) === undefined || !sample.name.endsWith('_bucket'))
    .map(({ name, labels, value }) => ({ series: seriesText(name, labels), name, labels, value }))

/** Returns the changes between two readings in the order of the later reading; removed series come last. */
function findChanges(previous: ReadonlyMap<string, Point>, after: readonly Point[]): readonly PointChange[] {
  const changed = after.flatMap(({ value, ...point }) => {
    const from = previous.get(point.series)?.value ?? null
    return Object.is(from, value) ? [] : [{ ...point, from, to: value }]
  })
  const currentSeries = new Set(after.map(({ series }) => series))
  const removed = [...previous.values()].filter(({ series }) => !currentSeries.has(series))
  return [...changed, ...removed.map(({ value, ...point }) => ({ ...point, from: value, to: null }))]
}

/** Returns a value for JSON and tables: text for NaN and infinity, null for a missing series. */
const jsonNumber = (value: number | null): number | string | null =>
  value === null || Number.isFinite(value) ? value : numberText(value)

const formatPointValue = (value: number | null): string => (value === null ? 'absent' : numberText(value))

/** A record is all series, as the first reading shows them, or a change. */
const changeRecord: RecordFields = {
  names: ['type', 'at', 'name', 'labels', `labels${anyField}`, 'from', 'to', 'series', `series${anyField}`],
  columns: [
    ['AT', 'at'],
    ['NAME', 'name'],
    ['LABELS', 'labels'],
    ['FROM', 'from', 'number'],
    ['TO', 'to', 'number'],
  ],
}

/** Creates a function that prints a record for each change, and prints or logs the first reading. */
function createChangePrinter({
  printer,
  logger,
  options,
  host,
}: CommandContext): (update: MetricsUpdate) => Promise<void> {
  const print = (record: JsonObject, rows: readonly JsonObject[] = [], sentence?: string) =>
    printer.print(
      singleRecord(record, () => ({
        ...table(rows, changeRecord.columns),
        ...(sentence === undefined ? {} : { sentence }),
      })),
    )
  return async ({ points, changes }) => {
    const at = new Date(host.clock.now()).toISOString()
    for (const { series, name, labels, from, to } of changes ?? []) {
      const change = { type: 'change', at, name, labels, from: jsonNumber(from), to: jsonNumber(to) }
      const sentence = `${series} ${formatPointValue(from)} -> ${formatPointValue(to)}`
      await print(change, [{ ...change, labels: formatLabels(labels) }], sentence)
    }
    if (changes !== undefined) return
    if (options.format !== 'ndjson') return logger.info(`Watching ${points.length} series.`)
    const series = points.map(({ name, labels, value }) => ({ name, labels, value: jsonNumber(value) }))
    await print({ type: 'metrics', at, series })
  }
}

/** Creates the screen: the summary of `mergeq metrics` with the last depths of each queue, or all series. */
function createMetricsScreen(raw: boolean, branch: string | undefined): LiveScreen<MetricsUpdate> {
  const history = createDepthHistory()
  let samples: readonly Sample[] | undefined
  return {
    update(update) {
      samples = update.samples
      history.add(summarizeMetrics(samples).queues)
    },
    draw(_, columns) {
      const view =
        samples === undefined
          ? linesView(['No metrics have been read yet.'])
          : raw && samples.length > 0
            ? seriesView(samples, columns)
            : summaryView(summarizeMetrics(samples), { columns, maxQueues, branch, depthHistory: history.of })
      return { view, foot: [] }
    },
  }
}

/** `metrics watch`: shows metrics and their changes until the duration is over or a person quits. */
export const metricsWatchCommand = defineCommand({
  command: 'metrics watch',
  summary: 'Watch metrics and show every change',
  request: metricsRequest,
  output: {
    table: 'a live view on a terminal; elsewhere one line per change',
    json: 'the current metrics; requires --once',
    ndjson: 'one {"type":"metrics"} line, then one line per change',
  },
  fields: combineFields(changeRecord, sampleRecord),
  inputs: { ...watchInputs('the metrics', '60s'), raw: rawOption },
  examples: [
    'mergeq metrics watch',
    'mergeq metrics watch --interval 5m --for 8h -o ndjson > today.ndjson',
    'mergeq metrics watch --once',
  ],
  validate: values => checkWatchInputs(values),
  async run(values, context, invocations) {
    const { options } = context
    if (values.once && options.format !== 'ndjson') return printMetrics(values.raw, invocations, context)
    if (options.format === 'json')
      throw usageError(
        '`mergeq metrics watch` cannot print JSON, because its output is a stream.',
        'Use -o ndjson for the changes, or --once for the current metrics.',
      )
    const [invocation] = invocations
    if (invocation === undefined) return 0
    let previous: ReadonlyMap<string, Point> | undefined
    const readUpdate: WatchReader<MetricsUpdate> = async (client, limits) => {
      const { response } = await callOperation(client, getMergeQueueMetrics, invocation.values, { limits })
      const samples = samplesIn(response.bytes)
      const points = toPoints(samples)
      const changes = previous === undefined ? undefined : findChanges(previous, points)
      previous = new Map(points.map(point => [point.series, point]))
      return { samples, points, changes }
    }
    const renderer = isLive(context)
      ? await createLiveRenderer(
          createMetricsScreen(values.raw, invocation.values.branch),
          values.interval,
          context,
        )
      : createStreamRenderer(createChangePrinter(context), context)
    return watchLoop(readUpdate, values, renderer, context)
  },
})
