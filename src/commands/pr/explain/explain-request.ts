import { withDecoder } from '../../../api/operation.ts'
import { getSubmittedPullRequest, partialPullRequestDecoder } from '../../../api/operations/pull-requests.ts'

/** The operation that an explanation begins with; its record may lack the state. */
export const getPartialRecord = withDecoder(getSubmittedPullRequest, partialPullRequestDecoder)
