import type { QueueMetrics } from '../../../domain/metrics/summary.ts'

/** How many depths of each queue are kept. */
const maxHistory = 40

/** The last depths of queues. */
export interface DepthHistory {
  /** Adds the depths of a reading. */
  add(queues: readonly QueueMetrics[]): void
  /** Returns the last depths of a queue, NaN for readings without it. */
  of(queue: QueueMetrics): readonly number[]
}

/** Creates a history without readings. */
export function createDepthHistory(): DepthHistory {
  const depths = new Map<string, readonly number[]>()
  const keyOf = ({ repo, branch }: QueueMetrics) => JSON.stringify([repo, branch])
  let readings = 0
  return {
    add(queues) {
      const current = new Map(queues.map(queue => [keyOf(queue), queue.numbers.depth ?? Number.NaN]))
      for (const key of new Set([...depths.keys(), ...current.keys()])) {
        const before = depths.get(key) ?? Array.from({ length: readings }, () => Number.NaN)
        const values = [...before, current.get(key) ?? Number.NaN].slice(-maxHistory)
        if (values.every(Number.isNaN)) depths.delete(key)
        else depths.set(key, values)
      }
      readings = Math.min(readings + 1, maxHistory)
    },
    of: queue => depths.get(keyOf(queue)) ?? [],
  }
}
