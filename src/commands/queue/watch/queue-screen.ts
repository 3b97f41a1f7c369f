import { type Change, changeText } from '../../../domain/queue-changes.ts'
import { read } from '../../../api/operations/queues.ts'
import { type JsonObject } from '../../../json.ts'
import { span } from '../../../output/view.ts'
import type { Picture } from '../../watch/live-renderer.ts'
import { type Look, queueTexts, type Watched } from './queue-lines.ts'

/** How many changes stay in sight. */
const mostChanges = 3

/** A queue as a block shows it: what is in it, when something merged last, and what changed last. */
export function queuePicture(watched: Watched): Picture<Look> {
  let queue: JsonObject | undefined
  let merge: { readonly pr: number; readonly at: number } | undefined
  let changes: readonly (Change & { readonly noticed: number })[] = []
  return {
    take([found, changed = []], now) {
      queue = found
      const merged = changed.findLast(({ pr, to }) => pr !== null && to === 'MERGED')
      if (merged?.pr != null) merge = { pr: merged.pr, at: now }
      changes = [...changes, ...changed.map(change => ({ ...change, noticed: now }))].slice(-mostChanges)
    },
    draw(now) {
      const { heading: _, ...shape } = read.view({ records: [queue ?? {}], bytes: new Uint8Array() }, watched)
      const heading = [
        ...(queue === undefined ? ['The queue could not be read yet.'] : queueTexts(queue, watched)),
        merge === undefined ? 'no merge seen yet' : `last merge #${merge.pr}, ${span(now - merge.at)} ago`,
      ]
      const foot = changes.map(change => `${changeText(change)}, ${span(now - change.noticed)} ago`)
      return { shape: { ...shape, heading }, foot }
    },
  }
}
