import type { JsonObject } from '../../src/base/json.ts'

export const record = (state: string, more: JsonObject = {}): JsonObject => ({
  state,
  stateChangedAt: '2026-01-05T11:57:00Z',
  priorityValue: 100,
  isCurrentlySubmittedToQueue: !/^(MERGED|FAILED|CANCELLED)$/i.test(state),
  prNumber: 7,
  ...more,
})
export const entry = (prNumber: number, state: string, more: JsonObject = {}): JsonObject => ({
  prNumber,
  state,
  priorityValue: 100,
  stateChangedAt: '2026-01-05T11:50:00Z',
  ...more,
})
export const queue = (
  state: string,
  entries: readonly JsonObject[] = [],
  more: JsonObject = {},
): JsonObject => ({
  state,
  concurrency: 2,
  enqueuedPullRequests: entries,
  ...more,
})

export const uuid = '6e1d9f0a-52b1-4a6e-9a44-0d7f0c1f2b3c'
