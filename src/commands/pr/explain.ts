import { explainPullRequest } from '../../api/operations/conclusions.ts'
import { outline } from '../../api/operations/fields.ts'
import { getMergeQueueMetrics } from '../../api/operations/metrics.ts'
import { getMergeQueueTestingDetails, getPartialPullRequest } from '../../api/operations/pull-requests.ts'
import { getQueue } from '../../api/operations/queues.ts'
import { explanationRecord } from '../../api/operations/records.ts'
import { command } from '../../command/command.ts'
import { webOption } from '../../command/common-inputs.ts'
import { fieldsOfRecords } from '../../command/fields.ts'
import { pullRequests, setOf } from '../../command/values.ts'

export const prExplainCommand = command({
  name: 'pr explain',
  summary: 'Explain why pull requests are not merging and what to do next',
  alsoSends: [getPartialPullRequest, getQueue, getMergeQueueTestingDetails, getMergeQueueMetrics],
  options: {
    pullRequests,
    web: webOption,
  },
  set: setOf(explainPullRequest),
  documents: [explanationRecord],
  fields: fieldsOfRecords([explanationRecord]),
  prints: {
    table:
      'the verdict, the reasons, the next steps, and whether to submit again; of several pull requests, their numbers first',
    json: outline(explanationRecord),
    ndjson: 'the same, on one line for each pull request',
  },
  examples: [
    'mergeq pr explain 123',
    'mergeq pr explain 123 124',
    'mergeq pr explain 123 --json | jq -r .verdict',
    'mergeq pr explain 123 --set includeTimeline=true',
  ],
  async run({ pullRequests, web }, cli) {
    const { explainAll } = await import('./explain/report.ts')
    return explainAll(pullRequests, web, cli)
  },
})
