import { getMergeQueueMetrics, samplesIn } from '../api/operations/queue-metrics.ts'
import { sampleFields } from '../api/operations/service-fields.ts'
import { defineOperationCommand } from '../cli/command.ts'
import type { RecordFields } from '../cli/fields/record-fields.ts'
import type { Input } from '../cli/inputs.ts'
import type { Repository } from '../domain/values/repository.ts'
import { usageError } from '../errors.ts'
import { metricsView } from './metrics/view/metrics-view.ts'

/**
 * The repository that an option or the environment names; without one, all of the organization
 * (docs/reference/cli.md, "CI jobs and git").
 */
const repositoryOrAll: Input<Repository | undefined> = {
  definitions: [
    {
      name: '--all-repos',
      summary: 'Include all repositories of the organization (the default without --repo)',
    },
  ],
  setting: 'repo',
  read(args, context) {
    if (!args.has('--all-repos')) return context.readExplicit('repo')
    if (args.has('--repo'))
      throw usageError('--all-repos and --repo cannot be used together.', 'Use only one of them.')
    return undefined
  },
}

/** The branch that --target-branch names; without it, all branches are shown. */
const typedBranch: Input<string | undefined> = {
  definitions: [],
  setting: 'targetBranch',
  read: async (args, context) => (args.has('--target-branch') ? context.require('targetBranch') : undefined),
}

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

/** `mergeq metrics`: the metrics of merge queues. */
export const metricsCommand = defineOperationCommand({
  command: 'metrics',
  summary: 'Print merge queue metrics in the Prometheus text format',
  operation: getMergeQueueMetrics,
  inputs: { repo: repositoryOrAll, branch: typedBranch },
  fields: sampleRecord,
  view: response => ({
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
    terminalView: () => metricsView(samplesIn(response.bytes)),
    raw: response.bytes,
  }),
  examples: [
    'mergeq metrics',
    'mergeq metrics --target-branch main',
    'mergeq metrics --repo acme/web --json',
    'mergeq metrics > mergeq.prom',
  ],
})
