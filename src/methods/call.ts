import { type CallOptions, type CallResult, callOperation } from '../api/call.ts'
import type { Params, ParamValues } from '../api/operation.ts'
import type { ServiceClient } from '../api/service-client.ts'
import { toMergeqError } from '../errors.ts'
import type { Method } from './method.ts'

/** Calls a method: like `callOperation`, with its fallback and with the response as it adapts it. */
export async function callMethod<P extends Params>(
  client: ServiceClient,
  method: Method<P>,
  values: ParamValues<P>,
  options: CallOptions = {},
): Promise<CallResult<P>> {
  const result = await withFallback(client, method, values, fitting =>
    callOperation(client, method, fitting, options),
  )
  const { response } = result
  return { ...result, response: method.adaptResponse?.(response, values) ?? response }
}

/** Does work with values; if their body is too large, once more with the fallback of the method. */
async function withFallback<P extends Params, T>(
  { logger }: Pick<ServiceClient, 'logger'>,
  method: Method<P>,
  values: ParamValues<P>,
  work: (values: ParamValues<P>) => Promise<T>,
): Promise<T> {
  try {
    return await work(values)
  } catch (error) {
    const failure = toMergeqError(error)
    const { status, isBodyTooLarge = false } = failure.details
    const instead = status === 413 || isBodyTooLarge ? method.fallback?.(values, failure) : undefined
    if (instead === undefined) throw error
    await logger.warn(instead.warning)
    return work(instead.values)
  }
}
