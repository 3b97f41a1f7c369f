import { getMergeQueueMetrics } from '../../api/operations/metrics.ts'
import { getQueue } from '../../api/operations/queues.ts'
import type { RequestCommand } from '../../cli/command.ts'
import type { CommandContext } from '../../cli/context.ts'
import { defineCustomCommand, type Invocation } from '../../cli/custom-command.ts'
import { serviceRecord } from '../../cli/fields.ts'
import type { InputValues } from '../../cli/inputs.ts'
import { runRequests } from '../../cli/run-requests.ts'
import { positionEntries } from '../../domain/queue-entries.ts'
import { type ColumnSpec, table } from '../../output/view.ts'
import { queueRequest } from './get/queue-request.ts'

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
  invocations: readonly Invocation<typeof queueRequest.inputs>[],
  context: CommandContext,
): Promise<number> {
  const { presentation, host, settings } = context
  const [invocation] = invocations
  const screen = presentation === 'screen' ? await import('./get/queue-screen.ts') : undefined
  const readActivity = async () => {
    if (presentation !== 'screen' || !host.out.terminal || invocation === undefined) return undefined
    const { readQueueActivity } = await import('./get/queue-activity.ts')
    return readQueueActivity(context.client(), invocation.values)
  }
  // Read at the same time as the queue.
  const reading = readActivity()
  let activity: Awaited<typeof reading>
  const request: RequestCommand<InputValues<typeof queueRequest.inputs>> = {
    ...queueRequest,
    view({ records: [queue = {}] }, values) {
      const entries = positionEntries(queue)
      return {
        ...table(entries, columns),
        ...(screen && {
          terminalView: () =>
            screen.queueScreen(queue, {
              ...values,
              activity,
              columns: host.out.columns,
              commandLine: settings.commandLine,
            }),
        }),
      }
    },
  }
  return runRequests(request, invocations, context, {
    async beforePrint() {
      activity = await reading
    },
  })
}

/** `mergeq queue get`: a queue and the pull requests in it. */
export const queueGetCommand = defineCustomCommand({
  command: 'queue get',
  summary: 'Show a queue: its state and pull requests',
  operation: getQueue,
  request: queueRequest,
  inputs: {},
  operations: [getMergeQueueMetrics],
  fields: queueRecord,
  examples: [
    'mergeq queue get',
    'mergeq queue get --json | jq -r .state',
    'mergeq queue get --fields state,mode',
  ],
  run: (_, context, invocations) => printQueue(invocations, context),
})
