import { fieldNames, sampleRecord } from '../api/operations/fields.ts'
import { getMergeQueueMetrics, readSamplesIn, samplesIn } from '../api/operations/metrics.ts'
import { defineCommand } from '../cli/command.ts'
import { metricsInputs } from '../cli/common-inputs.ts'
import { flag } from '../cli/inputs.ts'
import { summarizeMetrics } from '../domain/metrics/last-hour.ts'
import { isObject } from '../json.ts'
import { formatLabels, seriesView, summaryView } from './metrics-views.ts'

const columns = [
  { title: 'NAME', format: 'plain' },
  { title: 'LABELS', format: 'plain' },
  { title: 'VALUE', format: 'number' },
] as const

/** The largest number of queues in a summary. */
const maxQueues = 20

/** `mergeq metrics`: a summary or all series on a terminal, the text of the service on a pipe. */
export const metricsCommand = defineCommand({
  command: 'metrics',
  summary: 'Show merge queue metrics (Prometheus text format on a pipe)',
  operation: getMergeQueueMetrics,
  inputs: metricsInputs,
  options: { raw: flag({ name: 'raw', summary: 'Show every series on a terminal instead of a summary' }) },
  // A record is a sample.
  fields: {
    names: fieldNames(sampleRecord),
    columns: [
      ['NAME', 'name'],
      ['LABELS', 'labels'],
      ['VALUE', 'value', 'number'],
    ],
  },
  examples: [
    'mergeq metrics',
    'mergeq metrics --target-branch main',
    'mergeq metrics --raw',
    'mergeq metrics --repo acme/web --json',
    'mergeq metrics > mergeq.prom',
  ],
  view: (response, { branch, raw }, { context }) => ({
    columns,
    get rows() {
      return response.records.map(({ name, labels, value }) => [
        name,
        isObject(labels) ? formatLabels(labels) : '',
        value,
      ])
    },
    terminalView() {
      const { columns: width } = context.host.out
      const samples = raw ? samplesIn(response.bytes) : []
      return samples.length > 0
        ? seriesView(samples, width)
        : summaryView(summarizeMetrics(readSamplesIn(response.bytes)), { columns: width, maxQueues, branch })
    },
    raw: response.bytes,
  }),
})
