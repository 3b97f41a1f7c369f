import { hash } from 'node:crypto'

type SeedParts = readonly (string | number)[]

/** Every response has data that earlier ones had, and other sandboxes of a process. */
const digests = new Map<string, Buffer>()

const maxDigests = 10_000

function digest(parts: SeedParts): Buffer {
  const text = JSON.stringify(parts)
  const known = digests.get(text)
  if (known !== undefined) return known
  const created = hash('sha256', text, 'buffer')
  if (digests.size === maxDigests) digests.clear()
  digests.set(text, created)
  return created
}

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

export const pick = (random: number, texts: readonly string[]): string =>
  texts[Math.floor(random * texts.length)] ?? ''

export const authors: readonly string[] = [
  'ada',
  'grace',
  'alan',
  'barbara',
  'edsger',
  'frances',
  'linus',
  'margaret',
]

/** The changes of pull requests: the title of each, and the name of its head branch. */
export const changes: Readonly<Record<string, string>> = {
  'Fix the rounding of the cart': 'fix-cart',
  'Cache the suggestions of the search box': 'cache-suggestions',
  'Remove the old checkout': 'remove-old-checkout',
  'Update the payment client': 'update-payment-client',
  'Speed up the order export': 'speed-up-export',
  'Show the delivery date earlier': 'show-delivery-date',
  'Retry webhooks with back-off': 'retry-webhooks',
  'Rename the settings of the importer': 'rename-importer-settings',
}
