import { readActivity, readTestedTogether } from '../../../api/reads/queue-activity.ts'
import { getString } from '../../../base/json.ts'
import { testSlots } from '../../../domain/queue-entries.ts'
import type { Queue } from '../../../values/repository.ts'
import type { QueueReader } from '../../../wait/queue-reader.ts'

/** How long what the metrics say is shown before they are read again, in milliseconds. */
const maxActivityAge = 60_000

/** Also reads the metrics, not each time, and who is tested together, when others are under test. */
export function withActivity(readQueue: QueueReader, values: Queue): QueueReader {
  let activity: ReturnType<typeof readActivity> | undefined
  let readAt = Number.NEGATIVE_INFINITY
  let batches: Awaited<ReturnType<typeof readTestedTogether>>
  let testedBefore = ''
  return async (client, limits) => {
    const now = client.host.clock.now()
    if (now - readAt >= maxActivityAge) {
      readAt = now
      activity = readActivity(client, values)
    }
    const update = await readQueue(client, limits)
    const { testing } = testSlots(update.queue)
    const tested = testing.map(({ pr, record }) => `${pr} ${getString(record, 'stateChangedAt')}`).join()
    if (tested !== testedBefore) batches = await readTestedTogether(update.queue, client, values)
    testedBefore = tested
    return { ...update, activity: { ...(await activity), batches } }
  }
}
