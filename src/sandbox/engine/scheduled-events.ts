import { cancelEntry, configure } from './actions.ts'
import { moveHead } from './head-commits.ts'
import type { Queue, ScheduledEvent } from './queue.ts'
import { isSubmitted } from './queue-queries.ts'
import type { Rule } from './rule.ts'

/** What a scenario has happen at its own moments, as somebody outside would do it. All of it is the sandbox's own. */

/** Lets happen what is due. */
export const runScheduledEvents: Rule = queue => {
  const { scheduledEvents, now } = queue
  for (let one = scheduledEvents.due(now); one !== undefined; one = scheduledEvents.due(now))
    applyEvent(queue, one)
  return scheduledEvents.next()
}

function applyEvent(queue: Queue, happening: ScheduledEvent): void {
  if (happening.what === 'changed') {
    configure(queue, happening.settings)
    return
  }
  const entry = queue.entries.get(happening.number)
  if (entry === undefined) return
  if (happening.what === 'pushed') {
    moveHead(queue, entry.number)
    // Only what has left NOT_READY is cancelled by a push: the service was seen to keep the others (section 2.3).
    entry.mergeableAt = queue.now + queue.timings.ready
    if (queue.unready.has(entry)) queue.rechecks.add(queue.now, entry)
    else if (isSubmitted(entry)) cancelEntry(queue, entry, 'a commit was pushed')
  } else if (isSubmitted(entry)) cancelEntry(queue, entry, 'it was cancelled')
}
