import { getMergeQueueMetrics } from '../../api/operations/metrics.ts'
import { getQueue } from '../../api/operations/queues.ts'
import type { DecodedResponse } from '../../api/response.ts'
import { defineCommand } from '../../cli/command.ts'
import { printDryRun } from '../../cli/confirm.ts'
import type { CommandContext } from '../../cli/context.ts'
import { serviceRecord } from '../../cli/fields.ts'
import { runRequests } from '../../cli/run-requests.ts'
import { positionEntries } from '../../domain/queue-entries.ts'
import { type ColumnSpec, table } from '../../output/view.ts'
import type { QueueParams, QueueRequest } from './plan.ts'
import { type QueueActivity, queueScreen, readQueueActivity } from './screen.ts'

const columns: readonly ColumnSpec[] = [
  ['POSITION', 'position', 'number'],
  ['PR', 'prNumber', 'pr'],
  ['STATE', 'state', 'state'],
  ['PRIORITY', 'priorityName'],
  ['SINCE', 'stateChangedAt', 'time'],
  ['AUTHOR', 'prAuthor'],
  ['TITLE', 'prTitle'],
]

/** The fields of a queue; the rows of the table are its pull requests. */
export const queueRecord = serviceRecord(
  getQueue,
  [...columns, ['FOR', 'stateChangedAt', 'age']],
  'enqueuedPullRequests',
)

/**
 * Prints a queue: a screen on a terminal, with what the metrics say about its last hour, and a table
 * elsewhere. Returns the exit code.
 */
export async function printQueue(
  requests: readonly QueueRequest[],
  context: CommandContext,
): Promise<number> {
  const { host } = context
  const { commandLine } = context.settings
  const [request] = requests
  const isScreen = context.presentation === 'screen'
  const hasActivity = isScreen && host.out.terminal && request !== undefined
  // Read at the same time as the queue.
  const reading = hasActivity ? readQueueActivity(context.client(), request.values) : undefined
  let activity: QueueActivity | undefined
  const command = {
    command: 'queue get',
    operation: getQueue,
    view({ records: [queue = {}] }: DecodedResponse, values: QueueParams) {
      const { columns: width } = host.out
      const screen = () => queueScreen(queue, { ...values, activity, columns: width, commandLine })
      return { ...table(positionEntries(queue), columns), ...(isScreen ? { terminalView: screen } : {}) }
    },
  }
  return runRequests(command, requests, context, {
    async beforePrint() {
      activity = await reading
    },
  })
}

/** `mergeq queue get`: a queue and the pull requests in it. */
export const queueGetCommand = defineCommand({
  command: 'queue get',
  summary: 'Show a queue: its state and pull requests',
  operation: getQueue,
  operations: [getMergeQueueMetrics],
  fields: queueRecord,
  examples: [
    'mergeq queue get',
    'mergeq queue get --json | jq -r .state',
    'mergeq queue get --fields state,mode',
  ],
  async run(_, context) {
    const requests = await context.requests()
    if (context.options.dryRun) return printDryRun(getQueue, requests, context)
    return printQueue(requests, context)
  },
})
