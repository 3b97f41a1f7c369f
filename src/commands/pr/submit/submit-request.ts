import { submitPullRequest } from '../../../api/operations/pull-requests.ts'
import { defineOperationCommand } from '../../../cli/command.ts'
import { flag, type Input, option } from '../../../cli/inputs.ts'
import type { Invocation } from '../../../cli/invocation.ts'
import { pullRequestArguments } from '../../../cli/pull-request-arguments.ts'
import { queueInputs } from '../../../cli/queue-inputs.ts'
import { parsePriority, priorities } from '../../../domain/values/text.ts'
import { getNumber, getString, type JsonObject } from '../../../json.ts'
import { message } from '../../../output/view.ts'
import { explainFinished } from '../state/explain-finished.ts'

/**
 * Returns what a submission changed of a pull request that was queued before:
 * `#501 was already queued; priority medium -> high.`
 */
function describeResubmission(pr: number, before: JsonObject, priority: number | string | undefined): string {
  const last = getString(before, 'priorityName') ?? getNumber(before, 'priorityValue')
  const isUnchanged = priority === last || priority === getNumber(before, 'priorityValue')
  const change =
    priority === undefined || last === undefined
      ? ''
      : isUnchanged
        ? `; priority ${last} (unchanged)`
        : `; priority ${last} -> ${priority}`
  return `#${pr} was already queued${change}.`
}

export const submitRequest = defineOperationCommand({
  command: 'pr submit',
  summary: 'Submit pull requests to the queue for testing and merging',
  operation: submitPullRequest,
  // Equal priority is first come, first served (docs/reference/service.md, "Priorities").
  isOrdered: true,
  inputs: {
    ...queueInputs,
    pr: pullRequestArguments,
    priority: option({
      name: 'priority',
      value: 'level',
      summary: 'Priority: urgent, high, medium, low, or 0 (first) to 255 (last)',
      suggestions: priorities,
      parse: parsePriority,
    }),
    noBatch: {
      ...flag({ name: 'no-batch', summary: 'Test the pull request alone, never in a batch' }),
      // Without the option the service decides.
      read: args => (args.has('--no-batch') ? true : undefined),
    } satisfies Input<boolean | undefined>,
  },
  async readBefore(values, context) {
    const { readRecord } = await import('../state/read-record.ts')
    const { withMaxRetries } = await import('../../../api/service-client.ts')
    return readRecord(values, withMaxRetries(context.client(), 0), context)
  },
  explainRejection: explainFinished(['ok']),
  view: (_, { pr, targetBranch, priority }, before) =>
    message(
      before?.isCurrentlySubmittedToQueue === true
        ? describeResubmission(pr, before, priority)
        : `Submitted #${pr} to the queue for ${targetBranch}.`,
    ),
  examples: [
    'mergeq pr submit 123',
    'mergeq pr submit 123 124 --priority high',
    'mergeq pr submit 123 --wait',
  ],
})

export type SubmitInvocation = Invocation<typeof submitRequest.inputs>
