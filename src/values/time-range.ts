import { usageError } from '../base/errors.ts'
import { pluralize } from './format.ts'
import { maxWindow } from './limits.ts'
import { isDayName, parseMoment } from './time.ts'

/** A range of time in milliseconds since 1970: start inclusive, end exclusive. */
export interface TimeRange {
  readonly start: number
  readonly end: number
}

/** Windows of at most 7 days, the newest first. They touch, never overlap and cover the range exactly. */
export function windows({ start, end }: TimeRange): readonly TimeRange[] {
  const result: TimeRange[] = []
  for (let to = end; to > start; to -= maxWindow)
    result.push({ start: Math.max(start, to - maxWindow), end: to })
  return result
}

const defaultLength = 86_400_000

const timeZone = (): string => new Intl.DateTimeFormat().resolvedOptions().timeZone

/** A time to the minute, in UTC: `2026-01-05 09:30`. */
export const formatDate = (time: number): string =>
  new Date(time).toISOString().slice(0, 16).replace('T', ' ')

/**
 * Returns a range in words: `last 24 hours`, `last 7 days`; where it does not end now `2026-01-05 09:30 to
 * 2026-01-05 10:30 UTC`, and where it is not of whole minutes `since 2026-01-05 09:30 UTC`. A day that `since` names is
 * said with the time zone: `since yesterday, 00:00 Europe/Berlin`.
 */
export function describeInWords({ start, end }: TimeRange, endsNow: boolean, since = ''): string {
  const minutes = (end - start) / 60_000
  if (!endsNow) return `${formatDate(start)} to ${formatDate(end)} UTC`
  if (isDayName(since)) return `since ${since.toLowerCase()}, 00:00 ${timeZone()}`
  if (!Number.isInteger(minutes)) return `since ${formatDate(start)} UTC`
  const [noun, length] =
    minutes % 1440 === 0 && minutes > 1440
      ? ['day', minutes / 1440]
      : minutes % 60 === 0
        ? ['hour', minutes / 60]
        : ['minute', minutes]
  return length === 1 ? `last ${noun}` : `last ${pluralize(length, noun)}`
}

/** Returns a range as a part of a sentence: `in the last 24 hours`, `since ...`, or `from ... to ...`. */
export const describeWhen = (range: TimeRange, endsNow: boolean, since?: string): string =>
  describeInWords(range, endsNow, since).replace(/^last/, 'in the last').replace(/^\d/, 'from $&')

/** Parses a range, by default the last 24 hours until `now`. Throws for an end in the future and an empty range. */
export function parseTimeRange(
  from: string | undefined,
  to: string | undefined,
  now: number,
  nameOf: (name: string) => string,
): TimeRange {
  const end = to === undefined ? now : parseMoment(to, now)
  const start = from === undefined ? end - defaultLength : parseMoment(from, now)
  if (end > now)
    throw usageError(
      'The end of the range is in the future.',
      `To end the range now, omit ${nameOf('until')}.`,
    )
  if (start >= end) throw usageError('The range is empty: the start must be before the end.')
  return { start, end }
}

/** How long the service keeps test runs (docs/reference/service.md, "listMergeQueueTestingResults"). */
export const keptDays = 45

const minute = 60_000

/** The earliest start that is requested: a minute less, because time passes on the way to the service. */
const earliestKept = (now: number): number => now - keptDays * 86_400_000 + minute

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
