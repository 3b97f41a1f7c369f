import { normalizeState, terminalOutcome } from '../domain/states.ts'
import { getString, type JsonObject } from '../json.ts'
import type { BodyOverride } from './body-overrides.ts'
import { callIfAvailable } from './call-if-available.ts'
import { withDecoder } from './operation.ts'
import { getSubmittedPullRequest, partialPullRequestDecoder } from './operations/pull-requests.ts'
import type { ParamValues } from './param.ts'
import type { RequestLimits, ServiceClient } from './service-client.ts'

const option = 'includeTimeline'

const recordWithTimeline = withDecoder(getSubmittedPullRequest, partialPullRequestDecoder)

const hasTimeline = ({ timeline }: JsonObject): boolean => Array.isArray(timeline) && timeline.length > 0

/**
 * Returns the record of a pull request that left the queue with its timeline, which says how it left
 * (docs/reference/service.md, "getSubmittedPullRequest"). Returns the record unchanged where it has a
 * timeline, where the pull request has not left, and where the service gives no timeline.
 */
export async function withTimeline(
  client: ServiceClient,
  record: JsonObject,
  params: Pick<ParamValues<typeof getSubmittedPullRequest.params>, 'repo' | 'targetBranch' | 'pr'>,
  {
    overrides = [],
    limits = {},
  }: { readonly overrides?: readonly BodyOverride[]; readonly limits?: RequestLimits } = {},
): Promise<JsonObject> {
  const state = normalizeState(getString(record, 'state') ?? '')
  const isGiven = overrides.some(({ path }) => path[0] === option)
  if (terminalOutcome(state) === undefined || hasTimeline(record) || isGiven) return record
  const { repo, targetBranch, pr } = params
  const { result } = await callIfAvailable(
    client,
    recordWithTimeline,
    { repo, targetBranch, pr, head: undefined },
    {
      overrides: [...overrides, { path: [option], value: true }],
      limits,
      feature: 'timeline',
      // An older service may refuse a member that it does not know.
      missingStatuses: [400, 422],
      isPresent: ({ response }) => hasTimeline(response.records[0] ?? {}),
    },
  )
  const newer = result?.response.records[0]
  // It may have been submitted again meanwhile.
  const isSame = newer?.state === record.state && newer?.stateChangedAt === record.stateChangedAt
  return isSame && newer?.timeline !== undefined ? { ...record, timeline: newer.timeline } : record
}
