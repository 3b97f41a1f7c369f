import { normalizeState, terminalOutcome } from '../domain/states.ts'
import { isPermanent, type MergeqError, toMergeqError } from '../errors.ts'
import { getString, type JsonObject } from '../json.ts'
import { type CallOptions, type CallResult, callOperation } from './call.ts'
import type { BodyOverride, Operation, Params, ParamValues } from './operation.ts'
import { getPartialPullRequest } from './operations/pull-requests.ts'
import { getServiceStatus } from './operations/status.ts'
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

export interface ExtraListEnd {
  readonly isAvailable: boolean
  /** Why the list ended early or could not be read, without a full stop; undefined for a whole list. */
  readonly problem: string | undefined
}

/**
 * Returns a failure in the result. Throws only errors that every read would have, such as a rejected token.
 */
export async function readListIfAvailable<P extends Params>(
  client: ServiceClient,
  operation: Operation<P>,
  params: ParamValues<P>,
  take: (records: readonly JsonObject[]) => void,
  options: CallOptions = {},
): Promise<ExtraListEnd> {
  const pages = operation.pagination?.(params, client.host.clock.now())
  if (pages === undefined) return { isAvailable: false, problem: undefined }
  for (let pageQuery = pages.nextQuery(); pageQuery !== undefined; pageQuery = pages.nextQuery()) {
    const { result, failure } = await callIfAvailable(client, operation, params, {
      ...options,
      pageQuery,
      // A service that has sent a page has the operation.
      ...(pages.hasStarted ? { missingStatuses: [] } : {}),
    })
    if (result !== undefined) take(pages.take(result.response))
    else {
      const problem = failure === undefined ? undefined : withoutPeriod(failure)
      return { isAvailable: pages.hasStarted, problem }
    }
  }
  return { isAvailable: true, problem: pages.finish().problem }
}

const withoutPeriod = ({ message }: MergeqError): string => message.replace(/\.$/, '')

/**
 * What the service says about its health. `operational`: no problem. `outage`: a problem, which `text`
 * describes in the words of the service. `unknown`: the service has no status or could not be asked, because
 * of `failure`.
 */
export type ServiceStatus =
  | { readonly kind: 'operational' }
  | { readonly kind: 'outage'; readonly text: string }
  | { readonly kind: 'unknown'; readonly failure: MergeqError }

/** The time limit for the status, in milliseconds: it is only additional information. */
const statusTimeout = 3_000

/** Words for a service without problems; the values that the service uses are not known. */
const operationalWords =
  /^(?:all systems operational|available|healthy|none|normal|ok|okay|online|operational|pass|running|up)?\.?$/i

/** Sends one request without a token, for at most 3 seconds. Throws only the error of a signal. */
export async function readServiceStatus(client: ServiceClient): Promise<ServiceStatus> {
  const limits = { maxRetries: 0, timeout: () => statusTimeout }
  try {
    const { response } = await callOperation(client, getServiceStatus, {}, { limits })
    const text = describeStatus(response.records[0] ?? {})
    return operationalWords.test(text) ? { kind: 'operational' } : { kind: 'outage', text }
  } catch (error) {
    const failure = toMergeqError(error)
    if (failure.kind === 'interrupted') throw failure
    return { kind: 'unknown', failure }
  }
}

function describeStatus(document: JsonObject): string {
  const texts = [
    'overallStatus.overallStatusDescription',
    'status',
    'status.description',
    'status.indicator',
    'state',
    'message',
  ]
  return texts.map(path => getString(document, path)?.trim()).find(text => text !== undefined) ?? ''
}

const timelineOption = 'includeTimeline'

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
  if (hasTimeline(record) || overrides.some(({ path }) => path[0] === timelineOption)) return record
  const { repo, targetBranch, pr } = params
  const { result } = await callIfAvailable(
    client,
    getPartialPullRequest,
    { repo, targetBranch, pr, head: undefined },
    {
      overrides: [...overrides, { path: [timelineOption], value: true }],
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
