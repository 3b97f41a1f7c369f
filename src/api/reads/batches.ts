import type { JsonObject } from '../../base/json.ts'
import { mapConcurrent, maxConcurrent } from '../../base/scheduling.ts'
import { testSlots } from '../../domain/queue-entries.ts'
import { stateOf } from '../../domain/states.ts'
import { testRunOf } from '../../domain/test-run.ts'
import type { Queue } from '../../values/repository.ts'
import { getPartialPullRequest } from '../operations/pull-requests.ts'
import type { RequestLimits, ServiceClient } from '../service-client.ts'
import { tolerate, tryRead } from './extra-reads.ts'
import { severalReader } from './several-pull-requests.ts'

/** The most pull requests under test of which something is read. */
const maxRead = 20

interface ReadOptions {
  readonly limits: RequestLimits
  /** Whether each pull request is read alone where the service does not tell of several. */
  readonly readsAlone: boolean
}

/** Returns which pull requests under test share a test run, as far as their timelines say it; none without batches. */
export async function readBatches(
  queue: JsonObject,
  place: Queue,
  client: ServiceClient,
  { limits, readsAlone }: ReadOptions,
) {
  const { testing, isBatching } = testSlots(queue)
  if (!isBatching || testing.length < 2) return []
  const numbers = testing.slice(0, maxRead).map(({ pr }) => pr)
  const options = { includeTimeline: true, limits }
  const { value: several } = await tolerate(() => severalReader(client)(place, numbers, options))
  const readRecord = async (pr: number): Promise<JsonObject | undefined> => {
    const known = several?.records.get(pr)
    if (known !== undefined || !readsAlone) return known
    const params = { ...place, pr, includeTimeline: true }
    return (await tryRead(client, getPartialPullRequest, params, { limits })).record
  }
  const byRun = new Map<string, number[]>()
  const records = mapConcurrent(numbers, maxConcurrent, async pr => ({ pr, record: await readRecord(pr) }))
  for await (const { pr, record } of records) {
    const run = record === undefined || stateOf(record) !== 'TESTING' ? undefined : testRunOf(record)
    if (run !== undefined) byRun.set(run, [...(byRun.get(run) ?? []), pr])
  }
  return [...byRun].map(([testRunId, pullRequests]) => ({ testRunId, pullRequests }))
}
