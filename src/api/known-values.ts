import { type QueueEntry, queueEntries } from '../domain/queue-entries.ts'
import type { Repository } from '../domain/values/repository.ts'
import type { JsonObject } from '../json.ts'
import { callOperation } from './call.ts'
import { listFailingTests } from './operations/failing-tests.ts'
import { getQueue } from './operations/queues.ts'
import type { RequestLimits, ServiceClient } from './service-client.ts'

/** The range of time in which a test must have failed to be known, in milliseconds: 24 hours. */
const knownTestsAge = 86_400_000

/** Returns the pull requests of a queue, in its order. Throws the error of the request. */
export async function readQueuedPullRequests(
  client: ServiceClient,
  queue: { readonly repo: Repository; readonly targetBranch: string },
  limits: RequestLimits,
): Promise<readonly QueueEntry[]> {
  const { response } = await callOperation(client, getQueue, queue, { limits })
  return queueEntries(response.records[0] ?? {})
}

/**
 * Returns the records of tests that failed in the last 24 hours: the first page of the list, at most 100.
 * Throws the error of the request.
 */
export async function readKnownTests(
  client: ServiceClient,
  place: { readonly repo: Repository; readonly org: string },
  limits: RequestLimits,
): Promise<readonly JsonObject[]> {
  const now = client.host.clock.now()
  const params = { ...place, range: { start: now - knownTestsAge, end: now } }
  const pageQuery = (await listFailingTests.pagination?.(params))?.nextQuery() ?? {}
  const { response } = await callOperation(client, listFailingTests, params, { limits, pageQuery })
  return response.records
}
