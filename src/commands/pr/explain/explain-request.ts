import { withDecoder } from '../../../api/operation.ts'
import { getSubmittedPullRequest, partialPullRequestDecoder } from '../../../api/operations/pull-requests.ts'
import { pullRequestArgument } from '../../../cli/pull-request-arguments.ts'
import { queueInputs } from '../../../cli/queue-inputs.ts'

/** The request that an explanation begins with; its record may lack the state. */
export const explainRequest = {
  command: 'pr explain',
  operation: withDecoder(getSubmittedPullRequest, partialPullRequestDecoder),
  inputs: {
    ...queueInputs,
    pr: {
      ...pullRequestArgument,
      definitions: pullRequestArgument.definitions.map(definition => ({
        ...definition,
        values: 'recent-pull-requests' as const,
      })),
    },
  },
}
