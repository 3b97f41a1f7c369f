/** Things to come, the earliest first; what falls on the same moment comes in the order in which it was added. */
export interface EventQueue<T> {
  /** The moment of the next one; Infinity where there is none. */
  next(): number
  add(at: number, what: T): void
  /** Takes the next one off if its moment has come. */
  due(now: number): T | undefined
}

interface Item<T> {
  readonly at: number
  readonly turn: number
  readonly what: T
}

const isBefore = (one: Item<unknown>, other: Item<unknown>): boolean =>
  one.at < other.at || (one.at === other.at && one.turn < other.turn)

/** Opens an agenda: a binary heap, so that ten thousand things to come cost little. */
export function createEventQueue<T>(): EventQueue<T> {
  const heap: Item<T>[] = []
  let turns = 0

  /** Puts an item where it belongs, from a place downwards: the earlier child moves up as long as there is one. */
  const sink = (item: Item<T>, from: number) => {
    let place = from
    for (;;) {
      const [left, right] = [heap[2 * place + 1], heap[2 * place + 2]]
      if (left === undefined) break
      const isRight = right !== undefined && isBefore(right, left)
      const child = isRight ? right : left
      if (isBefore(item, child)) break
      heap[place] = child
      place = 2 * place + (isRight ? 2 : 1)
    }
    heap[place] = item
  }

  return {
    next: () => heap[0]?.at ?? Number.POSITIVE_INFINITY,
    add(at, what) {
      const item = { at, turn: turns++, what }
      let place = heap.length
      while (place > 0) {
        const above = (place - 1) >> 1
        const parent = heap[above]
        if (parent === undefined || isBefore(parent, item)) break
        heap[place] = parent
        place = above
      }
      heap[place] = item
    },
    due(now) {
      const [first] = heap
      if (first === undefined || first.at > now) return undefined
      const last = heap.pop()
      if (last !== undefined && heap.length > 0) sink(last, 0)
      return first.what
    },
  }
}
