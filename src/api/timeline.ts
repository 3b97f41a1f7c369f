import { normalizeState, terminalOutcome } from '../domain/states.ts'
import { getString, type JsonObject } from '../json.ts'
import { callIfAvailable } from './extra-reads.ts'
import type { BodyOverride, ParamValues } from './operation.ts'
import { getPartialPullRequest } from './operations/pull-requests.ts'
import type { RequestLimits, ServiceClient } from './service-client.ts'

const option = 'includeTimeline'

const hasTimeline = ({ timeline }: JsonObject): boolean => Array.isArray(timeline) && timeline.length > 0

type PullRequestParams = Pick<
  ParamValues<typeof getPartialPullRequest.params>,
  'repo' | 'targetBranch' | 'pr'
>

/** Options of the read of a timeline; `overrides` are those of the read of the record. */
interface TimelineOptions {
  readonly overrides?: readonly BodyOverride[]
  readonly limits?: RequestLimits
}

/**
 * Returns the record of a pull request that left the queue with its timeline, which says how it left
 * (docs/reference/service.md, "getSubmittedPullRequest"). Returns the record unchanged where the pull
 * request has not left, and where `addTimeline` does.
 */
export const withTimeline = async (
  client: ServiceClient,
  record: JsonObject,
  params: PullRequestParams,
  options: TimelineOptions = {},
): Promise<JsonObject> =>
  terminalOutcome(normalizeState(getString(record, 'state') ?? '')) === undefined
    ? record
    : addTimeline(client, record, params, options)

/**
 * Returns the same record if it has a timeline, was read with that option, or the service gives no timeline.
 */
export async function addTimeline(
  client: ServiceClient,
  record: JsonObject,
  params: PullRequestParams,
  { overrides = [], limits = {} }: TimelineOptions = {},
): Promise<JsonObject> {
  if (hasTimeline(record) || overrides.some(({ path }) => path[0] === option)) return record
  const { repo, targetBranch, pr } = params
  const { result } = await callIfAvailable(
    client,
    getPartialPullRequest,
    { repo, targetBranch, pr, head: undefined },
    {
      overrides: [...overrides, { path: [option], value: true }],
      limits,
      feature: 'timeline',
      // An older service may refuse a member that it does not know.
      missingStatuses: [400, 404, 405, 422],
      isPresent: ({ response }) => hasTimeline(response.records[0] ?? {}),
    },
  )
  const newer = result?.response.records[0]
  // It may have been submitted again meanwhile.
  const isSame = newer?.state === record.state && newer?.stateChangedAt === record.stateChangedAt
  return isSame && newer?.timeline !== undefined ? { ...record, timeline: newer.timeline } : record
}
