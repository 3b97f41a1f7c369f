import type { Batch, Queue } from './queue.ts'

/**
 * A rule of the simulation. It applies the changes that are due at `queue.now` and returns the next time at
 * which the queue must apply the rule again: `never` if only another change can make the rule apply.
 */
export type Rule = (queue: Queue) => number

/** The time of an event that no passing of time brings about: Infinity. */
export const never = Number.POSITIVE_INFINITY

/**
 * Finds the first batch in a phase that meets a condition and whose phase may end now. If there is none,
 * `next` is the earliest time at which the phase of such a batch may end.
 */
export function findDueBatch(
  { batches, now }: Queue,
  phase: Batch['phase'],
  meetsCondition: (batch: Batch) => boolean = () => true,
): { readonly batch?: Batch; readonly next: number } {
  let next = never
  for (const batch of batches) {
    if (batch.phase !== phase || !meetsCondition(batch)) continue
    if (batch.phaseEndsAt <= now) return { batch, next: now }
    next = Math.min(next, batch.phaseEndsAt)
  }
  return { next }
}
