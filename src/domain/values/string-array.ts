import type { EncodedJson } from '../../json.ts'

/**
 * A JSON array of distinct strings, encoded while its items are added. An item is added with `begin`, any
 * number of `write`, `put` and `putAsIs`, and `end`; or with `addText`.
 */
export interface StringArray {
  readonly number: number
  readonly dropped: number
  /** The length of the encoded array in bytes. */
  readonly bytes: number
  begin(): void
  /**
   * Writes bytes from the index `from` up to the first control character, space, quote or backslash; returns
   * the index of that byte, or the number of bytes.
   */
  write(bytes: Uint8Array, from: number): number
  /** Writes a byte, escaped if JSON requires it. */
  put(byte: number): void
  putAsIs(byte: number): void
  current(): Uint8Array
  isAscii(): boolean
  isTooLong(): boolean
  /** Ends the current item and drops a duplicate. Returns false if the array is over its limit. */
  end(): boolean
  /** Adds a text as an item, instead of the current item. Returns false if the array is over its limit. */
  addText(text: string): boolean
  /**
   * Returns the array, with the same bytes as `JSON.stringify`. If the array is over its limit, only the
   * number of bytes is valid.
   */
  encoded(): EncodedJson
}

const utf8 = new TextEncoder()
const quote = 0x22
const backslash = 0x5c
const blank = 0x20

const initialSize = 64 * 1024

/**
 * The constants of the FNV-1a hash. Collisions cost time only: equal hashes are followed by a comparison.
 */
const [initialHash, prime] = [0x811c9dc5, 0x01000193]

const encodeAscii = (): readonly Uint8Array[] =>
  Array.from({ length: 128 }, (_, code) =>
    utf8.encode(JSON.stringify(String.fromCharCode(code)).slice(1, -1)),
  )

/**
 * Creates an empty array with a limit of `maxBytes` bytes. Items are written directly into the encoded
 * array, and a hash table of their offsets finds duplicates, so that each item is in memory only once.
 */
export function createStringArray(maxBytes: number): StringArray {
  const escapedAscii = encodeAscii()
  let buffer = utf8.encode('['.padEnd(initialSize, '\0'))
  let [length, start, end, hash] = [1, 1, 1, initialHash]
  let [number, dropped] = [0, 0]
  let bits = 0
  const table = createOffsetTable()

  /**
   * Makes room for more bytes. The buffer grows once, to its maximum size: the operating system does not
   * allocate memory that is never written.
   */
  const reserve = (room: number) => {
    if (end + room <= buffer.length || buffer.length > initialSize) return
    // Twice the limit has room for the array and for one item that is compared with the others.
    const larger = new Uint8Array(2 * maxBytes + 4)
    larger.set(buffer)
    buffer = larger
  }
  const append = (byte: number) => {
    reserve(2)
    buffer[end++] = byte
    bits |= byte
    hash = Math.imul(hash ^ byte, prime)
  }
  const begin = () => {
    end = length
    if (number > 0) append(0x2c)
    start = end
    bits = 0
    hash = initialHash
    append(quote)
  }
  const finish = (): boolean => {
    append(quote)
    if (length >= maxBytes) return false
    if (end - start <= maxBytes && !table.put(buffer, start, end, hash ^ (hash >>> 15))) {
      dropped++
      return true
    }
    number++
    length = end
    return length < maxBytes
  }
  const appendAll = (bytes: Uint8Array) => {
    for (const byte of bytes) append(byte)
  }
  return {
    get number() {
      return number
    },
    get dropped() {
      return dropped
    },
    get bytes() {
      return length + 1
    },
    begin,
    write(bytes, from) {
      reserve(bytes.length - from + 2)
      const target = buffer
      let [offset, newHash, newBits, index] = [end, hash, bits, from]
      for (; index < bytes.length; index++) {
        const byte = bytes[index] ?? 0
        if (byte <= blank || byte === quote || byte === backslash) break
        target[offset++] = byte
        newBits |= byte
        newHash = Math.imul(newHash ^ byte, prime)
      }
      end = offset
      hash = newHash
      bits = newBits
      return index
    },
    put(byte) {
      const escaped = escapedAscii[byte]
      if (escaped === undefined) append(byte)
      else appendAll(escaped)
    },
    putAsIs: append,
    current: () => buffer.subarray(start + 1, end),
    isAscii: () => bits < 0x80,
    isTooLong: () => end - start > maxBytes,
    end: finish,
    addText(text) {
      begin()
      appendAll(utf8.encode(JSON.stringify(text).slice(1, -1)))
      return finish()
    },
    encoded() {
      if (length >= maxBytes) return { chunks: [new Uint8Array(0)], bytes: length + 1 }
      buffer[length] = 0x5d
      return { chunks: [buffer.subarray(0, length + 1)], bytes: length + 1 }
    },
  }
}

/**
 * A hash table of the offsets of items: open addressing, at most half full; a slot is an offset and a hash.
 */
interface OffsetTable {
  /**
   * Adds the item from `start` to `end`, and returns false if the table has an equal item. The compared
   * bytes include the closing quote, so that no item equals the beginning of another item.
   */
  put(buffer: Uint8Array, start: number, end: number, hash: number): boolean
}

function createOffsetTable(): OffsetTable {
  let slots = new Int32Array(2048)
  let filled = 0

  const next = (slot: number): number => (slot + 2) & (slots.length - 2)
  const grow = () => {
    const old = slots
    slots = new Int32Array(4 * old.length)
    for (let index = 0; index < old.length; index += 2) {
      const [start = 0, hash = 0] = [old[index], old[index + 1]]
      if (start === 0) continue
      let slot = (2 * hash) & (slots.length - 2)
      while (slots[slot] !== 0) slot = next(slot)
      slots[slot] = start
      slots[slot + 1] = hash
    }
  }
  return {
    put(buffer, start, end, hash) {
      let slot = (2 * hash) & (slots.length - 2)
      for (let other = slots[slot] ?? 0; other !== 0; other = slots[slot] ?? 0) {
        if (slots[slot + 1] === hash && isSame(buffer, other, start, end - start)) return false
        slot = next(slot)
      }
      slots[slot] = start
      slots[slot + 1] = hash
      if (++filled * 4 > slots.length) grow()
      return true
    },
  }
}

function isSame(buffer: Uint8Array, one: number, other: number, bytes: number): boolean {
  for (let index = 0; index < bytes; index++) if (buffer[one + index] !== buffer[other + index]) return false
  return true
}
