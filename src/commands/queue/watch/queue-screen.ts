import { formatDuration } from '../../../domain/format.ts'
import { describeChange, type QueueChange } from '../../../domain/queue-changes.ts'
import type { JsonObject } from '../../../json.ts'
import type { LiveScreen } from '../../watch/live-renderer.ts'
import { queueGet } from '../get.ts'
import { type QueueUpdate, queueSummary, type WatchedQueue } from './queue-lines.ts'

/** How many changes stay in sight. */
const maxChanges = 3

/** A queue as a block shows it: what is in it, when something merged last, and what changed last. */
export function createQueueScreen(watched: WatchedQueue): LiveScreen<QueueUpdate> {
  let queue: JsonObject | undefined
  let merge: { readonly pr: number; readonly at: number } | undefined
  let changes: readonly (QueueChange & { readonly noticed: number })[] = []
  return {
    update([found, changed = []], now) {
      queue = found
      const merged = changed.findLast(({ pr, to }) => pr !== null && to === 'MERGED')
      if (merged?.pr != null) merge = { pr: merged.pr, at: now }
      changes = [...changes, ...changed.map(change => ({ ...change, noticed: now }))].slice(-maxChanges)
    },
    draw(now) {
      const { heading: _, ...shape } = queueGet.view(
        { records: [queue ?? {}], bytes: new Uint8Array() },
        watched,
      )
      const heading = [
        ...(queue === undefined ? ['The queue could not be read yet.'] : queueSummary(queue, watched)),
        merge === undefined
          ? 'no merge seen yet'
          : `last merge #${merge.pr}, ${formatDuration(now - merge.at)} ago`,
      ]
      const foot = changes.map(
        change => `${describeChange(change)}, ${formatDuration(now - change.noticed)} ago`,
      )
      return { shape: { ...shape, heading }, foot }
    },
  }
}
