import type { Queue } from '../../run/values.ts'
import type { QueueReader } from '../../wait/queue-reader.ts'
import { readActivity } from './screen.ts'

/** How long what the metrics say is shown before they are read again, in milliseconds. */
const maxActivityAge = 60_000

/** Returns a reader that also reads what the metrics say of the queue, at the same time and not each time. */
export function withActivity(readQueue: QueueReader, values: Queue): QueueReader {
  let activity: ReturnType<typeof readActivity> | undefined
  let readAt = Number.NEGATIVE_INFINITY
  return async (client, limits) => {
    const now = client.host.clock.now()
    if (now - readAt >= maxActivityAge) {
      readAt = now
      activity = readActivity(client, values)
    }
    return { ...(await readQueue(client, limits)), activity: await activity }
  }
}
