import { createHash } from 'node:crypto'

export type SeedParts = readonly (string | number)[]

const digest = (parts: SeedParts) => createHash('sha256').update(JSON.stringify(parts)).digest()

/** Creates lower-case hexadecimal digits; `length` is at most 64. */
export const createHex = (length: number, ...parts: SeedParts): string =>
  digest(parts).toString('hex').slice(0, length)

export function createUuid(...parts: SeedParts): string {
  const digits = createHex(32, ...parts)
  const third = `4${digits.slice(13, 16)}`
  const variant = ['8', '9', 'a', 'b'][digest(['uuid-variant', ...parts]).readUInt8(0) % 4]
  const fourth = `${variant}${digits.slice(17, 20)}`
  return [digits.slice(0, 8), digits.slice(8, 12), third, fourth, digits.slice(20)].join('-')
}

/** Each call returns the next pseudo-random number, from 0 up to but not including 1. */
export function createRandom(...parts: SeedParts): () => number {
  let state = digest(parts).readUInt32LE(0)
  // The mulberry32 generator is small and fast, and good enough for sample data.
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

export const pick = <T>(random: number, list: readonly [T, ...T[]]): T =>
  list[Math.floor(random * list.length)] ?? list[0]
