import { emptyDecoder } from '../../../api/decode.ts'
import { withDecoder } from '../../../api/operation.ts'
import { updateQueue } from '../../../api/operations/queues.ts'
import { defineOperationCommand } from '../../../cli/command.ts'
import { constant } from '../../../cli/inputs.ts'
import { queueInputs } from '../../../cli/queue-inputs.ts'
import type { queueStates } from '../../../domain/states.ts'
import { repositoryName } from '../../../domain/values/repository.ts'
import { message } from '../../../output/view.ts'
import { describeStateChange, readQueue } from '../settings/describe-update.ts'

/**
 * A command that sets the state of a queue and no other setting; it prints a receipt, whatever the service
 * responds.
 */
export const defineStateCommand = (verb: string, state: (typeof queueStates)[number], summary: string) =>
  defineOperationCommand({
    command: `queue ${verb}`,
    summary,
    operation: withDecoder(updateQueue, emptyDecoder),
    inputs: { ...queueInputs, state: constant(state) },
    readBefore: readQueue,
    view: (_, { repo, targetBranch }, before) =>
      message(
        before === undefined
          ? `The queue for ${targetBranch} in ${repositoryName(repo)} is now ${state}.`
          : describeStateChange(state, targetBranch, before),
      ),
    examples: [`mergeq queue ${verb}`],
  })
