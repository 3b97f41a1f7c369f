import { stateOf, terminalOutcome } from '../domain/states.ts'
import type { RequestedPullRequest } from '../domain/values/pull-request.ts'
import { isPermanent, type MergeqError, toMergeqError } from '../errors.ts'
import type { JsonObject } from '../json.ts'
import { type CallOptions, type CallResult, callOperation } from './call.ts'
import type { BodyOverride, Operation, Params, ParamValues } from './operation.ts'
import { getPartialPullRequest } from './operations/pull-requests.ts'
import type { RequestLimits, ServiceClient } from './service-client.ts'

interface ExtraRead<P extends Params> {
  readonly result?: CallResult<P>
  /** Why the read failed; undefined where the service does not have the operation. */
  readonly failure?: MergeqError
}

interface ExtraReadOptions<P extends Params> extends CallOptions {
  /** What is read, if that is less than the operation: `the timeline`. */
  readonly feature?: string
  readonly missingStatuses?: readonly number[]
  /** Whether the response has what was requested; a response without it counts as a missing operation. */
  isPresent?(result: CallResult<P>): boolean
}

/** Whether the service has something, for the settings of a run: reads at the same time wait for the first. */
const knownNames = new WeakMap<object, Map<string, Promise<boolean>>>()

/**
 * Reads something that not every service has (docs/reference/service.md, "Hosted service only"). After the
 * service said that it does not have it, nothing more is sent for it in this run. Throws only an error that
 * every read would have, such as a rejected token.
 */
export async function callIfAvailable<P extends Params>(
  client: ServiceClient,
  operation: Operation<P>,
  params: ParamValues<P>,
  { feature = '', missingStatuses = [404, 405], isPresent, ...options }: ExtraReadOptions<P> = {},
): Promise<ExtraRead<P>> {
  const read = async (): Promise<ExtraRead<P>> => {
    try {
      const result = await callOperation(client, operation, params, options)
      return isPresent?.(result) === false ? {} : { result }
    } catch (error) {
      const failure = toMergeqError(error)
      if (isPermanent(failure)) throw failure
      const { status } = failure.details
      return status !== undefined && missingStatuses.includes(status) ? {} : { failure }
    }
  }
  const known = knownNames.get(client.settings) ?? new Map<string, Promise<boolean>>()
  knownNames.set(client.settings, known)
  const name = `${operation.route} ${feature}`
  if ((await known.get(name)) === false) return {}
  const reading = read()
  const isAvailable = reading.then(
    ({ result, failure }) => result !== undefined || failure !== undefined,
    () => true,
  )
  known.set(name, isAvailable)
  return reading
}

const hasTimeline = ({ timeline }: JsonObject): boolean => Array.isArray(timeline) && timeline.length > 0

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
  params: RequestedPullRequest,
  options: TimelineOptions = {},
): Promise<JsonObject> =>
  terminalOutcome(stateOf(record)) === undefined ? record : addTimeline(client, record, params, options)

/**
 * Returns the same record if it has a timeline, was read with that option, or the service gives no timeline.
 */
export async function addTimeline(
  client: ServiceClient,
  record: JsonObject,
  params: RequestedPullRequest,
  { overrides = [], limits = {} }: TimelineOptions = {},
): Promise<JsonObject> {
  if (hasTimeline(record) || overrides.some(({ path }) => path[0] === 'includeTimeline')) return record
  const { repo, targetBranch, pr } = params
  const { result } = await callIfAvailable(
    client,
    getPartialPullRequest,
    { repo, targetBranch, pr, includeTimeline: true },
    {
      overrides,
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
