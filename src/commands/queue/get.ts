import { getMergeQueueMetrics } from '../../api/operations/metrics.ts'
import { getQueue } from '../../api/operations/queues.ts'
import type { DecodedResponse } from '../../api/response.ts'
import { defineCommand } from '../../cli/command.ts'
import type { CommandContext } from '../../cli/context.ts'
import { serviceRecord } from '../../cli/fields.ts'
import { printResults, sendOne } from '../../cli/run.ts'
import { positionEntries } from '../../domain/queue-entries.ts'
import { type ColumnSpec, table } from '../../output/view.ts'
import type { QueueParams, QueueRequest } from './plan.ts'
import { queueScreen, readQueueActivity } from './screen.ts'

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
export async function printQueue(request: QueueRequest, context: CommandContext): Promise<number> {
  const { host, isWatched, presentation, settings } = context
  const command = { command: 'queue get', operation: getQueue }
  const [sent, activity] = await Promise.all([
    sendOne(command, request, context),
    isWatched ? readQueueActivity(context.client(), request.values) : undefined,
  ])
  const view = ({ records: [queue = {}] }: DecodedResponse, values: QueueParams) => ({
    ...table(positionEntries(queue), columns),
    ...(presentation === 'screen'
      ? {
          terminalView: () =>
            queueScreen(queue, {
              ...values,
              activity,
              columns: host.out.columns,
              commandLine: settings.commandLine,
            }),
        }
      : {}),
  })
  return printResults({ ...command, view }, [request], [sent], context)
}

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
    return printQueue(await context.request(), context)
  },
})
