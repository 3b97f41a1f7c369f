import { getMergeQueueMetrics } from '../../api/operations/metrics.ts'
import { getQueue } from '../../api/operations/queues.ts'
import { getSubmittedPullRequests } from '../../api/operations/several-pull-requests.ts'
import { command } from '../../command/command.ts'
import { paramsOf } from '../../command/param-inputs.ts'
import { setOf } from '../../command/set-option.ts'
import { printQueue, selectableFields } from './shared/print-queue.ts'

export const definition = command({
  name: 'queue get',
  summary: 'Show a queue: its state and pull requests',
  operation: getQueue,
  alsoSends: [getMergeQueueMetrics, getSubmittedPullRequests],
  options: { ...paramsOf(getQueue) },
  set: setOf(getQueue),
  prints: {
    table: 'a table on a terminal; on a pipe, tab-separated rows',
    json: 'the document from the service',
    ndjson: 'a pull request of the queue per line; with --fields of the queue, the queue',
    fields: selectableFields,
  },
  examples: [
    'mergeq queue get',
    'mergeq queue get --json | jq -r .state',
    'mergeq queue get --fields state,mode',
    'mergeq queue get --fields prNumber,state -o csv',
  ],
  run: printQueue,
})
