import { getMergeQueueMetrics, samplesIn } from '../api/operations/queue-metrics.ts'
import { defineOperationCommand } from '../cli/command.ts'
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

const columns = [
  { title: 'NAME', format: 'plain' },
  { title: 'LABELS', format: 'plain' },
  { title: 'VALUE', format: 'number' },
] as const

/** The request of `mergeq metrics`, and of every command that reads the metrics. */
export const metricsRequest = {
  command: 'metrics',
  operation: getMergeQueueMetrics,
  inputs: { repo: repositoryOrAll, branch: typedBranch },
} as const

/** `mergeq metrics`: the metrics of merge queues. */
export const metricsCommand = defineOperationCommand({
  ...metricsRequest,
  summary: 'Print merge queue metrics in the Prometheus text format',
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
