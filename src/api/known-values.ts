import { type QueueEntry, queueEntries } from '../domain/queue-entries.ts'
import type { Repository } from '../domain/values/repository.ts'
import { toIso } from '../domain/values/time.ts'
import type { JsonObject } from '../json.ts'
import { callOperation } from './call.ts'
import { firstPageQuery } from './operation.ts'
import { getMergeQueueMetrics, readSamplesIn } from './operations/metrics.ts'
import { listPullRequests } from './operations/pull-requests.ts'
import { getQueue } from './operations/queues.ts'
import { listFailingTests } from './operations/tests.ts'
import type { RequestLimits, ServiceClient } from './service-client.ts'

/** The range of time in which a test or pull request must have failed, in milliseconds: 24 hours. */
const recentTime = 86_400_000

export async function readQueuedPullRequests(
  client: ServiceClient,
  queue: { readonly repo: Repository; readonly targetBranch: string },
  limits: RequestLimits,
): Promise<readonly QueueEntry[]> {
  const { response } = await callOperation(client, getQueue, queue, { limits })
  return queueEntries(response.records[0] ?? {})
}

const maxFailed = 30

/** At most 30 pull requests of the last 24 hours, each with its state. Not every service has the list. */
export async function readFailedPullRequests(
  client: ServiceClient,
  queue: { readonly repo: Repository; readonly targetBranch: string },
  limits: RequestLimits,
): Promise<readonly QueueEntry[]> {
  const since = client.host.clock.now() - recentTime
  const params = { ...queue, states: ['FAILED'], since: toIso(since), pageSize: maxFailed }
  const pageQuery = firstPageQuery(listPullRequests, params, client.host.clock.now())
  const { response } = await callOperation(client, listPullRequests, params, { limits, pageQuery })
  return queueEntries({ enqueuedPullRequests: response.records })
}

export async function readQueueBranches(
  client: ServiceClient,
  repo: Repository | undefined,
  limits: RequestLimits,
): Promise<readonly string[]> {
  const { response } = await callOperation(client, getMergeQueueMetrics, { repo }, { limits })
  const branches = [...readSamplesIn(response.bytes)].flatMap(({ labels }) => labels.branch ?? [])
  return [...new Set(branches)]
}

/** The first page of the tests that failed in the last 24 hours, at most 100. */
export async function readKnownTests(
  client: ServiceClient,
  place: { readonly repo: Repository; readonly org: string },
  limits: RequestLimits,
): Promise<readonly JsonObject[]> {
  const now = client.host.clock.now()
  const params = { ...place, since: toIso(now - recentTime) }
  const pageQuery = firstPageQuery(listFailingTests, params, now)
  const { response } = await callOperation(client, listFailingTests, params, { limits, pageQuery })
  return response.records
}
