import { createQueue } from '../../api/operations/queues.ts'
import { defineOperationCommand } from '../../cli/command.ts'
import { queueInputs } from '../../cli/queue-inputs.ts'
import { repositoryName } from '../../domain/values/repository.ts'
import { message } from '../../output/view.ts'
import { concurrencyInput, modeInput } from './settings/queue-setting-options.ts'

export const queueCreateCommand = defineOperationCommand({
  command: 'queue create',
  summary: 'Create a merge queue for a branch',
  operation: createQueue,
  inputs: { ...queueInputs, mode: modeInput, concurrency: concurrencyInput },
  view: (_, { repo, targetBranch }) =>
    message(`Created the queue for ${targetBranch} in ${repositoryName(repo)}.`),
  examples: ['mergeq queue create --target-branch release --concurrency 2'],
})
