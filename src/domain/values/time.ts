import { usageError } from '../../errors.ts'

const millisecondsPerUnit = new Map([
  ['ms', 1],
  ['s', 1_000],
  ['m', 60_000],
  ['h', 3_600_000],
  ['d', 86_400_000],
  ['w', 604_800_000],
])

/** The maximum duration, in milliseconds: 10,000 weeks, far below what a `Date` can represent. */
const maxDuration = 10_000 * 604_800_000

/**
 * Parses a duration (`90s`, `1h30m`, `0` without a unit) and returns milliseconds, at most 10,000 weeks.
 * Throws a usage error for any other text.
 */
export function parseDuration(text: string): number {
  if (text === '0') return 0
  const parts = [...text.matchAll(/(\d+)(ms|[smhdw])/g)]
  const total = parts.reduce(
    (sum, [, count, unit]) => sum + Number(count) * (millisecondsPerUnit.get(unit ?? '') ?? 0),
    0,
  )
  if (parts.length === 0 || parts.map(([part]) => part).join('') !== text || total > maxDuration)
    throw usageError(
      `'${text}' is not a duration.`,
      'Use whole numbers with ms, s, m, h, d or w, for example 90s, 1h30m or 2d.',
    )
  return total
}

/** The longest delay of a timer, in milliseconds: 24 days. A timer with a longer delay ends at once. */
const maxTimerDelay = 2 ** 31 - 1

/**
 * Parses the time limit of a request, a duration, and returns milliseconds, at most 24 days. Throws a usage
 * error for any other text.
 */
export const parseTimeLimit = (text: string): number => Math.min(parseDuration(text), maxTimerDelay)

const minInterval = 1_000
const maxInterval = 86_400_000

/**
 * Parses the interval between two polls, a duration from 1 second to 1 day, and returns milliseconds.
 * Throws a usage error for any other text.
 */
export function parseInterval(text: string): number {
  const interval = parseDuration(text)
  if (interval < minInterval)
    throw usageError(`'${text}' is shorter than 1s.`, 'Use an interval from 1s to 1d.')
  if (interval > maxInterval)
    throw usageError(`'${text}' is longer than 1d.`, 'Use an interval from 1s to 1d.')
  return interval
}

const dateOnly = /^\d{4}-\d{2}-\d{2}$/
const dateTime = /^(\d{4}-\d{2}-\d{2})[Tt ](?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d+)?([Zz]|[+-]\d{2}:\d{2})$/

/**
 * Parses an instant, in RFC 3339 with an offset or `Z`, or a date without a time, which means midnight UTC.
 * Returns milliseconds since 1970; throws a usage error for any other text.
 */
export function parseInstant(text: string): number {
  const instant = dateOnly.test(text) ? `${text}T00:00:00Z` : text
  const [, date] = dateTime.exec(instant) ?? []
  const time = date === undefined ? Number.NaN : Date.parse(instant.toUpperCase().replace(' ', 'T'))
  const dateExists =
    date !== undefined && new Date(`${date}T00:00:00Z`).getUTCDate() === Number(date.slice(8))
  if (Number.isNaN(time) || !dateExists)
    throw usageError(
      `'${text}' is not a date and time with an offset.`,
      'Use RFC 3339 with Z or an offset (2026-01-05T09:30:00Z), or a date (2026-01-05).',
    )
  return time
}

export const toIso = (time: number): string => new Date(time).toISOString()

export const looksLikeDuration = (text: string): boolean => /^\d+(ms|[smhdw])/.test(text) || text === '0'

/**
 * Returns milliseconds since 1970; a duration counts back from `now`. Throws a usage error for any other
 * text.
 */
export function parseMoment(text: string, now: number): number {
  try {
    return looksLikeDuration(text) ? now - parseDuration(text) : parseInstant(text)
  } catch {
    throw usageError(
      `'${text}' is not a duration or a date.`,
      'Use a duration (90s, 12h, 7d, 2w) or a date (2026-01-05, 2026-01-05T12:00:00Z).',
    )
  }
}
