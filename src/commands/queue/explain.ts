import { explainQueue } from '../../api/operations/conclusions.ts'
import { outline } from '../../api/operations/fields.ts'
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
import { printRequests } from '../../command/dry-run.ts'
import { fieldsOfRecords } from '../../command/fields.ts'
import { queueInput, setOf } from '../../command/values.ts'
import { nextCommands, nextQueueCommands } from '../../explain/next-commands.ts'
import { keyValueTable, singleRecord } from '../../output/view.ts'

export const queueExplainCommand = command({
  name: 'queue explain',
  summary: 'Explain why nothing moves in a queue and what to do',
  alsoSends: [
    ...[getQueue, getPartialPullRequest, getMergeQueueTestingDetails],
    ...[getSubmittedPullRequests, listPullRequests, getMergeQueueMetrics],
  ],
  options: { queue: queueInput },
  set: setOf(explainQueue),
  documents: [queueExplanationRecord],
  fields: fieldsOfRecords([queueExplanationRecord]),
  prints: {
    table:
      'the verdict, the reasons, the pull request at the head, those that are not ready, and the next steps',
    json: outline(queueExplanationRecord),
    ndjson: 'the same, on one line',
  },
  examples: ['mergeq queue explain', 'mergeq queue explain --json | jq -r .verdict'],
  async run({ queue }, cli) {
    if (cli.options.dryRun) return printRequests(cli, getQueue, [queue])
    const { explainQueueAt, queueExplanationJson } = await import('../../explain/read-queue.ts')
    const explanation = await explainQueueAt(queue, cli.client(), {
      ofQueue: nextQueueCommands(cli.settings, queue),
      ofPullRequest: pr => nextCommands(cli.settings, { ...queue, pr }),
    })
    const { queueExplanationLines, queueExplanationRows } = await import('./explain/view.ts')
    await cli.printer.print({
      ...singleRecord(queueExplanationJson(explanation)),
      ...keyValueTable({}, []),
      rows: queueExplanationRows(explanation),
      screen: () => ({ heading: queueExplanationLines(explanation, queue, cli.serviceTime.startedAt()) }),
    })
    return 0
  },
})
