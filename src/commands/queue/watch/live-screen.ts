import type { LiveScreen } from '../../../cli/watch/live-renderer.ts'
import { formatAge } from '../../../domain/format.ts'
import { describeChange, type QueueChange } from '../../../domain/queue-changes.ts'
import type { JsonObject } from '../../../json.ts'
import { queueGetCommand } from '../get.ts'
import { type QueueUpdate, queueSummary, type WatchedQueue } from './print-changes.ts'

/** How many changes are shown at most. */
const maxChanges = 3

/** Creates the screen of a queue: its pull requests, the last merge and the last changes. */
export function createQueueScreen(watched: WatchedQueue): LiveScreen<QueueUpdate> {
  let queue: JsonObject | undefined
  let lastMerge: { readonly pr: number; readonly at: number } | undefined
  let changes: readonly (QueueChange & { readonly seenAt: number })[] = []
  return {
    update([record, newChanges = []], now) {
      queue = record
      const merged = newChanges.findLast(({ pr, to }) => pr !== null && to === 'MERGED')
      if (merged?.pr != null) lastMerge = { pr: merged.pr, at: now }
      changes = [...changes, ...newChanges.map(change => ({ ...change, seenAt: now }))].slice(-maxChanges)
    },
    draw(now) {
      const { heading: _, ...table } = queueGetCommand.view(
        { records: [queue ?? {}], bytes: new Uint8Array() },
        watched,
      )
      const heading = [
        ...(queue === undefined ? ['The queue has not been read yet.'] : queueSummary(queue, watched)),
        lastMerge === undefined
          ? 'no merge seen yet'
          : `last merge #${lastMerge.pr}, ${formatAge(now - lastMerge.at)} ago`,
      ]
      const foot = changes.map(change => `${describeChange(change)}, ${formatAge(now - change.seenAt)} ago`)
      return { view: { ...table, heading }, foot }
    },
  }
}
