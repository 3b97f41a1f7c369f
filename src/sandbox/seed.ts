import { createHash } from 'node:crypto'

/** What a value is derived from: the seed and the words that name the value. The same source gives the same value. */
export type SeedParts = readonly (string | number)[]

const digest = (source: SeedParts) => createHash('sha256').update(JSON.stringify(source)).digest()

/** Lower-case hexadecimal digits, at most 64. */
export const hex = (length: number, ...source: SeedParts): string =>
  digest(source).toString('hex').slice(0, length)

/** A UUID in the layout of version 4. */
export function uuid(...source: SeedParts): string {
  const [digits, variant] = [hex(32, ...source), 'uuid-variant']
  const third = `4${digits.slice(13, 16)}`
  const fourth = `${['8', '9', 'a', 'b'][digest([variant, ...source]).readUInt8(0) % 4]}${digits.slice(17, 20)}`
  return [digits.slice(0, 8), digits.slice(8, 12), third, fourth, digits.slice(20)].join('-')
}

/** Numbers from 0 (inclusive) to 1 (exclusive), one for each call, always the same ones for the same source. */
export function randomSequence(...source: SeedParts): () => number {
  let state = digest(source).readUInt32LE(0)
  // mulberry32: small, fast, and good enough for data that only has to look alive.
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

/** One of a list that is not empty. */
export const pick = <T>(roll: number, list: readonly [T, ...T[]]): T =>
  list[Math.floor(roll * list.length)] ?? list[0]
