import { withNormalizedState } from '../../domain/states.ts'
import { recordDecoder } from '../response.ts'
import { getSubmittedPullRequest, hasState } from './pull-requests.ts'

/** Fields that say something about a pull request whose record has no state. */
const informativeFields = [
  'isCurrentlySubmittedToQueue',
  'readiness',
  'priorityValue',
  'priorityName',
  'timeline',
]

/** Reads the record of a pull request that may lack its state: its other fields may say why it is not merging. */
export const getPartialPullRequest: typeof getSubmittedPullRequest = {
  ...getSubmittedPullRequest,
  decoder: recordDecoder(withNormalizedState, {
    name: 'state',
    isPresent: record => hasState(record) || informativeFields.some(key => (record[key] ?? null) !== null),
  }),
}
