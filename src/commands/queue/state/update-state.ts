import { withDecoder } from '../../../api/operation.ts'
import { updateQueue } from '../../../api/operations/queues.ts'
import { emptyDecoder } from '../../../api/response.ts'
import { defineCommand } from '../../../cli/command.ts'
import type { queueStates } from '../../../domain/states.ts'
import { repositoryName } from '../../../domain/values/repository.ts'
import { message } from '../../../output/view.ts'
import { describeStateChange, readQueue } from '../settings/describe-update.ts'

/**
 * A command that sets the state of a queue and no other setting; it prints a receipt, whatever the service
 * responds.
 */
export const defineStateCommand = (verb: string, state: (typeof queueStates)[number], summary: string) =>
  defineCommand({
    command: `queue ${verb}`,
    summary,
    operation: withDecoder(updateQueue, emptyDecoder),
    params: ['repo', 'targetBranch'],
    fixed: { state },
    readBefore: (values, context) => readQueue(values, context),
    view: (_, { repo, targetBranch }, { before }) =>
      message(
        before === undefined
          ? `The queue for ${targetBranch} in ${repositoryName(repo)} is now ${state}.`
          : describeStateChange(state, targetBranch, before),
      ),
    examples: [`mergeq queue ${verb}`],
  })
