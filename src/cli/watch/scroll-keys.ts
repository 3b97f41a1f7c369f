/** Where a key scrolls to, from an offset and with a number of visible items. */
type Scroll = (offset: number, pageSize: number) => number

const up: Scroll = offset => offset - 1
const down: Scroll = offset => offset + 1
const pageUp: Scroll = (offset, pageSize) => offset - pageSize
const pageDown: Scroll = (offset, pageSize) => offset + pageSize
const toStart: Scroll = () => 0
const toEnd: Scroll = () => Number.MAX_SAFE_INTEGER

const scrollKeys: ReadonlyMap<string, Scroll> = new Map([
  ['k', up],
  ['\u001B[A', up],
  ['\u001BOA', up],
  ['j', down],
  ['\u001B[B', down],
  ['\u001BOB', down],
  ['\u001B[5~', pageUp],
  [' ', pageDown],
  ['\u001B[6~', pageDown],
  ['g', toStart],
  ['\u001B[H', toStart],
  ['\u001B[1~', toStart],
  ['G', toEnd],
  ['\u001B[F', toEnd],
  ['\u001B[4~', toEnd],
])

/** Returns the offset after a key was pressed, at least 0; undefined for a key that does not scroll. */
export function scrollWith(key: string, offset: number, pageSize: number): number | undefined {
  const scroll = scrollKeys.get(key)
  return scroll === undefined ? undefined : Math.max(0, scroll(offset, pageSize))
}
