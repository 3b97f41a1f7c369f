/**
 * Ids, each with the number of the reading in which it was last met. A UUID takes about 30 bytes, and no
 * object.
 */
export interface IdTable {
  /**
   * Notes that an id was met in a reading, a number from 0 on; the one in which it was met before, where it
   * was.
   */
  add(id: string, reading: number): number | undefined
}

const uuid = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/
/** Words of a slot: four of the UUID, then the reading and one; 0 there is an empty slot. */
const width = 5
const fullest = 0.8

/** Makes an empty table. What is no UUID in small letters is kept as it is. */
export function createIdTable(): IdTable {
  const others = new Map<string, number>()
  let slots = 1024
  let table = new Uint32Array(slots * width)
  let count = 0
  const key = new Uint32Array(width)

  /** Where the key stands, or where it would. */
  const find = (within: Uint32Array, mask: number): number => {
    let hash = 0
    for (let word = 0; word < 4; word++) hash = Math.imul(hash ^ (key[word] ?? 0), 0x9e3779b1) ^ (hash >>> 15)
    for (let slot = (hash ^ (hash >>> 16)) & mask; ; slot = (slot + 1) & mask) {
      const at = slot * width
      const isHere =
        within[at] === key[0] &&
        within[at + 1] === key[1] &&
        within[at + 2] === key[2] &&
        within[at + 3] === key[3]
      if (isHere || within[at + 4] === 0) return at
    }
  }
  const grow = () => {
    slots *= 2
    const wider = new Uint32Array(slots * width)
    for (let at = 0; at < table.length; at += width) {
      if (table[at + 4] === 0) continue
      key.set(table.subarray(at, at + width))
      wider.set(key, find(wider, slots - 1))
    }
    table = wider
  }
  return {
    add(id, reading) {
      if (!uuid.test(id)) {
        const before = others.get(id)
        others.set(id, reading)
        return before
      }
      key[0] = Number.parseInt(id.slice(0, 8), 16)
      key[1] = Number.parseInt(id.slice(9, 13) + id.slice(14, 18), 16)
      key[2] = Number.parseInt(id.slice(19, 23) + id.slice(24, 28), 16)
      key[3] = Number.parseInt(id.slice(28), 16)
      key[4] = reading + 1
      const at = find(table, slots - 1)
      const before = table[at + 4] ?? 0
      table.set(key, at)
      if (before > 0) return before - 1
      if (++count > slots * fullest) grow()
      return undefined
    },
  }
}
