import { isPermanent, toMergeqError } from '../../base/errors.ts'
import type { JsonObject } from '../../base/json.ts'
import { stateOf, terminalOutcome } from '../../domain/states.ts'
import type { PullRequest } from '../../values/pull-request.ts'
import { addedFields } from '../added-fields.ts'
import { type CallOptions, callOperation } from '../call.ts'
import type { Operation } from '../operation.ts'
import { getPartialPullRequest } from '../operations/pull-requests.ts'
import type { Params, ParamValues } from '../params.ts'
import type { RequestLimits, ServiceClient } from '../service-client.ts'

/** Does what a command can do without. Throws only an error that every request would have, such as a rejected token. */
export async function tolerate<T>(work: () => Promise<T>) {
  try {
    return { value: await work() }
  } catch (error) {
    const failure = toMergeqError(error)
    if (isPermanent(failure)) throw failure
    return { failure }
  }
}

/** Reads what a command can do without; see `tolerate`. */
export async function tryRead<P extends Params>(
  client: ServiceClient,
  operation: Operation<P>,
  params: ParamValues<P>,
  options: CallOptions = {},
) {
  const { value, failure } = await tolerate(() => callOperation(client, operation, params, options))
  if (value === undefined) return { failure }
  const { response } = value
  return { response, record: response.records[0] ?? {} }
}

interface TimelineOptions {
  readonly limits?: RequestLimits
  /** Further states in which the timeline is read. */
  readonly states?: readonly string[]
}

/** Returns the record of a pull request that failed or left with its timeline, which says why, if the service has it. */
export async function withTimeline(
  client: ServiceClient,
  record: JsonObject,
  { repo, targetBranch, pr }: PullRequest,
  { limits = {}, states = [] }: TimelineOptions = {},
): Promise<JsonObject> {
  const state = stateOf(record)
  const isWanted = terminalOutcome(state) !== undefined || ['PENDING_FAILURE', ...states].includes(state)
  if (!isWanted) return record
  const wasRequested = addedFields(client, getPartialPullRequest).some(
    ({ path }) => path[0] === 'includeTimeline',
  )
  if (Array.isArray(record.timeline) || wasRequested) return record
  const params = { repo, targetBranch, pr, includeTimeline: true }
  const { record: newer } = await tryRead(client, getPartialPullRequest, params, { limits })
  // It may have been submitted again meanwhile.
  const isSame = newer?.state === record.state && newer?.stateChangedAt === record.stateChangedAt
  return isSame && newer?.timeline !== undefined ? { ...record, timeline: newer.timeline } : record
}
