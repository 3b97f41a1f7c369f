/** An integer with a comma between its thousands: `8,412`. */
export const formatInteger = (number: number): string => String(number).replace(/\B(?=(\d{3})+$)/g, ',')

/** A number and its noun, in the plural unless the number is 1: `1 test`, `8,412 tests`. */
export const pluralize = (number: number, noun: string): string =>
  `${formatInteger(number)} ${noun}${number === 1 ? '' : 's'}`

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

const durationUnits: readonly (readonly [milliseconds: number, unit: string])[] = [
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'm'],
]

/** A duration in its largest unit (days to seconds), rounded down: `3m` for 200,000 milliseconds. */
export function formatDuration(milliseconds: number): string {
  const [size, unit] = durationUnits.find(([size]) => milliseconds >= size) ?? [1_000, 's']
  return `${Math.floor(milliseconds / size)}${unit}`
}
