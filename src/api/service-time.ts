import { callOperation } from './call.ts'
import type { Operation, Params, ParamValues } from './operation.ts'
import { getQueue } from './operations/queues.ts'
import { resourceOf } from './request.ts'
import type { ServiceClient } from './service-client.ts'

/**
 * Returns the time that the ranges of an operation count back from, in milliseconds since 1970: that of this machine,
 * or where the operation needs it that of the service, which every response has. A range that ends at the time of the
 * service stays the same while pages are read.
 */
export async function rangeEnd<P extends Params>(
  client: ServiceClient,
  operation: Operation<P>,
  values: ParamValues<P>,
  localTime: number,
): Promise<number> {
  const { repo, targetBranch } = resourceOf(values)
  if (operation.usesServiceTime !== true || repo === undefined || targetBranch === undefined) return localTime
  const { date } = await callOperation(client, getQueue, { repo, targetBranch })
  return date ?? localTime
}
