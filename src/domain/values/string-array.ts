import type { EncodedChunks } from '../../json.ts'

/**
 * A JSON array of different strings, encoded while its items come in. An item is begun, written and ended;
 * text is added at once.
 */
export interface StringArray {
  readonly number: number
  /** Items that were there already and were left out. */
  readonly dropped: number
  /** Its length in bytes, as it will be sent. */
  readonly bytes: number
  begin(): void
  /** Writes bytes that JSON writes as they are; where the first stands that is none of these, or a blank. */
  write(bytes: Uint8Array, from: number): number
  /** Writes one byte, the way JSON does. */
  put(byte: number): void
  /** Writes one byte as it is. */
  putAsIs(byte: number): void
  /** What was written of the item, as it stands in the array. */
  current(): Uint8Array
  /** Whether all of that is ASCII. */
  isAscii(): boolean
  /** Whether the item alone is longer than the whole array may be. */
  isTooLong(): boolean
  /** Ends the item, and takes it back if it was there already. False once the array is over its limit. */
  end(): boolean
  /** Adds this text in the place of what was begun. */
  addText(text: string): boolean
  /**
   * The array, byte for byte what `JSON.stringify` makes of the items; over the limit it is counted, not
   * kept.
   */
  encoded(): EncodedChunks
}

const utf8 = new TextEncoder()
const quote = 0x22
const backslash = 0x5c
const blank = 0x20

const firstPiece = 64 * 1024

/** FNV-1a, which is quick and good enough for names that nobody chose to collide. */
const [firstHash, prime] = [0x811c9dc5, 0x01000193]

/** What JSON writes inside a string for each ASCII character. */
const written: readonly Uint8Array[] = Array.from({ length: 128 }, (_, code) =>
  utf8.encode(JSON.stringify(String.fromCharCode(code)).slice(1, -1)),
)

/**
 * Opens an array of at most `most` bytes. An item is written behind the others at once: a table of where
 * items begin tells by its bytes whether it was there, so that nothing is kept twice.
 */
export function createStringArray(most: number): StringArray {
  let buffer = utf8.encode('['.padEnd(firstPiece, '\0'))
  let [length, start, end, hash] = [1, 1, 1, firstHash]
  let [number, dropped] = [0, 0]
  /** All bits that are set in the bytes of the item. */
  let bits = 0
  const table = openTable()

  /**
   * Makes room. Memory that is never written to is never taken, so all there can be is asked for in one
   * piece.
   */
  const reserve = (room: number) => {
    if (end + room <= buffer.length || buffer.length > firstPiece) return
    // What falls out of it is counted all the same; and an item that was there before never falls out.
    const larger = new Uint8Array(2 * most + 4)
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
    hash = firstHash
    append(quote)
  }
  const finish = (): boolean => {
    append(quote)
    if (length >= most) return false
    if (end - start <= most && !table.put(buffer, start, end, hash ^ (hash >>> 15))) {
      dropped++
      return true
    }
    number++
    length = end
    return length < most
  }
  const put = (bytes: Uint8Array) => {
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
      const room = buffer
      let [at, sum, any, index] = [end, hash, bits, from]
      for (; index < bytes.length; index++) {
        const byte = bytes[index] ?? 0
        if (byte <= blank || byte === quote || byte === backslash) break
        room[at++] = byte
        any |= byte
        sum = Math.imul(sum ^ byte, prime)
      }
      end = at
      hash = sum
      bits = any
      return index
    },
    put(byte) {
      const instead = written[byte]
      if (instead === undefined) append(byte)
      else put(instead)
    },
    putAsIs: append,
    current: () => buffer.subarray(start + 1, end),
    isAscii: () => bits < 0x80,
    isTooLong: () => end - start > most,
    end: finish,
    addText(text) {
      begin()
      put(utf8.encode(JSON.stringify(text).slice(1, -1)))
      return finish()
    },
    encoded() {
      if (length >= most) return { chunks: [new Uint8Array(0)], bytes: length + 1 }
      buffer[length] = 0x5d
      return { chunks: [buffer.subarray(0, length + 1)], bytes: length + 1 }
    },
  }
}

/**
 * Where items begin, found by their hash: open addressing, at most half full; a slot is a start and a hash
 * side by side.
 */
interface Table {
  /**
   * Puts the item at `start`, up to `end`, unless its like is there. The closing quote makes no item the
   * start of another.
   */
  put(buffer: Uint8Array, start: number, end: number, hash: number): boolean
}

function openTable(): Table {
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
