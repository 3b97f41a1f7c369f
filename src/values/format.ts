/** A number with a comma between its thousands: `8,412`. */
export const formatInteger = (number: number): string =>
  String(number).replace(/^-?\d+/, digits => digits.replace(/\B(?=(\d{3})+$)/g, ','))

/** A number and its noun, in the plural unless the number is 1: `1 test`, `8,412 tests`. */
export const pluralize = (number: number, noun: string): string =>
  `${formatInteger(number)} ${noun}${number === 1 ? '' : 's'}`

/** Returns how many records of a list were read, for a sentence: `No tests`, `2 tests`, or `Listed 2 tests`. */
export function countRead(number: number, noun: string, isWhole: boolean): string {
  if (!isWhole) return `Listed ${pluralize(number, noun)}`
  return number === 0 ? `No ${noun}s` : pluralize(number, noun)
}

/** A number of bytes in bytes, KiB or MiB: `812 bytes`, `1.3 MiB`. */
export function formatBytes(bytes: number): string {
  if (bytes < 1024) return pluralize(bytes, 'byte')
  const [value, unit] = bytes < 1024 * 1024 ? [bytes / 1024, 'KiB'] : [bytes / 1024 / 1024, 'MiB']
  return `${value.toFixed(1)} ${unit}`
}

const maxListed = 50

/** The items separated by commas; of more than 50 items, the first 50 and the number of the others. */
export const joinList = (items: readonly string[]): string =>
  items.length <= maxListed
    ? items.join(', ')
    : `${items.slice(0, maxListed).join(', ')} and ${formatInteger(items.length - maxListed)} more`

const maxNames = 5

/** The names separated by commas; of more than 5 names, the first 5 and the number of the others. */
export const joinTruncated = (names: readonly string[]): string =>
  names.length <= maxNames
    ? names.join(', ')
    : `${names.slice(0, maxNames).join(', ')} and ${pluralize(names.length - maxNames, 'other')}`

/** A text, cut to a number of characters, with an ellipsis as the last. */
export function shorten(text: string, max = 80): string {
  const characters = Array.from(text.slice(0, max * 4))
  return characters.length > max ? `${characters.slice(0, max - 1).join('')}…` : characters.join('')
}

/** A position as an ordinal number: `1st`, `2nd`, `3rd`, `11th`. */
export function formatOrdinal(position: number): string {
  const lastTwo = position % 100
  const suffix = lastTwo >= 11 && lastTwo <= 13 ? 'th' : (['th', 'st', 'nd', 'rd'][position % 10] ?? 'th')
  return `${position}${suffix}`
}

const [second, minute, hour, day] = [1_000, 60_000, 3_600_000, 86_400_000]

/** An age in its largest unit, rounded down: `3m`, `14h`, `9 days`; below 10 hours with minutes, `1h35m`. */
export function formatAge(milliseconds: number): string {
  if (milliseconds >= day) return pluralize(Math.floor(milliseconds / day), 'day')
  if (milliseconds >= hour) {
    const [hours, minutes] = [Math.floor(milliseconds / hour), Math.floor(milliseconds / minute) % 60]
    return hours >= 10 || minutes === 0 ? `${hours}h` : `${hours}h${String(minutes).padStart(2, '0')}m`
  }
  if (milliseconds >= minute) return `${Math.floor(milliseconds / minute)}m`
  return `${Math.floor(milliseconds / second)}s`
}

/** A time in whole seconds: `2026-01-05T12:05:00Z`. `time` is in milliseconds since 1970, and rounded up. */
export const formatInstant = (time: number): string =>
  new Date(Math.ceil(time / second) * second).toISOString().replace('.000', '')

/** How long ago something was: `3m ago`, or `just now`. */
export const formatAgo = (milliseconds: number): string =>
  milliseconds < second ? 'just now' : `${formatAge(milliseconds)} ago`

/** A duration in up to two units, rounded down: `20s`, `6m52s`, `3h04m`, `9 days`. */
export function formatDuration(milliseconds: number): string {
  const [seconds, minutes] = [Math.floor(milliseconds / second) % 60, Math.floor(milliseconds / minute) % 60]
  const padded = (number: number) => String(number).padStart(2, '0')
  if (milliseconds >= day || milliseconds < minute) return formatAge(milliseconds)
  return milliseconds >= hour
    ? `${Math.floor(milliseconds / hour)}h${padded(minutes)}m`
    : `${minutes}m${padded(seconds)}s`
}

/** A time as rough as an estimate is: `14m`, `1h35m`, `under 1m`. */
export const formatRounded = (milliseconds: number): string =>
  milliseconds < minute ? 'under 1m' : formatAge(Math.round(milliseconds / minute) * minute)

/** An estimated time, marked as such unless it is a bound: `~14m`, `under 1m`. */
export const formatEstimate = (milliseconds: number): string =>
  `${milliseconds < minute ? '' : '~'}${formatRounded(milliseconds)}`

/** A share as whole percent: `29%` for 0.294. A share above 0 that rounds to 0 is `<1%`. */
export const formatRate = (rate: number): string =>
  rate > 0 && rate < 0.005 ? '<1%' : `${Math.round(rate * 100)}%`

/**
 * The milliseconds since a date of the service; undefined for a date that is missing, invalid, in the future
 * or without a time zone, which may not be that of this machine. A date less than a second ahead is now: the
 * service gives its own time in whole seconds. `now` is in milliseconds since 1970.
 */
export function elapsedSince(date: string | undefined, now: number): number | undefined {
  if (date === undefined || !/(?:[Zz]|[+-]\d{2}:?\d{2})$/.test(date)) return undefined
  const elapsed = now - Date.parse(date)
  return elapsed > -second ? Math.max(elapsed, 0) : undefined
}

/** Returns the time since a date, such as `3m`; a date of which that is not known is returned itself. */
export function ageOf(date: string, now: number, format = formatAge): string {
  const elapsed = elapsedSince(date, now)
  return elapsed === undefined ? date : format(elapsed)
}

/** How long a state has lasted: ` for 3m`; if it is final, ` 3m ago`; ` since 2026-01-05T12:00:00` if unknown. */
export function describeSince(date: string | undefined, now: number, isFinal: boolean): string {
  const elapsed = elapsedSince(date, now)
  if (elapsed === undefined) return date === undefined || date === '' ? '' : ` since ${date}`
  if (isFinal) return ` ${formatAgo(elapsed)}`
  return elapsed < second ? '' : ` for ${formatAge(elapsed)}`
}
