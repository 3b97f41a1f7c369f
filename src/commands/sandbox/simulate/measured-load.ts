import { callOperation } from '../../../api/call.ts'
import { getMergeQueueMetrics, samplesIn } from '../../../api/operations/queue-metrics.ts'
import type { CommandContext } from '../../../cli/context.ts'
import { readInvocations } from '../../../cli/invocation.ts'
import { MergeqError } from '../../../errors.ts'
import { metricsRequest } from '../../metrics/request/metrics-request.ts'

/** The load of a queue in the last hour. */
export interface MeasuredLoad {
  readonly prsPerHour: number
  /** Average duration of a test run, in minutes. */
  readonly testMinutes: number
  /** Share of pull requests that failed, 0 to 1. */
  readonly failureRate: number
}

/**
 * Measures the load of the last hour from the metrics (docs/reference/service.md, "Metrics"): how many pull
 * requests merged or failed, and how long test runs took on average. Only the configured target branch
 * counts, if there is any. Throws a `not-found` error when no pull request merged or failed in that hour, or
 * no test run ended.
 */
export async function measureLoad(context: CommandContext): Promise<MeasuredLoad> {
  const [invocation] = await readInvocations(metricsRequest, context)
  const branch = await context.settings.read('targetBranch')
  if (invocation === undefined) throw new MergeqError('internal', 'there is nothing to read.')
  const { response } = await callOperation(
    context.client(),
    getMergeQueueMetrics,
    invocation.values,
    invocation,
  )
  const samples = samplesIn(response.bytes).filter(
    ({ labels }) => branch === undefined || labels.branch === branch,
  )
  const sum = (name: string, conclusion?: string) =>
    samples
      .filter(
        sample =>
          sample.name === name && (conclusion === undefined || sample.labels.conclusion === conclusion),
      )
      .reduce((total, { value }) => total + (Number.isFinite(value) ? value : 0), 0)
  const [merged, failed] = ['merged', 'failed'].map(conclusion =>
    sum('mq_pr_conclusions_1h_total', conclusion),
  )
  const concluded = (merged ?? 0) + (failed ?? 0)
  const tested = sum('mq_pr_test_duration_1h_seconds_count')
  if (concluded === 0 || tested === 0)
    throw new MergeqError(
      'not-found',
      'The metrics for the last hour contain no completed test runs, or no merged or failed pull requests.',
      {
        hint: 'Use --prs-per-hour, --test-minutes and --failure-rate, or try again after a busier hour.',
      },
    )
  return {
    prsPerHour: concluded,
    testMinutes: sum('mq_pr_test_duration_1h_seconds_sum') / tested / 60,
    failureRate: (failed ?? 0) / concluded,
  }
}
