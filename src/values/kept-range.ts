import { usageError } from '../base/errors.ts'
import { parseTimeRange, type TimeRange } from './time-range.ts'

/** How long the service keeps test runs (docs/reference/service.md, "listMergeQueueTestingResults"). */
export const keptDays = 45

const minute = 60_000

/** The earliest start that is requested: a minute less, because time passes on the way to the service. */
export const earliestKept = (now: number): number => now - keptDays * 86_400_000 + minute

/** Parses a range of finished test runs, both ends inclusive, within what the service keeps; `now` is its time. */
export function parseKeptRange(
  since: string,
  until: string | undefined,
  now: number,
  nameOf: (name: string) => string,
): TimeRange {
  const { start, end } = parseTimeRange(since, until, now, nameOf)
  const earliest = earliestKept(now)
  if (start < earliest - minute)
    throw usageError(
      `The service keeps test runs for ${keptDays} days, and the range begins earlier.`,
      `For all that there is: ${nameOf('since')} ${keptDays}d`,
    )
  if (end <= earliest)
    throw usageError(`The range is empty: it ends when the service begins to keep test runs.`)
  return { start: Math.max(start, earliest), end }
}

/** The range of the same length before a range: it ends a millisecond before it, as both ends are inclusive. */
export function rangeBefore({ start, end }: TimeRange, now: number): TimeRange | undefined {
  const before = { start: Math.max(start - 1 - (end - start), earliestKept(now)), end: start - 1 }
  return before.start > before.end ? undefined : before
}
