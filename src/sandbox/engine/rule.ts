import type { Batch, Queue } from './queue.ts'

/** Does what is due at `queue.now` and says when it has to be asked again; Infinity waits for something else than time. */
export type Rule = (queue: Queue) => number

export const never = Number.POSITIVE_INFINITY

/** The first batch in the line whose phase is over, or when the next one's will be; one that does not meet the condition stays. */
export function dueIn(
  { batches, now }: Queue,
  phase: Batch['phase'],
  meets: (batch: Batch) => boolean = () => true,
): { readonly batch?: Batch; readonly next: number } {
  let next = never
  for (const batch of batches) {
    if (batch.phase !== phase || !meets(batch)) continue
    if (batch.due <= now) return { batch, next: now }
    next = Math.min(next, batch.due)
  }
  return { next }
}
