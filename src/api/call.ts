import { isMergeqError, isNotFound, type MergeqError, toMergeqError } from '../base/errors.ts'
import type { JsonObject } from '../base/json.ts'
import type { Queue } from '../values/repository.ts'
import { anyOperation, type Operation } from './operation.ts'
import type { Params, ParamValues } from './params.ts'
import type { Delivery } from './receipts.ts'
import { buildRequest, type Request } from './request.ts'
import { withSubject } from './resource.ts'
import type { DecodedResponse } from './response.ts'
import { type Exchange, type ExchangeOptions, exchange } from './send.ts'
import { requireWritable, type ServiceClient } from './service-client.ts'

/** The limits of one call, and how its progress is told. */
export interface CallOptions extends Pick<ExchangeOptions, 'limits' | 'progress'> {
  /** The head commit that a pull request must still have if a change of it is sent a second time. */
  readonly head?: string | undefined
}

/** The outcome of a call that succeeded; `params` were sent, possibly those of a fallback. */
export interface CallResult<P extends Params = Params> {
  readonly operation: Operation
  readonly response: DecodedResponse
  readonly params: ParamValues<P>
  readonly delivery: Delivery
  /** Whether a submission was refused because the pull request was queued so already: the response is its record. */
  readonly wasQueued?: boolean
  /** The time of the response by the service's clock, in milliseconds since 1970. */
  readonly date?: number | undefined
  /** When the request was sent, by the local clock, in milliseconds since 1970: a change, the first time. */
  readonly sentAt?: number | undefined
  readonly sandboxSpeed?: number | undefined
}

/**
 * Calls an operation, with its fallback for a body that is too large. If a change gets no clear response, the service is
 * read to find out whether it was applied (docs/reference/network.md, "Write recovery").
 */
export async function callOperation<P extends Params>(
  client: ServiceClient,
  operation: Operation<P>,
  values: ParamValues<P>,
  options: CallOptions = {},
): Promise<CallResult<P>> {
  let outcome: Exchange | Settled
  try {
    const request = await buildRequest(client, anyOperation(operation), values)
    if (client.isDryRun === true) throw new Error(`${request.operation} was called in a dry run`)
    if (request.isChange) await requireWritable(client)
    const { limits, progress } = options
    const hasQueue = () => hasQueueOf(client, request)
    outcome = await exchange(client, request, { limits, progress, hasQueue }).catch(error =>
      settle(client, request, toMergeqError(error), options),
    )
  } catch (error) {
    const fitting = await fallbackOf(client, operation, values, error).catch(failure => {
      throw isMergeqError(failure) ? withSubject(failure, values) : failure
    })
    return callOperation(client, operation, fitting, options)
  }
  const response = operation.adaptResponse?.(outcome.response, values) ?? outcome.response
  return {
    delivery: 'confirmed',
    ...outcome,
    response,
    operation: anyOperation(operation),
    params: values,
  }
}

/** Returns the request that a call would send first, or that of its fallback. Sends nothing. */
export async function prepareRequest<P extends Params>(
  client: ServiceClient,
  operation: Operation<P>,
  values: ParamValues<P>,
): Promise<Request> {
  try {
    return await buildRequest(client, anyOperation(operation), values)
  } catch (error) {
    const fitting = await fallbackOf(client, operation, values, error)
    return buildRequest(client, anyOperation(operation), fitting)
  }
}

/** Returns the values to send instead of a body that is too large, and warns of them. Throws the error if there are none. */
async function fallbackOf<P extends Params>(
  { logger }: Pick<ServiceClient, 'logger'>,
  { fallback }: Operation<P>,
  values: ParamValues<P>,
  error: unknown,
): Promise<ParamValues<P>> {
  const failure = toMergeqError(error)
  const { status, isBodyTooLarge = false } = failure.details
  const instead = status === 413 || isBodyTooLarge ? fallback?.(values, failure) : undefined
  if (instead === undefined) throw error
  await logger.warn(instead.warning)
  return instead.values
}

type Settled = Pick<CallResult, 'response' | 'delivery' | 'wasQueued' | 'sentAt'>

/** Finds out whether a change whose request failed was made all the same. Throws the failure of any other. */
async function settle(
  client: ServiceClient,
  request: Request,
  failure: MergeqError,
  { limits = {}, head }: CallOptions,
): Promise<Settled> {
  const { change } = request.called
  const { sentState, sentAt, status } = failure.details
  const mayBeQueued = status === 409 && change?.isSubmission === true
  if (change !== undefined && (sentState === 'ambiguous' || mayBeQueued)) {
    const { recoverWrite, requireQueued } = await import('./recovery.ts')
    const write = { client, request, recovery: change.recovery, failure, limits, head }
    return mayBeQueued ? requireQueued(write) : { ...(await recoverWrite(write)), sentAt }
  }
  if (sentState === 'not-sent') {
    const { changeError } = await import('./error-response.ts')
    throw changeError(failure, request)
  }
  throw failure
}

/** Reads a record; undefined where the service has none (404). */
export async function readIfFound<P extends Params>(
  client: ServiceClient,
  operation: Operation<P>,
  params: ParamValues<P>,
  options: CallOptions = {},
): Promise<JsonObject | undefined> {
  try {
    const { response } = await callOperation(client, operation, params, options)
    return response.records[0]
  } catch (error) {
    if (isNotFound(toMergeqError(error))) return undefined
    throw error
  }
}

/** Reads once whether a queue exists; undefined if that cannot be read. */
export async function hasQueue(client: ServiceClient, place: Queue): Promise<boolean | undefined> {
  const { getQueue } = await import('./operations/queues.ts')
  try {
    const queue = await readIfFound(client, getQueue, place, { limits: { maxRetries: 0 } })
    return queue !== undefined
  } catch {
    client.host.interrupted.throwIfAborted()
    return undefined
  }
}

/**
 * Reads, after the 404 of a list that not every service has, whether its queue exists: otherwise nobody knows what
 * is missing. Undefined if the request names no queue, and if the queue cannot be read.
 */
async function hasQueueOf(
  client: ServiceClient,
  { called, resource }: Request,
): Promise<boolean | undefined> {
  const { repo, targetBranch } = resource
  const mayBeMissing = called.isHostedOnly === true && called.pages !== undefined
  if (!mayBeMissing || repo === undefined || targetBranch === undefined) return undefined
  return hasQueue(client, { repo, targetBranch })
}
