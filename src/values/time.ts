import { usageError } from '../base/errors.ts'

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

/** The milliseconds of a duration; undefined for any other text. */
function readDuration(text: string): number | undefined {
  if (text === '0') return 0
  if (!/^(?:\d+(?:ms|[smhdw]))+$/.test(text)) return undefined
  let total = 0
  for (const [, count, unit = ''] of text.matchAll(/(\d+)(ms|[smhdw])/g))
    total += Number(count) * (millisecondsPerUnit.get(unit) ?? 0)
  return total > maxDuration ? undefined : total
}

/** Parses a duration (`90s`, `1h30m`, `0`) into milliseconds, at most 10,000 weeks. Throws a usage error for others. */
export function parseDuration(text: string): number {
  const duration = readDuration(text)
  if (duration === undefined)
    throw usageError(
      `'${text}' is not a duration.`,
      'Use whole numbers with ms, s, m, h, d or w, for example 90s, 1h30m or 2d.',
    )
  return duration
}

/** The longest delay of a timer, in milliseconds: 24 days. A timer with a longer delay ends at once. */
export const maxTimerDelay = 2 ** 31 - 1

/** Parses the time limit of a request, a duration, and returns milliseconds, at most 24 days. */
export const parseTimeLimit = (text: string): number => Math.min(parseDuration(text), maxTimerDelay)

const minInterval = 1_000
const maxInterval = 86_400_000

/** Parses the interval between two polls, a duration from 1 second to 1 day, and returns milliseconds. */
export function parseInterval(text: string): number {
  const interval = parseDuration(text)
  if (interval < minInterval || interval > maxInterval)
    throw usageError(
      `'${text}' is ${interval < minInterval ? 'shorter than 1s' : 'longer than 1d'}.`,
      'Use an interval from 1s to 1d.',
    )
  return interval
}

const dateOnly = /^\d{4}-\d{2}-\d{2}$/
const dateTime = /^(\d{4}-\d{2}-\d{2})[Tt ](?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d+)?([Zz]|[+-]\d{2}:\d{2})$/

/** An instant of RFC 3339, or a date, which is its midnight UTC, in milliseconds since 1970; else undefined. */
export function readInstant(text: string): number | undefined {
  const instant = dateOnly.test(text) ? `${text}T00:00:00Z` : text
  const [, date] = dateTime.exec(instant) ?? []
  if (date === undefined || new Date(`${date}T00:00:00Z`).getUTCDate() !== Number(date.slice(8)))
    return undefined
  const time = Date.parse(instant.toUpperCase().replace(' ', 'T'))
  return Number.isNaN(time) ? undefined : time
}

export const toIso = (time: number): string => new Date(time).toISOString()

const weekdays = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday']

/** Whether a text names a day: `today`, `yesterday`, or the last day of a weekday, which may be today. */
export const isDayName = (text: string): boolean =>
  ['today', 'yesterday', ...weekdays].includes(text.toLowerCase())

/** The start of a named day in the time zone of this machine, in milliseconds since 1970. */
function startOfDay(text: string, now: number): number {
  const day = new Date(now)
  const weekday = weekdays.indexOf(text.toLowerCase())
  const daysAgo = weekday < 0 ? Number(/yesterday/i.test(text)) : (day.getDay() - weekday + 7) % 7
  return new Date(day.getFullYear(), day.getMonth(), day.getDate() - daysAgo).getTime()
}

/** Parses an instant, a named day, or a duration that counts back from `now`, into milliseconds since 1970. */
export function parseMoment(text: string, now: number): number {
  if (isDayName(text)) return startOfDay(text, now)
  const duration = readDuration(text)
  const time = duration === undefined ? readInstant(text) : now - duration
  if (time === undefined)
    throw usageError(
      `'${text}' is not a duration or a date.`,
      'Use a duration (90s, 12h, 7d, 2w), a date (2026-01-05, 2026-01-05T12:00:00Z), today, yesterday or a weekday.',
    )
  return time
}
