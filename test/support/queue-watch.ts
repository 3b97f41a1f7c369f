import type { JsonObject } from '../../src/base/json.ts'

export const entry = (prNumber: number, state: string, more: JsonObject = {}): JsonObject => ({
  prNumber,
  state,
  ...more,
})
export const queue = (state: string, ...entries: readonly JsonObject[]): JsonObject => ({
  state,
  concurrency: 2,
  enqueuedPullRequests: entries,
})
