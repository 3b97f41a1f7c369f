import { callOperation } from './call.ts'
import type { Operation, Params, ParamValues } from './operation.ts'
import { resourceOf } from './request.ts'
import type { ServiceClient } from './service-client.ts'

/**
 * Returns the time that the ranges of an operation count back from, in milliseconds since 1970: `localTime`, or where
 * the operation needs it the time of the service, which the response to a read of the queue has. A range that ends at
 * the time of the service stays the same while pages are read.
 */
export async function rangeEnd<P extends Params>(
  client: ServiceClient,
  { usesServiceTime = false }: Pick<Operation<P>, 'usesServiceTime'>,
  values: ParamValues<P>,
  localTime: number,
): Promise<number> {
  const { repo, targetBranch } = resourceOf(values)
  if (!usesServiceTime || repo === undefined || targetBranch === undefined) return localTime
  const { getQueue } = await import('./operations/queues.ts')
  const { date } = await callOperation(client, getQueue, { repo, targetBranch })
  return date ?? localTime
}
