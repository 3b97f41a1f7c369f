import { getMergeQueueMetrics, readSamplesIn, samplesIn } from '../api/operations/queue-metrics.ts'
import { sampleFields } from '../api/operations/service-fields.ts'
import { defineCommand, defineOperationRequest } from '../cli/command.ts'
import type { CommandContext } from '../cli/context.ts'
import type { RecordFields } from '../cli/fields/record-fields.ts'
import { flag } from '../cli/inputs.ts'
import type { Invocation } from '../cli/invocation.ts'
import { runInvocations } from '../cli/run-invocations.ts'
import { summarizeMetrics } from '../domain/metrics/summary.ts'
import { metricsRequest } from './metrics/request/metrics-request.ts'
import { seriesView } from './metrics/view/series-view.ts'
import { summaryView } from './metrics/view/summary-view.ts'

/** A record is a sample. */
export const sampleRecord: RecordFields = {
  names: sampleFields,
  columns: [
    ['NAME', 'name'],
    ['LABELS', 'labels'],
    ['VALUE', 'value', 'number'],
  ],
}

const columns = [
  { title: 'NAME', format: 'plain' },
  { title: 'LABELS', format: 'plain' },
  { title: 'VALUE', format: 'number' },
] as const

/** `--raw`. */
export const rawOption = flag({
  name: 'raw',
  summary: 'Show every series on a terminal instead of a summary',
})

/** The largest number of queues in a summary. */
export const maxQueues = 20

/** Prints the metrics: a summary or all series on a terminal, the text of the service on a pipe. */
export function printMetrics(
  raw: boolean,
  invocations: readonly Invocation<typeof metricsRequest.inputs>[],
  context: CommandContext,
): Promise<number> {
  const { columns: width } = context.host.out
  const request = defineOperationRequest({
    ...metricsRequest,
    view: (response, { branch }) => ({
      columns,
      get rows() {
        return response.records.map(({ name, labels, value }) => [
          name,
          Object.entries(labels ?? {})
            .map(([key, value]) => `${key}=${value}`)
            .join(' '),
          value,
        ])
      },
      terminalView() {
        const samples = raw ? samplesIn(response.bytes) : []
        return samples.length > 0
          ? seriesView(samples, width)
          : summaryView(summarizeMetrics(readSamplesIn(response.bytes)), {
              columns: width,
              maxQueues,
              branch,
            })
      },
      raw: response.bytes,
    }),
  })
  return runInvocations(request, invocations, context)
}

/** `mergeq metrics`: the metrics of merge queues. */
export const metricsCommand = defineCommand({
  command: 'metrics',
  summary: 'Show merge queue metrics (Prometheus text format on a pipe)',
  operation: getMergeQueueMetrics,
  request: metricsRequest,
  inputs: { raw: rawOption },
  fields: sampleRecord,
  examples: [
    'mergeq metrics',
    'mergeq metrics --target-branch main',
    'mergeq metrics --raw',
    'mergeq metrics --repo acme/web --json',
    'mergeq metrics > mergeq.prom',
  ],
  run: ({ raw }, context, invocations) => printMetrics(raw, invocations, context),
})
