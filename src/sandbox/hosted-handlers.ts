import { pullRequestStates } from '../domain/states.ts'
import { repositoryName } from '../domain/values/repository.ts'
import { finalStates } from './engine/queue-queries.ts'
import { choiceField, readField } from './field-types.ts'
import type { Handler } from './handler.ts'
import { paginate } from './paginate.ts'
import { getField, readInteger, readOptionalText, readQueueRef, readTime } from './request-fields.ts'
import { formatPullRequest } from './response-records.ts'

/**
 * Operations that only the hosted service has (docs/reference/service.md, "Hosted service only"). The
 * sandbox's own: both dialects have them, with the fields that were observed.
 */

const stateField = choiceField(...pullRequestStates.map(state => state.toLowerCase()))

/** How many pull requests a page has unless the request says otherwise. */
const defaultTake = 50

/**
 * Lists pull requests (docs/reference/service.md, "listPullRequests"). The sandbox's own: the latest
 * submission comes first, and `since` and `until` include both ends.
 */
export const listPullRequestsHandler: Handler = (sandbox, { body }) => {
  const queue = sandbox.getQueue(readQueueRef(body))
  const state = readField<string | undefined>(body, 'state', stateField, undefined)
  const since = body.since === undefined ? undefined : readTime(body, 'since')
  const until = body.until === undefined ? undefined : readTime(body, 'until')
  const take = body.take === undefined ? defaultTake : readInteger(body, 'take', 1, 100)
  const cursor = readOptionalText(body, 'cursor') ?? ''
  const isWanted = (pullRequest: { readonly state: string; readonly stateChangedAt: number }) =>
    (state === undefined || pullRequest.state.toLowerCase() === state) &&
    ((since === undefined && until === undefined) || finalStates.includes(pullRequest.state)) &&
    pullRequest.stateChangedAt >= (since ?? 0) &&
    pullRequest.stateChangedAt <= (until ?? Number.POSITIVE_INFINITY)
  const found = [...queue.pullRequests.values()]
    .filter(isWanted)
    .sort((one, other) => other.submitOrder - one.submitOrder)
  const queryKey = JSON.stringify([repositoryName(queue.repo), queue.targetBranch, state, since, until])
  const { items, page } = paginate(found, take, cursor, queryKey)
  const dialect = { ...sandbox.dialect, hasObservedFields: true }
  return {
    document: {
      pullRequests: items.map(pullRequest => formatPullRequest(queue, pullRequest, dialect, false)),
      nextCursor: getField(page, 'next_page_token') || null,
    },
  }
}
