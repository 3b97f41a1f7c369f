import type { Infer } from '../api/operations/fields.ts'
import type { explanationRecord } from '../api/operations/records.ts'
import { readQueueMetrics } from '../api/reads/queue-activity.ts'
import type { ServiceClient } from '../api/service-client.ts'
import type { JsonObject } from '../base/json.ts'
import { queueEntries } from '../domain/queue-entries.ts'
import { stateOf } from '../domain/states.ts'
import { formatRounded } from '../values/format.ts'
import type { PullRequest } from '../values/pull-request.ts'
import { toIso } from '../values/time.ts'

/** How long it may take until a pull request merges, with its grounds. */
export type Estimate = NonNullable<Infer<typeof explanationRecord>['estimate']>

const hour = 3_600

/** Estimates when a pull request merges, from the merges of the last hour; null if it is not queued, or that is not known. */
export async function readEstimate(
  { pr, ...place }: PullRequest,
  queue: JsonObject,
  client: ServiceClient,
  now: number,
): Promise<Estimate | null> {
  const entry = queueEntries(queue).find(each => each.pr === pr)
  if (entry === undefined || stateOf(queue) !== 'RUNNING') return null
  const read = await readQueueMetrics(client, place)
  const mergedLastHour = read?.queue?.numbers.merged
  if (mergedLastHour === undefined) return null
  const ahead = entry.position - 1
  if (mergedLastHour === 0) return { ahead, mergedLastHour, seconds: null, at: null }
  const seconds = Math.round(((ahead + 1) / mergedLastHour) * hour)
  return { ahead, mergedLastHour, seconds, at: toIso(now + seconds * 1_000) }
}

/** Says an estimate with its grounds: `20 ahead; 12 merged in the last hour: about 1h45m (18:05 UTC)`. */
export function describeEstimate({ ahead, mergedLastHour, seconds, at }: Estimate): string {
  if (seconds === null || at === null) return `not known: ${ahead} ahead, and none merged in the last hour`
  const about = `about ${formatRounded(seconds * 1_000)} (${at.slice(11, 16)} UTC)`
  return `${ahead} ahead; ${mergedLastHour} merged in the last hour: ${about}`
}
