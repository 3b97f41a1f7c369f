/**
 * Values with a time each, taken in the order of time; values of equal time are taken in the order of `add`.
 */
export interface EventQueue<T> {
  /** Returns the earliest time; Infinity when the queue is empty. */
  nextTime(): number
  add(time: number, value: T): void
  takeDue(now: number): T | undefined
}

interface HeapItem<T> {
  readonly time: number
  readonly sequence: number
  readonly value: T
}

const isBefore = (one: HeapItem<unknown>, other: HeapItem<unknown>): boolean =>
  one.time < other.time || (one.time === other.time && one.sequence < other.sequence)

/** Creates an empty event queue, as a binary heap: adding and taking a value cost O(log n). */
export function createEventQueue<T>(): EventQueue<T> {
  const heap: HeapItem<T>[] = []
  let added = 0

  const siftDown = (item: HeapItem<T>, from: number) => {
    let index = from
    for (;;) {
      const [left, right] = [heap[2 * index + 1], heap[2 * index + 2]]
      if (left === undefined) break
      const isRight = right !== undefined && isBefore(right, left)
      const child = isRight ? right : left
      if (isBefore(item, child)) break
      heap[index] = child
      index = 2 * index + (isRight ? 2 : 1)
    }
    heap[index] = item
  }

  return {
    nextTime: () => heap[0]?.time ?? Number.POSITIVE_INFINITY,
    add(time, value) {
      const item = { time, sequence: added++, value }
      let index = heap.length
      while (index > 0) {
        const parentIndex = (index - 1) >> 1
        const parent = heap[parentIndex]
        if (parent === undefined || isBefore(parent, item)) break
        heap[index] = parent
        index = parentIndex
      }
      heap[index] = item
    },
    takeDue(now) {
      const [first] = heap
      if (first === undefined || first.time > now) return undefined
      const last = heap.pop()
      if (last !== undefined && heap.length > 0) siftDown(last, 0)
      return first.value
    },
  }
}
