import { admitReady, startTests } from './admission.ts'
import type { Queue } from './queue.ts'
import { awaitsRun } from './queue-queries.ts'
import { never, type Rule } from './rule.ts'
import { runScheduledEvents } from './scheduled-events.ts'
import { finishTests, mergePassed, resolveFailures } from './test-results.ts'
import { requeueBatches } from './transitions.ts'

/**
 * The queue as a simulation without timers: whoever asks first brings it up to date. It depends on nothing but the
 * inputs and their moments, so asking often or seldom makes no difference. The rules are written after
 * service-observed.md sections 3, 6 and 7; service-api.md section 3 shows no transitions.
 */

/** Lets everything happen until `until`, each thing at its own moment. Time never goes backwards. */
export function advance(queue: Queue, until: number): void {
  for (let next = settle(queue); next <= until; next = settle(queue)) queue.now = next
  queue.now = Math.max(queue.now, until)
}

/** Applies the rules until nothing moves any more; the moment at which something will move again. */
function settle(queue: Queue): number {
  for (;;) {
    const before = queue.transitions.length
    const next = Math.min(...rules.map(rule => rule(queue)))
    if (queue.transitions.length === before) return next
  }
}

/**
 * SWITCHING_MODES: until nothing is tested, merges or fails any more (service-observed.md sections 3.3 and 7). No run
 * starts meanwhile, so one that is to be repeated, on a restart or after a failure, is repeated in the new mode; what
 * builds on it has to wait for it and is then tested again as well (the sandbox's own).
 */
const switchModes: Rule = queue => {
  if (queue.switchingTo === undefined) return never
  if (!queue.batches.every(batch => batch.phase !== 'TESTING' && awaitsRun(batch))) return never
  requeueBatches(queue, queue.batches, 'the queue switches modes')
  queue.settings = { ...queue.settings, mode: queue.switchingTo }
  queue.switchingTo = undefined
  // Another mode may ask for targets, or not ask for them any more.
  for (const entry of queue.unready) queue.rechecks.add(queue.now, entry)
  return queue.now
}

/** In the order in which things that are due at the same moment happen. */
const rules: readonly Rule[] = [
  runScheduledEvents,
  admitReady,
  finishTests,
  resolveFailures,
  mergePassed,
  switchModes,
  startTests,
]
