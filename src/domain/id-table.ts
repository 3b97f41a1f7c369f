/** A map from ids to the number of the pass in which an id was last seen. A UUID takes about 30 bytes. */
export interface IdTable {
  /**
   * Records that an id was seen in a pass, a number from 0. Returns the pass in which the id was last seen
   * before; undefined if the id is new.
   */
  add(id: string, pass: number): number | undefined
}

const uuid = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/
/** The 32-bit words of a slot: four of the UUID, then the pass plus 1, where 0 marks an empty slot. */
const slotWidth = 5
const maxLoadFactor = 0.8

/** Creates an empty table. Ids that are not UUIDs in lower case are kept as strings. */
export function createIdTable(): IdTable {
  const others = new Map<string, number>()
  let slots = 1024
  let table = new Uint32Array(slots * slotWidth)
  let count = 0
  const key = new Uint32Array(slotWidth)

  /** Returns the offset of the key's slot, or of the empty slot where the key belongs. */
  const find = (within: Uint32Array, mask: number): number => {
    let hash = 0
    for (let word = 0; word < 4; word++) hash = Math.imul(hash ^ (key[word] ?? 0), 0x9e3779b1) ^ (hash >>> 15)
    for (let slot = (hash ^ (hash >>> 16)) & mask; ; slot = (slot + 1) & mask) {
      const at = slot * slotWidth
      const isMatch =
        within[at] === key[0] &&
        within[at + 1] === key[1] &&
        within[at + 2] === key[2] &&
        within[at + 3] === key[3]
      if (isMatch || within[at + 4] === 0) return at
    }
  }
  const grow = () => {
    slots *= 2
    const larger = new Uint32Array(slots * slotWidth)
    for (let at = 0; at < table.length; at += slotWidth) {
      if (table[at + 4] === 0) continue
      key.set(table.subarray(at, at + slotWidth))
      larger.set(key, find(larger, slots - 1))
    }
    table = larger
  }
  return {
    add(id, pass) {
      if (!uuid.test(id)) {
        const previous = others.get(id)
        others.set(id, pass)
        return previous
      }
      key[0] = Number.parseInt(id.slice(0, 8), 16)
      key[1] = Number.parseInt(id.slice(9, 13) + id.slice(14, 18), 16)
      key[2] = Number.parseInt(id.slice(19, 23) + id.slice(24, 28), 16)
      key[3] = Number.parseInt(id.slice(28), 16)
      key[4] = pass + 1
      const at = find(table, slots - 1)
      const previous = table[at + 4] ?? 0
      table.set(key, at)
      if (previous > 0) return previous - 1
      if (++count > slots * maxLoadFactor) grow()
      return undefined
    },
  }
}
