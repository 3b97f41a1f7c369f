import { callOperation } from '../../api/call.ts'
import { getMergeQueueMetrics, samplesIn } from '../../api/operations/metrics.ts'
import { defineCommand } from '../../cli/command.ts'
import type { CommandContext } from '../../cli/context.ts'
import { readInvocations } from '../../cli/invocation.ts'
import { runOperation } from '../../cli/run-operation.ts'
import { numberText, type Sample, seriesText } from '../../domain/metrics/exposition.ts'
import { histogramOf } from '../../domain/metrics/histogram.ts'
import { usageError } from '../../errors.ts'
import type { JsonObject } from '../../json.ts'
import { sparkline } from '../../output/charts.ts'
import { metrics } from '../metrics.ts'
import { createLiveRenderer, isLive, type LiveScreen } from '../watch/live-renderer.ts'
import { createLineRenderer } from '../watch/renderer.ts'
import { checkWatchInputs, watchInputs, watchLoop } from '../watch/watch-loop.ts'
import { type Labels, labelsText, sharedBy, without } from './view.ts'

/** One series of a look; of a histogram its sum and its count, for its buckets are no line of their own. */
interface Point {
  readonly series: string
  readonly name: string
  readonly labels: Labels
  readonly value: number
}

/** What one look finds, and what of it is another value than before; undefined the first time. */
type Look = readonly [points: readonly Point[], changes: readonly Moved[] | undefined]

interface Moved extends Omit<Point, 'value'> {
  /** Null where the series was not there. */
  readonly from: number | null
  /** Null where the series is gone. */
  readonly to: number | null
}

const pointsIn = (samples: readonly Sample[]): readonly Point[] =>
  samples
    .filter(sample => histogramOf(sample) === undefined || !sample.name.endsWith('_bucket'))
    .map(({ name, labels, value }) => ({ series: seriesText(name, labels), name, labels, value }))

/** What differs between two looks, in the order of the later one; what is gone comes last. */
function changesIn(before: ReadonlyMap<string, Point>, after: readonly Point[]): readonly Moved[] {
  const moved = after.flatMap(({ value, ...point }) => {
    const from = before.get(point.series)?.value ?? null
    return Object.is(from, value) ? [] : [{ ...point, from, to: value }]
  })
  const there = new Set(after.map(({ series }) => series))
  const gone = [...before.values()].filter(({ series }) => !there.has(series))
  return [...moved, ...gone.map(({ value, ...point }) => ({ ...point, from: value, to: null }))]
}

const told = (value: number | null): number | string | null =>
  value === null || Number.isFinite(value) ? value : numberText(value)

const text = (value: number | null): string => (value === null ? 'absent' : numberText(value))

const columns = [
  { title: 'AT', format: 'plain' },
  { title: 'NAME', format: 'plain' },
  { title: 'LABELS', format: 'plain' },
  { title: 'FROM', format: 'number' },
  { title: 'TO', format: 'number' },
] as const

/** A line for each change; the first look is one line that counts, or one NDJSON line with all of it. */
function lines({ printer, logger, options, host }: CommandContext): (look: Look) => Promise<void> {
  const print = (record: JsonObject, rows: readonly (number | string | null)[] = [], sentence?: string) =>
    printer.print({
      records: [record],
      document: ([one = {}]) => one,
      shape: () => ({
        columns,
        rows: rows.length === 0 ? [] : [rows],
        ...(sentence === undefined ? {} : { sentence }),
      }),
    })
  return async ([points, changes]) => {
    const at = new Date(host.clock.now()).toISOString()
    for (const { series, name, labels, from, to } of changes ?? [])
      await print(
        { type: 'change', at, name, labels, from: told(from), to: told(to) },
        [at, name, labelsText(labels), told(from), told(to)],
        `${series} ${text(from)} -> ${text(to)}`,
      )
    if (changes !== undefined) return
    if (options.format !== 'ndjson') return logger.info(`Watching ${points.length} series.`)
    const series = points.map(({ name, labels, value }) => ({ name, labels, value: told(value) }))
    await print({ type: 'metrics', at, series })
  }
}

