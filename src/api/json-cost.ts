import { formatBytes, formatInteger } from '../domain/format.ts'

export interface CostLimits {
  readonly maxDepth: number
  /** Values, counted by the commas and opening brackets and braces before them. */
  readonly maxValues: number
  /** Bytes of one text. */
  readonly maxText: number
  readonly maxMemory: number
}

const mebibyte = 1024 * 1024

/**
 * The limits of a response of at most this number of bytes: 200 levels, 1,048,576 values, 8 MiB for one text
 * and 144 MiB of memory, which keeps the whole program below 300 MB. Above 64 MiB all but the levels grow
 * with the size.
 */
export const costLimits = (maxBytes: number): CostLimits => {
  const factor = Math.max(1, maxBytes / (64 * mebibyte))
  return {
    maxDepth: 200,
    maxValues: Math.floor(mebibyte * factor),
    maxText: Math.floor(8 * mebibyte * factor),
    maxMemory: Math.floor(144 * mebibyte * factor),
  }
}

/** How many bytes are scanned between two pauses: a few milliseconds. */
const step = 4 * mebibyte
/** Bytes of memory of a value without its text, measured with objects, members and numbers of 20 digits. */
const bytesPerValue = 96

const [quote, backslash, comma] = [34, 92, 44]
const [openList, closeList, openObject, closeObject] = [91, 93, 123, 125]
/** In UTF-8 the first byte of a character that takes two bytes in memory is at least this (U+0100). */
const firstWide = 0xc4

/**
 * Looks once through the bytes of a response, before anything is parsed. Returns what is too much, as the end
 * of a sentence (`is nested more than 200 levels deep`); undefined where parsing is cheap enough, which
 * includes what does not begin as a list or an object. Calls `pause` between steps of 4 MiB and rejects with
 * what it throws.
 */
export async function findExcessiveCost(
  bytes: Uint8Array,
  { maxDepth, maxValues, maxText, maxMemory }: CostLimits,
  pause: () => Promise<void>,
): Promise<string | undefined> {
  if (!isListOrObject(bytes)) return undefined
  let [depth, values, inText, textStart, width] = [0, 0, false, 0, 1]
  for (let index = 0; index < bytes.length; ) {
    const end = Math.min(bytes.length, index + step)
    if (index > 0) await pause()
    for (; index < end; index++) {
      const byte = bytes[index] ?? 0
      if (inText) {
        if (byte === backslash) index++
        else if (byte >= firstWide) width = 2
        else if (byte === quote) {
          if (index - textStart > maxText) return `contains a string of more than ${formatBytes(maxText)}`
          inText = false
        }
      } else if (byte === quote) {
        inText = true
        textStart = index
      } else if (byte === comma) {
        if (++values > maxValues) return `contains more than ${formatInteger(maxValues)} values`
      } else if (byte === openList || byte === openObject) {
        if (++depth > maxDepth) return `is nested more than ${maxDepth} levels deep`
        if (++values > maxValues) return `contains more than ${formatInteger(maxValues)} values`
      } else if (byte === closeList || byte === closeObject) depth--
    }
  }
  // The bytes themselves, the text made of them, and the texts in the document.
  const memory = bytes.length * (1 + 2 * width) + values * bytesPerValue
  return memory > maxMemory ? `needs more than ${formatBytes(maxMemory)} of memory` : undefined
}

function isListOrObject(bytes: Uint8Array): boolean {
  const mark = [0xef, 0xbb, 0xbf]
  let index = mark.every((byte, at) => bytes[at] === byte) ? mark.length : 0
  while ((bytes[index] ?? quote) <= 32) index++
  return bytes[index] === openList || bytes[index] === openObject
}
