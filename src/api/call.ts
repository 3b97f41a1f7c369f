import { extendError, type MergeqError, toMergeqError } from '../errors.ts'
import type { BodySink } from '../http/stream-body.ts'
import { buildRequest } from './build-request.ts'
import type { DecodedResponse, ResponseDecoder } from './decode.ts'
import { interruptedChangeError } from './interrupted-change.ts'
import { lowerCaseStates, needsLowerCase, refusalOf, rememberLowerCase } from './lower-case-states.ts'
import type { Operation } from './operation.ts'
import type { Params, ParamValues } from './param.ts'
import type { Delivery } from './receipt.ts'
import type { Request, RequestParts } from './request.ts'
import type { Resource } from './resource.ts'
import { type SendRequestOptions, sendRequest } from './send.ts'
import type { ServiceClient } from './service-client.ts'

export interface CallOptions extends Partial<RequestParts>, Pick<SendRequestOptions, 'limits' | 'progress'> {
  /** Returns where to write the response while it arrives; by default the whole response is read first. */
  createSink?(decoder: ResponseDecoder, request: Request): BodySink | undefined
}

export interface CallResult<P extends Params> {
  readonly response: DecodedResponse
  /** The resource that the body names or, for a request without a body, that the params name. */
  readonly resource: Resource
  readonly params: ParamValues<P>
  readonly delivery: Delivery
  /** The time of the response by the service's clock, in milliseconds since 1970. */
  readonly date: number | undefined
}

/**
 * Calls an operation. If a change gets no clear response, the service is read to find out whether the change
 * was applied (docs/reference/network.md, "Write recovery"). Throws an error for every other response than a
 * 2xx that can be decoded.
 */
export async function callOperation<P extends Params>(
  client: ServiceClient,
  operation: Operation<P>,
  requestedParams: ParamValues<P>,
  options: CallOptions = {},
): Promise<CallResult<P>> {
  const built = await buildRequest(client, operation, requestedParams, options)
  const { request, params } = built
  const lowerCase = lowerCaseStates(operation, request)
  const callInLowerCase = () =>
    callOperation(client, operation, requestedParams, {
      ...options,
      overrides: [...(options.overrides ?? []), ...(lowerCase ?? [])],
    })
  if (lowerCase !== undefined && needsLowerCase(client)) return callInLowerCase()
  const result = { resource: request.resource, params }
  const { limits = {}, progress } = options
  let sentAt = client.host.clock.now()
  try {
    const isUnchanged = operation.recovery === undefined && operation.trimResponse?.(params) === undefined
    const response = await sendRequest(client, operation, built, {
      limits,
      progress,
      onAttempt() {
        sentAt = client.host.clock.now()
      },
      sink: isUnchanged ? options.createSink?.(operation.decoder, request) : undefined,
    })
    return { ...result, ...response, delivery: 'confirmed' }
  } catch (error) {
    const failure = withInterruptedChange(toMergeqError(error), operation, request, client)
    if (failure.kind === 'interrupted') throw failure
    const { status, sentState } = failure.details
    const instead = status === 413 ? operation.fallback?.(params, 'service') : undefined
    if (instead !== undefined) {
      await client.logger.warn(instead.warning)
      return callOperation(client, operation, instead.params, options)
    }
    const { retryPolicy = client.retryPolicy } = limits
    // A request that was refused with 400 was not applied, so it can be sent again.
    if (status === 400 && lowerCase !== undefined && retryPolicy.maxRetries > 0) {
      const result = await callInLowerCase().catch(error => {
        throw refusalOf(failure, toMergeqError(error))
      })
      rememberLowerCase(client)
      return result
    }
    if (operation.recovery === undefined || sentState !== 'ambiguous') throw failure
    const write = { operation, recovery: operation.recovery, ...built, sentAt, failure, limits }
    const { recoverWrite } = await import('./write-recovery.ts')
    const recovered = await recoverWrite(write, client).catch(error => {
      const interruption = toMergeqError(error)
      if (interruption.kind !== 'interrupted') throw error
      throw withInterruptedChange(
        extendError(interruption, { sentState: 'ambiguous' }),
        operation,
        request,
        client,
      )
    })
    return { ...result, ...recovered, date: undefined }
  }
}

function withInterruptedChange<P extends Params>(
  failure: MergeqError,
  operation: Operation<P>,
  { isChange, resource }: Request,
  { settings }: ServiceClient,
): MergeqError {
  const { sentState, delivery } = failure.details
  const isInFlight = failure.kind === 'interrupted' && isChange && sentState === 'ambiguous'
  return isInFlight && delivery === undefined
    ? interruptedChangeError(failure, operation, [resource], settings.commandLine)
    : failure
}
