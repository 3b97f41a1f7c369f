import type { Batch, Queue } from './queue.ts'

/** Does what is due at `queue.now` and says when it has to be asked again; Infinity waits for something else than time. */
export type Rule = (queue: Queue) => number

export const never = Number.POSITIVE_INFINITY

/** A batch whose phase is over, the first in the line. */
export const dueIn = (queue: Queue, phase: Batch['phase']): Batch | undefined =>
  queue.line.find(batch => batch.phase === phase && batch.due !== undefined && batch.due <= queue.now)

/** When the next batch of a phase will be due. */
export const nextIn = ({ line }: Queue, phase: Batch['phase']): number =>
  Math.min(never, ...line.filter(batch => batch.phase === phase).map(({ due = never }) => due))
