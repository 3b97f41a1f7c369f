import { createQueue } from '../../api/operations/queues.ts'
import { defineCommand } from '../../cli/command.ts'
import { repositoryName } from '../../domain/values/repository.ts'
import { message } from '../../output/view.ts'

/** `mergeq queue create`: creates the queue of a branch. */
export const queueCreateCommand = defineCommand({
  command: 'queue create',
  summary: 'Create a merge queue for a branch',
  operation: createQueue,
  view: (_, { repo, targetBranch }) =>
    message(`Created the queue for ${targetBranch} in ${repositoryName(repo)}.`),
  examples: ['mergeq queue create --target-branch release --concurrency 2'],
})
