import { callOperation } from '../../../api/call.ts'
import { getMergeQueueMetrics, samplesIn } from '../../../api/operations/metrics.ts'
import type { CommandContext } from '../../../cli/context.ts'
import { readInvocations } from '../../../cli/invocation.ts'
import { MergeqError } from '../../../errors.ts'
import { metrics } from '../../metrics.ts'

/** What the metrics say of the last hour of a queue. */
export interface MeasuredLoad {
  readonly prsPerHour: number
  readonly testMinutes: number
  readonly failureRate: number
}

/**
 * What a queue has seen in its last hour (service-observed.md section 4): what left it merged or failed, and how long its
 * tests took on the average. Where the settings name a target branch, that one alone. An hour without either is no
 * measure: then it is a `not-found` failure.
 */
export async function measureLoad(context: CommandContext): Promise<MeasuredLoad> {
  const [run] = await readInvocations(metrics, context)
  const branch = await context.settings.read('targetBranch')
  if (run === undefined) throw new MergeqError('internal', 'there is nothing to read.')
  const { reply } = await callOperation(context, getMergeQueueMetrics, run.values, run)
  const samples = samplesIn(reply.bytes).filter(
    ({ labels }) => branch === undefined || labels.branch === branch,
  )
  const sum = (name: string, conclusion?: string) =>
    samples
      .filter(one => one.name === name && (conclusion === undefined || one.labels.conclusion === conclusion))
      .reduce((total, { value }) => total + (Number.isFinite(value) ? value : 0), 0)
  const [merged, failed] = ['merged', 'failed'].map(one => sum('mq_pr_conclusions_1h_total', one))
  const concluded = (merged ?? 0) + (failed ?? 0)
  const tested = sum('mq_pr_test_duration_1h_seconds_count')
  if (concluded === 0 || tested === 0)
    throw new MergeqError(
      'not-found',
      'the metrics of the last hour have no test run that ended, or no merge and no failure.',
      {
        hint: 'Give --prs-per-hour, --test-minutes and --failure-rate, or try again in a busier hour.',
      },
    )
  return {
    prsPerHour: concluded,
    testMinutes: sum('mq_pr_test_duration_1h_seconds_sum') / tested / 60,
    failureRate: (failed ?? 0) / concluded,
  }
}
