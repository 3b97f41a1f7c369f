import { callOperation } from './call.ts'
import type { Operation, Params, ParamValues } from './operation.ts'
import { resourceOf } from './request.ts'
import type { ServiceClient } from './service-client.ts'
import { serviceStart } from './service-time.ts'

/**
 * Returns the time that the ranges of an operation count back from, in milliseconds since 1970: where the operation
 * needs it exactly, that of the response to a read of the queue. A range that ends then stays the same while pages are
 * read.
 */
export async function rangeEnd<P extends Params>(
  client: ServiceClient,
  { usesServiceTime = false }: Pick<Operation<P>, 'usesServiceTime'>,
  values: ParamValues<P>,
): Promise<number> {
  const { repo, targetBranch } = resourceOf(values)
  if (!usesServiceTime || repo === undefined || targetBranch === undefined) return serviceStart(client)
  const { getQueue } = await import('./operations/queues.ts')
  const { date } = await callOperation(client, getQueue, { repo, targetBranch })
  const start = await serviceStart(client)
  return date ?? start
}
