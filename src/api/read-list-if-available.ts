import type { MergeqError } from '../errors.ts'
import type { JsonObject } from '../json.ts'
import type { CallOptions } from './call.ts'
import { callIfAvailable } from './call-if-available.ts'
import type { Operation } from './operation.ts'
import type { Params, ParamValues } from './param.ts'
import type { ServiceClient } from './service-client.ts'

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
  const pages = await operation.pagination?.(params, client.host.clock.now())
  if (pages === undefined) return { isAvailable: false, problem: undefined }
  for (let pageQuery = pages.nextQuery(); pageQuery !== undefined; pageQuery = pages.nextQuery()) {
    const { result, failure } = await callIfAvailable(client, operation, params, {
      ...options,
      pageQuery,
      // A service that has sent a page has the operation.
      ...(pages.hasStarted() ? { missingStatuses: [] } : {}),
    })
    if (result !== undefined) take(pages.take(result.response))
    else if (failure === undefined || !pages.recover(failure)) {
      const problem = failure === undefined ? undefined : withoutPeriod(failure)
      return { isAvailable: pages.hasStarted(), problem }
    }
  }
  return { isAvailable: true, problem: pages.finish().problem }
}

const withoutPeriod = ({ message }: MergeqError): string => message.replace(/\.$/, '')
