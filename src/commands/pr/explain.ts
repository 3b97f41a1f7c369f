import { explainPullRequest } from '../../api/operations/conclusions.ts'
import { getMergeQueueMetrics } from '../../api/operations/metrics.ts'
import { getMergeQueueTestingDetails, getPartialPullRequest } from '../../api/operations/pull-requests.ts'
import { getQueue } from '../../api/operations/queues.ts'
import { explanationRecord } from '../../api/operations/records.ts'
import { command } from '../../command/command.ts'
import type { Input } from '../../command/inputs.ts'
import { pullRequests } from '../../command/pull-request-inputs.ts'
import { setOf } from '../../command/set-option.ts'
import { queueOfSettings, webOption } from '../../command/shared-inputs.ts'
import { isOtherAddress, testRunInAddress } from '../../values/test-run.ts'
import type { ExplainedItems } from './explain/report.ts'

/** The pull requests to explain, and the test runs whose pull requests are to be explained. */
const explained: Input<ExplainedItems> = {
  ...pullRequests,
  async read(args, context) {
    const words = args.get('pr') ?? []
    const ids = words.filter(isOtherAddress).map(testRunInAddress)
    if (ids.length === 0) return { pullRequests: await pullRequests.read(args, context), runs: [] }
    const queue = await queueOfSettings(context.settings.withArgs(args))
    const others = words.filter(word => !isOtherAddress(word))
    const withOthers = new Map(args).set('pr', others)
    return {
      pullRequests: others.length === 0 ? [] : await pullRequests.read(withOthers, context),
      runs: ids.map(run => ({ ...queue, run })),
    }
  },
}

export const definition = command({
  name: 'pr explain',
  summary: 'Explain why pull requests are not merging and what to do next',
  alsoSends: [getPartialPullRequest, getQueue, getMergeQueueTestingDetails, getMergeQueueMetrics],
  options: {
    explained,
    web: webOption,
  },
  set: setOf(explainPullRequest),
  prints: {
    table:
      'the verdict, the reasons, the next steps, and whether to submit again; of several pull requests, their numbers first',
    ndjson: 'the same, on one line for each pull request',
    documents: [explanationRecord],
  },
  examples: [
    'mergeq pr explain 123',
    'mergeq pr explain 123 124',
    'mergeq pr explain 123 --json | jq -r .verdict',
    'mergeq pr explain 123 --set includeTimeline=true',
  ],
  async run({ explained, web }, cli) {
    const { explainAll } = await import('./explain/report.ts')
    return explainAll(explained, web, cli)
  },
})