/** How many looks are kept of each series. */
const mostKept = 40

/** Every series with its last values as a line; those that have moved come first, so that they are seen. */
function picture(): LiveScreen<Look> {
  const history = new Map<string, { readonly point: Point; readonly values: readonly number[] }>()
  let looks = 0
  return {
    update([points]) {
      looks++
      const now = new Map(points.map(point => [point.series, point]))
      for (const series of new Set([...history.keys(), ...now.keys()])) {
        const kept = history.get(series)
        const point = now.get(series) ?? kept?.point
        if (point === undefined) continue
        const before = kept?.values ?? Array.from({ length: Math.min(looks - 1, mostKept) }, () => Number.NaN)
        const values = [...before, now.get(series)?.value ?? Number.NaN].slice(-mostKept)
        if (values.every(Number.isNaN) && !now.has(series)) history.delete(series)
        else history.set(series, { point, values })
      }
    },
    draw() {
      const all = [...history.values()]
      const shared = sharedBy(all.map(({ point }) => point.labels))
      const hasMoved = (values: readonly number[]) => new Set(values).size > 1
      const sorted = all.toSorted(
        (one, other) => Number(hasMoved(other.values)) - Number(hasMoved(one.values)),
      )
      const common = labelsText(shared)
      return {
        shape: {
          heading: [
            looks === 0
              ? 'The metrics could not be read yet.'
              : `${all.length} series${common === '' ? '' : ` of ${common}`}`,
          ],
          columns: [
            { title: 'NAME', format: 'plain' },
            { title: 'LABELS', format: 'plain' },
            { title: 'VALUE', format: 'number' },
            { title: 'HISTORY', format: 'id' },
          ],
          rows: sorted.map(({ point, values }) => [
            point.name,
            labelsText(without(point.labels, shared)),
            numberText(values.at(-1) ?? Number.NaN),
            // A blank would be trimmed away.
            sparkline(values).replaceAll(' ', '·'),
          ]),
        },
        foot: [],
      }
    },
  }
}

const defaultInterval = 60_000

/** `metrics watch`: the metrics over time, while it runs. Nothing is stored. */
export const metricsWatch = defineCommand({
  command: 'metrics watch',
  summary: 'Watch metrics: a line of history for each series, and every change',
  request: metrics,
  output: {
    table: 'the series, drawn anew, on a terminal; a line for each change elsewhere',
    json: 'the metrics as they are now, with --once alone',
    ndjson: 'one {"type":"metrics"}, then a line for each change',
  },
  inputs: watchInputs('the metrics', '60s'),
  examples: [
    'mergeq metrics watch',
    'mergeq metrics watch --interval 5m --for 8h -o ndjson > today.ndjson',
    'mergeq metrics watch --once',
  ],
  async run(values, context) {
    const { options } = context
    checkWatchInputs(values)
    if (options.dryRun || (values.once && options.format !== 'ndjson')) return runOperation(metrics, context)
    if (options.format === 'json')
      throw usageError(
        '`mergeq metrics watch` is a stream, and JSON is one document.',
        'Use -o ndjson for the changes, or --once for the metrics as they are now.',
      )
    const [one] = await readInvocations(metrics, context)
    if (one === undefined) return 0
    const { interval = defaultInterval } = values
    let before: ReadonlyMap<string, Point> | undefined
    const look = async (at: CommandContext): Promise<Look> => {
      const points = pointsIn(
        samplesIn((await callOperation(at, getMergeQueueMetrics, one.values, one)).reply.bytes),
      )
      const changes = before === undefined ? undefined : changesIn(before, points)
      before = new Map(points.map(point => [point.series, point]))
      return [points, changes]
    }
    const stage = isLive(context)
      ? await createLiveRenderer(picture(), interval, context)
      : createLineRenderer(lines(context), context)
    return watchLoop(look, { ...values, interval }, stage, context)
  },
})
