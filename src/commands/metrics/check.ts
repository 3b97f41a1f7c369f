import { callOperation } from '../../api/call.ts'
import { getMergeQueueMetrics, samplesIn } from '../../api/operations/queue-metrics.ts'
import { anyField } from '../../api/operations/service-fields.ts'
import { defineCommand } from '../../cli/command.ts'
import type { RecordFields } from '../../cli/fields/record-fields.ts'
import type { Input } from '../../cli/inputs.ts'
import { pluralize } from '../../domain/format.ts'
import { checkMetrics, describeCheck, type MetricCheckResult } from '../../domain/metrics/check-metrics.ts'
import { numberText, type Sample } from '../../domain/metrics/exposition.ts'
import { type Expression, parseExpression } from '../../domain/metrics/expression.ts'
import { MergeqError, toMergeqError } from '../../errors.ts'
import type { JsonObject } from '../../json.ts'
import { type ColumnSpec, table } from '../../output/view.ts'
import { metricsRequest } from './request/metrics-request.ts'

/** The expressions to check. */
const expressions: Input<readonly Expression[]> = {
  definitions: [
    {
      name: 'expression',
      required: true,
      variadic: true,
      summary: "Threshold in quotes: 'mq_depth_current < 50'; =~ and !~ take a JavaScript regular expression",
    },
  ],
  read: args => (args.get('expression') ?? []).map(parseExpression),
}

/** Returns a value as `metrics --json` prints it: text for NaN and infinity, which JSON does not have. */
const jsonNumber = (value: number): number | string => (Number.isFinite(value) ? value : numberText(value))

/** Returns a result as `--json` lists it; for a quantile also the bucket of the interpolated value. */
const toRecord = (result: MetricCheckResult): JsonObject => ({
  expression: result.expression.text,
  series: result.series,
  labels: result.labels,
  value: jsonNumber(result.value),
  holds: result.holds,
  ...(result.expression.series.over !== 'quantile'
    ? {}
    : { interpolated: true, between: result.between?.map(jsonNumber) ?? null }),
  reason: describeCheck(result),
})

const missingSeriesRecord = ({ text }: Expression, { message }: MergeqError): JsonObject => ({
  expression: text,
  series: null,
  labels: {},
  value: null,
  holds: false,
  reason: message,
})

const columns: readonly ColumnSpec[] = [
  ['RESULT', 'result', 'state'],
  ['REASON', 'reason', 'prose'],
]

const withResult = (record: JsonObject): JsonObject => ({
  ...record,
  result: record.holds === true ? 'pass' : 'fail',
})

/** A record is a series that an expression selects. */
const seriesRecord: RecordFields = {
  names: [
    'expression',
    'series',
    'labels',
    `labels${anyField}`,
    'value',
    'holds',
    'interpolated',
    'between',
    'reason',
  ],
  columns,
}

/** The records of an expression, and the error if its series is missing. */
type ExpressionResult = { readonly records: readonly JsonObject[]; readonly failure?: MergeqError }

/** Checks an expression. Returns the error for a missing series, so that other results are still printed. */
function checkExpression(expression: Expression, samples: readonly Sample[]): ExpressionResult {
  try {
    return { records: checkMetrics(expression, samples).map(toRecord) }
  } catch (error) {
    const failure = toMergeqError(error)
    if (failure.kind !== 'not-found') throw failure
    return { records: [missingSeriesRecord(expression, failure)], failure }
  }
}

/**
 * `metrics check`: compares metrics with thresholds; exits with 21 if a check fails, 5 without the series.
 */
export const metricsCheckCommand = defineCommand({
  command: 'metrics check',
  summary: 'Check metrics against thresholds',
  request: metricsRequest,
  exitKinds: ['check-failed'],
  output: {
    table: 'one row per series that an expression selects',
    json: 'a list of series, each with its value and whether it meets the threshold',
    ndjson: 'one series per line',
  },
  fields: seriesRecord,
  inputs: { expressions },
  examples: [
    'mergeq metrics check \'sum(mq_depth_current{queue_type="main"}) < 50\'',
    'mergeq metrics check \'quantile(0.95, mq_pr_time_in_queue_1h_seconds{queue_type="main",conclusion="merged"}) <= 3600\'',
    'mergeq metrics check \'mq_pr_restarts_1h_total{branch=~"main|release-.*"} < 10\' --json',
  ],
  async run({ expressions: requested }, context, [invocation]) {
    const { printer } = context
    if (invocation === undefined) return 0
    const { response } = await callOperation(
      context.client(),
      getMergeQueueMetrics,
      invocation.values,
      invocation,
    )
    const samples = samplesIn(response.bytes)
    const results = requested.map(expression => checkExpression(expression, samples))
    const records = results.flatMap(({ records }) => records)
    await printer.print({
      records,
      document: all => all,
      view: all => ({
        ...table(all.map(withResult), columns),
        // What failed is last, next to the error.
        terminalView: () =>
          table(
            all.map(withResult).toSorted((one, other) => Number(other.holds) - Number(one.holds)),
            columns,
          ),
      }),
    })
    await printer.end()
    const failures = results.flatMap(({ failure }) => (failure === undefined ? [] : [failure]))
    const [missingError] = failures
    if (missingError !== undefined) throw missingError
    const failing = records.filter(({ holds }) => holds !== true)
    const [first] = failing
    if (first === undefined) return 0
    throw new MergeqError(
      'check-failed',
      `metrics check: ${failing.length} of ${pluralize(records.length, 'value')} ${failing.length === 1 ? 'does' : 'do'} not meet the threshold: ${first.reason}.`,
      { hint: 'To show all metrics, run: mergeq metrics --raw' },
    )
  },
})
