import { admitReady, startTests } from './admission.ts'
import type { Queue } from './queue.ts'
import { isAwaitingRun } from './queue-queries.ts'
import { never, type Rule } from './rule.ts'
import { runScheduledEvents } from './scheduled-events.ts'
import { finishTests, mergePassed, resolveFailures } from './test-results.ts'
import { requeueBatches } from './transitions.ts'

/**
 * The simulation has no timers: each request first advances the queue to the present. The result depends only
 * on the actions and their times, not on how often the queue is advanced. The rules follow
 * docs/reference/service.md, "Queue operations", "Priorities" and "Pull request states".
 */

/** Simulates a queue up to a time; every change happens at its own time. `queue.now` never decreases. */
export function advanceTo(queue: Queue, time: number): void {
  for (let next = runUntilStable(queue); next <= time; next = runUntilStable(queue)) queue.now = next
  queue.now = Math.max(queue.now, time)
}

/** Applies the rules until no state changes any more; returns the next time at which a rule may apply. */
function runUntilStable(queue: Queue): number {
  for (;;) {
    const transitionCount = queue.transitions.length
    const next = Math.min(...rules.map(rule => rule(queue)))
    if (queue.transitions.length === transitionCount) return next
  }
}

/**
 * SWITCHING_MODES: the new mode takes effect once every batch waits for a run of its own or of a dependency
 * (docs/reference/service.md, "updateQueue" and "Queue states"). No run starts before that, so a batch that
 * needs a rerun, and the batches that depend on it, are tested in the new mode (the sandbox's own).
 */
const switchModes: Rule = queue => {
  if (queue.nextMode === undefined) return never
  if (!queue.batches.every(batch => batch.phase !== 'TESTING' && isAwaitingRun(batch))) return never
  requeueBatches(queue, queue.batches, 'the queue switches modes')
  queue.settings = { ...queue.settings, mode: queue.nextMode }
  queue.nextMode = undefined
  // The new mode may require targets that the old mode did not, or the reverse.
  for (const pullRequest of queue.notReady) queue.readinessChecks.add(queue.now, pullRequest)
  return queue.now
}

/** The order decides which of several changes that are due at the same time happens first. */
const rules: readonly Rule[] = [
  runScheduledEvents,
  admitReady,
  finishTests,
  resolveFailures,
  mergePassed,
  switchModes,
  startTests,
]
