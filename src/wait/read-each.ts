// Readings: what a read of an item gave, or why it failed, of one item or of several at a time.

import type { WaitTime } from '../api/wait-time.ts'
import { failureOrThrow, isOutage, type MergeqError } from '../base/errors.ts'
import { mapConcurrent, maxConcurrent } from '../base/scheduling.ts'

/** What was read of an item, or why nothing was read. */
export type Reading<R> = { readonly value: R } | { readonly failure: MergeqError }

/** Returns what `read` resolves to, or its error, as a reading. Throws only the error of a signal. */
export async function readingOf<R>(read: () => Promise<R>): Promise<Reading<R>> {
  try {
    return { value: await read() }
  } catch (error) {
    return { failure: failureOrThrow(error) }
  }
}

const tooManyRequests = 429

/**
 * Reads several items, a few at a time, and returns their readings in their order; fewer if the time is over. After a 429,
 * and after as many requests without a response as are sent at a time, the rest is not read: the error counts for it, too.
 * Throws only when a signal interrupts the command.
 */
export async function readEach<T, R>(
  items: readonly T[],
  read: (item: T) => Promise<R>,
  time: WaitTime | undefined,
): Promise<readonly Reading<R>[]> {
  let unanswered = 0
  let failureOfAll: MergeqError | undefined
  const readItem = async (item: T): Promise<Reading<R>> => {
    if (failureOfAll !== undefined) return { failure: failureOfAll }
    const reading = await readingOf(() => read(item))
    const failure = 'failure' in reading ? reading.failure : undefined
    const hasNoResponse = failure !== undefined && isOutage(failure) && failure.details.status === undefined
    unanswered = hasNoResponse ? unanswered + 1 : 0
    if (failure?.details.status === tooManyRequests || unanswered >= maxConcurrent) failureOfAll ??= failure
    return reading
  }
  const readings: Reading<R>[] = []
  for await (const reading of mapConcurrent(items, maxConcurrent, readItem, () => time?.mayBegin() !== false))
    readings.push(reading)
  return readings
}
