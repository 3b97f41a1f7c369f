import { callOperation } from '../../api/call.ts'
import { getMergeQueueMetrics, samplesIn } from '../../api/operations/metrics.ts'
import { defineCommand } from '../../cli/command.ts'
import type { Input } from '../../cli/inputs.ts'
import { readInvocations } from '../../cli/invocation.ts'
import { printDryRun } from '../../cli/run-operation.ts'
import { pluralize } from '../../domain/format.ts'
import { checkMetrics, describeCheck, type MetricCheckResult } from '../../domain/metrics/check.ts'
import { numberText, type Sample } from '../../domain/metrics/exposition.ts'
import { type Expression, parseExpression } from '../../domain/metrics/expression.ts'
import { MergeqError, toMergeqError } from '../../errors.ts'
import type { JsonObject } from '../../json.ts'
import { type ColumnSpec, table } from '../../output/view.ts'
import { metrics } from '../metrics.ts'

const expressions: Input<readonly Expression[]> = {
  definitions: [
    {
      syntax: '<expression...>',
      summary: "What must hold: 'mq_depth_current < 50' (quote it)",
      variadic: true,
    },
  ],
  read: args => (args.get('expression') ?? []).map(parseExpression),
}

/** A value as `metrics --json` prints it. */
const told = (value: number): number | string => (Number.isFinite(value) ? value : numberText(value))

/** What was found, as `--json` lists it; a quantile says that it is interpolated, and in which bucket. */
const recordOf = (verdict: MetricCheckResult): JsonObject => ({
  expression: verdict.expression.text,
  series: verdict.series,
  labels: verdict.labels,
  value: told(verdict.value),
  holds: verdict.holds,
  ...(verdict.expression.series.over !== 'quantile'
    ? {}
    : { interpolated: true, between: verdict.between?.map(told) ?? null }),
  reason: describeCheck(verdict),
})

const missing = ({ text }: Expression, { message }: MergeqError): JsonObject => ({
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

type Found = { readonly records: readonly JsonObject[]; readonly failure?: MergeqError }

/** What an expression comes to. That its series is absent is a failure, told after what the others came to. */
function check(one: Expression, samples: readonly Sample[]): Found {
  try {
    return { records: checkMetrics(one, samples).map(recordOf) }
  } catch (error) {
    const failure = toMergeqError(error)
    if (failure.kind !== 'not-found') throw failure
    return { records: [missing(one, failure)], failure }
  }
}

/** `metrics check`: 0 when all of it holds, 21 when something does not, 5 when a series is absent. */
export const metricsCheck = defineCommand({
  command: 'metrics check',
  summary: 'Hold metrics against bounds, as an exit code: 0 if all hold, 21 if not, 5 without the series',
  request: metrics,
  exitKinds: ['check-failed'],
  output: {
    table: 'a row for each series that an expression takes',
    json: 'a list of them, each with its value and whether it holds',
    ndjson: 'one a line',
  },
  inputs: { expressions },
  examples: [
    'mergeq metrics check \'sum(mq_depth_current{queue_type="main"}) < 50\'',
    'mergeq metrics check \'quantile(0.95, mq_pr_time_in_queue_1h_seconds{queue_type="main",conclusion="merged"}) <= 3600\'',
    'mergeq metrics check \'mq_pr_restarts_1h_total{branch=~"main|release-.*"} < 10\' --json',
  ],
  async run({ expressions: asked }, context) {
    const { printer, options } = context
    const runs = await readInvocations(metrics, context)
    const [run] = runs
    if (options.dryRun || run === undefined) return printDryRun(getMergeQueueMetrics, runs, context)
    const { reply } = await callOperation(context, getMergeQueueMetrics, run.values, run)
    const samples = samplesIn(reply.bytes)
    const found = asked.map(one => check(one, samples))
    const records = found.flatMap(one => one.records)
    await printer.print({
      records,
      document: all => all,
      shape: all =>
        table(
          all.map(one => ({ ...one, result: one.holds === true ? 'pass' : 'fail' })),
          columns,
        ),
    })
    await printer.end()
    const failures = found.flatMap(({ failure }) => (failure === undefined ? [] : [failure]))
    const [absent] = failures
    if (absent !== undefined) throw absent
    const wrong = records.filter(({ holds }) => holds !== true)
    const [first] = wrong
    if (first === undefined) return 0
    throw new MergeqError(
      'check-failed',
      `metrics check: ${wrong.length} of ${pluralize(records.length, 'value')} ${wrong.length === 1 ? 'does' : 'do'} not hold: ${first.reason}.`,
      { hint: '`mergeq metrics` shows all of them.' },
    )
  },
})
