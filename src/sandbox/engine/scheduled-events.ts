import { moveHead } from './head-commits.ts'
import { configure, withdraw } from './inputs.ts'
import { isSubmitted } from './queue-order.ts'
import type { Happening, Queue } from './queue.ts'
import type { Rule } from './rule.ts'

/** What a scenario has happen at its own moments, as somebody outside would do it. All of it is the sandbox's own. */

/** Lets happen what is due. */
export const happen: Rule = queue => {
  const { happenings, now } = queue
  for (let one = happenings.due(now); one !== undefined; one = happenings.due(now)) play(queue, one)
  return happenings.next()
}

function play(queue: Queue, happening: Happening): void {
  if (happening.what === 'changed') {
    configure(queue, happening.settings)
    return
  }
  const entry = queue.entries.get(happening.number)
  if (entry === undefined) return
  if (happening.what === 'pushed') {
    moveHead(queue, entry.number)
    // Only what has left NOT_READY is cancelled by a push: the service was seen to keep the others (section 2.3).
    entry.mergeableAt = queue.now + queue.pace.ready
    if (queue.unready.has(entry)) queue.looks.add(queue.now, entry)
    else if (isSubmitted(entry)) withdraw(queue, entry, 'a commit was pushed')
  } else if (isSubmitted(entry)) withdraw(queue, entry, 'it was cancelled')
}
