import { explainQueue } from '../../api/operations/conclusions.ts'
import { getMergeQueueMetrics } from '../../api/operations/metrics.ts'
import {
  getMergeQueueTestingDetails,
  getPartialPullRequest,
  listPullRequests,
} from '../../api/operations/pull-requests.ts'
import { getQueue } from '../../api/operations/queues.ts'
import { queueExplanationRecord } from '../../api/operations/records.ts'
import { getSubmittedPullRequests } from '../../api/operations/several-pull-requests.ts'
import { command } from '../../command/command.ts'
import { setOf } from '../../command/set-option.ts'
import { queueInput } from '../../command/shared-inputs.ts'
import { factTable, singleRecord } from '../../output/view.ts'
import { queueName } from '../../values/repository.ts'
import { forSelectedQueues, printSelection, severalQueues, unlessSeveral } from './shared/all-queues.ts'

export const definition = command({
  name: 'queue explain',
  summary: 'Explain why nothing moves in a queue and what to do',
  alsoSends: [
    getQueue,
    getPartialPullRequest,
    getMergeQueueTestingDetails,
    getSubmittedPullRequests,
    listPullRequests,
    getMergeQueueMetrics,
  ],
  options: { queue: unlessSeveral(queueInput), ...severalQueues('Explain') },
  set: setOf(explainQueue),
  prints: {
    table:
      'the verdict, the reasons, the pull request at the head, those that are not ready, and the next steps',
    note: 'with --all or --file, one per queue',
    documents: [queueExplanationRecord],
  },
  examples: [
    'mergeq queue explain',
    'mergeq queue explain --json | jq -r .verdict',
    'mergeq queue explain --all -o ndjson',
  ],
  async run({ queue, file }, cli) {
    if (cli.options.dryRun) return printSelection({ queue, file }, cli)
    const { explainQueueAt, queueExplanationJson } = await import('../../explain/explain-queue.ts')
    const { queueExplanationLines, queueExplanationRows } = await import('./explain/view.ts')
    const isSeveral = queue === undefined
    return forSelectedQueues(cli, {
      queue,
      file,
      work: place => explainQueueAt(place, cli.client()),
      async print(explanation, place) {
        const name = isSeveral ? [['queue', queueName(place)] as const] : []
        await cli.printer.add({
          ...singleRecord(queueExplanationJson(explanation)),
          ...factTable([...name, ...queueExplanationRows(explanation)]),
          screen: () => ({
            heading: queueExplanationLines(explanation, place, cli.serviceTime.startedAt()),
            isSeparate: true,
          }),
        })
        return undefined
      },
    })
  },
})
